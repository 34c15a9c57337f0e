"""What a plan is looked through for: secrets, and what it uses of the catalogue."""
