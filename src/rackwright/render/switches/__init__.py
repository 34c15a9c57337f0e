"""Files of switches, a module for each operating system."""
