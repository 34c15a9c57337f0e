"""The lab of bare machines and the embedded AWS, for commands that ask for them."""
