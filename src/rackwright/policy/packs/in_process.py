"""Policies that a program defines and checks with, in its own process."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rackwright.errors import PolicyLoadError
from rackwright.policy.api import Policy
from rackwright.policy.packs.loader import ID, check_facts

FAMILY = "own"
"""Family of a policy that lies in no folder."""


def with_own(rules: Sequence[type[Policy]], own: Sequence[object]) -> tuple[type[Policy], ...]:
    """Return ``rules`` and the classes of ``own``.

    Raises:
        PolicyLoadError: a class of ``own`` is no complete policy, or its id is taken.
    """
    taken = {rule.id for rule in rules}
    classes = []
    for given in own:
        policy = given if isinstance(given, type) else type(given)
        name = policy.__name__
        if not issubclass(policy, Policy) or inspect.isabstract(policy):
            raise PolicyLoadError(
                f"'{name}' is not a policy", hint="derive it from 'Policy' and write 'check'"
            )
        if not hasattr(policy, "family"):
            policy.family = FAMILY
        check_facts(policy)
        if not ID.fullmatch(policy.id):
            raise PolicyLoadError(f"the policy id '{policy.id}' of '{name}' is not like 'ACME-001'")
        if policy.id in taken:
            raise PolicyLoadError(
                f"the policy id '{policy.id}' of '{name}' is used already",
                hint="give the policy an id with a prefix of its own",
            )
        taken.add(policy.id)
        classes.append(policy)
    return (*rules, *classes)
