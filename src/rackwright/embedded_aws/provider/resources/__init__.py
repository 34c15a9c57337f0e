"""Resources of AWS, by service."""
