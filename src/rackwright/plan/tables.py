"""The tables of a site plan and their columns.

Units are in the column's ending: ``_w`` watts, ``_a`` amperes, ``_v`` volts, ``_kg``, ``_m``,
``_m2``, ``_c`` degrees Celsius, ``_cfm``, ``_lpm`` litres per minute, ``_u`` rack units. Null is
unknown, never a default. ``devices.psus`` is the number of power supplies on each feed, as
``2,2,2``. ``path`` is a place in the blueprint as slash-separated text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rackwright.plan.model import Path, Table

_TEXT, _REAL, _WHOLE, _FLAG = str, float, int, bool

Columns = Mapping[str, type]


def _columns(kind: type, names: str) -> dict[str, type]:
    return dict.fromkeys(names.split(), kind)


RACKS = _columns(_TEXT, "rack hall row") | _columns(_WHOLE, "rack_class position")
RACK_CLASSES = (
    _columns(_WHOLE, "rack_class count casters")
    | _columns(_TEXT, "racks hall row path type mode loop air_direction")
    | _columns(
        _REAL,
        "height_u used_u power_w peak_w heat_w heat_air_w heat_liquid_w airflow_cfm flow_lpm "
        "content_kg weight_kg static_rating_kg dynamic_rating_kg footprint_m2 center_of_mass_u "
        "heaviest_top_u rack_depth_m deepest_m cable_allowance_m power_limit_w "
        "rear_door_capacity_w air_into_loop_w",
    )
    | _columns(_FLAG, "leak_detection isolation blanking has_liquid")
)
DEVICES = (
    _columns(_WHOLE, "rack_class device psu_count full_performance degraded")
    | _columns(
        _TEXT,
        "kind entry group path air_direction psu_inlet medium water_class connector psus",
    )
    | _columns(
        _REAL,
        "unit_low height_u power_w nameplate_w peak_w heat_w heat_air_w heat_liquid_w airflow_cfm "
        "flow_lpm weight_kg depth_m inlet_min_c inlet_max_c psu_rating_w degraded_power_w "
        "voltage_min_v voltage_max_v max_supply_c",
    )
    | _columns(_FLAG, "fits")
)
FEEDS = (
    _columns(_WHOLE, "rack_class pdus phases")
    | _columns(_TEXT, "feed source path pdu_entry wiring")
    | _columns(
        _REAL, "voltage_v current_a circuit_current_a outlet_voltage_v usable_w load_w peak_w"
    )
    | _columns(_FLAG, "continuous_rated")
)
CIRCUITS = (
    _columns(_WHOLE, "rack_class pdu c13_used c13_available c19_used c19_available branches")
    | _columns(_TEXT, "feed path")
    | _columns(
        _REAL,
        "usable_w load_w implied_w peak_w imbalance c13_worst_a c19_worst_a c13_rating_a "
        "c19_rating_a "
        "branch_worst_a branch_rating_a",
    )
)
LOSSES = (
    _columns(_WHOLE, "rack_class pdu")
    | _columns(_TEXT, "lost lost_kind feed path")
    | _columns(_REAL, "load_w implied_w usable_w")
)
DEVICE_LOSSES = _columns(_WHOLE, "rack_class devices alive needed_full needed_degraded") | _columns(
    _TEXT, "entry group lost state path"
)
SOURCES = (
    _columns(_TEXT, "source kind path redundancy worst_lost ancestors")
    | _columns(_REAL, "capacity_w overload_w load_w worst_w peak_w imbalance")
    | _columns(_WHOLE, "missing_parents")
    | _columns(_FLAG, "idle")
)
ROWS = _columns(_TEXT, "hall row path") | _columns(
    _REAL, "power_w heat_air_w heat_liquid_w weight_kg power_limit_w"
)
HALLS = (
    _columns(_TEXT, "hall path containment ashrae_class handler")
    | _columns(
        _REAL,
        "power_w heat_air_w heat_liquid_w airflow_cfm supply_cfm weight_kg power_limit_w "
        "inlet_c air_capacity_w air_capacity_n1_w air_supply_cfm air_supply_n1_cfm density_ratio "
        "densest_air_w",
    )
    | _columns(_WHOLE, "handlers")
)
LOOPS = (
    _columns(_TEXT, "loop path cdu fluid facility_class")
    | _columns(
        _REAL,
        "heat_w flow_lpm capacity_w capacity_n1_w cdu_flow_lpm cdu_flow_n1_lpm approach_k "
        "catalogue_approach_k supply_c facility_c dew_point_c pressure_kpa rise_k flow_limit_lpm",
    )
    | _columns(_WHOLE, "cdus")
)
TOTALS = _columns(_WHOLE, "accelerators nodes hosts racks") | _columns(
    _REAL, "it_power_w facility_w heat_air_w heat_liquid_w weight_kg pue contract_w"
)


def table(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Table:
    """The rows with exactly ``columns``, each value of its column's type; nobody can change them."""
    return tuple(
        MappingProxyType(
            {
                name: None if (value := row.get(name)) is None else kind(value)
                for name, kind in columns.items()
            }
        )
        for row in rows
    )


def to_text(path: Path) -> str:
    """``path`` as it stands in a table."""
    return "/".join(map(str, path))


@lru_cache(maxsize=16_384)  # many rules read the same racks
def to_path(text: str) -> Path:
    """The inverse of ``to_text``."""
    return tuple(int(part) if part.isdigit() else part for part in text.split("/")) if text else ()
