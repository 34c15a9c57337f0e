"""Heat, air and coolant of halls, loops and rear doors."""
