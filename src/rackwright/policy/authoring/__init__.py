"""What authors of rules are given: a scaffold, examples, and checks of documentation."""
