"""What head and login instances keep from when they were made."""

from __future__ import annotations

import pytest

from aws_factories import a_plan
from rackwright.plan.aws.launch_template import settled_properties

MOVING = "ssm:/aws/service/canonical/ubuntu/ami-id"


@pytest.mark.parametrize(
    ("kept", "image", "settled"),
    [
        (False, "ami-0123456789abcdef0", {"userData"}),
        (False, MOVING, {"userData", "ami"}),
        (True, "ami-0123456789abcdef0", {"userData", "ami", "keyName"}),
        (True, MOVING, {"userData", "ami", "keyName"}),
    ],
)
def test_no_new_image_takes_the_place_of_what_holds_data(
    kept: bool, image: str, settled: set[str]
) -> None:
    (head,) = a_plan().servers
    server = head.server.model_copy(update={"image": image})
    assert set(settled_properties(server, kept=kept)) == settled


def test_head_nodes_hold_data() -> None:
    (head,) = a_plan().servers
    assert (head.role, head.kept) == ("head", True)
