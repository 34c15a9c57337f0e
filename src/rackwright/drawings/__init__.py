"""Drawings of a plan as SVG: pure functions from records to text, which never treat names as markup."""
