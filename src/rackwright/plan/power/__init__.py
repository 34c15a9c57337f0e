"""The sources above the racks: what hangs on what, what each carries, and what a loss does."""
