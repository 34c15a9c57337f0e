"""Gain of a workload by the change of one field."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rackwright.errors import SpecErrors
from rackwright.plan.load import load_data
from rackwright.plan.workload.prediction import Prediction, with_links

if TYPE_CHECKING:
    from rackwright.plan.load import LoadedPlan


@dataclass(frozen=True, slots=True)
class Improvement:
    """A change of the blueprint, and what it brings.

    Attributes:
        field: of the blueprint.
        what: the change, for people.
        gain: more tokens a day, as a share.
        dollars: that it costs more in a year; None where it is not known.
    """

    field: str
    what: str
    gain: float
    dollars: float | None = None


def changes(
    prediction: Prediction, flat_fabrics: Mapping[str, float] | None = None
) -> Iterator[Improvement]:
    """Yield what lifts the tokens of a day, the most first.

    Args:
        prediction: of one workload.
        flat_fabrics: dollars that a site costs more in a year without oversubscription, by site.
    """
    found = [one for one in _candidates(prediction) if one.gain >= 0.001]
    for one in sorted(found, key=lambda one: -one.gain):
        flat = one.field.endswith(".fabric.oversubscription")
        yield (
            replace(one, dollars=(flat_fabrics or {}).get(prediction.workload.site))
            if flat
            else one
        )


def flat_fabrics(loaded: LoadedPlan, predictions: Iterable[Prediction]) -> Mapping[str, float]:
    """Return the dollars that each site with an oversubscribed fabric costs more in a year without it.

    Left out are sites whose fabric is written tier by tier, and those whose cost is not known.
    """
    found: dict[str, float] = {}
    for one in predictions:
        site, links = one.workload.site, one.placement and one.placement.links
        if not links or links.oversubscription <= 1 or site in found:
            continue
        document = copy.deepcopy((loaded.written or loaded.tree).data)
        written = next((each for each in document["sites"] if each.get("name") == site), {})
        if not isinstance(written.get("fabric"), dict):
            continue
        written["fabric"]["oversubscription"] = 1
        try:
            flat = load_data(document, catalogue=loaded.plan.catalogue).plan
        except SpecErrors:
            continue  # such a fabric does not fit the site
        costs = [
            next(each.amount.per_year for each in plan.cost.sites if each.name == site)
            for plan in (loaded.plan, flat)
        ]
        if None not in costs:
            found[site] = float(costs[1]) - float(costs[0])  # type: ignore[arg-type]
    return found


def _candidates(prediction: Prediction) -> Iterator[Improvement]:
    placement, step = prediction.placement, prediction.step
    if placement is None or placement.links is None or step is None:
        return
    links = placement.links
    site = f"sites.{prediction.workload.site}"
    if links.oversubscription > 1:
        flat = with_links(prediction, oversubscription=1.0)
        if flat is not None:
            told = f"oversubscription {links.oversubscription:.3g}:1 → 1:1"
            yield Improvement(
                f"{site}.fabric.oversubscription", told, step.seconds / flat.seconds - 1
            )
    if links.rail:
        faster = with_links(prediction, rail=2 * links.rail)
        if faster is not None:
            told = f"{links.rail * 8 / 1e9:.0f} → {links.rail * 16 / 1e9:.0f} Gbps an accelerator"
            yield Improvement(f"{site}.node_groups", told, step.seconds / faster.seconds - 1)
    if prediction.effective:
        lost = 1 / prediction.effective - 1
        yield Improvement("reliability", "no failures, no checkpoints", lost)
