"""The state of the embedded AWS in a file."""

from __future__ import annotations

import pickle

from moto.backends import get_backend

from rackwright.embedded_aws.api.moto_capacity import PlacementGroup
from rackwright.embedded_aws.snapshot import FORMAT, FORMER, load_backends

REGION = "never-1"


def test_a_state_that_names_the_former_modules_is_read() -> None:
    group = PlacementGroup("pg-1", "near", "cluster", "arn:1")
    state = {("ec2", "000000000001", REGION): group}
    text = pickle.dumps((FORMAT, state), protocol=2)  # names modules by lines of text
    for former, now in FORMER.items():
        text = text.replace(now.encode(), former.encode())
    assert b"rackwright.embedded_aws" not in text
    regions = get_backend("ec2")["000000000001"]
    try:
        assert load_backends(text) == 1
        read: object = dict.__getitem__(regions, REGION)
        assert read == group
    finally:
        dict.pop(regions, REGION)
