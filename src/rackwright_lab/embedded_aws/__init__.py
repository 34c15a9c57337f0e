"""The embedded AWS: an AWS API on loopback."""
