"""Pulumi components of a site on AWS; the arithmetic behind them is in ``rackwright.plan``."""
