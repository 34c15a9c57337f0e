"""Racks: which holds what, how its devices hang on its feeds, and what adds up to its numbers."""
