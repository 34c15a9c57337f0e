"""From a blueprint to a report: the one path that the command line, stacks and pack all take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from os import PathLike
from pathlib import Path

from rackwright.errors import Location, UsageError
from rackwright.plan.load import LoadedPlan, load_plan, nowhere
from rackwright.plan.model import Plan
from rackwright.policy.api import Enforcement, Policy, Stage
from rackwright.policy.base_approval.approval import Approval, Judgement, asked_by, hold
from rackwright.policy.base_approval.worse_verdict import worst_of
from rackwright.policy.engine import Report, evaluate
from rackwright.policy.exception_report import ExceptionReport, Notice
from rackwright.policy.exceptions.exceptions import PolicyExceptions, apply_exceptions
from rackwright.policy.hazards import unjudged
from rackwright.policy.packs.in_process import with_own
from rackwright.policy.packs.process import judged_apart, judging_rules
from rackwright.policy.questions import questions
from rackwright.policy.reasons import check_reasons
from rackwright.policy.settings import configure
from rackwright.policy.stated_facts import example_files, stated_facts, unfilled_layers
from rackwright.policy.unknowns import Remedies
from rackwright.reading.suggest import did_you_mean


def check_blueprint(
    blueprint: str | PathLike[str] | LoadedPlan | Plan,
    *,
    layers: Sequence[str | PathLike[str]] = (),
    packs: Sequence[str | PathLike[str]] = (),
    policies: Sequence[Policy | type[Policy]] = (),
    only: Sequence[str] = (),
    exceptions: PolicyExceptions | None = None,
) -> Report:
    """Check a blueprint with the built-in policies and with those that are given.

    Args:
        blueprint: the file, or what ``load_plan`` returned, or the plan in that; results about a
            bare plan have no place in a file.
        layers: files over the blueprint, the last one on top. A plan has its layers already.
        packs: folders of more policies; each runs in a process of its own, which reads the
            document, so that a bare plan has none.
        policies: more policies, which run in this process: classes, or instances with parameters.
            Parameters that the blueprint sets in ``policies`` have precedence.
        only: ids of the policies to check; if empty, all.
        exceptions: waivers and baseline, as ``read_exceptions`` returns them; None applies none.

    Returns:
        Every result, and the exit code that follows from them.

    Raises:
        SpecErrors: the blueprint is not valid.
        PolicyLoadError: a policy cannot be loaded.
        UsageError: ``only`` names no policy, or a plan is given with layers or packs that it cannot
            have.
    """
    if isinstance(blueprint, (LoadedPlan, Plan)) and layers:
        raise UsageError("a plan takes no layers", hint="give them to 'load_plan'")
    if isinstance(blueprint, Plan):
        if packs:
            raise UsageError(
                "packs cannot read a bare plan", hint="give what 'load_plan' returned, or the file"
            )
        loaded = LoadedPlan(blueprint, nowhere(blueprint.blueprint.model_dump(exclude_unset=True)))
    else:
        loaded = blueprint if isinstance(blueprint, LoadedPlan) else load_plan(blueprint, layers)
    folders = [Path(pack) for pack in packs]
    if only:
        known = {policy.id for policy in (*judging_rules(folders), *policies)}
        for name in sorted(set(only) - known):
            raise UsageError(f"there is no policy '{name}'", hint=did_you_mean(name, known))
    return check_plan(loaded, packs=folders, policies=policies, only=only, exceptions=exceptions)


def check_plan(
    loaded: LoadedPlan,
    *,
    packs: Sequence[Path] = (),
    policies: Sequence[Policy | type[Policy]] = (),
    only: Sequence[str] = (),
    exceptions: PolicyExceptions | None = None,
    approval: Approval | None = None,
    lenient: bool = False,
    stage: Stage | None = None,
) -> Report:
    """Return the report about a plan.

    Args:
        loaded: the plan.
        packs: folders of more policies.
        policies: more policies, which run in this process.
        only: ids of the policies that judge; empty means all.
        exceptions: waivers and baseline, read from where they count; None judges without.
        approval: how a base revision has approved to be judged; None lets the blueprint decide.
        lenient: pass over settings that do not fit the policies, as those of an older revision may.
        stage: check for this stage instead of the blueprint's own; a later one of the base applies.
    """
    blueprint = loaded.plan.blueprint
    today = datetime.now(UTC).date() if exceptions is None else exceptions.today
    if not lenient:
        check_reasons(blueprint, loaded.tree)
    judged, told = loaded, tuple[Notice, ...]()
    if approval is not None:
        from rackwright.policy.base_approval.approved_plan import grant

        judged, told = grant(loaded, approval)
    known = with_own(judging_rules(packs), policies)
    head = asked_by(blueprint, loaded.tree)
    if stage is not None:
        head = replace(head, regime=replace(head.regime, stage=stage))
    configured: Sequence[Policy] = configure(
        known,
        head.settings,
        head.tree or loaded.tree,
        regime=head.regime,
        policy_set=blueprint.policy_set,
        lenient=lenient,
    )
    # An instance brings its own parameters; those of the blueprint have precedence.
    given = {one.id: one for one in policies if isinstance(one, Policy)}
    for policy_id, setting in head.settings.items():
        if setting.parameters:
            given.pop(policy_id, None)
    rules = [given.get(one.id, one) for one in configured]
    held = hold(known, rules, head, loaded.tree, approval, only)
    severities = {policy.id: policy.severity for policy in known}

    @cache  # many rules look at the same racks
    def locate(path: tuple[str | int, ...]) -> Location | None:
        return loaded.tree.locate(path)

    def report_on(plan: LoadedPlan, judgement: Judgement) -> Report:
        disabled, standings = Enforcement.DISABLED, judgement.standings
        silent = {name for name, one in standings.items() if one.enforcement is disabled}
        dated = [policy.on(today) for policy in judgement.policies]
        looked = judged_apart(dated, silent, plan.tree.data, plan.plan.catalogue)
        remedies = Remedies(plan.plan, locate, loaded.names)
        found = evaluate(plan.plan, looked, standings, locate, held.regime, remedies)
        return (
            found if exceptions is None else apply_exceptions(found, exceptions, severities, only)
        )

    # As it is written, which is how the branch is checked once the change is merged.
    report = report_on(loaded, held.own)
    # And as the base approves it, which is how the change is reviewed. The worse verdict counts.
    if judged is not loaded or held.base is not held.own:
        report = worst_of(report, report_on(judged, held.base))
    remedies = Remedies(loaded.plan, locate, loaded.names)
    report = replace(report, lowered=held.lowered, questions=questions(report.results, remedies))
    if not only:  # otherwise every other hazard would be listed as unchecked
        left = unjudged(judged.plan, report.results)
        report = replace(report, not_judged=tuple(hazard.title for hazard in left))
    if notices := (
        *held.notices,
        *told,
        *stated_facts(judged),
        *unfilled_layers(judged),
        *example_files(loaded),
    ):
        hygiene = report.hygiene or ExceptionReport(today)
        hygiene = replace(hygiene, notices=(*notices, *hygiene.notices))
        report = replace(report, hygiene=hygiene)
    return report
