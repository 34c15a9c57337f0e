"""Acceptance: what was built compared with what was meant."""
