"""What the verbs that replace instances share."""
