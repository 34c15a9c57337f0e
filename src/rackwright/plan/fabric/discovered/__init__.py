"""Cables of a hall as tools have discovered them, against those of the plan."""
