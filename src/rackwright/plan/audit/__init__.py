"""What a plan is looked through for: secrets, what it uses of the catalogue, what there is to protect."""
