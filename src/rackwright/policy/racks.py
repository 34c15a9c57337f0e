"""How policies name racks and their feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.plan.model import SitePlan, Subject
from rackwright.plan.tables import to_path


class RackNames:
    """Subjects for the rack classes of one site."""

    def __init__(self, site: SitePlan) -> None:
        self._site = site.site.name
        self._rows = {row["rack_class"]: row for row in site.rack_classes}

    def row(self, rack_class: int) -> Mapping[str, Any]:
        """The row of a class."""
        return self._rows[rack_class]

    def subject(self, rack_class: int, suffix: str = "", *, path: str | None = None) -> Subject:
        """The subject of a class, like ``sjc1 racks c[01-08] feed A``."""
        row = self._rows[rack_class]
        noun = "rack" if row["count"] == 1 else "racks"
        name = f"{self._site} {noun} {row['racks']} {suffix}".rstrip()
        return Subject(name, to_path(path if path is not None else row["path"]))


def is_over(value: float | None, limit: float | None) -> bool:
    """Whether a fix is worth computing."""
    return value is not None and limit is not None and value > limit


def unknown_devices(site: SitePlan, rack_class: int, column: str, noun: str) -> tuple[str, ...]:
    """Which products of a rack lack a number, like ``dgx-b300: published heat``."""
    lacking = {row["entry"] for row in site.devices_of(rack_class) if row[column] is None}
    return tuple(f"{entry}: {noun}" for entry in sorted(lacking))
