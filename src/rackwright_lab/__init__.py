"""A lab of bare machines on this one: real systemd and sshd, each in its own network namespace."""
