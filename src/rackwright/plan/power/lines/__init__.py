"""Conductors of a site: what they carry, drop and let through in a fault."""
