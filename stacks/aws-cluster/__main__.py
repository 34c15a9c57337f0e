"""Head and login nodes and the node groups of a site."""

from rackwright.provision.program import run

run("aws-cluster")
