"""Files of Slurm, read as slurmctld reads them, and the scheduler that follows from them."""
