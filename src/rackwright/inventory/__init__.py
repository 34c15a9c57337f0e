"""The Ansible inventory of a plan."""
