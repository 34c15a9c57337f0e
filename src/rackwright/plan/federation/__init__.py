"""Sites that schedule as one: clusters of a federation, data that jobs move, and lines between sites."""
