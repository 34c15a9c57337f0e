"""Parts that the verbs which replace instances share."""
