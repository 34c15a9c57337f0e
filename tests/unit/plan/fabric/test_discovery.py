from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabric_factories import a_fabric, a_patch, layout_of
from factories import some_nodes
from rackwright.brownfield.cabling.files import read_cables
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.differences import CableComparison, CableDifference
from rackwright.plan.fabric.discovered.dump import Discovery, End, read_discovery
from rackwright.plan.fabric.layout import Layout

Change = Callable[[dict[End, End]], None]

SEEN = """\
#
# Topology file: generated on Sat Nov 21 08:43:50 2026
#
vendid=0x0
switchguid=0x11000(11000)
Switch	64 "S-0000000000011000"		# "MF0;compute-leaf-1:MQM9700/U1" enhanced port 0 lid 2 lmc 0
[1]	"H-0000000000010000"[1](10001) 		# "dgx-1 mlx5_0" lid 1 4xNDR
[33]	"S-0000000000011100"[1]		# "MF0;compute-spine-1:MQM9700/U1" lid 3 4xNDR

caguid=0x10000
Ca	1 "H-0000000000010000"		# "dgx-1 mlx5_0"
[1](10001) 	"S-0000000000011000"[1]		# lid 1 lmc 0 "compute-leaf-1" lid 2 4xNDR

switchguid=0x11100(11100)
Switch	64 "S-0000000000011100"		# "MF0;compute-spine-1:MQM9700/U1" enhanced port 0 lid 3 lmc 0
[1]	"S-0000000000011000"[33]		# "compute-leaf-1" lid 2 4xNDR
"""


def tiny(**more: Any) -> Layout:
    """A host with one interface, a leaf and a spine with one cable."""
    fabric = a_fabric(
        1,
        1,
        attached=[{"group": "dgx", "interfaces": 1}],
        links=[{"name": "up", "lower": "leaf", "upper": "spine", "parallel": 1}],
        **more,
    )
    return layout_of(fabric, groups=[some_nodes(count=1)])


def hall(layout: Layout, *changes: Change) -> dict[End, End]:
    """What would be seen of the plan, after swapping or removing far ends."""
    found: dict[End, End] = {}
    for wire in wires(layout):
        lower, upper = (wire.lower, wire.lower_port), (wire.upper, wire.upper_port)
        host = (f"{lower[0]}/{lower[1]}", 1)
        lower = lower if "leaf" in lower[0] else host
        found[lower], found[upper] = upper, lower
    for change in changes:
        change(found)
    return found


def differences(layout: Layout, found: dict[End, End] | Discovery) -> tuple[CableDifference, ...]:
    discovery = found if isinstance(found, Discovery) else Discovery(found)
    return CableComparison(layout, discovery).differences()


def swap(one: End, other: End) -> Change:
    def change(found: dict[End, End]) -> None:
        left, right = found[one], found[other]
        found[one], found[other] = right, left
        found[left], found[right] = other, one

    return change


def cut(end: End) -> Change:
    def change(found: dict[End, End]) -> None:
        del found[found.pop(end)]

    return change


def move(end: End, to: End) -> Change:
    def change(found: dict[End, End]) -> None:
        del found[found[end]]
        found[end], found[to] = to, end

    return change


def test_a_hall_as_planned_has_no_difference():
    assert differences(layout_of(), hall(layout_of())) == ()


def test_real_descriptions_are_understood():
    discovered = read_discovery(SEEN)
    assert len(discovered.links) == 4
    assert discovered.rates["dgx-1 mlx5_0", 1] == ("4xNDR", 400.0)
    assert differences(tiny(), discovered) == ()


def test_swapped_rails_are_one_difference_with_a_fix():
    found = hall(layout_of(), swap(("dgx-01/1", 1), ("dgx-01/2", 1)))
    assert differences(layout_of(), found) == (
        CableDifference(
            "dgx-01 port 1 to compute-leaf-1 port 1",
            "it is swapped with dgx-01 port 2 to compute-leaf-2 port 1",
            "swap the cables in compute-leaf-2 port 1 and compute-leaf-1 port 1",
        ),
    )


def test_a_cable_that_is_not_there():
    (found,) = differences(layout_of(), hall(layout_of(), cut(("dgx-07/3", 1))))
    assert (found.cable, found.message) == (
        "dgx-07 port 3 to compute-leaf-3 port 7",
        "there is no link",
    )


@pytest.mark.parametrize(
    ("to", "fix"),
    [
        (("compute-leaf-1", 32), "move it one port down, to port 31"),
        (("compute-leaf-8", 32), "move it to compute-leaf-1 port 31"),
    ],
)
def test_a_cable_in_a_free_port(to, fix):
    layout = layout_of(nodes=31)
    (found,) = differences(layout, hall(layout, move(("dgx-31/1", 1), to)))
    assert found.fix == fix
    assert found.message == f"it is in {to[0]} port {to[1]}"


def test_a_cable_between_switches_that_is_missing():
    (found,) = differences(layout_of(), hall(layout_of(), cut(("compute-leaf-1", 33))))
    assert found.cable == "compute-leaf-1 port 33 to compute-spine-1 port 1"


def test_three_cables_in_a_ring_are_three_differences():
    ends = [("dgx-01/1", 1), ("dgx-02/1", 1), ("dgx-03/1", 1)]
    found = hall(layout_of(), swap(ends[0], ends[1]), swap(ends[1], ends[2]))
    assert len(differences(layout_of(), found)) == 3


def test_unplanned_cable_is_reported():
    found = hall(layout_of(nodes=31))
    found["stranger mlx5_0", 1] = ("compute-leaf-1", 32)
    found["compute-leaf-1", 32] = ("stranger mlx5_0", 1)
    (difference,) = differences(layout_of(nodes=31), found)
    assert difference.cable == "compute-leaf-1 port 32 to stranger mlx5_0 port 1"
    assert difference.message == "it is not in the plan"


def test_an_unknown_device_leaves_the_planned_cable_without_a_link():
    odd = read_discovery(SEEN.replace("dgx-1 mlx5_0", "dgx-1 mlx5_99"))
    missing, extra = differences(tiny(), odd)
    assert missing.message == "there is no link; compute-leaf-1 port 1 holds dgx-1 mlx5_99 port 1"
    assert extra.message == "it is not in the plan"


def test_a_patch_is_part_of_the_plan():
    layout = layout_of(a_fabric(patches=[a_patch("dgx-01", 1, "compute-leaf-1", 32)]), nodes=31)
    assert differences(layout, hall(layout)) == ()
    (found,) = differences(layout, hall(layout_of(nodes=31)))
    assert found.fix == "move it to compute-leaf-1 port 32"


@pytest.mark.parametrize("text", ["", "nonsense\n", '[1]\t"S-1"[2]\n', "\x00\xff" * 50])
def test_invalid_discovery_is_refused(text):
    with pytest.raises(ValueError, match="lists no switch"):
        read_discovery(text)


def test_switches_that_cannot_be_told_apart():
    text = SEEN.replace("compute-spine-1:", "compute-leaf-1:")
    with pytest.raises(ValueError, match="two switches are called 'MF0;compute-leaf-1:MQM9700/U1'"):
        read_discovery(text)


def whole_dump(layout: Layout) -> str:
    """A perfect fabric as ``ibnetdiscover`` prints it: every line of a port describes the far end."""
    records: dict[str, list[str]] = {}
    for wire in wires(layout):
        lower = (wire.lower, wire.lower_port)
        if wire.lower.startswith("dgx"):
            lower = (f"{wire.lower} HCA-{wire.lower_port}", 1)
        upper = (wire.upper, wire.upper_port)
        for (device, port), (far, far_port) in ((lower, upper), (upper, lower)):
            line = f'[{port}]\t"{named(far)}"[{far_port}]\t# "{far}" lid 2 4xNDR\n'
            records.setdefault(device, []).append(line)
    switches = sorted(records, key=lambda device: "HCA" in device)
    return "".join(
        f'\n{"Ca" if "HCA" in one else "Switch"}\t64 "{named(one)}"\t# "{one}" lid 1\n'
        + "".join(records[one])
        for one in switches
    )


def named(device: str) -> str:
    return f"{'H' if 'HCA' in device else 'S'}-{zlib.crc32(device.encode()):016x}"


@pytest.mark.parametrize("part", [1.0, 0.9, 0.6, 0.3, 0.1, 0.01])
def test_dump_that_ends_early_has_no_wrong_cable(part: float) -> None:
    layout = layout_of()
    text = whole_dump(layout)
    compared = CableComparison(layout, read_discovery(text[: int(len(text) * part)]))
    assert compared.differences() == ()
    assert bool(compared.without_report) is (part < 0.5)


def test_devices_that_neighbours_name_are_known_by_them() -> None:
    text = (
        'Ca\t1 "H-a088c20300ab0000"\t\t# "node-a mlx5_0"\n'
        '[1](0xa088c20300ab0001) \t"H-0xa088c20300bb0000"[1](0xa088c20300bb0001)\t\t# lid 1 lmc 0 "node-b mlx5_0" lid 2 4xEDR\n'
    )
    found = read_discovery(text)
    assert found.links["node-b mlx5_0", 1] == ("node-a mlx5_0", 1)
    assert found.links["node-a mlx5_0", 1] == ("node-b mlx5_0", 1)
    assert found.reporting == frozenset()


def test_guids_of_the_blueprint_name_devices_without_a_description(tmp_path: Path) -> None:
    plain = layout_of()
    devices = dict.fromkeys(re.findall(r'(?m)^\w+\t64 "([^"]+)"\t# "([^"]+)"', whole_dump(plain)))
    names = {f"0x{guid[2:].upper()}": device for guid, device in devices}
    text = re.sub(r'# "[^"]+"', '# "MT4129 ConnectX7   Mellanox Technologies"', whole_dump(plain))
    dump = tmp_path / "seen.txt"
    dump.write_text(text)
    named_plan = layout_of(a_fabric(guids=names))
    compared = CableComparison(named_plan, read_cables(named_plan, [dump], None))
    assert (compared.differences(), len(compared.not_compared())) == ((), 0)
    assert not CableComparison(plain, read_cables(plain, [dump], None)).matched


def test_parts_of_two_dumps_are_one_fabric(tmp_path: Path) -> None:
    layout = layout_of()
    text = whole_dump(layout)
    for name, part in (("a.txt", text[: len(text) // 8]), ("b.txt", text)):
        (tmp_path / name).write_text(part)
    found = read_cables(layout, [tmp_path], None)
    compared = CableComparison(layout, found)
    assert (compared.differences(), compared.without_report) == ((), 0)
