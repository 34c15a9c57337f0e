"""InfiniBand subnets as ibdiagnet and UFM export them: perfect ones pass, each fault is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabric_factories import layout_of
from rackwright.brownfield.cabling.files import read_cables
from rackwright.errors import UsageError
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Layout

Cable = tuple[str, int, str, str, int, str, str]
"""GUID, port and description of both ends, and the speed."""
SPEEDS = {"NDR": 2048, "SDR": 1, "HDR": 1024}
GBPS = {"NDR": "100", "SDR": "2.5", "HDR": "50"}


def cables(
    layout: Layout, change: Callable[[dict[End, End]], None], slow: dict[End, str]
) -> list[Cable]:
    """Every cable of a hall."""
    far = {(w.lower, w.lower_port): (w.upper, w.upper_port) for w in wires(layout)}
    change(far)
    switches = {name for tier in layout.tiers for name in tier.names()}
    guids: dict[object, str] = {}

    def end(one: End) -> tuple[str, int, str]:
        switch = one[0] in switches
        guid = guids.setdefault(one[0] if switch else one, f"{len(guids) + 0xE00:016x}")
        if switch:
            return guid, one[1], f"MF0;{one[0]}:MQM9700/U1"
        return guid, 1, f"{one[0]} HCA-{one[1]}"

    return [(*end(lower), *end(upper), slow.get(lower, "NDR")) for lower, upper in far.items()]


def tables(seen: list[Cable]) -> str:
    """``ibdiagnet2.db_csv``."""
    devices = {end[0]: end[2] for one in seen for end in (one[0:3], one[3:6])}
    nodes = [
        f'"{name}",65,{2 if ";" in name else 1},1,1,0x{guid},0x{guid},0x{guid}'
        for guid, name in devices.items()
    ]
    ports = [
        f"0x{one[at]},0x{one[at]},{one[at + 1]},0,2,19,{SPEEDS[one[6]]}"
        for one in seen
        for at in (0, 3)
    ]
    links = [f"0x{one[0]},{one[1]},0x{one[3]},{one[4]}" for one in seen]
    return "\n".join(
        ["# ibdiagnet", "START_NODES",
         "NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID", *nodes, "END_NODES", "",
         "START_PORTS", "NodeGuid,PortGuid,PortNum,MKey,LinkWidthActv,LinkWidthSup,LinkSpeedActv", *ports, "END_PORTS", "",
         "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2", *links, "END_LINKS", ""]
    )  # fmt: skip


def links_list(seen: list[Cable]) -> str:
    """``ibdiagnet2.lst``."""

    def side(guid: str, port: int, name: str) -> str:
        kind = "SW" if ";" in name else "CA"
        return (
            f"{{ {kind} Ports:41 SystemGUID:{guid} NodeGUID:{guid} PortGUID:{guid} VenID:000002C9 DevID:D2F00000 "
            f"Rev:000000A0 {{{name}}} LID:0001 PN:{port:02X} }}"
        )

    return "".join(
        f"{side(*one[0:3])} {side(*one[3:6])} PHY=4x LOG=ACT SPD={GBPS[one[6]]}\n" for one in seen
    )


def ufm_ports(seen: list[Cable]) -> str:
    """UFM's answer about ports."""
    made: list[dict[str, Any]] = []
    for one in seen:
        for (guid, port, name), (peer, peer_port, _) in (
            (one[0:3], one[3:6]),
            (one[3:6], one[0:3]),
        ):
            shown = f"{name.split(';')[1].split(':')[0]}:{port}" if ";" in name else name
            made.append(
                {
                    "name": f"{guid}_{port}",
                    "peer": f"{peer}_{peer_port}",
                    "node_description": shown,
                    "active_width": "IB_4x",
                    "active_speed": one[6],
                    "number": port,
                }
            )
    return json.dumps(made)


FORMS = {"db_csv": tables, "lst": links_list, "UFM ports": ufm_ports}


def compare(text: str, folder: Path, layout: Layout) -> CableComparison:
    path = folder / "seen"
    path.write_text(text)
    return CableComparison(layout, read_cables(layout, [path], None))


@pytest.mark.parametrize("form", FORMS)
def test_perfect_fabric_has_no_difference(form: str, tmp_path: Path) -> None:
    layout = layout_of()
    compared = compare(FORMS[form](cables(layout, lambda far: None, {})), tmp_path, layout)
    assert compared.matched
    assert (compared.differences(), compared.without_rate, compared.unnamed) == ((), 0, ())


@pytest.mark.parametrize("form", FORMS)
def test_each_fault_is_named(form: str, tmp_path: Path) -> None:
    layout = layout_of()

    def faults(far: dict[End, End]) -> None:
        del far["dgx-03", 2]
        far["dgx-05", 1], far["dgx-06", 1] = far["dgx-06", 1], far["dgx-05", 1]

    slow = {("dgx-09", 3): "SDR", ("compute-leaf-2", 33): "HDR"}
    told = compare(FORMS[form](cables(layout, faults, slow)), tmp_path, layout).differences()
    assert [(one.cable.partition(" to ")[0], one.message.partition(" ")[0]) for one in told] == [
        ("dgx-03 port 2", "there"),
        ("dgx-05 port 1", "it"),
        ("dgx-09 port 3", "the"),
        ("compute-leaf-2 port 33", "the"),
    ]
    assert "4xSDR (10 Gbps)" in told[2].message


def test_links_of_ufm_have_no_rate_and_leave_it_unknown(tmp_path: Path) -> None:
    layout = layout_of()
    links = [
        {
            "source_guid": one[0], "source_port": str(one[1]), "source_port_node_description": one[2],
            "destination_guid": one[3], "destination_port": str(one[4]),
            "destination_port_node_description": f"{one[5].split(';')[1].split(':')[0]}:{one[4]}", "width": "IB_4x",
        }
        for one in cables(layout, lambda far: None, {})
    ]  # fmt: skip
    compared = compare(json.dumps(links), tmp_path, layout)
    assert compared.differences() == ()
    assert compared.without_rate == len(links)


WHOLE = tables(cables(layout_of(), lambda far: None, {}))
BROKEN = {
    "cut off": (
        WHOLE[: WHOLE.index("END_LINKS") - 4],
        "has no end: the file is cut off|cells, and",
    ),
    "without links": (WHOLE[: WHOLE.index("START_LINKS")], "it has no table START_LINKS"),
    "a word for a number": (WHOLE.replace(",1,0x", ",one,0x"), "is no number"),
    "a quote without an end": (
        WHOLE.replace("END_NODES", '"' + "x" * 200_000 + "\nEND_NODES"),
        "is no row of a table",
    ),
    "half a line of a list": ("{ CA Ports:01 SystemGUID:1 NodeGUID:1\n", "line 1 is no link"),
    "a link of UFM without its end": (
        '[{"source_guid": "1", "destination_guid": "", "source_port": "1"}]',
        "the link 1",
    ),
    "JSON of another tool": ('{"lldp": {}}', "no links or ports of UFM"),
    "JSON cut off": ('[{"source_guid": "1",', "line 1 is no JSON"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused_with_its_cause(case: str, tmp_path: Path) -> None:
    text, message = BROKEN[case]
    path = tmp_path / "seen"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as error:
        read_cables(layout_of(), [path], None)
    assert str(path) in str(error.value)
