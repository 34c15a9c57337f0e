"""Elevations of a site: one for all racks with equal content, and the texts of each rack in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.drawings.elevation import cables_of, draw_rack
from rackwright.drawings.svg import Drawing
from rackwright.harmless import visible
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan
from rackwright.plan.records.racks import RackClass
from rackwright.report.overview.rack import RackView, view_rack
from rackwright.report.wording import printable, quantity_of

LARGEST = 6_000_000
"""Maximum size of all elevations of a page, in characters; further classes only have their numbers."""

_OWN = re.compile(r'(data-t="[^"]*">)[^<]*')


@dataclass
class Elevations:
    """Elevations of a page without duplicates.

    Attributes:
        drawn: elevations as SVG.
    """

    drawn: list[str]
    _numbers: dict[str, int]
    _size: int = 0

    @classmethod
    def empty(cls) -> Elevations:
        """Return an empty elevation."""
        return cls([], {})

    def add(self, drawing: Drawing) -> int | None:
        """Return the number of an elevation, regardless of the texts of its rack; None beyond the maximum size."""
        key, svg = _OWN.sub(r"\1", drawing.body), drawing.inline()
        if key not in self._numbers:
            if self._size + len(svg) > LARGEST:
                return None
            self._size += len(svg)
            self._numbers[key] = len(self.drawn)
            self.drawn.append(svg)
        return self._numbers[key]


def rack_data(plan: Plan, site: SitePlan, elevations: Elevations) -> dict[str, Any]:
    """Return the classes of racks, and the racks by name, for the script of the page."""
    cables = cables_of(site)
    classes = []
    for own in site.racks:
        view = view_rack(plan, site, own, own.names[0])
        number = elevations.add(draw_rack(view, cables))
        classes.append(_class(view, number))
    names = plan.racked[site.name]
    labelled = [one["l"] for one in classes]
    racks: dict[str, list[Any]] = {}
    for number, own in enumerate(site.racks):
        for name, position in zip(own.names, own.positions, strict=True):
            here = names.get(name, {})
            labels = [_span(here[n]) for n in labelled[number] if here.get(n)]
            racks[visible(name)] = [number, position + 1, labels]
    return {"classes": classes, "racks": racks}


def _span(names: Sequence[str]) -> str:
    first, last = names[0], names[-1]
    return visible(first if first == last else f"{first} … {last}")


def _class(view: RackView, number: int | None) -> dict[str, Any]:
    own = view.racks
    return {
        "d": number,
        "n": own.count,
        "a": printable(own.hostlist),
        "where": printable(f"{own.kind.type}, {own.hall} {own.row}"),
        "s": [printable(source) for source in own.sources],
        # The devices with names, from the first to the last: each rack lists its labels so.
        "l": sorted(one.number for one in view.devices if one.names),
        "facts": [*_facts(own), *_fates(view)],
    }


def _facts(own: RackClass) -> list[tuple[str, str]]:
    return [
        ("power", quantity_of(own.kind.power_w, own.kind.power_limit_w, "W")),
        ("heat to air", quantity_of(own.kind.heat_air_w, None, "W")),
        ("heat to liquid", quantity_of(own.kind.heat_liquid_w, None, "W")),
        ("content", quantity_of(own.kind.content_kg, own.kind.static_rating_kg, "kg")),
        ("weight", quantity_of(own.kind.weight_kg, None, "kg")),
        ("height", quantity_of(own.kind.used_u, own.kind.height_u, "U")),
        ("cooling", own.kind.mode),
    ]


def _fates(view: RackView) -> list[tuple[str, str]]:
    """Return the states of the devices after the loss of each feed."""
    found: dict[str, list[str]] = {}
    for one in view.fates:
        if any(feed.feed == one.lost for feed in view.feeds):
            words = found.setdefault(one.lost, [])
            if one.state != "full":
                words.append(f"{one.devices} × {printable(one.entry)} {one.state}")
    return [
        (f"feed {printable(lost)} lost", "; ".join(words) or "all keep running in full")
        for lost, words in found.items()
    ]
