"""Runs of Ansible on the hosts of a plan: their files, their events, what is shown of them."""
