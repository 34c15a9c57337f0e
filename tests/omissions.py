"""Refused sites with parts left out: what is deleted, what is judged, what explains a pass.

A deletion must not make a refused site pass, unless there is less to judge: less hardware, or less
that is asked of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.errors import RackwrightError
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.policy.api import Enforcement, Policy
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.packs.loader import load_packs
from rackwright.policy.policy_sets import Standing, regime_of, standing_with
from rackwright.policy.settings import configure
from rackwright.spec.tree import Item, Path, Tree

POLICIES = load_packs()
CATALOGUE = load_catalogue()


def paths(data: Any, above: Path = ()) -> Iterator[Path]:
    """Every key and every entry of a list in a document."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        yield (*above, key)
        if isinstance(value, (dict, list)):
            yield from paths(value, (*above, key))


def without(data: Any, path: Path) -> Any:
    """A document less one key or entry."""
    first, *rest = path
    if isinstance(data, list):
        if not rest:
            return [child for index, child in enumerate(data) if index != first]
        return [without(c, tuple(rest)) if n == first else c for n, c in enumerate(data)]
    if not rest:
        return {key: child for key, child in data.items() if key != first}
    return {**data, first: without(data[first], tuple(rest))}


def changed(data: Any, path: Path, value: Any) -> Any:
    """A document with another value at one place, which its mapping may not have had."""
    first, *rest = path
    new = changed(data[first], tuple(rest), value) if rest else value
    if isinstance(data, list):
        return [new if index == first else child for index, child in enumerate(data)]
    return {**data, first: new}


def field_of(path: Path) -> str:
    """The place of a path in the model: ``sites[].power.sources[].fed_by[]``."""
    return ".".join("[]" if isinstance(part, int) else part for part in path).replace(".[]", "[]")


def plan_of(data: Any, catalogue: Catalogue = CATALOGUE) -> Plan | None:
    """The plan of a document; None where it is no blueprint, or an impossible one."""
    try:
        return expand(Blueprint.model_validate(data), catalogue)
    except (ValidationError, RackwrightError):
        return None


def hardware(plan: Plan) -> Counter[tuple[str, ...]]:
    """What stands at the sites of a plan, in pieces."""
    found: Counter[tuple[str, ...]] = Counter()
    for site in plan.onprem:
        name = site.site.name
        for number, count in site.rack_counts.items():
            for device in site.devices_of(number):
                found[name, device.entry] += count
        for feed in site.feeds:
            if feed.pdu_entry is not None:
                found[name, feed.pdu_entry] += feed.pdus * site.rack_counts[feed.rack_class]
        for hall in site.site.halls:
            found[name, "air handler"] += hall.air.count if hall.air else 0
        for loop in site.site.loops:
            found[name, loop.cdu] += loop.count
        for plant in site.site.plant or ():
            found[name, "plant", plant.name] += plant.count
        found.update((name, "source", source.name) for source in site.site.power.sources)
        found.update((name, "file system", system.name) for system in site.site.file_systems)
    for cloud in plan.aws:
        for group in cloud.site.node_groups:
            found[cloud.site.name, group.type] += group.count
        for server in (cloud.site.head, cloud.site.login):
            if server is not None:
                found[cloud.site.name, server.type] += server.count
        found.update(
            (cloud.site.name, "file system", system.name) for system in cloud.site.file_systems
        )
    return found


@dataclass(frozen=True)
class Refused:
    """A site that is refused.

    Attributes:
        name: what is wrong with it.
        data: its document.
        policies: those that judge it, with their parameters.
    """

    name: str
    data: Any
    policies: Sequence[Policy]
    catalogue: Catalogue = CATALOGUE

    @cached_property
    def plan(self) -> Plan:
        plan = plan_of(self.data, self.catalogue)
        assert plan is not None, self.name
        return plan

    @cached_property
    def refusing(self) -> Sequence[Policy]:
        """The policies that refuse it."""
        return [policy for policy in self.policies if blocking(self.plan, [policy])]

    @cached_property
    def whole(self) -> set[tuple[str, str]]:
        """What any policy finds against it: the rule and the subject."""
        return against(self.plan)

    def verdict(self, omitted: Sequence[Path]) -> str | None:
        """What comes of it without some parts; None where that is no blueprint.

        One of ``refused``, ``less hardware`` and ``passes``.
        """
        data = self.data
        for path in sorted(omitted, key=_place, reverse=True):
            data = without(data, path)
        plan = plan_of(data, self.catalogue)
        if plan is None:
            return None
        if blocking(plan, self.refusing):
            return "refused"
        if hardware(self.plan) - hardware(plan):
            return "less hardware"
        if against(plan) - self.whole:
            return "refused"
        return "passes"


def _place(path: Path) -> list[tuple[int, str]]:
    """By which paths are sorted: what is deleted last moves nothing that another one names."""
    return [(part, "") if isinstance(part, int) else (-1, part) for part in path]


def blocking(plan: Plan, policies: Sequence[Policy]) -> list[Result]:
    """What ``policies`` find that refuses a plan, each standing as if it were in force."""
    standings = {policy.id: Standing(policy.enforcement) for policy in policies}
    results = evaluate(plan, policies, standings, lambda _: None).results
    return [result for result in results if result.blocks]


def in_force(blueprint: Blueprint) -> list[Policy]:
    """The policies that refuse a blueprint, as it sets them."""
    regime = regime_of(blueprint)
    mandatory = Enforcement.MANDATORY
    nowhere = Tree(Item({}, "<blueprint>", 1, 1), {}, ("<blueprint>",))
    return [
        policy
        for policy in configure(POLICIES, blueprint.policies, nowhere)
        if standing_with(policy, blueprint.policies, regime).enforcement == mandatory
    ]


def against(plan: Plan) -> set[tuple[str, str]]:
    """What refuses a plan by the released policy set, each rule as the blueprint sets it."""
    found = blocking(plan, in_force(plan.blueprint))
    return {(result.policy, result.subject.name) for result in found}
