"""Needs of the next rack of servers, by the rule of the tightest budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.page.budget_rows import BudgetRow
from rackwright.page.places import Place
from rackwright.plan.base import Path
from rackwright.plan.load import LoadedPlan, load_data
from rackwright.plan.model import Plan
from rackwright.policy.check import check_blueprint
from rackwright.policy.engine import Result
from rackwright.report.wording import printable, quantity_text

_NUMBER = re.compile(r"\d[\d.,]*")


def next_need(loaded: LoadedPlan, row: BudgetRow) -> str:
    """Return the quantity that one more rack of servers adds to a budget; empty if it cannot be computed.

    The short form is planned again with one rack more of a compute group, and the rule of the budget checks it. Groups
    with racks at the place of the budget come first, then the largest; the first that adds to the budget is named.
    A blueprint in the full form names its racks, so no larger one follows from it.

    Args:
        loaded: the design.
        row: budget of the design.
    """
    written = loaded.written
    if written is None or written is loaded.tree:
        return ""
    near = _groups_at(loaded.plan, row.place)
    paths = sorted(
        _compute(written.data, loaded.tree.data),
        key=lambda path: (path in near, _at(written.data, path)["count"]),
        reverse=True,
    )
    return next(filter(None, (_need(loaded, written.data, row, path) for path in paths)), "")


def _need(loaded: LoadedPlan, written: Any, row: BudgetRow, path: Path) -> str:
    """Return the quantity that one more rack of a group adds to a budget; empty if none or unknown."""
    data, more = deepcopy(written), _at(loaded.tree.data, path)["per_rack"]
    group = _at(data, path)
    group["count"] += more
    try:
        larger = load_data(data, catalogue=loaded.plan.catalogue)
        results = check_blueprint(larger, only=[row.policy]).results
    except (
        RackwrightError
    ):  # no room for it, or a rule of a pack: the budget says nothing about them
        return ""
    now, then = row.result, _same(row.result, results)
    if then is None or then.value is None or now.value is None or then.value <= now.value:
        return ""
    with_switches = _switches(larger.plan) > _switches(loaded.plan)
    switches = f", with {'its' if more == 1 else 'their'} switches," if with_switches else ""
    need = quantity_text(then.value - now.value, now.unit)
    verb = "needs" if more == 1 else "need"
    return f"{more} more of '{printable(group['name'])}'{switches} {verb} {need}"


def _same(now: Result, results: Sequence[Result]) -> Result | None:
    """Return the result about the same quantity, even if its words have another temperature; None if unclear."""
    own = [one for one in results if one.subject.name == now.subject.name]
    words = _NUMBER.sub("", now.what)
    found = [one for one in own if one.what == now.what]
    found = found or [one for one in own if _NUMBER.sub("", one.what) == words]
    return found[0] if len(found) == 1 else None


def _groups_at(plan: Plan, place: Place | None) -> frozenset[Path | None]:
    """Return the paths of groups with devices in racks at a place, on its power or cooling; empty if no racks are."""
    if place is None:
        return frozenset()
    site = plan.onprem[place.site]
    racks = [site.racks[number] for number in place.classes]
    if place.source is not None:
        racks += site.racks_below(place.source)
    if place.cooling is not None:
        racks += [one for one in site.racks if place.cooling in {one.hall, one.kind.loop}]
    return frozenset(device.path for one in racks for device in one.kind.devices)


def _switches(plan: Plan) -> int:
    fabrics = (planned.fabric for site in plan.onprem for planned in site.fabrics)
    return sum(tier.count for fabric in fabrics for tier in fabric.tiers)


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _compute(written: Any, full: Any) -> Iterator[Path]:
    """Yield the paths of compute groups with a written count, and with servers per rack in the full form."""
    for number, site in enumerate(written["sites"]):
        for index, group in enumerate(site.get("node_groups", ())):
            if group.get("role") == "compute" and isinstance(group.get("count"), int):
                path: Path = ("sites", number, "node_groups", index)
                if _at(full, path).get("per_rack"):
                    yield path
