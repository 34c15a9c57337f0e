"""Access to AWS: credentials of a role for a run, and refusals in words."""
