"""Rows, halls, loops and the site as a whole: sums over racks, and what is left after a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import AirHandler, Cdu, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.plan.model import Path, Row, Table
from rackwright.plan.tables import to_text
from rackwright.plan.thermal import LEAKAGE, density_ratio, without_largest

_SUMMED = ("power_w", "heat_air_w", "heat_liquid_w", "airflow_cfm", "flow_lpm", "weight_kg",
           "air_into_loop_w")  # fmt: skip


def _sums(classes: Table, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Sums over racks by ``keys``; None as soon as one rack's value is."""
    grouped: dict[tuple[Any, ...], list[Row]] = {}
    for row in classes:
        grouped.setdefault(tuple(row[key] for key in keys), []).append(row)
    return {
        key: {
            **{name: _sum(name, rows) for name in _SUMMED},
            "densest_air_w": max(
                (row["heat_air_w"] for row in rows if row["heat_air_w"] is not None), default=None
            ),
        }
        for key, rows in grouped.items()
    }


def _sum(name: str, rows: Sequence[Row]) -> float | None:
    values = [(row[name], row["count"]) for row in rows]
    if any(value is None for value, _ in values):
        return None
    return math.fsum(value * count for value, count in values)


_NOTHING: dict[str, Any] = {**dict.fromkeys(_SUMMED, 0.0), "densest_air_w": 0.0}


def row_rows(site: OnPremSite, path: Path, classes: Table) -> list[dict[str, Any]]:
    """The rows of table ``rows``."""
    sums = _sums(classes, "hall", "row")
    return [
        {
            **sums.get((hall.name, row.name), _NOTHING),
            "hall": hall.name,
            "row": row.name,
            "path": to_text((*path, "halls", h, "rows", r)),
            "power_limit_w": row.power_limit,
        }
        for h, hall in enumerate(site.halls)
        for r, row in enumerate(hall.rows)
    ]


def hall_rows(
    site: OnPremSite, path: Path, classes: Table, catalogue: Catalogue
) -> list[dict[str, Any]]:
    """The rows of table ``halls``: heat and airflow against the air handlers less one."""
    sums = _sums(classes, "hall")
    density = None if site.altitude is None else density_ratio(site.altitude)
    found = []
    for h, hall in enumerate(site.halls):
        here = sums.get((hall.name,), _NOTHING)
        row = {
            **here,
            "hall": hall.name,
            "path": to_text((*path, "halls", h)),
            "power_limit_w": hall.power_limit,
            "density_ratio": density,
        }
        if hall.air is not None:
            unit = catalogue.get(AirHandler, hall.air.type)
            each, flow = unit.capacity.value, fact_value(unit.airflow)
            count = hall.air.count
            airflow = here["airflow_cfm"]
            row |= {
                "handler": unit.id,
                "handlers": count,
                "containment": hall.air.containment,
                "ashrae_class": hall.air.ashrae_class,
                "inlet_c": hall.air.inlet_temperature,
                "air_capacity_w": each * count,
                "air_capacity_n1_w": without_largest(each, count),
                "air_supply_cfm": None if flow is None else flow * count,
                "air_supply_n1_cfm": None if flow is None else without_largest(flow, count),
                "supply_cfm": None if airflow is None else airflow * LEAKAGE[hall.air.containment],
            }
        found.append(row)
    return found


def loop_rows(
    site: OnPremSite, path: Path, classes: Table, catalogue: Catalogue
) -> list[dict[str, Any]]:
    """The rows of table ``loops``: heat and flow against the CDUs less one."""
    sums = _sums([row for row in classes if row["loop"] is not None], "loop")
    found = []
    for index, loop in enumerate(site.loops):
        here = sums.get((loop.name,), _NOTHING)
        cdu = catalogue.get(Cdu, loop.cdu)
        liquid, captured = here["heat_liquid_w"], here["air_into_loop_w"]
        flow = fact_value(cdu.flow)
        found.append(
            {
                "loop": loop.name,
                "path": to_text((*path, "loops", index)),
                "cdu": cdu.id,
                "cdus": loop.count,
                "fluid": loop.fluid,
                "rise_k": loop.temperature_rise,
                "heat_w": None if liquid is None or captured is None else liquid + captured,
                "flow_lpm": here["flow_lpm"],
                "capacity_w": cdu.capacity.value * loop.count,
                "capacity_n1_w": without_largest(cdu.capacity.value, loop.count),
                "cdu_flow_lpm": None if flow is None else flow * loop.count,
                "cdu_flow_n1_lpm": None if flow is None else without_largest(flow, loop.count),
                "approach_k": loop.approach,
                "catalogue_approach_k": fact_value(cdu.approach),
                "supply_c": loop.supply_temperature,
                "facility_c": loop.facility_temperature,
                "facility_class": loop.facility_class,
                "dew_point_c": loop.dew_point,
                "pressure_kpa": loop.pressure,
                "flow_limit_lpm": loop.flow_limit,
            }
        )
    return found


def totals_row(site: OnPremSite, classes: Table, counts: Mapping[str, int]) -> dict[str, Any]:
    """The row of table ``totals``."""
    here = _sums(classes).get((), _NOTHING)
    power = here["power_w"]
    return {
        **here,
        **counts,
        "racks": sum(row["count"] for row in classes),
        "it_power_w": power,
        "facility_w": None if power is None or site.pue is None else power * site.pue,
        "pue": site.pue,
        "contract_w": site.power.contract,
    }
