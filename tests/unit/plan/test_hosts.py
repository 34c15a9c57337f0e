from __future__ import annotations

from typing import Any

import pytest

from factories import CATALOGUE, some_nodes
from rackwright.catalog.loader import UnknownEntryError
from rackwright.model.onprem import NodeGroup
from rackwright.plan.hosts import host_count, numbered


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
