"""Comparing two revisions of a blueprint: budgets, findings, hardware, files, update actions."""
