"""OPS-005: software versions are those of the site's accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.software import accelerator_vendors

_NVIDIA = (
    "driver",
    "fabric_manager",
    "imex",
    "cuda",
    "dcgm",
    "nccl",
    "nccl_tests",
    "container_toolkit",
)
"""Fields of the software versions that are about NVIDIA's GPUs; ``driver`` may be another vendor's for AMD."""
_ELSEWHERE = {"aws": "an image with the Neuron driver and tools, which no role installs"}


@rule(
    "OPS-005",
    "Software versions are those of the site's accelerators",
    Severity.HIGH,
    since="0.4",
    stage="build",
)
class SoftwareOfAccelerators(Policy):
    """The software versions of a site name nothing that its accelerators cannot run."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A finding for each site with accelerators."""
        for name, software in plan.software.items():
            vendors = accelerator_vendors(plan, name)
            if not vendors:
                continue
            at = Subject(f"{name} software", software.path)
            known = sorted(vendors)
            if "nvidia" in vendors:
                yield Finding(
                    at, ok=True, message="the site has NVIDIA GPUs, whose versions OPS-002 compares"
                )
                continue
            if software.bill is None:
                lacking = Missing(f"software versions of '{name}'", ("operations", "software"))
                message = "which software the accelerators run"
                yield Finding(at, ok=None, message=message, missing=(lacking,))
                continue
            odd = [field for field in _NVIDIA if getattr(software.bill, field) is not None]
            if "amd" in vendors:
                odd = [field for field in odd if field != "driver"]
            what = ", ".join(known)
            if odd:
                yield Finding(
                    at,
                    ok=False,
                    message=f"the software versions state {', '.join(odd)} of NVIDIA, and the accelerators of "
                    f"'{name}' are of {what}",
                    fix=f"leave them out; use {_ELSEWHERE.get(known[0], 'packages of that vendor')}",
                )
            else:
                yield Finding(at, ok=True, message=f"no version is of another vendor than {what}")
