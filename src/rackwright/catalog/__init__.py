"""The hardware catalogue."""
