"""Cooling that cannot be: CDUs in racks that are made for the floor, tanks that are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.catalog.loader import Catalogue
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import Cdu
from rackwright.model.racks import RackType
from rackwright.plan.base import Path
from rackwright.plan.problems import PlanProblem
from rackwright.plan.racks.placement import PlacedGroup


def check_loops(
    site: OnPremSite, path: Path, groups: Sequence[PlacedGroup], catalogue: Catalogue
) -> Iterator[PlanProblem]:
    """Yield the mistakes in the CDUs of ``site``, whose products are in the catalogue."""
    for index, loop in enumerate(site.loops):
        if catalogue.get(Cdu, loop.cdu).in_rack is loop.in_rack:
            continue
        where = (*path, "loops", index, "in_rack")
        if loop.in_rack:
            yield PlanProblem(where, f"a {loop.cdu} is not mounted in racks ('in_rack')")
        else:
            text = (
                f"a {loop.cdu} is mounted in racks, and '{loop.name}' does not say 'in_rack: true'"
            )
            yield PlanProblem(where, text, "each rack on the loop then has 'count' of them")
    in_racks = {loop.name for loop in site.loops if loop.in_rack}
    for placed in groups:
        cooling = placed.spec.cooling
        tank = catalogue.get(RackType, placed.spec.type).immersion is not None
        if tank is not (cooling.mode == "immersion"):
            where = (*placed.path, "cooling", "mode")
            noun = "a tank, which needs" if tank else "no tank for"
            text = f"a {placed.spec.type} is {noun} the cooling mode 'immersion'"
            yield PlanProblem(where, text)
        if cooling.rear_door_loop in in_racks and cooling.rear_door_loop != cooling.loop:
            where = (*placed.path, "cooling", "rear_door_loop")
            text = f"the CDUs of '{cooling.rear_door_loop}' stand in racks, and in none of these"
            yield PlanProblem(
                where, text, f"name '{cooling.loop}', or a loop with CDUs beside racks"
            )
