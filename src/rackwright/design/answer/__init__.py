"""Answer of a design: its limits and the gain of more, as text and as JSON."""
