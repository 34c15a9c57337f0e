"""SEC-002: no device keeps its maker's password, and none shares one."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.attestation import declared


@rule(
    "SEC-002",
    "No device keeps its maker's password, and none shares one",
    Severity.CRITICAL,
    since="0.2",
    stage="build",
)
class Credentials(Policy):
    """Every bare-metal site declares that passwords are replaced, each by one of its own."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two findings for each bare-metal site."""
        for site in plan.onprem:
            path = (*site.path, "security")
            security = site.security
            yield declared(
                Subject(f"{site.name} makers' passwords", path),
                value=security.default_credentials_replaced if security else None,
                yes="no device answers to its maker's password",
                no="devices answer to their maker's password",
                missing=Missing(
                    "'default_credentials_replaced' in the site's 'security'",
                    (*path, "default_credentials_replaced"),
                ),
                fix="replace the passwords of controllers, switches and PDUs, and set "
                "'default_credentials_replaced: true'",
            )
            yield declared(
                Subject(f"{site.name} shared passwords", path),
                value=security.credentials_per_device if security else None,
                yes="no two devices share a password",
                no="devices share a password: who reads one holds them all",
                missing=Missing(
                    "'credentials_per_device' in the site's 'security'",
                    (*path, "credentials_per_device"),
                ),
                fix="let the store of secrets make a password for each device, and set "
                "'credentials_per_device: true'",
            )
