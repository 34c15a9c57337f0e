"""Connection of devices to the feeds of a rack: shelves, wiring, outlets and shares of the load."""
