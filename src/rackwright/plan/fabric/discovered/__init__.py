"""Fabrics as they were discovered in a hall, and how they differ from the plan."""
