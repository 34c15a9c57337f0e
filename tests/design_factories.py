"""Small facilities for ``rackwright design``, and the best layout by trying all of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import product as every
from pathlib import Path
from typing import Any

import yaml

from factories import CATALOGUE
from rackwright.design.document import Builder, RackLayout
from rackwright.design.judge import Judge
from rackwright.design.model import DesignDocument, DesignProduct
from rackwright.reading.loader import load_text

COPPER = {"length": "20 m", "parallel": 1, "material": "copper"}
CIRCUIT = {"voltage": "415 V", "current": "60 A", "phases": 3}


def a_ups(name: str, capacity: str = "100 kW", *, count: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "ups",
        "fed_by": ["utility"],
        "modules": {"count": count, "capacity": capacity, "spare": 1},
        "efficiency": "96 %",
        "recharge": "5 kW",
        "overload": "400 kW",
        "short_circuit_rating": "25 kA",
        "voltage_tolerance": "1 %",
        **more,
    }


def an_rpp(name: str, ups: str, current: str = "400 A", *, parallel: int = 1) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "rpp",
        "fed_by": [ups],
        "circuit": {"voltage": "415 V", "current": current, "phases": 3},
        "short_circuit_rating": "25 kA",
        "conductors": {**COPPER, "cross_section": "240 mm2", "parallel": parallel},
    }


def some_sources(lanes: str = "abc", utility: str = "600 kW", **ups: Any) -> list[dict[str, Any]]:
    """A utility, and a UPS with an RPP for each lane."""
    made: list[dict[str, Any]] = [
        {
            "name": "utility",
            "kind": "utility",
            "capacity": utility,
            "fault_current": "18.5 kA",
            "voltage": "415 V",
        }
    ]
    for lane in lanes:
        made += [a_ups(f"ups-{lane}", **ups), an_rpp(f"rpp-{lane}", f"ups-{lane}")]
    return made


def some_positions(
    racks: str = "c[01-04]", lanes: Sequence[str] = "abc", **more: Any
) -> dict[str, Any]:
    """Positions on as many feeds as there are lanes."""
    feeds = [
        {
            "name": chr(ord("A") + number),
            "source": f"rpp-{lane}",
            "pdu": "pdu-415v-60a-24c19",
            "circuit": CIRCUIT,
            "conductors": {**COPPER, "cross_section": "16 mm2"},
        }
        for number, lane in enumerate(lanes)
    ]
    return {
        "racks": racks,
        "type": "rack-48u",
        "cooling": {"mode": "air", "power_limit": "45 kW"},
        "blanking": True,
        "aisle_depth": "0.6 m",
        "cable_allowance": "100 mm",
        "cable_weight": "40 kg",
        "shipping": {"height": "2.3 m", "width": "0.6 m", "weight": "200 kg"},
        "feeds": feeds,
        **more,
    }


def a_hall(*groups: dict[str, Any], units: int = 8, **more: Any) -> dict[str, Any]:
    return {
        "name": "hall-1",
        "air": {
            "type": "crah-spec-100kw",
            "count": units,
            "inlet_temperature": "24 °C",
            "temperature_rise": "14 K",
            "ashrae_class": "A2",
            "containment": "hot-aisle",
            "water": "chilled",
            "power": "5 kW",
            "fed_by": ["utility"],
        },
        "floor": {"uniform": "1221 kg/m2", "concentrated": "680 kg", "rolling": "680 kg"},
        "delivery": {
            "height": "2.4 m",
            "width": "1.2 m",
            "rating": "1500 kg",
            "rolling": "680 kg",
            "slope": "0 %",
        },
        "rows": [{"name": "row-1", "rack_groups": list(groups or [some_positions()])}],
        **more,
    }


def a_facility(*, contract: str = "600 kW", **more: Any) -> dict[str, Any]:
    """A hall of four positions on three feeds, in which all is known."""
    sources = more.pop("sources", None)
    return copy.deepcopy(
        {
            "name": "lab",
            "altitude": "30 m",
            "design_dry_bulb": "38 °C",
            "security": dict.fromkeys(
                (
                    "management_isolated",
                    "management_tls",
                    "default_credentials_replaced",
                    "credentials_per_device",
                    "secure_boot",
                ),
                True,
            ),
            "power": {
                "continuous_derate": "80 %",
                "power_factor": 0.95,
                "contract": contract,
                "sources": some_sources() if sources is None else sources,
            },
            "halls": [a_hall()],
            "facility_water": [{"name": "chilled"}],
            "plant": [
                {
                    "name": "chillers",
                    "kind": "chiller",
                    "count": 3,
                    "capacity": "220 kW",
                    "power": "20 kW",
                    "water": "chilled",
                    "rejects_to": "outdoors",
                    "outdoor_temperature": "40 °C",
                    "fed_by": ["utility"],
                }
            ],
            **more,
        }
    )


LIQUID = Path(__file__).parents[1] / "policies/fixtures/liquid.yaml"


def a_liquid_document(flow_limit: str, *more: dict[str, Any], **wish: Any) -> dict[str, Any]:
    """Six positions of GB200 NVL72 on a coolant loop, and what else stands in its row."""
    (site,) = yaml.safe_load(LIQUID.read_text("utf-8"))["sites"]
    site = {key: one for key, one in site.items() if key not in {"provider", "node_groups"}}
    site["loops"][0]["flow_limit"] = flow_limit
    for source in site["power"]["sources"]:
        source["short_circuit_rating"] = "50 kA"
    site["power"]["sources"][0]["fault_current"] = "9 kA"
    groups = site["halls"][0]["rows"][0]["rack_groups"]
    groups[0] |= {"racks": "g[01-06]", "cable_weight": "40 kg"}
    groups[0]["cooling"] |= {
        "coolant_weight": "20 kg",
        "manifolds": {"count": 0, "height": "0 U", "weight": "0 kg"},
    }
    for feed in groups[0]["feeds"]:
        feed["tap_off"] = {"current": "400 A", "racks": 1}
    groups += more
    fact = {
        "product": "rack-mgx-48u",
        "field": "gross_rating",
        "value": "1900 kg",
        "source": "the data sheet of the racks that were bought",
        "date": "2026-11-01",
        "confidence": "official",
    }
    mandatory = {"enforcement": "mandatory"}
    return {
        **a_document(site, {**a_wish(product="gb200-nvl72"), **wish}),
        "blueprint": {
            "profile": "lab",
            "facts": [fact],
            "policies": {"COOL-001": mandatory, "COOL-004": mandatory},
        },
    }


def a_wish(
    *, most_per_rack: int | None = None, product: str = "dgx-h100", **more: Any
) -> dict[str, Any]:
    one: dict[str, Any] = {"type": product}
    if most_per_rack is not None:
        one["most_per_rack"] = most_per_rack
    return {"accelerators": "most", "products": [one], **more}


OPERATIONS: dict[str, Any] = {
    "health_checks": True,
    "drain_on_xids": [48, 63, 64, 74, 79, 92, 94, 95, 119, 120],
    "software": [
        {
            "name": "metal",
            "sites": ["lab"],
            "kernel": "6.8.0-60-generic",
            "driver": "595.112.07",
            "fabric_manager": "595.112.07",
            "nccl": "2.30.4-1",
            "ofed": {"version": "3.2.1", "kernel": "6.8.0-60-generic"},
        }
    ],
    "firmware": [
        {
            "type": "dgx-h100",
            "versions": dict.fromkeys(("bios", "bmc", "gpu", "nic", "nvswitch"), "set-1"),
            "enforced": True,
        }
    ],
    "burn_in": {"duration": "72 h", "facility_informed": True},
    "changes": {"protect_storage": True, "most_nodes": "10 %"},
}


def a_document(
    facility: dict[str, Any] | None = None, wish: dict[str, Any] | None = None, **blueprint: Any
) -> dict[str, Any]:
    later = {
        "enforcement": "disabled",
        "reason": "jobs are not planned yet",
        "owner": "dc@example.com",
    }
    settings = {"REL-002": later}
    policies = settings | blueprint.pop("policies", {})
    return {
        "apiVersion": "rackwright/v1",
        "kind": "design",
        "name": "demo",
        "wanted": a_wish() if wish is None else wish,
        "facility": a_facility() if facility is None else facility,
        "blueprint": {
            "profile": "pilot",
            "operations": OPERATIONS,
            "policies": policies,
            **blueprint,
        },
    }


def a_judge(document: dict[str, Any]) -> Judge:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    loaded = load_text(text, DesignDocument, name="wanted.yaml")
    return Judge(Builder(loaded.value, loaded.tree, CATALOGUE))


def all_layouts(judge: Judge, product: DesignProduct, most_units: int) -> Iterator[RackLayout]:
    """Every layout with at least one rack and at most so many units in each."""
    sizes = [len(one.positions) for one in judge.builder.classes]
    kinds = [(n, units) for n in range(len(sizes)) for units in range(1, most_units + 1)]
    for counts in every(*(range(sizes[n] + 1) for n, _ in kinds)):
        racks = {kind: count for kind, count in zip(kinds, counts, strict=True) if count}
        fits = all(
            sum(count for (c, _), count in racks.items() if c == n) <= size
            for n, size in enumerate(sizes)
        )
        if racks and fits:
            yield RackLayout(product, racks)


def passing(judge: Judge, product: DesignProduct, most_units: int) -> list[RackLayout]:
    """Those that the policies let pass, the reserves included."""
    reserve = judge.builder.document.wanted.reserve.positions
    room = judge.builder.positions - reserve
    return [
        layout
        for layout in all_layouts(judge, product, most_units)
        if layout.count <= room and judge.judge(layout).passes
    ]
