"""Rendering of templates."""
