"""Rackwright: infrastructure as code for GPU clusters, gated by physical budgets."""

__version__ = "0.1.0"
