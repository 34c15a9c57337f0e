"""Life of nodes: faults, their repair, and the journal of both."""
