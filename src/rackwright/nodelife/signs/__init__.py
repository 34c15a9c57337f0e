"""Signs of faults: recordings, detection by the table, parts that nodes share, health of links."""
