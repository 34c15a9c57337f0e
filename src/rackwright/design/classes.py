"""The kinds of racks that a facility may hold, each with what the plan says of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from rackwright.design.document import RackLayout
from rackwright.design.judge import Judge, is_about_a_rack
from rackwright.design.loads import (
    JUDGED_BY,
    LoadBudget,
    LoadLine,
    budgets_of,
    lines_of,
    probe_of,
)
from rackwright.design.model import DesignProduct
from rackwright.errors import SpecError, SpecErrors
from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import LoadedPlan
from rackwright.plan.missing import each_once
from rackwright.policy.engine import Result

_MOST_UNITS = 100
"""Units of a product in one rack; a rack has no more rack units."""
_SPACE = "RACK-001"
"""The rule by which what does not fit does not fit with more units either."""


@dataclass(frozen=True)
class RackOption:
    """A rack with so many units, in one class of positions.

    Attributes:
        position_class: number of the class.
        units: units of the product in it.
        accelerators: accelerators in it.
        power_w: what it draws, in W; None when unknown.
        dollars: what it costs a year, in dollars; None when unknown.
        cable_cm: least length of its cables, in cm; None where that is not asked for.
    """

    position_class: int
    units: int
    accelerators: int
    power_w: float | None
    dollars: int | None
    cable_cm: int | None = None


@dataclass(frozen=True)
class BarredRack:
    """A rack that the policies refuse wherever it stands in a class of positions.

    Attributes:
        position_class: number of the class.
        units: units of the product in it.
        reasons: each rule that refuses it with what it says of the worst, the one about space first.
    """

    position_class: int
    units: int
    reasons: tuple[tuple[str, str], ...]

    @property
    def policy(self) -> str:
        """The first rule that refuses it."""
        return self.reasons[0][0]


@dataclass(frozen=True)
class Survey:
    """Kinds of racks with a product in a facility.

    Attributes:
        product: the product.
        options: racks that may stand there.
        barred: racks that may not.
        lines: budgets as sums over the options.
        unpriced: what keeps costs from being known.
        unjudged: what keeps other racks from being judged: they are left out, as unknown never passes.
    """

    product: DesignProduct
    options: tuple[RackOption, ...]
    barred: tuple[BarredRack, ...]
    lines: tuple[LoadLine, ...]
    unpriced: tuple[str, ...]
    unjudged: tuple[Result, ...]

    def layout(self, racks: Sequence[int]) -> RackLayout:
        """Return the layout with so many racks of each option."""
        return RackLayout(
            self.product,
            {
                (option.position_class, option.units): count
                for option, count in zip(self.options, racks, strict=True)
                if count
            },
        )


def survey(judge: Judge, product: DesignProduct) -> Survey:
    """Return the plan's numbers of one rack of each kind with ``product``.

    Raises:
        SpecErrors: the facility is not valid, or the product has no accelerators.
    """
    builder = judge.builder
    facility, reserve = builder.document.facility, builder.document.wanted.reserve
    bare = judge.load(builder.trial(None))
    options: list[RackOption] = []
    barred: list[BarredRack] = []
    sites: list[SitePlan] = []
    unpriced: list[str] = []
    unjudged: list[Result] = []
    enforced: frozenset[str] = frozenset()
    for number in range(len(builder.classes)):
        if (like := builder.alike(number)) != number:
            mine = [n for n, one in enumerate(options) if one.position_class == like]
            options += [replace(options[n], position_class=number) for n in mine]
            sites += [sites[n] for n in mine]
            others = [one for one in barred if one.position_class == like]
            barred += [replace(one, position_class=number) for one in others]
            continue
        for units in range(1, (product.most_per_rack or _MOST_UNITS) + 1):
            loaded = judge.load(builder.trial(RackLayout(product, {(number, units): 1})))
            option, missing = _option(bare, loaded, number, units)
            if not option.accelerators:
                raise SpecErrors([_no_accelerators(judge, product)])
            verdict = judge.trial(loaded)
            enforced |= verdict.enforced
            refused = verdict.refused
            unsaid = [one for one in verdict.unknown if is_about_a_rack(one.policy)]
            if unsaid and not refused:
                unjudged += unsaid
                if any(one.policy == _SPACE for one in unsaid):
                    break
                continue
            if not refused:
                options.append(option)
                sites.append(loaded.plan.onprem[0])
                unpriced += missing
                continue
            barred.append(BarredRack(number, units, _reasons(refused)))
            if barred[-1].policy == _SPACE:
                break
    budgets = {
        key: budget
        for site in (bare.plan.onprem[0], *sites)
        for key, budget in budgets_of(site, facility, reserve, enforced).items()
    }
    probes = [probe_of(site) for site in sites]
    lines = lines_of(budgets, probe_of(bare.plan.onprem[0]), probes, facility.pue)
    lines += tuple(_costs(bare, options, enforced))
    return Survey(
        product, tuple(options), tuple(barred), lines, each_once(unpriced), tuple(unjudged)
    )


def _reasons(refused: Sequence[Result]) -> tuple[tuple[str, str], ...]:
    """Return the worst finding of each rule in words, the rule about space first."""
    worst: dict[str, Result] = {}
    for one in sorted(refused, key=_share, reverse=True):
        worst.setdefault(one.policy, one)
    order = sorted(worst, key=lambda policy: (policy != _SPACE, policy))
    return tuple((policy, _told(worst[policy])) for policy in order)


def _share(one: Result) -> float:
    return one.value / one.limit if one.value is not None and one.limit else 0.0


def _told(one: Result) -> str:
    return one.message if is_about_a_rack(one.policy) else f"{one.subject.name}: {one.message}"


def _option(
    bare: LoadedPlan, loaded: LoadedPlan, number: int, units: int
) -> tuple[RackOption, tuple[str, ...]]:
    """Return a rack, and what keeps its cost from being known."""
    before, after = bare.plan.onprem[0].totals, loaded.plan.onprem[0].totals
    power = None
    if before.it_power_w is not None and after.it_power_w is not None:
        power = after.it_power_w - before.it_power_w
    old, new = bare.plan.cost.per_year, loaded.plan.cost.per_year
    dollars = None if old is None or new is None else round(new - old)
    accelerators = after.accelerators - before.accelerators
    option = RackOption(number, units, accelerators, power, dollars)
    return option, loaded.plan.cost.missing


def _costs(
    bare: LoadedPlan, options: Sequence[RackOption], enforced: AbstractSet[str]
) -> Iterator[LoadLine]:
    """Yield the budget of a year as a sum over racks, where it blocks and what all of them cost is known."""
    costs, before = bare.plan.costs, bare.plan.cost.per_year
    budget = costs.budget_per_year if costs else None
    dollars = [one.dollars for one in options if one.dollars is not None]
    if JUDGED_BY["cost"] not in enforced or budget is None or before is None or not dollars:
        return
    if len(dollars) == len(options):
        limit = LoadBudget(
            ("cost", "", None), "budget", "budget of a year", float(budget), "USD/year"
        )
        # To the dollar, a rack may cost half of one less.
        yield LoadLine(limit, float(before), [max(0.0, one - 0.5) for one in dollars])


def _no_accelerators(judge: Judge, product: DesignProduct) -> SpecError:
    builder = judge.builder
    number = builder.document.wanted.products.index(product)
    path = ("wanted", "products", number, "type")
    return SpecError(
        f"'{product.type}' has no accelerators",
        hint="'rackwright catalogue list --kind nodes' lists what there is",
        location=builder.tree.locate(path),
    )
