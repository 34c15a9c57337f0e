"""Words of findings, fixes and missing facts that several rules share, by subject."""
