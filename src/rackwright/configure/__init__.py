"""Configuration of hosts by Ansible."""
