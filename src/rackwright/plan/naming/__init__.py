"""Names and addresses of hosts and switches."""
