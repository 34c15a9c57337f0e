"""Variables of the roles that install and run Slurm."""
