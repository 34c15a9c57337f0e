"""SEC-002: default passwords are replaced, and each device has its own."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.attestation import declared


@rule(
    "SEC-002",
    "Default passwords are replaced, and each device has its own",
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
                yes="default passwords are replaced",
                no="devices still have their default passwords",
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
                no="devices share a password: reading one reveals all of them",
                missing=Missing(
                    "'credentials_per_device' in the site's 'security'",
                    (*path, "credentials_per_device"),
                ),
                fix="let the secret store generate a password for each device, and set "
                "'credentials_per_device: true'",
            )
