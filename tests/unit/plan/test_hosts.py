from __future__ import annotations

from typing import Any

import pytest

from factories import CATALOGUE, some_nodes
from rackwright.catalog.loader import UnknownEntryError
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup
from rackwright.plan.hosts import host_count, node_hostlist, node_names


def a_group(**changes: Any) -> NodeGroup:
    return NodeGroup.model_validate(some_nodes(**changes))


def test_names_are_padded_to_the_width_of_the_last():
    assert node_names(a_group(count=3), CATALOGUE) == ("dgx-1", "dgx-2", "dgx-3")
    assert node_names(a_group(count=12), CATALOGUE)[8:10] == ("dgx-09", "dgx-10")


def test_a_rack_scale_system_is_many_hosts():
    group = a_group(name="nvl", count=8, type="gb200-nvl72")
    assert host_count(group, CATALOGUE) == 144
    assert node_names(group, CATALOGUE)[-1] == "nvl-144"


def test_the_host_list_stands_for_the_names():
    group = a_group(count=32)
    assert node_hostlist(group, CATALOGUE) == "dgx-[01-32]"
    assert expand_hostlist(node_hostlist(group, CATALOGUE)) == node_names(group, CATALOGUE)


def test_a_product_that_is_not_in_the_catalogue():
    with pytest.raises(UnknownEntryError):
        node_names(a_group(type="dgx-h1000"), CATALOGUE)
