"""Calls of AWS that the engine does not make."""
