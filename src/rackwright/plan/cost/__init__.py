"""Cost of a plan, owned and rented."""
