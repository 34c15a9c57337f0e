"""Provisioning: the Pulumi engine, its programs, its tools and the embedded AWS."""

import os

# gRPC, which Pulumi brings, goes on in a child that is forked beside it, and aborts there once the child closes
# what it has inherited: what starts Ansible does both. It is asked when it is first imported.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
