"""Running configurations against rendered ones: no difference in what is equal, each change by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.model.switching import SwitchSystem
from rackwright.render.switches.drift import compare_running
from rackwright.render.switches.files import RUNNING
from switch_plans import GOLDEN

SYSTEMS: tuple[SwitchSystem, ...] = ("cumulus", "eos", "frr", "sonic")


def golden(system: SwitchSystem) -> str:
    path: Path = GOLDEN / system / "compute-leaf-02" / RUNNING[system]
    return path.read_text(encoding="utf-8")


def told(system: SwitchSystem, running: str) -> list[str]:
    return [str(one) for one in compare_running(system, golden(system), running)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_rendered_file_does_not_differ_from_itself(system: SwitchSystem) -> None:
    assert told(system, golden(system)) == []


@pytest.mark.parametrize("system", ["eos", "frr"])
def test_order_of_interfaces_is_no_difference(system: SwitchSystem) -> None:
    head, *blocks = golden(system).split("\ninterface ")
    tail, _, rest = blocks[-1].partition("\n!\n")
    text = "\ninterface ".join([head, f"{tail}\n!", *reversed(blocks[:-1])])
    assert told(system, f"{text}\n{rest}") == []


def test_sonic_of_a_switch_has_platform_and_unused_ports_of_its_own() -> None:
    tables: dict[str, Any] = json.loads(golden("sonic"))
    tables["DEVICE_METADATA"]["localhost"] |= {"mac": "b8:3f:d2:00:00:01", "hwsku": "x"}
    tables["PORT"]["Ethernet500"] = {"lanes": "500,501", "admin_status": "down"}
    tables["CRM"] = {"Config": {"polling_interval": "300"}}
    assert told("sonic", json.dumps(tables)) == []


def test_sonic_tells_a_port_that_is_down_and_a_session_that_was_added() -> None:
    tables: dict[str, Any] = json.loads(golden("sonic"))
    tables["PORT"]["Ethernet256"]["admin_status"] = "down"
    tables["BGP_NEIGHBOR"]["default|Ethernet500"] = {"peer_type": "external"}
    del tables["VLAN_MEMBER"]["Vlan101|Ethernet0"]
    assert told("sonic", json.dumps(tables)) == [
        "not in the plan: BGP_NEIGHBOR > default|Ethernet500 > peer_type: external",
        "PORT > Ethernet256 > admin_status: down, rendered up",
        "missing: VLAN_MEMBER > Vlan101|Ethernet0 > tagging_mode: untagged",
    ]


def test_nvue_tells_a_changed_number_and_reads_on_as_true() -> None:
    text = golden("cumulus").replace("'on'", "on").replace("4200000102", "65000")
    document = yaml.safe_load(text)
    document[0]["set"]["interface"]["swp60"] = {"type": "swp"}
    assert told("cumulus", yaml.safe_dump(document)) == [
        "not in the plan: interface > swp60 > type: swp",
        "router > bgp > autonomous-system: 65000, rendered 4200000102",
    ]


def test_frr_tells_lines_with_what_they_are_inside_of() -> None:
    text = golden("frr").replace("  network 10.255.1.2/32\n", "  network 10.9.9.0/24\n")
    text = f"Building configuration...\n\nCurrent configuration:\n!\nfrr version 8.4.4\n{text}ip nht resolve-via-default\n"
    assert told("frr", text) == [
        "missing: router bgp 4200000102 > address-family ipv4 unicast > network 10.255.1.2/32",
        "not in the plan: router bgp 4200000102 > address-family ipv4 unicast > network 10.9.9.0/24",
    ]


def test_eos_tells_a_vlan_of_a_port_and_not_its_own_global_lines() -> None:
    text = golden("eos").replace("switchport access vlan 101", "switchport access vlan 102", 1)
    text = text.replace("!\nend", "!\nspanning-tree mode mstp\ninterface Ethernet60/1\n!\nend")
    assert told("eos", text) == [
        "missing: interface Ethernet1/1 > switchport access vlan 101",
        "not in the plan: interface Ethernet1/1 > switchport access vlan 102",
    ]


@pytest.mark.parametrize(("system", "text"), [("sonic", "{"), ("sonic", "[]"), ("cumulus", "a: ["), ("cumulus", "a: 1")])  # fmt: skip
def test_text_of_another_format_is_refused(system: SwitchSystem, text: str) -> None:
    with pytest.raises(ValueError, match="it "):
        compare_running(system, golden(system), text)
