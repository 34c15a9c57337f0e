"""Repair of nodes: states, limits, journal, and the loop from fault to fixed."""
