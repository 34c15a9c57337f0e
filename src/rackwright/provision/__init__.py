"""Provisioning: the Pulumi engine, its programs, its tools and the embedded AWS."""
