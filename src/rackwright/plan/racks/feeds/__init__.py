"""How devices hang on the feeds of a rack: shelves, wiring, outlets, and who draws what."""
