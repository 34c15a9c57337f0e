"""What a blueprint and a catalogue may say."""
