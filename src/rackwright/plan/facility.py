"""Rows, halls, loops and the site as a whole: sums over racks, and what is left after a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import AirHandler, Cdu, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.plan.model import Path
from rackwright.plan.tables import to_text
from rackwright.plan.thermal import LEAKAGE, density_ratio, without_largest

_SUMMED = ("power_w", "heat_air_w", "heat_liquid_w", "airflow_cfm", "flow_lpm", "weight_kg",
           "air_into_loop_w")  # fmt: skip


def _sums(classes: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Sums over racks by ``keys``; null as soon as one rack's value is."""
    exact = [
        pl.when(pl.col(name).is_null().any())
        .then(None)
        .otherwise((pl.col(name) * pl.col("count")).sum())
        .alias(name)
        for name in _SUMMED
    ]
    densest = pl.col("heat_air_w").max().alias("densest_air_w")
    table = classes.group_by(keys, maintain_order=True).agg(*exact, densest)
    return {tuple(row[key] for key in keys): row for row in table.iter_rows(named=True)}


_NOTHING: dict[str, Any] = {**dict.fromkeys(_SUMMED, 0.0), "densest_air_w": 0.0}


def row_rows(site: OnPremSite, path: Path, classes: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of table ``rows``."""
    sums = _sums(classes, ["hall", "row"])
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
    site: OnPremSite, path: Path, classes: pl.DataFrame, catalogue: Catalogue
) -> list[dict[str, Any]]:
    """The rows of table ``halls``: heat and airflow against the air handlers less one."""
    sums = _sums(classes, ["hall"])
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
    site: OnPremSite, path: Path, classes: pl.DataFrame, catalogue: Catalogue
) -> list[dict[str, Any]]:
    """The rows of table ``loops``: heat and flow against the CDUs less one."""
    sums = _sums(classes.filter(pl.col("loop").is_not_null()), ["loop"])
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


def totals_row(
    site: OnPremSite, classes: pl.DataFrame, counts: Mapping[str, int]
) -> dict[str, Any]:
    """The row of table ``totals``."""
    everything = classes.with_columns(pl.lit("site").alias("site"))
    here = _sums(everything, ["site"]).get(("site",), _NOTHING)
    power = here["power_w"]
    return {
        **here,
        **counts,
        "racks": int(classes["count"].sum()),
        "it_power_w": power,
        "facility_w": None if power is None or site.pue is None else power * site.pue,
        "pue": site.pue,
        "contract_w": site.power.contract,
    }
