"""Options and steps of the verbs that replace instances."""
