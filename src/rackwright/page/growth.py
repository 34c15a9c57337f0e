"""Needs of the next rack of servers, by the rule of the tightest budget."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.harmless import counted
from rackwright.page.budget_rows import BudgetRow
from rackwright.plan.load import LoadedPlan, load_data
from rackwright.policy.check import check_blueprint
from rackwright.report.wording import quantity_text


def next_need(loaded: LoadedPlan, row: BudgetRow) -> str:
    """Return the quantity that one more rack of servers adds to a budget; empty if it cannot be computed.

    The short form is planned again with one rack more of its largest compute group, and the rule of the budget
    checks it. A blueprint in the full form names its racks, so no larger one follows from it.

    Args:
        loaded: the design.
        row: budget of the design.
    """
    written = loaded.written
    if written is None or written is loaded.tree:
        return ""
    data = deepcopy(written.data)
    groups = list(_compute(data, loaded.tree.data))
    if not groups:
        return ""
    group, more = max(groups, key=lambda one: one[0]["count"])
    group["count"] += more
    try:
        larger = load_data(data, catalogue=loaded.plan.catalogue)
        results = check_blueprint(larger, only=[row.policy]).results
    except (
        RackwrightError
    ):  # no room for it, or a rule of a pack: the budget says nothing about them
        return ""
    now = row.result
    then = [one for one in results if (one.subject.name, one.what) == (now.subject.name, now.what)]
    if len(then) != 1 or then[0].value is None or now.value is None or then[0].value <= now.value:
        return ""
    need = quantity_text(then[0].value - now.value, now.unit)
    return f"{counted(more, 'more server')} {'needs' if more == 1 else 'need'} {need}"


def _compute(written: Any, full: Any) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield compute groups with a count as they are written, each with its servers per rack."""
    for site, whole in zip(written["sites"], full["sites"], strict=True):
        per_rack = {one["name"]: one.get("per_rack") for one in whole.get("node_groups", ())}
        for group in site.get("node_groups", ()):
            more = per_rack.get(group["name"])
            if group.get("role") == "compute" and isinstance(group.get("count"), int) and more:
                yield group, more
