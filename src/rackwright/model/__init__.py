"""Models of a blueprint and of a catalogue."""
