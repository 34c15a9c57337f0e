from __future__ import annotations

import re
from itertools import pairwise

import pytest

from fabric_factories import a_fabric, a_patch, layout_of
from factories import some_nodes
from rackwright.plan.fabric.ibsim import adapter, network


def read(text: str) -> dict[tuple[str, int], tuple[str, int]]:
    """The far end of each port, read back from a net file."""
    ends, here = {}, ""
    for line in text.splitlines():
        if record := re.match(r'(?:Ca|Switch)\t\d+ "(.+?)"', line):
            here = record.group(1)
        elif port := re.match(r'\[(\d+)\]\t"(.+?)"\[(\d+)\]', line):
            ends[here, int(port.group(1))] = (port.group(2), int(port.group(3)))
    return ends


def test_both_ends_of_every_cable_agree():
    ends = read(network(layout_of()).text)
    assert len(ends) == 2 * 512
    assert all(ends[far] == here for here, far in ends.items())
    assert ends["dgx-01/8", 1] == ("compute-leaf-8", 1)
    assert ends["compute-leaf-1", 33] == ("compute-spine-1", 1)


def test_each_device_has_a_guid_with_room_for_its_ports():
    net = network(layout_of())
    guids = [int(text, 16) for text in re.findall(r"guid=(0x[0-9a-f]+)", net.text)]
    assert len(guids) == net.devices == 256 + 12
    steps = {after - before for before, after in pairwise(guids)}
    assert min(steps) > 64
    assert net.switches == 12
    assert net.ports >= 12 * 65 + 256


def test_the_manager_is_the_first_record():
    net = network(layout_of())
    assert net.manager == adapter("dgx-01", 1) == "dgx-01/1"
    assert net.text.index('"dgx-01/1"') < net.text.index("switchguid")


def test_a_patch_is_simulated():
    patches = [a_patch("dgx-01", 1, "compute-leaf-1", 32)]
    ends = read(network(layout_of(a_fabric(patches=patches), nodes=31)).text)
    assert ends["dgx-01/1", 1] == ("compute-leaf-1", 32)
    assert ("compute-leaf-1", 1) not in ends


def test_a_fabric_without_cabled_hosts():
    groups = [some_nodes("ufm", count=1, type="ufm-ndr")]
    with pytest.raises(ValueError, match="no host is cabled"):
        network(layout_of(a_fabric(attached=[{"group": "ufm"}]), groups=groups))
