"""Policy sets, profiles and stages: from when, and for which clusters, a rule is mandatory.

A rule belongs to the policy set named in its ``since``, and to every later one. A blueprint that names
an older set is still judged by the rule, as a preview: its findings warn and say so, until the blueprint
moves to the newer set. A released set keeps its rules for ever: a later rule goes into a later set, so
that an upgrade of Rackwright refuses nothing that names its set. An advisory rule may become mandatory
in a later set as well (``mandatory_since``).
A profile says how much depends on a cluster; what hurts people or machines is mandatory in all.
A stage says how far its design is: facts that are needed later may be unknown until then, while a
failure blocks at every stage.
"""

from __future__ import annotations

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
