"""Arguments by which a blueprint begins: answers to questions of a template, or what already stands."""
