"""Changes of a running cluster, wave by wave."""
