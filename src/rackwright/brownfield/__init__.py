"""Blueprints of what already stands: sheets of elevations, exports of NetBox, a ``slurm.conf``."""
