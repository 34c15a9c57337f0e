"""Options, prompts and output that verbs of the command line share."""
