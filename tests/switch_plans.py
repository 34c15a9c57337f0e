"""Plans of switches for tests: the fixture of racks with leaves, with a layer that configures them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.plan.switches.records import SwitchConfig
from rackwright.policy.packs.loader import builtin_pack

GOLDEN = Path(__file__).parent / "golden" / "switches"
FIXTURE = builtin_pack() / "fixtures" / "top-of-rack.yaml"
MARKING = {"begin": "150 KiB", "end": "1500 KiB", "probability": "5 %"}

Layer = dict[str, Any]


def a_layer() -> Layer:
    """Return the layer that configures the switches of the fixture."""
    layer: Layer = yaml.safe_load((GOLDEN / "layer.yaml").read_text(encoding="utf-8"))
    return layer


def fabric_of(layer: Layer) -> dict[str, Any]:
    fabric: dict[str, Any] = layer["sites"][0]["fabrics"][0]
    return fabric


def for_system(system: str) -> Layer:
    """Return the layer for an operating system, tunnels included but for those that end at their leaf."""
    layer = copy.deepcopy(a_layer())
    fabric = fabric_of(layer)
    fabric["switching"]["system"] = system
    if system == "cumulus":
        fabric["adaptive_routing"] = True
    if system == "eos":
        for tier in fabric["tiers"]:
            tier["type"] = "arista-7060x6-64pe"
    if system in {"eos", "sonic"}:
        fabric["switching"]["ecn_marking"] = dict(MARKING)
    if system != "frr":
        with_tunnels(layer)
    return layer


def with_tunnels(layer: Layer) -> Layer:
    """Return the layer with one network over all racks, which tunnels join."""
    fabric = fabric_of(layer)
    fabric["switching"]["evpn"] = True
    fabric["mtu"] = 9166
    network = layer["sites"][0]["addresses"]["networks"][1]
    network.pop("rack_prefix", None)
    network["ranges"] = [{"of": "dgx", "first": "10.30.0.16"}]
    return layer


def plan_of(tmp_path: Path, layer: Layer) -> Plan:
    path = tmp_path / "layer.yaml"
    path.write_text(yaml.safe_dump(layer), encoding="utf-8")
    return load_plan(FIXTURE, [path]).plan


def switches_of(tmp_path: Path, layer: Layer) -> dict[str, SwitchConfig]:
    return {one.name: one for one in plan_of(tmp_path, layer).switches}


def problems_of(tmp_path: Path, layer: Layer) -> list[tuple[str, str, str | None]]:
    """Return the place, message and fix of each problem of a layer's switches."""
    try:
        switches_of(tmp_path, layer)
    except PlanError as error:
        return [(_place(one.path), one.message, one.hint) for one in error.problems]
    return []


def _place(path: Iterable[str | int]) -> str:
    return "/".join(map(str, path))
