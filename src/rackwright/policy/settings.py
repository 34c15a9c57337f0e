"""The blueprint's policy settings, checked against the policies themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from rackwright.errors import SpecError, SpecErrors
from rackwright.model.cluster import PolicySetting
from rackwright.policy.api import Enforcement, Policy
from rackwright.policy.policy_sets import SETS, STRICTEST, Regime, standing
from rackwright.policy.reasons import says_something
from rackwright.reading.problems import to_spec_errors
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.tree import Tree

STRENGTH = {Enforcement.DISABLED: 0, Enforcement.ADVISORY: 1, Enforcement.MANDATORY: 2}


def configure(
    policies: Sequence[type[Policy]],
    settings: Mapping[str, PolicySetting],
    tree: Tree,
    *,
    regime: Regime = STRICTEST,
    policy_set: str | None = None,
    lenient: bool = False,
) -> tuple[Policy, ...]:
    """Return the policies with their parameters.

    Args:
        policies: what there is.
        settings: the blueprint's ``policies:``.
        tree: where the blueprint says so.
        regime: what the policies are judged by where no setting says otherwise.
        policy_set: the blueprint's own words for its policy set.
        lenient: pass over settings that do not fit the policies, as those of an older revision may.

    Raises:
        SpecErrors: the policy set is unknown, a setting names no policy, a parameter is wrong, or
            the enforcement is lowered without a reason that says something.
    """
    known = {policy.id: policy for policy in policies}
    errors: list[SpecError] = []
    if policy_set is not None and policy_set not in SETS:
        errors.append(
            SpecError(
                f"policy_set: there is no policy set '{policy_set}'",
                hint=f"known are: {', '.join(SETS)}; a newer rackwright may know more",
                location=tree.locate(("policy_set",)),
            )
        )
    for policy_id, setting in settings.items():
        path = ("policies", policy_id)
        if policy_id not in known:
            errors.append(
                SpecError(
                    f"policies: there is no policy '{policy_id}'",
                    hint=did_you_mean(policy_id, known) or "'rackwright policy list' lists them",
                    location=tree.locate(path, key=True),
                )
            )
        elif setting.enforcement is not None and not says_something(setting.reason):
            stands = standing(known[policy_id], regime).enforcement
            if STRENGTH[Enforcement(setting.enforcement)] < STRENGTH[stands]:
                errors.append(
                    SpecError(
                        f"policies.{policy_id}: '{setting.enforcement}' is weaker than the "
                        f"policy's own '{stands}'",
                        hint="say why in 'reason'"
                        + (f"; '{setting.reason}' does not" if setting.reason else ""),
                        location=tree.locate((*path, "enforcement")),
                    )
                )
    made: list[Policy] = []
    for policy in policies:
        chosen = settings.get(policy.id)
        parameters = chosen.parameters if chosen else {}
        try:
            made.append(policy.model_validate(parameters))
        except ValidationError as error:
            if lenient:
                made += _by_default(policy)
                continue
            prefix = ("policies", policy.id, "parameters")
            errors += to_spec_errors(error, tree, policy, prefix).errors
    if errors and not lenient:
        raise SpecErrors(errors)
    return tuple(made)


def _by_default(policy: type[Policy]) -> list[Policy]:
    """Return the policy with its defaults; none where it has to be told something."""
    try:
        return [policy.model_validate({})]
    except ValidationError:
        return []
