"""Drawings of a plan as SVG: pure functions from records to text. Names are never markup in them."""
