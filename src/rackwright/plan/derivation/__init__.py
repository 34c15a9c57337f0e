"""Derivation of the full form of a blueprint from its short form, with the rule behind each value."""
