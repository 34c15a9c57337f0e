"""How often things fail, and what one loss takes along."""
