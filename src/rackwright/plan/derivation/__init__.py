"""What follows from the short form of a blueprint: its full form, with the rule behind each value."""
