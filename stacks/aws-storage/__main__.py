"""FSx for Lustre file systems of a site and the buckets linked into them."""

from rackwright.provision.program import run

run("aws-storage")
