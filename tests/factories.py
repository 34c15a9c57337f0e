"""Small bare-metal sites for tests: blueprints as data and their plans.

``a_site()`` is four DGX H100 in one rack on three feeds, each feed with its own RPP and UPS under
one utility. Arguments replace whole parts; what a test does not name stays as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan

PDU = "pdu-415v-60a-24c19"
CIRCUIT = {"voltage": "415 V", "current": "60 A", "phases": 3}
CATALOGUE = load_catalogue()
R = TypeVar("R")


def a_source(name: str, *fed_by: str, kind: str | None = None, **more: Any) -> dict[str, Any]:
    """A UPS where something feeds it, else a utility, unless a kind is given."""
    kind = kind or ("ups" if fed_by else "utility")
    return {"name": name, "kind": kind, "fed_by": list(fed_by), **more}


def three_lanes(**utility: Any) -> list[dict[str, Any]]:
    """Utility, then a UPS and an RPP for each of three lanes."""
    made = [a_source("utility", kind="utility", **{"capacity": "600 kW", **utility})]
    for lane in "abc":
        modules = {"count": 3, "capacity": "100 kW", "spare": 1}
        circuit = {"voltage": "415 V", "current": "400 A", "phases": 3}
        made.append(a_source(f"ups-{lane}", "utility", modules=modules))
        made.append(a_source(f"rpp-{lane}", f"ups-{lane}", kind="rpp", circuit=circuit))
    return made


def some_feeds(names: str = "ABC", *, pdu: str | None = PDU, **more: Any) -> list[dict[str, Any]]:
    ends = {"pdu": pdu, "circuit": CIRCUIT} if pdu else {}
    return [{"name": name, "source": f"rpp-{name.lower()}", **ends, **more} for name in names]


def a_rack_group(racks: str = "c01", **more: Any) -> dict[str, Any]:
    return {
        "racks": racks,
        "type": "rack-48u",
        "feeds": some_feeds(),
        "cooling": {"mode": "air"},
        **more,
    }


def a_hall(
    name: str = "hall-1", *, rows: Sequence[Any] | None = None, **more: Any
) -> dict[str, Any]:
    groups = [a_rack_group()] if rows is None else None
    made = rows if groups is None else [{"name": "row-1", "rack_groups": groups}]
    air = {
        "type": "crah-spec-100kw",
        "count": 3,
        "inlet_temperature": "24 °C",
        "temperature_rise": "14 K",
        "ashrae_class": "A2",
        "containment": "hot-aisle",
    }
    return {"name": name, "air": air, "rows": list(made or ()), **more}


def a_row(*groups: dict[str, Any], name: str = "row-1", **more: Any) -> dict[str, Any]:
    return {"name": name, "rack_groups": list(groups), **more}


def some_nodes(
    name: str = "dgx", *, count: int = 4, racks: str = "c01", per_rack: int = 4, **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "role": "compute",
        "type": "dgx-h100",
        "count": count,
        "racks": racks,
        "per_rack": per_rack,
        "name_digits": len(str(count)),
        **more,
    }


def a_site(**more: Any) -> dict[str, Any]:
    power = {
        "continuous_derate": "80 %",
        "power_factor": 0.95,
        "contract": "550 kW",
        "sources": three_lanes(),
    } | more.pop("power", {})
    return copy.deepcopy(
        {
            "name": "lab",
            "provider": "onprem",
            "altitude": "300 m",
            "pue": 1.35,
            "power": power,
            "halls": [a_hall()],
            "node_groups": [some_nodes()],
            **more,
        }
    )


def a_blueprint(*sites: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "rackwright/v1",
        "name": "demo",
        "sites": list(sites) or [a_site()],
        **more,
    }


def a_plan(*sites: dict[str, Any], catalogue: Catalogue | None = None) -> Plan:
    blueprint = Blueprint.model_validate(a_blueprint(*sites))
    return expand(blueprint, CATALOGUE if catalogue is None else catalogue)


def a_site_plan(catalogue: Catalogue | None = None, **more: Any) -> SitePlan:
    return a_plan(a_site(**more), catalogue=catalogue).onprem[0]


def where(table: Iterable[R], **values: Any) -> list[R]:
    """The records of a table with these values."""
    wanted = values.items()
    return [row for row in table if all(getattr(row, name) == value for name, value in wanted)]


def column(table: Iterable[object], name: str) -> list[Any]:
    """The values of one field."""
    return [getattr(row, name) for row in table]


def only(table: Iterable[R], **values: Any) -> R:
    """The one record of a table with these values."""
    (row,) = where(table, **values)
    return row
