"""Slurm's view of a plan: nodes, topology, partitions and health checks."""
