"""The whole comparison of two revisions of a blueprint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rackwright.diff.actions import Action, FieldUpdate, accept, decide
from rackwright.diff.budgets import Budget, budget_changes
from rackwright.diff.changes import compare, reorderings, whole
from rackwright.diff.costs import CostChange, compare_costs
from rackwright.diff.findings import BAD, Findings, sort_findings
from rackwright.diff.generated import FileChanges, compare_files, waves_of_switches
from rackwright.diff.hardware import HostChange, ProductChange, compare_hosts, compare_products
from rackwright.diff.implied_changes import derive
from rackwright.diff.results import pair
from rackwright.diff.revisions import Side, load_side, missing_layers
from rackwright.diff.yields import YieldChange, compare_yields
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.plan.load import LoadedPlan
from rackwright.plan.switches.waves import SwitchWave
from rackwright.policy.base_approval.approval import Approval
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report, Result
from rackwright.policy.exceptions.exceptions import PolicyExceptions
from rackwright.report.paths import own_path, repository_root


@dataclass(frozen=True)
class Comparison:
    """Comparison of a base and a head.

    Attributes:
        before: the verdict on the base; None where it has no such blueprint.
        after: the verdict on the head; None where the blueprint is deleted.
        unlayered: layers that the base does not have.
        switches: those whose configuration changes, in the order of their changes.
        file: the blueprint, from the top of the repository.
    """

    blueprint: str
    base: Side
    head: Side
    before: Report | None
    after: Report | None
    budgets: tuple[Budget, ...]
    findings: Findings
    costs: tuple[CostChange, ...]
    products: tuple[ProductChange, ...]
    hosts: tuple[HostChange, ...]
    files: FileChanges
    updates: tuple[FieldUpdate, ...]
    unlayered: tuple[Path, ...] = ()
    yields: tuple[YieldChange, ...] = ()
    switches: tuple[SwitchWave, ...] = ()
    file: str = ""

    @property
    def refused(self) -> tuple[FieldUpdate, ...]:
        """The updates that would destroy data."""
        return tuple(update for update in self.updates if update.action is Action.REFUSED)

    @property
    def unchanged(self) -> tuple[Result, ...]:
        """Results that are bad in the head and were no better in the base."""
        told = (*self.findings.new, *self.findings.regressions)
        news = {id(pair.after) for pair in told}
        results = self.after.results if self.after else ()
        return tuple(r for r in results if r.outcome in BAD and id(r) not in news)

    @property
    def is_empty(self) -> bool:
        """True if nothing changes."""
        parts = (
            self.budgets,
            self.costs,
            self.yields,
            self.products,
            self.hosts,
            self.files.changes,
            self.updates,
        )
        return not any(parts) and not self.findings.any

    @property
    def exit_code(self) -> ExitCode:
        """The verdict on the head; a violation as well when the change itself does harm.

        It does when data would be destroyed, and when a mandatory rule fails newly or worse than in
        the base, also where the baseline or a waiver lets the head pass.
        """
        verdict = ExitCode.CLEAN if self.after is None else self.after.exit_code
        if (self.refused or self.findings.excused) and verdict is not ExitCode.CRASH:
            return ExitCode.VIOLATION
        return verdict


def compare_sides(
    base: Side,
    head: Side,
    blueprint: Path,
    *,
    layers: Sequence[Path] = (),
    packs: Sequence[Path] = (),
    exceptions: PolicyExceptions | None = None,
    approval: Approval | None = None,
    accepted: Collection[str] = (),
) -> Comparison:
    """Return the comparison; each side is planned and judged once.

    Args:
        base: the older side.
        head: the newer side.
        blueprint: the file.
        layers: files over it.
        packs: folders of more policies.
        exceptions: waivers and baseline that both sides are judged with.
        approval: how the head may be judged; None lets it decide.
        accepted: paths of changes that may destroy data.

    Raises:
        SpecErrors: one side is not valid.
        UsageError: neither side has the blueprint, the head lacks a layer, or something is
            accepted that would not happen.
        RackwrightError: git failed.
    """
    if missing := missing_layers(head, layers):
        raise UsageError(f"there is no '{missing[0]}' at '{head.label}'")
    isolated = approval is not None and approval.isolated
    after = load_side(head, blueprint, layers, isolated=isolated)
    before = load_side(base, blueprint, layers)  # what the base lists, nobody has changed
    if before is None and after is None:
        raise UsageError(f"there is no '{blueprint}' at '{base.label}' or at '{head.label}'")
    cwd = Path.cwd()
    root = repository_root(Path(cwd, blueprint).parent.resolve()) or cwd
    found = compare_plans(
        before,
        after,
        sides=(base, head),
        packs=packs,
        exceptions=exceptions,
        approval=approval,
        accepted=accepted,
        unlayered=missing_layers(base, layers) if before else (),
    )
    return replace(found, file=own_path(str(blueprint), root=root, cwd=cwd))


def compare_plans(
    before: LoadedPlan | None,
    after: LoadedPlan | None,
    *,
    sides: tuple[Side, Side],
    packs: Sequence[Path] = (),
    exceptions: PolicyExceptions | None = None,
    approval: Approval | None = None,
    accepted: Collection[str] = (),
    unlayered: tuple[Path, ...] = (),
) -> Comparison:
    """Return the comparison of plans that are made already; one of them at least."""
    one = other = None
    if before is not None:
        # The packs are today's, and what they were told then may not fit.
        one = check_plan(before, packs=packs, exceptions=exceptions, lenient=True)
    if after is not None:
        other = check_plan(after, packs=packs, exceptions=exceptions, approval=approval)
    pairs = pair(one, other)
    old = before.plan if before else None
    new = after.plan if after else None
    newest = new or old
    budgets = budget_changes(pairs)
    files = compare_files(old, new)
    return Comparison(
        blueprint=newest.name if newest else "",
        base=sides[0],
        head=sides[1],
        before=one,
        after=other,
        budgets=budgets,
        findings=sort_findings(pairs),
        costs=compare_costs(old, new),
        yields=compare_yields(old, new),
        products=compare_products(old, new),
        hosts=compare_hosts(old, new),
        files=files,
        switches=waves_of_switches(files, newest),
        updates=updates(before, after, moved=bool(budgets or files.changes), accepted=accepted),
        unlayered=unlayered,
    )


def updates(
    before: LoadedPlan | None,
    after: LoadedPlan | None,
    *,
    moved: bool = False,
    accepted: Collection[str] = (),
) -> tuple[FieldUpdate, ...]:
    """Return the way of each changed field to the cluster; the gravest first.

    Args:
        before: the base.
        after: the head.
        moved: numbers changed, so a list in another order is no mere spelling.
        accepted: paths of changes that may destroy data.

    Raises:
        UsageError: a path is accepted at which nothing would be destroyed.
    """
    order = list(Action)
    if before is None or after is None:
        found = decide(whole(before, after))
    else:
        orders = reorderings(before, after) if moved else ()
        found = decide((*compare(before, after), *derive(before, after), *orders))
    found = accept(found, accepted)
    return tuple(sorted(found, key=lambda update: -order.index(update.action)))
