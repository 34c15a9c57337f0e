"""What Slurm knows of a plan: nodes, topology, partitions and health checks."""
