"""Policy sets, profiles and stages: from when, and for which clusters, a rule is mandatory.

A rule belongs to the policy set named in its ``since``, and to every later one. A blueprint that names
an older set is still judged by the rule, as a preview: its findings warn and say so, until the blueprint
moves to the newer set. A released set keeps its rules for ever: a later rule goes into a later set, so
that an upgrade of Rackwright refuses nothing that names its set. An advisory rule may become mandatory
in a later set as well (``mandatory_since``).
A profile says how much depends on a cluster; what hurts people or machines is mandatory in all.
A stage says how far its design is: facts that are needed later may be unknown until then, while a
failure blocks at every stage.
Baselines and waivers recognize a measure by the words with which its rule was released.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rackwright.model.cluster import PolicySetting
from rackwright.policy.api import Enforcement, Policy, Profile, Stage

SETS = ("0.1", "0.2", "0.3", "0.4", "0.5")
"""Every policy set, oldest first."""

RELEASED = "0.4"
"""The newest released set: that of a blueprint that names none, and what ``init`` writes."""

_PROFILES = tuple(Profile)


def next_set() -> str:
    """Return the policy set that a new rule belongs to: the one after the newest released."""
    later = SETS[SETS.index(RELEASED) + 1 :]
    major, _, minor = RELEASED.partition(".")
    return later[0] if later else f"{major}.{int(minor) + 1}"


@dataclass(frozen=True, slots=True)
class Regime:
    """Profile, policy set and stage that a blueprint is checked for; the strictest by default."""

    profile: Profile = Profile.PRODUCTION
    policy_set: str = SETS[-1]
    stage: Stage = Stage.RUN


STRICTEST = Regime()


@dataclass(frozen=True, slots=True)
class Standing:
    """Standing of a rule.

    Attributes:
        preview: the rule is newer than the blueprint's set, and no setting names it.
        later: the facts that the rule needs may be unknown at the blueprint's stage.
        blocks_from: the later policy set in which its findings block; None if they block already or never.
    """

    enforcement: Enforcement
    preview: bool = False
    later: bool = False
    blocks_from: str | None = field(default=None, compare=False)


def regime_for(profile: str | None, policy_set: str | None, stage: str | None = None) -> Regime:
    """Return the profile and policy set that a blueprint asks for.

    An unknown set is refused by ``settings.configure``; here it is the strictest.
    """
    named = RELEASED if policy_set is None else policy_set
    return Regime(
        Profile(profile or Profile.PRODUCTION),
        named if named in SETS else SETS[-1],
        Stage(stage or Stage.RUN),
    )


def standing(policy: Policy | type[Policy], regime: Regime) -> Standing:
    """Return the standing of ``policy`` without any setting."""
    now = _standing(policy, regime)
    if now.enforcement is not Enforcement.ADVISORY:
        return now
    for named in SETS[SETS.index(regime.policy_set) + 1 :]:
        if _standing(policy, replace(regime, policy_set=named)).enforcement is not now.enforcement:
            return replace(now, blocks_from=named)
    return now


def _standing(policy: Policy | type[Policy], regime: Regime) -> Standing:
    later = regime.stage.before(policy.stage)
    if policy.enforcement is not Enforcement.MANDATORY and not _became_mandatory(policy, regime):
        return Standing(policy.enforcement, is_preview(policy, regime.policy_set), later)
    if is_preview(policy, regime.policy_set):
        return Standing(Enforcement.ADVISORY, preview=True, later=later)
    strict_enough = _PROFILES.index(regime.profile) >= _PROFILES.index(policy.profile)
    enforcement = Enforcement.MANDATORY if strict_enough else Enforcement.ADVISORY
    return Standing(enforcement, later=later)


def _became_mandatory(policy: Policy | type[Policy], regime: Regime) -> bool:
    """Return True if the set of ``regime`` makes an advisory rule mandatory."""
    since = policy.mandatory_since
    if policy.enforcement is not Enforcement.ADVISORY or since not in SETS:
        return False
    return SETS.index(regime.policy_set) >= SETS.index(since)


def standing_with(
    policy: Policy | type[Policy], settings: Mapping[str, PolicySetting], regime: Regime
) -> Standing:
    """Return the standing of ``policy`` with the blueprint's ``policies:``, which take precedence."""
    setting = settings.get(policy.id)
    if setting is None or setting.enforcement is None:
        return standing(policy, regime)
    enforcement = Enforcement(setting.enforcement)
    asked = enforcement is Enforcement.MANDATORY
    return Standing(enforcement, later=not asked and regime.stage.before(policy.stage))


def is_preview(policy: Policy | type[Policy], policy_set: str) -> bool:
    """Return True if ``policy`` came after ``policy_set``.

    A ``since`` that is no policy set, as a team's own numbering, is not a preview.
    """
    if policy.since not in SETS:
        return False
    return SETS.index(policy.since) > SETS.index(policy_set)


_SHARED_SOURCES = {
    "shared by two feeds": "that two feeds cannot do without",
    "go down with": "die with",
}
_RELEASED_WORDS: Mapping[str, Mapping[str, str]] = {
    "AWS-016": {
        "^snapshot interval$": "time between two snapshots",
        "^retention of snapshots$": "time that snapshots reach back",
    },
    "AWS-024": {"(?<!that is) paid for and": " that is paid for and"},
    "COOL-011": {" after the loss of any one source$": ", whatever source is lost,"},
    "COOL-012": {
        "without the CDUs that the load needs": "in which all CDUs that are needed stand still",
        "handlers or their water": "handlers, or water in them",
        "without heat rejection": "in which nothing takes the heat of the water",
    },
    "COOL-013": {
        "against the temperature of their rating": "where their capacity holds",
        "water temperature, against the": "temperature, which is no less than the",
    },
    "COOL-015": {
        "without the CDUs that the load needs": "in which CDUs that are needed stand still",
        "handlers or their water": "handlers, or water in them",
        "without heat rejection": "in which nothing takes the heat of the water",
        "^lower bound of the (.*) (after a|while they) ": r"\1 at least \2 ",
        "(?<!,)$": ",",
    },
    "COOL-016": {
        "against the (air.*),$": r"which the \1 has to be warmer than,",
        "against its declared class": "of the class that it is declared as",
    },
    "COOL-017": {
        "^heat into the air, one (.*?) lost": r"heat in the air that all but one \1 carry",
        ", with return air of": " with air of",
        "(?<! °C),$": "",
        "(carry with air of [^,]*),$": r"\1",
    },
    "COOL-018": {
        "^outdoor air on the coldest day, .*": "air of the coldest day, in which what flows through them freezes,"
    },
    "CST-004": {"against renting": "where renting is the limit"},
    "NET-002": {"^oversubscription": "bandwidth downwards over upwards"},
    "NET-010": {"hosts without a port": "hosts that find no port"},
    "NET-012": {
        "feeds of the worst-fed (.*)": r"feeds that the worst-fed \1 hangs on",
        "switches of the worst-connected node": "switches that the worst-connected node is on",
    },
    "OPS-004": {
        "^time under load in the recorded burn-in$": "load that was run",
        "is informed about burn-ins$": "knows when nodes are burnt in",
    },
    "PWR-001": {"load implied by the busiest line": "load that the busiest line implies"},
    "PWR-002": {"load implied by the busiest line": "load that the busiest line implies"},
    "PWR-003": {"supplies left in each node": "supplies of each node", "^power": "living power"},
    "PWR-005": {
        "^phase imbalance.*": "deviation of the busiest or idlest line from the mean, of what a line carries,"
    },
    "PWR-006": {"against the utility contract,$": "of what the utility has contracted"},
    "PWR-011": _SHARED_SOURCES,
    "PWR-015": {
        "^load implied by (the busiest line of the tap-off box(?: of \\d+ racks)?)": r"load that \1 implies"
    },
    "PWR-016": {"three-phase short-circuit current": "current of a short circuit of three phases"},
    "PWR-017": {"^voltage drop": "drop of the voltage"},
    "PWR-018": {"^battery runtime at this load$": "time that the batteries carry the load"},
    "PWR-019": {"^fuel runtime": "time that the fuel lasts"},
    "PWR-020": {
        "as stated, capped at 125 % of the highest value": "by statement, at most a quarter above the highest",
        "by the highest value": "by the highest",
        "the highest of any standard's table": "the highest of all tables",
        "at most (.*) A by any standard's table": r"\1 A at most in any table",
    },
    "PWR-021": {
        "^lowest fault current": "least current of a fault",
        "against a breaker that trips( at once)? at (.*) times its rating,": r"where \2 times its rating opens the breaker\1,",
    },
    "PWR-022": {"below a breaker of": "below one of"},
    "PWR-023": {"circuit, against the": "circuit, with the"},
    "PWR-024": {"against the rating of (.*),$": r"for which \1 must be rated,"},
    "PWR-027": {
        "against its draw with .*": "of which the rest of it and its accelerators at their lowest limit need"
    },
    "PWR-028": {" in each step$": ", up and down in each of its steps,"},
    "PWR-029": _SHARED_SOURCES,
    "RACK-011": {"on the delivery route": "on the way"},
    "REL-003": {" lost with one ": " that goes with one "},
    "SCH-001": {
        "^number of hosts on a switch that .*": "the number on other switches than their cables lead to",
        "^number of switches that join other hosts than the upper tiers of the fabric": "the number that join other hosts than the fabric's upper tiers",
    },
    "SCH-003": {
        "^(base|largest) size": r"the \1 size",
        "^hosts of a unit left over by the base size$": "what the base size leaves over of a unit",
    },
    "SCH-004": {"^default time of a job$": "the time of a job that asks for none"},
    "SCH-006": {
        "^memory of a host in Slurm, .*": "memory that a kernel can report, less what it describes its pages in"
    },
    "SEC-002": {"^default passwords are replaced$": "no device answers to its maker's password"},
    "SEC-005": {
        "^management controllers use TLS with": "controllers are spoken to by TLS with",
    },
    "SITE-001": {
        "left after the loss of the largest site": "that is left when the largest site is lost"
    },
}
"""Patterns in reworded measures of released rules, and the words at the release."""


def released_words(policy: str, what: str) -> str:
    """Return what a rule measures in the words with which the rule was released."""
    for pattern, released in _RELEASED_WORDS.get(policy, {}).items():
        what = re.sub(pattern, released, what)
    return what
