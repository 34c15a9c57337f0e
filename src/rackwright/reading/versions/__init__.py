"""Files as a revision of the repository has them."""
