"""From a blueprint to a report: the one path that the command line, stacks and pack all take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location
from rackwright.plan.load import LoadedPlan, load_data, load_plan
from rackwright.policy.api import Enforcement, Policy
from rackwright.policy.base_approval.approval import Approval, asked_by, hold
from rackwright.policy.base_approval.edited_packs import base_versions, worse_of_both
from rackwright.policy.engine import Report, evaluate
from rackwright.policy.exception_report import ExceptionReport, Notice
from rackwright.policy.exceptions.exceptions import PolicyExceptions, apply_exceptions
from rackwright.policy.packs.process import judged_apart, judging_rules
from rackwright.policy.policy_sets import Standing
from rackwright.policy.reasons import check_reasons
from rackwright.policy.settings import configure
from rackwright.policy.stated_facts import stated_facts


def check_blueprint(
    path: Path,
    *,
    layers: Sequence[Path] = (),
    packs: Sequence[Path] = (),
    only: Sequence[str] = (),
    exceptions: PolicyExceptions | None = None,
) -> Report:
    """The report about the blueprint in ``path``.

    Args:
        path: the file.
        layers: files over it, the last one on top.
        packs: folders of more policies.
        only: ids of the policies that judge; empty means all.
        exceptions: waivers and baseline; None judges without.

    Returns:
        Every result, and the exit code that follows from them.

    Raises:
        SpecErrors: the blueprint is not valid.
        PolicyLoadError: a policy cannot be loaded.
    """
    loaded = load_plan(path, layers)
    return check_plan(loaded, packs=packs, only=only, exceptions=exceptions)


def check_data(
    data: Any,
    *,
    packs: Sequence[Path] = (),
    exceptions: PolicyExceptions | None = None,
    catalogue: Catalogue | None = None,
) -> Report:
    """The report about a blueprint that is plain data, as a stack's inputs carry it."""
    loaded = load_data(data, catalogue=catalogue)
    return check_plan(loaded, packs=packs, exceptions=exceptions)


def check_plan(
    loaded: LoadedPlan,
    *,
    packs: Sequence[Path] = (),
    only: Sequence[str] = (),
    exceptions: PolicyExceptions | None = None,
    approval: Approval | None = None,
    lenient: bool = False,
) -> Report:
    """The report about a plan.

    Args:
        loaded: the plan.
        packs: folders of more policies.
        only: ids of the policies that judge; empty means all.
        exceptions: waivers and baseline, read from where they count; None judges without.
        approval: how a base revision has approved to be judged; None lets the blueprint decide.
        lenient: pass over settings that do not fit the policies, as those of an older revision may.
    """
    blueprint = loaded.plan.blueprint
    today = datetime.now(UTC).date() if exceptions is None else exceptions.today
    if not lenient:
        check_reasons(blueprint, loaded.tree)
    judged, told = loaded, tuple[Notice, ...]()
    if approval is not None:
        from rackwright.policy.base_approval.approved_plan import grant

        judged, told = grant(loaded, approval)
    known = judging_rules(packs)
    head = asked_by(blueprint, loaded.tree)
    policies: Sequence[Policy] = configure(
        known,
        head.settings,
        head.tree or loaded.tree,
        regime=head.regime,
        policy_set=blueprint.policy_set,
        lenient=lenient,
    )
    held = hold(policies, head, approval, only)

    @cache  # many rules look at the same racks
    def locate(path: tuple[str | int, ...]) -> Location | None:
        return loaded.tree.locate(path)

    def judge(policies: Sequence[Policy], standings: Mapping[str, Standing]) -> Report:
        disabled = Enforcement.DISABLED
        silent = {name for name, one in standings.items() if one.enforcement is disabled}
        data, catalogue = judged.tree.data, judged.plan.catalogue
        dated = [policy.on(today) for policy in policies]
        looked = judged_apart(dated, silent, data, catalogue)
        return evaluate(judged.plan, looked, standings, locate, held.regime)

    if approval is not None and approval.edited:
        base_rules, standings = base_versions(held, approval, loaded.tree, only)
        report = worse_of_both(judge(held.policies, standings), judge(base_rules, standings))
    else:
        report = judge(held.policies, held.standings)
    report = replace(report, lowered=held.lowered)
    if exceptions is not None:
        severities = {policy.id: policy.severity for policy in known}
        report = apply_exceptions(report, exceptions, severities, only)
    if notices := (*held.notices, *told, *stated_facts(judged)):
        hygiene = report.hygiene or ExceptionReport(today)
        hygiene = replace(hygiene, notices=(*notices, *hygiene.notices))
        report = replace(report, hygiene=hygiene)
    return report
