"""Variables of Ansible roles that follow from a plan: a module for each subject."""
