"""Hazards that no rule has judged: a verdict says what it did not look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter

from rackwright.model.base import Model
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree

_DECIDED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.WAIVED})


class Hazard(Model):
    """A way in which a hall fails, with the rules that judge it."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    """Name of the hazard."""
    title: str
    """The hazard, in words that read well in a list."""
    where: tuple[str, ...] = ()
    """Kinds of sites that it belongs to, any of them; all on bare metal if omitted."""
    rules: tuple[str, ...] = ()
    """Rules that judge it. It is not modelled if omitted."""
    why: str = ""
    """Facts that would be needed to model it."""


_HAZARDS = TypeAdapter(tuple[Hazard, ...])


def _plants(site: SitePlan, *kinds: str) -> bool:
    return any(plant.kind in kinds for plant in site.plant)


def _sources(site: SitePlan, kind: str) -> bool:
    return any(row.kind == kind for row in site.power.sources)


WHERE: Mapping[str, Callable[[SitePlan], bool]] = {
    "ups": lambda site: _sources(site, "ups"),
    "generator": lambda site: _sources(site, "generator"),
    "shelves": lambda site: any(
        device.kind == "shelf" for racks in site.racks for device in racks.kind.devices
    ),
    "accelerators": lambda site: site.totals.accelerators > 0,
    "liquid": lambda site: bool(site.cooling.loops),
    "facility water": lambda site: bool(site.facility_water),
    "plant": lambda site: bool(site.plant),
    "outdoor water": lambda site: _plants(site, "dry-cooler", "cooling-tower"),
    "towers": lambda site: _plants(site, "cooling-tower"),
    "chillers outdoors": lambda site: any(plant.rejects_to == "outdoors" for plant in site.plant),
}
"""Kinds of sites, by the words of the register."""


@cache
def hazards() -> tuple[Hazard, ...]:
    """Return the register of the built-in pack, in its order."""
    return _HAZARDS.validate_python(load_tree(builtin_pack() / "hazards.yaml").data)


def unjudged(plan: Plan, results: Iterable[Result]) -> tuple[Hazard, ...]:
    """Return the hazards of the sites of a plan that none of the results has judged.

    A result that is unknown has judged nothing, and neither has a rule that found nothing to judge.
    """
    judged = {result.policy for result in results if result.outcome in _DECIDED}
    return tuple(
        hazard
        for hazard in hazards()
        if judged.isdisjoint(hazard.rules) and any(_applies(hazard, site) for site in plan.onprem)
    )


def _applies(hazard: Hazard, site: SitePlan) -> bool:
    return not hazard.where or any(WHERE[kind](site) for kind in hazard.where)
