"""Configurations of switches: ports, numbers and addresses of each, whatever its operating system."""
