"""What adds up to a number of a rack, a hall or a site, and what of it nobody has published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rackwright.plan.model import Contributor, Row, SitePlan, Subject
from rackwright.plan.tables import to_path

NAMES = {
    "airflow_cfm": "published airflow",
    "depth_m": "published depth",
    "flow_lpm": "published coolant flow",
    "heat_air_w": "published heat into the air",
    "heat_liquid_w": "published heat into the liquid",
    "heat_w": "published heat",
    "height_u": "published height",
    "inlet_max_c": "published warmest inlet",
    "inlet_min_c": "published coldest inlet",
    "nameplate_w": "published power",
    "peak_w": "published peak power",
    "power_w": "published power",
    "air_direction": "airflow direction",
    "weight_kg": "published weight",
}
"""Columns of ``devices`` in words."""


def contributors(
    site: SitePlan, column: str, classes: Iterable[int] | None = None, *, per_rack: bool
) -> tuple[Contributor, ...]:
    """Devices by product and by their value of ``column``, the largest sum first.

    ``classes`` restricts them to some rack classes. With ``per_rack`` the devices of one rack of
    each class count, not those of all its racks.
    """
    counts: dict[tuple[str, float], int] = {}
    for row, racks in _devices(site, classes):
        value = row[column]
        if value:
            key = (row["entry"], float(value))
            counts[key] = counts.get(key, 0) + (1 if per_rack else racks)
    found = (Contributor(entry, count, each) for (entry, each), count in counts.items())
    return tuple(sorted(found, key=lambda c: (-c.total, c.name)))


def unknowns(site: SitePlan, column: str, classes: Iterable[int] | None = None) -> tuple[str, ...]:
    """Which products lack ``column``, like ``dgx-b300: published weight``."""
    lacking = {row["entry"] for row, _ in _devices(site, classes) if row[column] is None}
    noun = NAMES.get(column, column)
    return tuple(f"{entry}: {noun}" for entry in sorted(lacking))


def subject(site: SitePlan, row: Mapping[str, Any], suffix: str = "") -> Subject:
    """The subject of a row of ``rack_classes``, like ``sjc1 racks c[01-08]``."""
    noun = "rack" if row["count"] == 1 else "racks"
    name = f"{site.site.name} {noun} {row['racks']} {suffix}".rstrip()
    return Subject(name, to_path(row["path"]))


def _devices(site: SitePlan, classes: Iterable[int] | None) -> Iterator[tuple[Row, int]]:
    """Device rows, each with the number of racks of its class."""
    racks = site.rack_counts
    for number in racks if classes is None else sorted(set(classes)):
        for row in site.devices_of(number):
            yield row, racks[number]
