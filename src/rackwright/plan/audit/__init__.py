"""Searches of a plan: secrets, and the catalogue entries that it uses."""
