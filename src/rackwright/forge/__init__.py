"""Comments on pull and merge requests, updated in place."""
