"""Helpers for the tests of teams that write policies."""
