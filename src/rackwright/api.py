"""The public face: what a team's rules and programs import.

Everything else is the inside and may move. Names are loaded when they are first asked for, so that
to import this module costs nothing.

    from rackwright.api import check, load_plan

    report = check("blueprint.yaml")
    print(report.exit_code, [result.message for result in report.results if result.blocks])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackwright.errors import (
        Location,
        PolicyLoadError,
        RackwrightError,
        SpecError,
        SpecErrors,
        UsageError,
    )
    from rackwright.exit_codes import ExitCode
    from rackwright.model.cluster import Blueprint
    from rackwright.plan.load import LoadedPlan, load_plan
    from rackwright.plan.model import Contributor, Plan, SitePlan, Subject
    from rackwright.policy.api import (
        Enforcement,
        Finding,
        Measure,
        Outcome,
        Policy,
        Profile,
        Severity,
        Suggestion,
    )
    from rackwright.policy.check import check_blueprint as check
    from rackwright.policy.engine import Report, Result

_PLACES = {
    "rackwright.errors": "Location PolicyLoadError RackwrightError SpecError SpecErrors UsageError",
    "rackwright.exit_codes": "ExitCode",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.model": "Contributor Plan SitePlan Subject",
    "rackwright.policy.api": (
        "Enforcement Finding Measure Outcome Policy Profile Severity Suggestion"
    ),
    "rackwright.policy.check": "check",
    "rackwright.policy.engine": "Report Result",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
_OTHERWISE = {"check": "check_blueprint"}
"""Names that are others inside."""

__all__ = [
    "Blueprint",
    "Contributor",
    "Enforcement",
    "ExitCode",
    "Finding",
    "LoadedPlan",
    "Location",
    "Measure",
    "Outcome",
    "Plan",
    "Policy",
    "PolicyLoadError",
    "Profile",
    "RackwrightError",
    "Report",
    "Result",
    "Severity",
    "SitePlan",
    "SpecError",
    "SpecErrors",
    "Subject",
    "Suggestion",
    "UsageError",
    "check",
    "load_plan",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), _OTHERWISE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
