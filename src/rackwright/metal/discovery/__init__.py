"""Discovery of machines by their management controllers, and their comparison with the blueprint."""
