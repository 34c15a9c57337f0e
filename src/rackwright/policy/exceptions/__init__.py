"""Exceptions from policies: waivers and the baseline."""
