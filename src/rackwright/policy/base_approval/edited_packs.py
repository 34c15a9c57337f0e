"""A pack that a change edits judges twice: as the change has it, and as its base does.

So a change can make a rule stricter at once, and milder only when it is merged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rackwright.policy.api import Outcome, Policy
from rackwright.policy.base_approval.approval import NOTHING, Approval, Approved, stricter
from rackwright.policy.engine import Report, Result, gravity_of, order_of
from rackwright.policy.packs.loader import NewIds
from rackwright.policy.packs.process import TeamPolicy, team_rules
from rackwright.policy.policy_sets import Standing
from rackwright.policy.settings import configure
from rackwright.reading.tree import Tree


def base_versions(
    held: Approved, approval: Approval, table: NewIds, tree: Tree, only: Collection[str] = ()
) -> tuple[tuple[Policy, ...], Mapping[str, Standing]]:
    """The rules of edited packs as the base has them and with its settings, and how all stand.

    Args:
        held: what judges without them.
        approval: what the base has approved.
        table: the ids of renamed rules by their former ones: what the change renames is one rule.
        tree: a document, for places.
        only: ids of the policies that judge; empty means all.

    Raises:
        PolicyLoadError: a pack of the base cannot be loaded.
    """
    classes = [_renamed(rule, table) for pack in approval.edited for rule in team_rules(pack)]
    base = approval.asked or NOTHING
    chosen = [rule for rule in classes if not only or rule.id in only]
    rules = configure(chosen, base.settings, base.tree or tree, regime=base.regime, lenient=True)
    standings = dict(held.standings)
    for rule in rules:
        own = base.standing(rule)
        standings[rule.id] = stricter(own, standings.get(rule.id, own))
    return rules, standings


def _renamed(rule: type[TeamPolicy], table: NewIds) -> type[TeamPolicy]:
    new = table.get(rule.id)
    return rule if new is None else type(rule.__name__, (rule,), {"id": new})


def worse_of_both(head: Report, base: Report) -> Report:
    """``head`` with the results of ``base``: the worse one where both judge the same."""
    chosen: dict[tuple[str, str], Result] = {}
    for result in (*base.results, *head.results):  # of equal ones the base's is kept
        key = result.policy, result.fingerprint
        other = chosen.setdefault(key, result)
        if gravity_of(result) < gravity_of(other):
            chosen[key] = result
    answered = {one.policy for one in chosen.values() if one.outcome is not Outcome.NOT_APPLICABLE}
    results = [
        one
        for one in chosen.values()
        if one.outcome is not Outcome.NOT_APPLICABLE or one.policy not in answered
    ]
    ids = {one.policy for one in head.results}
    more = {one.policy for one in base.results} - ids
    return replace(
        head, results=tuple(sorted(results, key=order_of)), policies=head.policies + len(more)
    )
