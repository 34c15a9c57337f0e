"""What is told of a design: what binds it and what more would bring, as text and as JSON."""
