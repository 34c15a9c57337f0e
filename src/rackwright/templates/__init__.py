"""Templates of blueprints: where they are from, what they ask, what is made of them, and updates."""
