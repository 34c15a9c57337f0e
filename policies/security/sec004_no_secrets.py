"""SEC-004: a blueprint contains no secrets."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule


@rule(
    "SEC-004",
    "A blueprint contains no secrets",
    Severity.CRITICAL,
    since="0.2",
    stage="concept",
    profile=Profile.LAB,
)
class NoSecrets(Policy):
    """No text of the blueprint looks like a secret."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each text that looks like a secret, or one that there is none."""
        found = plan.secrets
        for place in found:
            yield Finding(
                Subject(f"{plan.name} {place.name}", place.path),
                ok=False,
                message=f"the blueprint contains what looks like {place.kind}",
                fix="revoke it, keep the new one in a secret store, and refer to it there",
            )
        if not found:
            at = Subject(plan.name, ())
            yield Finding(at, ok=True, message="no text of the blueprint looks like a secret")
