"""Forms in which a comparison is told: JSON with its schema, Markdown, text."""
