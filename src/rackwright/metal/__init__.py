"""Bare metal from its management controllers on: discovery, Ironic, and the way of a host to its first job."""
