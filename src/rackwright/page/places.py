"""Places of findings on the page: racks, power sources, halls, loops and fabrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rackwright.harmless import visible
from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan

LONGEST = 12
"""Maximum length of a path that is looked up, in parts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place in the drawings of a site, by the names in them.

    A place with only a site means the whole site.

    Attributes:
        site: number of the bare-metal site.
        classes: numbers of classes of racks.
        source: name of a power source.
        cooling: name of a hall, a loop or a circuit in the cooling drawing.
        fabric: name of a fabric.
    """

    site: int
    classes: tuple[int, ...] = ()
    source: str | None = None
    cooling: str | None = None
    fabric: str | None = None


@dataclass(frozen=True)
class Places:
    """Places of a plan by their paths in the blueprint."""

    plan: Plan

    def of(self, path: Path) -> Place | None:
        """Return the place that contains ``path``; None if no drawing shows it."""
        # The longest known prefix is the most specific place.
        for end in range(min(len(path), LONGEST), 0, -1):
            if (found := self._known.get(path[:end])) is not None:
                return found
        return None

    @cached_property
    def _known(self) -> Mapping[Path, Place]:
        found: dict[Path, Place] = {}
        for number, site in enumerate(self.plan.onprem):
            found |= _of_site(number, site)
        return found


def _of_site(number: int, site: SitePlan) -> dict[Path, Place]:
    """Merge places; later ones take precedence at the same path."""
    found = {site.path: Place(number)}
    racks: dict[Path, dict[int, None]] = {}
    for number_, own in enumerate(site.racks):
        for device in own.kind.devices:
            racks.setdefault(own.path_of(device), {})[number_] = None
    rows: dict[tuple[str, str], dict[int, None]] = {}
    halls: dict[str, dict[int, None]] = {}
    for number_, own in enumerate(site.racks):
        racks.setdefault(own.path, {})[number_] = None
        rows.setdefault((own.hall, own.row), {})[number_] = None
        halls.setdefault(own.hall, {})[number_] = None
    for row in site.cooling.rows:
        racks[row.path] = rows.get((row.hall, row.row), {})
    found |= {path: Place(number, tuple(classes)) for path, classes in racks.items()}
    for hall in site.cooling.halls:
        found[hall.path] = Place(
            number, tuple(halls.get(hall.hall, ())), cooling=visible(hall.hall)
        )
    for stage in site.cooling.stages:
        found.setdefault(stage.path, Place(number, cooling=visible(stage.of)))
    for loop in site.cooling.loops:
        found[loop.path] = Place(number, cooling=visible(loop.loop))
    for source in site.power.sources:
        found[source.path] = Place(number, source=visible(source.source))
    for planned in site.fabrics:
        found[planned.path] = Place(number, fabric=visible(planned.name))
        for index in range(len(planned.fabric.tiers)):
            path = (*planned.path, "tiers", index)
            found[path] = Place(number, tuple(racks.get(path, ())), fabric=visible(planned.name))
    return found
