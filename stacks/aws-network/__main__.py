"""VPC, subnets, endpoints, security groups and private DNS of a site."""

from rackwright.provision.program import run

run("aws-network")
