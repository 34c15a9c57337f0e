"""A pack that a change edits judges twice: as the change has it, and as its base does.

So a change can make a rule stricter at once, and milder only when it is merged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rackwright.policy.api import Outcome, Policy
from rackwright.policy.base_approval.approval import NOTHING, Approval, Approved, stricter
from rackwright.policy.engine import Report, Result, gravity_of, order_of
from rackwright.policy.packs.process import team_rules
from rackwright.policy.policy_sets import Standing
from rackwright.policy.settings import configure
from rackwright.reading.tree import Tree


def base_versions(
    held: Approved, approval: Approval, tree: Tree, only: Collection[str] = ()
) -> tuple[tuple[Policy, ...], Mapping[str, Standing]]:
    """The rules of edited packs as the base has them and with its settings, and how all stand.

    Args:
        held: what judges without them.
        approval: what the base has approved.
        tree: a document, for places.
        only: ids of the policies that judge; empty means all.

    Raises:
        PolicyLoadError: a pack of the base cannot be loaded.
    """
    classes = [rule for pack in approval.edited for rule in team_rules(pack)]
    base = approval.asked or NOTHING
    chosen = [rule for rule in classes if not only or rule.id in only]
    rules = configure(chosen, base.settings, base.tree or tree, regime=base.regime, lenient=True)
    standings = dict(held.standings)
    for rule in rules:
        own = base.standing(rule)
        standings[rule.id] = stricter(own, standings.get(rule.id, own))
    return rules, standings


def worst_of(report: Report, other: Report) -> Report:
    """Return ``report`` with each result of ``other`` that is worse than its own about the same.

    Results that pass, about what ``report`` does not have, are left out where the rule has others:
    both may cut the racks of a site into other groups.
    """
    mine, theirs = _by_topic(report), _by_topic(other)
    judged = {one.policy for one in report.results if one.outcome is not Outcome.NOT_APPLICABLE}
    for key, results in theirs.items():
        worst = min(map(gravity_of, results))
        if key in mine:
            worse = worst < min(map(gravity_of, mine[key]))
        else:
            worse = key[0] not in judged or results[0].outcome not in _GOOD
        if worse:
            mine[key] = results
    found = [one for results in mine.values() for one in results]
    answered = {one.policy for one in found if one.outcome is not Outcome.NOT_APPLICABLE}
    found = [
        one
        for one in found
        if one.outcome is not Outcome.NOT_APPLICABLE or one.policy not in answered
    ]
    more = {one.policy for one in other.results} - {one.policy for one in report.results}
    hygiene = report.hygiene
    if hygiene is not None and other.hygiene is not None:
        notices = dict.fromkeys((*hygiene.notices, *other.hygiene.notices))
        hygiene = replace(hygiene, notices=tuple(notices))
    return replace(
        report,
        results=tuple(sorted(found, key=order_of)),
        policies=report.policies + len(more),
        hygiene=hygiene,
    )


_GOOD = frozenset({Outcome.PASS, Outcome.NOT_APPLICABLE, Outcome.WAIVED})


def _by_topic(report: Report) -> dict[tuple[str, str], list[Result]]:
    """Return the results of a report by rule and subject."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in report.results:
        found.setdefault((result.policy, result.fingerprint), []).append(result)
    return found
