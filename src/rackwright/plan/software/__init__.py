"""Versions of software: which bill covers which node, and what needs what."""
