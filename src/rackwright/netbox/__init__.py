"""NetBox by its REST API: what stands is read, and what is planned is written."""
