"""What a plan costs, owned and rented."""
