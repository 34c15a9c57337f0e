from __future__ import annotations

from typing import Any

import pytest

from factories import CATALOGUE, some_nodes
from rackwright.catalog.loader import UnknownEntryError
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup
from rackwright.plan.hosts import host_count, numbered, numbered_hostlist, numbered_index


def a_group(**changes: Any) -> NodeGroup:
    return NodeGroup.model_validate(some_nodes(**changes))


def test_names_are_padded_to_the_width_of_the_last():
    assert numbered("dgx", 3) == ("dgx-1", "dgx-2", "dgx-3")
    assert numbered("dgx", 12)[8:10] == ("dgx-09", "dgx-10")


def test_a_rack_scale_system_is_many_hosts():
    assert host_count(a_group(name="nvl", count=8, type="gb200-nvl72"), CATALOGUE) == 144


def test_a_product_that_is_not_in_the_catalogue():
    with pytest.raises(UnknownEntryError):
        host_count(a_group(type="dgx-h1000"), CATALOGUE)


@pytest.mark.parametrize(("before", "after"), [(9, 10), (99, 100), (4, 12), (9_999, 10_000)])
@pytest.mark.parametrize("digits", [1, 2, 4])
def test_group_that_grows_keeps_the_names_of_its_hosts(
    before: int, after: int, digits: int
) -> None:
    then, now = numbered("train", before, digits), numbered("train", after, digits)
    assert now[:before] == then
    assert expand_hostlist(numbered_hostlist("train", after, digits)) == now
    for index in (0, before - 1, after - 1):
        assert numbered_index("train", after, now[index], digits) == index
    assert numbered_index("train", after, f"train-0{digits * '0'}1", digits) is None
