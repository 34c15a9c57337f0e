"""Machines as their management controllers describe them, against the blueprint."""
