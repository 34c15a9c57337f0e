"""SEC-004: a blueprint holds no secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rackwright.plan.model import Plan, Subject
from rackwright.plan.secrets import find_secrets
from rackwright.policy.api import Finding, Measure, Policy, Profile, Severity


class NoSecrets(Policy):
    """No text of the blueprint looks like a secret."""

    id: ClassVar[str] = "SEC-004"
    title: ClassVar[str] = "A blueprint holds no secret"
    severity: ClassVar[Severity] = Severity.CRITICAL
    since: ClassVar[str] = "0.2"
    family: ClassVar[str] = "security"
    profile: ClassVar[Profile] = Profile.LAB

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A finding for each text that looks like a secret, or one that there is none."""
        found = find_secrets(plan.blueprint)
        for place in found:
            yield Finding(
                Subject(f"{plan.blueprint.name} {place.name}", place.path),
                ok=False,
                message=f"the blueprint holds what looks like {place.kind}",
                fix="revoke it, keep its successor in a store of secrets, and refer to it there",
            )
        if not found:
            at = Subject(plan.blueprint.name, ())
            yield Finding(at, ok=True, message="no text of the blueprint looks like a secret")
