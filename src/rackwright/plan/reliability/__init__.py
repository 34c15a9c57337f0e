"""Failure rates, and the extent of a single loss."""
