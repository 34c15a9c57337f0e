"""Burn-in of nodes: groups that grow, limits, silent corruption, and the report."""
