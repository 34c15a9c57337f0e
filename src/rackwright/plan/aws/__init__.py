"""A site on AWS: instances, interfaces, subnets, security groups and file systems as plain data."""
