"""Federations of sites: their Slurm clusters, the data sets of jobs, and the links between sites."""
