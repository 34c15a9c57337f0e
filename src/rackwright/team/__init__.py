"""A team's ``rackwright.yaml``: what it lists, pinned, now and at a base revision."""
