"""Clients of other programs, by HTTP."""
