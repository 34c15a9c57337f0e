"""Nodes that are not what their group launches, and nodes that a blueprint has no place for."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from rackwright.provision.naming import NodeInstance, TemplateVersion, held
from rackwright.provision.outdated import (
    OutdatedNode,
    ScalingGroup,
    find_outdated,
    find_surplus,
    find_unhealthy,
    outdated_lines,
)

BEGIN = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
OLD, NEW = (TemplateVersion("lt-1", number) for number in ("1", "2"))
GROUP = ScalingGroup("atlas-use1-dgx", "dgx", NEW, frozenset({"subnet-1"}), 2, {})
BASE: dict[str, Any] = {"ImageId": "ami-1", "InstanceType": "p5.48xlarge", "UserData": "x"}


def node(number: int, template: TemplateVersion | None, **more: Any) -> NodeInstance:
    launched = BEGIN + dt.timedelta(minutes=number)
    made = NodeInstance(f"i-{number}", launched, f"10.0.0.{number}", f"dgx-{number}", template)
    return replace(made, subnet="subnet-1", **more)


def outdated(
    nodes: list[NodeInstance], contents: dict[TemplateVersion, Any], group: ScalingGroup = GROUP
) -> list[OutdatedNode]:
    return list(find_outdated(held("dgx", len(nodes), nodes), group, contents))


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({}, None),
        ({"ImageId": "ami-2"}, ("image",)),
        ({"InstanceType": "p5en.48xlarge", "ImageId": "ami-2"}, ("image", "instance type")),
        ({"NetworkInterfaces": [{"NetworkCardIndex": 0}]}, ("network interfaces",)),
        ({"KernelId": "aki-1"}, ("KernelId",)),
    ],
)
def test_a_node_is_outdated_in_what_its_template_differs(
    changed: dict[str, Any], differs: tuple[str, ...] | None
) -> None:
    found = outdated([node(1, OLD), node(2, NEW)], {OLD: BASE, NEW: BASE | changed})
    assert [one.differs for one in found] == ([] if differs is None else [differs])
    assert all(one.host == "dgx-1" for one in found)


def test_another_order_of_tags_makes_no_node_outdated() -> None:
    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
    old, new = (
        BASE | {"TagSpecifications": [{"ResourceType": "instance", "Tags": made}]}
        for made in (tags, tags[::-1])
    )
    assert outdated([node(1, OLD)], {OLD: old, NEW: new}) == []
    new["TagSpecifications"] = [{"ResourceType": "instance", "Tags": tags[:1]}]
    (found,) = outdated([node(1, OLD)], {OLD: old, NEW: new})
    assert found.differs == ("tags",)


def test_node_with_unknown_template_is_not_taken_for_current() -> None:
    silent = node(1, None)
    gone = node(2, TemplateVersion("lt-0", "7"))
    first, second = outdated([silent, gone], {NEW: BASE})
    assert "does not say" in first.differs[0]
    assert "not there any more" in second.differs[0]
    (third,) = outdated([node(1, OLD)], {OLD: BASE}, replace(GROUP, template=None))
    assert "not there any more" in third.differs[0]


def test_a_node_of_another_subnet_is_outdated() -> None:
    there = replace(node(1, NEW), subnet="subnet-0")
    (found,) = outdated([there], {})
    assert found.differs == ("subnet",)
    assert outdated([there], {}, replace(GROUP, subnets=frozenset())) == []


def test_outdated_nodes_are_told_together_by_what_differs() -> None:
    nodes = [
        *(OutdatedNode("dgx", f"dgx-{number}", f"i-{number}", ("image",)) for number in (1, 2, 3)),
        OutdatedNode("dgx", None, "i-9", ("image",)),
        OutdatedNode("dgx", "dgx-4", "i-4", ("image", "subnet")),
    ]
    assert list(outdated_lines(nodes)) == [
        "outdated nodes of dgx: dgx-[1-3], i-9 (image)",
        "outdated nodes of dgx: dgx-4 (image, subnet)",
    ]


def test_impaired_and_ended_instances_are_unhealthy_and_hosts_without_capacity_are_not() -> None:
    nodes = [node(1, NEW), node(2, NEW)]
    group = replace(
        GROUP, members={"i-1": True, "i-2": True, "i-9": True}, unhealthy=frozenset({"i-2", "i-9"})
    )
    assert find_unhealthy(held("dgx", 4, nodes), group) == {"dgx-2": "i-2", "dgx-3": ""}
    lacking = replace(group, members={"i-1": True, "i-2": True}, unhealthy=frozenset())
    assert find_unhealthy(held("dgx", 4, nodes), lacking) == {}


def test_those_go_whose_names_the_blueprint_has_no_more() -> None:
    nodes = [node(number, NEW) for number in range(1, 5)]
    surplus = find_surplus(held("dgx", 2, nodes), nodes)
    assert surplus is not None
    assert surplus.nodes == {"i-3": "dgx-3", "i-4": "dgx-4"}
    assert str(surplus) == "'dgx' has 4 nodes and the blueprint wants 2: dgx-[3-4]"
    assert find_surplus(held("dgx", 4, nodes), nodes) is None
    assert find_surplus(held("dgx", 5, nodes), nodes) is None


def test_of_nodes_without_a_name_the_youngest_go() -> None:
    nodes = [replace(node(number, NEW), host=None) for number in range(1, 5)]
    surplus = find_surplus(held("dgx", 3, nodes), nodes)
    assert surplus is not None
    assert surplus.nodes == {"i-4": None}
