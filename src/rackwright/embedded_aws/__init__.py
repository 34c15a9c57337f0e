"""The embedded AWS: a loopback AWS API and the Pulumi provider that drives it."""
