"""AWS-020: Auto Scaling may use the encryption key of node volumes."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)

_HOW = {
    "grant": "a grant lets Auto Scaling use the key",
    "key-policy": "the policy of the key names Auto Scaling",
}


@rule(
    "AWS-020",
    "Auto Scaling may use the encryption key of node volumes",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class KeyOfNodes(Policy):
    """Nodes whose volumes a key of the team encrypts can start."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each site with a key and node groups."""
        for site in plan.aws:
            access = site.access
            if access.encryption_key is None or not site.groups:
                continue
            at = Subject(f"{site.name} access", (*site.path, "access", "encryption_key"))
            if access.key_for_auto_scaling is not None:
                yield Finding(at, ok=True, message=_HOW[access.key_for_auto_scaling])
                continue
            yield Finding(
                at,
                ok=False,
                message="Auto Scaling has no grant on 'encryption_key', and the blueprint does not state that the "
                "policy of the key names it: each node would end with Client.InternalError",
                fix="set 'access.key_for_auto_scaling: grant', or 'key-policy' where that policy names "
                "AWSServiceRoleForAutoScaling",
            )
