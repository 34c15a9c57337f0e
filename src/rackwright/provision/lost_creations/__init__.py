"""Recovery of resources that an interrupted run had created on AWS and did not record."""
