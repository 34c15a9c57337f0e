"""Templates of blueprints: sources, questions, rendering and updates."""
