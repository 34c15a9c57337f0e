"""Approval by the base revision: a change never decides how it is checked itself."""
