"""Parallel file systems and the network to them."""
