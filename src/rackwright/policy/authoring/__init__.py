"""Tools for authors of rules: a scaffold, examples, and checks of documentation."""
