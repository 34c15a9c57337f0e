"""SEC-005: nodes boot signed code, and management controllers use TLS."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.attestation import declared


@rule(
    "SEC-005",
    "Nodes boot signed code, and management controllers use TLS",
    Severity.HIGH,
    since="0.2",
    stage="build",
)
class BootAndTransport(Policy):
    """Every bare-metal site declares Secure Boot, and TLS to its management controllers."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two findings for each bare-metal site."""
        for site in plan.onprem:
            path = (*site.path, "security")
            security = site.security
            yield declared(
                Subject(f"{site.name} nodes", path),
                value=security.secure_boot if security else None,
                yes="UEFI Secure Boot is on",
                no="UEFI Secure Boot is off",
                missing=Missing("'secure_boot' in the site's 'security'", (*path, "secure_boot")),
                fix="sign the kernel modules with an enrolled key, turn Secure Boot on, and set "
                "'secure_boot: true'",
            )
            yield declared(
                Subject(f"{site.name} management controllers", path),
                value=security.management_tls if security else None,
                yes="management controllers use TLS with checked certificates",
                no="management controllers do not use TLS, or their certificates are not checked",
                missing=Missing(
                    "'management_tls' in the site's 'security'", (*path, "management_tls")
                ),
                fix="put certificates of the site's own authority on the controllers, check them, "
                "and set 'management_tls: true'",
            )
