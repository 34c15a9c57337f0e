"""OPS-005: software versions match the site's accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.software.versions import SiteSoftware
from rackwright.policy.helpers.software import accelerator_vendors

_FIELDS = {
    "nvidia": (
        "driver",
        "fabric_manager",
        "imex",
        "cuda",
        "dcgm",
        "nccl",
        "nccl_tests",
        "container_toolkit",
    ),
    "amd": ("amd",),
    "aws": ("neuron",),
}
"""Fields of the software versions that are about the accelerators of one vendor."""
_NAMES = {"nvidia": "NVIDIA", "amd": "AMD", "aws": "AWS"}


@rule(
    "OPS-005",
    "Software versions match the site's accelerators",
    Severity.HIGH,
    since="0.4",
    stage="build",
)
class SoftwareOfAccelerators(Policy):
    """The software versions of a site are of the vendors of its accelerators, and of each of them."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each site with accelerators."""
        for name, software in plan.software.items():
            vendors = accelerator_vendors(plan, name) & _FIELDS.keys()
            if vendors:
                yield _judge(name, software, vendors)


def _judge(name: str, software: SiteSoftware, vendors: frozenset[str]) -> Finding:
    at = Subject(f"{name} software", software.path)
    words = " and ".join(_NAMES[vendor] for vendor in sorted(vendors))
    if software.bill is None:
        versions = Missing(f"software versions of '{name}'", ("operations", "software"))
        message = "which software the accelerators run"
        return Finding(at, ok=None, message=message, missing=(versions,))
    stated = {
        vendor: [field for field in fields if getattr(software.bill, field) is not None]
        for vendor, fields in _FIELDS.items()
    }
    odd = {vendor: fields for vendor, fields in stated.items() if fields and vendor not in vendors}
    if odd:
        told = " and ".join(f"{', '.join(fields)} of {_NAMES[one]}" for one, fields in odd.items())
        own = ", ".join(f"'{field}'" for vendor in sorted(vendors) for field in _FIELDS[vendor][:1])
        return Finding(
            at,
            ok=False,
            message=f"the software versions state {told}, and the accelerators of '{name}' are of {words}",
            fix=f"leave them out, and state {own} instead",
        )
    # The versions of NVIDIA's software are asked for by OPS-002.
    lacking = [
        Missing(f"'{_FIELDS[vendor][0]}'", (*software.path, _FIELDS[vendor][0]))
        for vendor in sorted(vendors - {"nvidia"})
        if not stated[vendor]
    ]
    if lacking:
        message = f"which driver and libraries the accelerators of {words} run"
        return Finding(at, ok=None, message=message, missing=tuple(lacking))
    return Finding(at, ok=True, message=f"the software versions are of {words}")
