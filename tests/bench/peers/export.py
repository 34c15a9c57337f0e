"""The expanded plan of a blueprint as plain JSON, for tools that cannot expand one.

Every rack stands for itself, with its feeds and its nodes inside: what a peer reads is the whole
cluster, not Rackwright's classes of equal racks. All arithmetic is done; the peers only compare.
Units and columns are those of ``rackwright.plan.records``; null is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Node
from rackwright.model.onprem import ASHRAE_ALLOWABLE, ASHRAE_RECOMMENDED
from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.records.circuits import DevicesAfterLoss
from rackwright.plan.records.facility import HallLoad
from rackwright.plan.records.racks import RackClass, RackDevice

Row = Mapping[str, Any]

R = TypeVar("R")


def _names(text: str) -> list[str]:
    return text.split()


RACK = _names(
    "type height_u used_u power_w power_limit_w content_kg weight_kg static_rating_kg "
    "dynamic_rating_kg casters footprint_m2 center_of_mass_u rack_depth_m deepest_m "
    "cable_allowance_m air_direction blanking"
)
DEVICE = _names(
    "kind entry group fits height_u heat_air_w air_direction psu_inlet voltage_min_v "
    "voltage_max_v inlet_min_c inlet_max_c"
)
CIRCUIT = _names(
    "pdu usable_w implied_w branches branch_worst_a branch_rating_a c13_used c13_available "
    "c13_worst_a c13_rating_a c19_used c19_available c19_worst_a c19_rating_a"
)
FEED = _names("feed pdu_entry voltage_v pdu_voltage_v current_a circuit_current_a outlet_voltage_v")
SOURCE = _names("source kind redundancy load_w worst_w capacity_w deviation_w")
HALL = _names(
    "hall containment handler ashrae_class power_w power_limit_w heat_air_w air_capacity_n1_w "
    "supply_cfm air_supply_n1_cfm density_ratio inlet_c"
)


def export(blueprint: Path, *, every_rack: bool = True) -> dict[str, Any]:
    """Every rack, source, row, hall and site of ``blueprint``, as lists of records.

    Args:
        blueprint: its file.
        every_rack: false leaves only the first of equal racks.
    """
    plan = load_plan(blueprint, ()).plan
    found: dict[str, Any] = {"racks": [], "sources": [], "rows": [], "halls": [], "sites": []}
    for site in plan.onprem:
        name, power = site.spec.name, site.spec.power
        found["racks"] += _racks(plan, site, every_rack=every_rack)
        found["sources"] += [_pick(row, SOURCE, site=name) for row in site.power.sources]
        found["rows"] += [
            _pick(row, ("row", "power_w", "power_limit_w"), site=name) for row in site.cooling.rows
        ]
        found["halls"] += [_hall(row, name) for row in site.cooling.halls]
        found["sites"].append(
            {
                "site": name,
                "it_power_w": site.totals.it_power_w,
                "contract_w": power.contract,
                "oversubscription": power.oversubscription,
                "capping": power.capping,
            }
        )
    return found


def _pick(record: object, fields: Iterable[str], **more: Any) -> dict[str, Any]:
    return {**{name: getattr(record, name) for name in fields}, **more}


def _hall(row: HallLoad, site: str) -> dict[str, Any]:
    ashrae = row.ashrae_class or ""
    return _pick(
        row,
        HALL,
        site=site,
        allowable_c=ASHRAE_ALLOWABLE.get(ashrae),
        recommended_c=ASHRAE_RECOMMENDED.get(ashrae),
    )


def _by(table: Iterable[R], *fields: str) -> dict[Any, list[R]]:
    found: dict[Any, list[R]] = {}
    for row in table:
        found.setdefault(tuple(getattr(row, name) for name in fields), []).append(row)
    return found


def _racks(plan: Plan, site: SitePlan, *, every_rack: bool) -> Iterator[dict[str, Any]]:
    """Every rack by itself; equal ones differ by name only."""
    halls = {hall.name: hall for hall in site.spec.halls}
    inlets = {row.hall: row.inlet_c for row in site.cooling.halls}
    derate = site.spec.power.continuous_derate / 100
    for row in site.racks:
        hall, alive = halls[row.hall], _by(row.kind.fates, "entry", "group")
        floor = hall.floor
        nodes = [
            _device(device, alive.get((device.entry, device.group), []))
            for device in row.kind.devices
            if device.kind in {"node", "switch"}
        ]
        content = _pick(
            row.kind,
            RACK,
            hall=row.hall,
            row=row.row,
            site=site.spec.name,
            derate=derate,
            inlet_c=inlets[hall.name],
            whole_rack=_is_whole(nodes, plan.catalogue),
            contained=None if hall.air is None else hall.air.containment != "none",
            floor_uniform=floor.uniform if floor else None,
            floor_concentrated=floor.concentrated if floor else None,
            floor_rolling=floor.rolling if floor else None,
            feeds=_feeds(row),
            nodes=nodes,
        )
        names = row.names
        for name in names if every_rack else names[:1]:
            yield {"rack": name, **content}


def _is_whole(nodes: Iterable[Row], catalogue: Catalogue) -> bool:
    return any(catalogue.get(Node, n["entry"]).whole_rack for n in nodes if n["kind"] == "node")


def _device(device: RackDevice, losses: Iterable[DevicesAfterLoss]) -> dict[str, Any]:
    after = [_pick(loss, ("lost", "alive", "needed_full")) for loss in losses]
    return _pick(device, DEVICE, losses=after)


def _feeds(racks: RackClass) -> list[dict[str, Any]]:
    """Return the feeds of a class of racks, with their circuits and what each loss does to them."""
    circuits = _by(racks.kind.circuits, "feed")
    losses = _by(racks.kind.losses, "feed", "pdu")
    found = []
    for row, source, _ in racks.feeds:
        mine = [
            _pick(
                circuit,
                CIRCUIT,
                losses=[
                    _pick(loss, ("lost", "implied_w", "usable_w"))
                    for loss in losses.get((row.feed, circuit.pdu), [])
                ],
            )
            for circuit in circuits.get((row.feed,), [])
        ]
        found.append(_pick(row, FEED, source=source, circuits=mine))
    return found
