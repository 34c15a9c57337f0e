"""Cables of a hall in the files of tools that have seen them."""
