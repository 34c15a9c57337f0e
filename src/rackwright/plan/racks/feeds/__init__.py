"""How racks hang on their feeds: circuits, outlets, shelves, tap-off boxes, and who draws what."""
