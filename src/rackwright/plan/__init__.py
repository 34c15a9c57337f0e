"""Expansion of a blueprint, and its arithmetic."""
