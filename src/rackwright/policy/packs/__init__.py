"""Packs of rules: how they are found, loaded, and run in processes of their own."""
