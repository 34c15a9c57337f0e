"""Room of a rack: a site with that rack alone is planned and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.model.hardware import Node, Switch
from rackwright.model.onprem import OnPremSite
from rackwright.model.racks import RackType
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.reading import TRIAL, read
from rackwright.plan.expand import expand_site
from rackwright.plan.problems import PlanError
from rackwright.plan.racks.capacity import circuits_carry

_AROUND = ("provider", "name", "power", "loops", "facility_water", "plant", "altitude")
"""What a hall with racks is planned with; what is cabled to racks or runs on them is left out."""
USUAL = 48.0
"""Units of a rack of unknown type."""


@dataclass(frozen=True, slots=True)
class Room:
    """Fit of a load into one rack.

    Attributes:
        fits: it does as far as the numbers are known.
        why: what it needs, of what there is.
    """

    fits: bool
    why: str


class RackRoom:
    """Racks of one kind on a site."""

    def __init__(
        self,
        draft: Draft,
        site: Path,
        hall: Path,
        group: Mapping[str, Any],
        catalogue: Catalogue,
    ) -> None:
        """Return racks as ``group`` says, in a hall of a site.

        Args:
            draft: the document, with the power sources of the site.
            site: where the site is.
            hall: where the hall is.
            group: the fields of a rack group, without the names of its racks.
            catalogue: where products are looked up.
        """
        self._draft, self._site, self._catalogue = draft, site, catalogue
        said = draft.data(site)
        room = {key: value for key, value in (draft.data(hall) or {}).items() if key != "rows"}
        row = {"name": TRIAL, "rack_groups": [{"racks": TRIAL, **group}]}
        self._type = group["type"]
        self._data = {
            **{key: said[key] for key in _AROUND if key in said},
            "halls": [{**room, "rows": [row]}],
        }

    def most(self, node: Mapping[str, Any]) -> tuple[int, str]:
        """Return the most units of a node group in one rack, at least one, and why.

        Args:
            node: the fields of a node group.

        Raises:
            SpecErrors: the site is not valid.
        """
        highest = max(1, int(self.height // self.height_of(node, Node)))
        last = self.holds([(node, 1)], ())
        if not last.fits:
            return 1, f"not even one fits: {last.why}"
        low, high, beyond = 1, highest + 1, ""
        while high - low > 1:
            count = (low + high) // 2
            found = self.holds([(node, count)], ())
            if found.fits:
                low, last = count, found
            else:
                high, beyond = count, f"; with {count}, {found.why}"
        return low, f"{last.why}{beyond}"

    def holds(
        self,
        nodes: Sequence[tuple[Mapping[str, Any], int]],
        tiers: Sequence[tuple[Mapping[str, Any], int]],
    ) -> Room:
        """Return the fit of so many units of node groups and of switch tiers into one rack.

        Raises:
            SpecErrors: the site is not valid.
        """
        here = {"racks": TRIAL, "units": None}
        data = {
            **self._data,
            "node_groups": [{**n, **here, "count": c, "per_rack": c} for n, c in nodes],
            "fabrics": [
                {
                    "name": f"f{n}",
                    "role": "compute",
                    "tiers": [{**t, **here, "count": c, "per_rack": c}],
                }
                for n, (t, c) in enumerate(tiers)
            ],
        }
        site = read(self._draft, OnPremSite, data, self._site)
        try:
            plan = expand_site(site, self._site, self._catalogue)
        except PlanError:
            return Room(fits=True, why="the plan says why it cannot be planned")
        (rack,) = plan.racks
        parts, fits = [], True
        if rack.kind.used_u is None:
            parts.append("an unknown height")
        else:
            homeless = any(not device.fits for device in rack.kind.devices)
            fits = rack.kind.used_u <= rack.kind.height_u and not homeless
            parts.append(f"{rack.kind.used_u:g} of {rack.kind.height_u:g} U")
        if rack.kind.power_w is None:
            parts.append("an unknown power")
        elif rack.kind.power_limit_w is None:
            parts.append(f"{rack.kind.power_w / 1000:g} kW of an unknown limit")
        else:
            fits = fits and rack.kind.power_w <= rack.kind.power_limit_w * (1 + 1e-9)
            parts.append(f"{rack.kind.power_w / 1000:g} of {rack.kind.power_limit_w / 1000:g} kW")
        carried = circuits_carry(plan, rack)
        fits = fits and carried is not False
        words = {
            None: "circuits of unknown load",
            True: "circuits carry it",
            False: "circuits do not",
        }
        parts.append(words[carried])
        return Room(fits, ", ".join(parts))

    @property
    def height(self) -> float:
        """Units of the empty rack; those of a usual one where the catalogue does not have it."""
        try:
            return self._catalogue.get(RackType, self._type).height.value
        except UnknownEntryError:
            return USUAL

    def height_of(self, load: Mapping[str, Any], kind: type[Node | Switch]) -> float:
        """Return the units that a node or switch takes; one if unknown."""
        try:
            height = self._catalogue.get(kind, load["type"]).height
        except UnknownEntryError:
            height = None  # the plan says so
        return max(1.0, height.value) if height is not None else 1.0
