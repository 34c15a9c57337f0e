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
    from rackwright.plan.missing import Missing, ProductField
    from rackwright.plan.model import Contributor, Path, Plan, SitePlan, Subject
    from rackwright.plan.records.facility import HallLoad, LoopLoad, RowLoad, SiteTotals
    from rackwright.plan.records.power import (
        CircuitAfterLoss,
        CircuitLoad,
        DevicesAfterLoss,
        FeedLoad,
        SourceLoad,
    )
    from rackwright.plan.records.racks import RackClass, RackDevice, RackPosition
    from rackwright.policy.api import (
        Enforcement,
        Finding,
        Measure,
        Outcome,
        Policy,
        Profile,
        Severity,
        Suggestion,
        rule,
    )
    from rackwright.policy.check import check_blueprint as check
    from rackwright.policy.engine import Report, Result

_PLACES = {
    "rackwright.errors": "Location PolicyLoadError RackwrightError SpecError SpecErrors UsageError",
    "rackwright.exit_codes": "ExitCode",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.missing": "Missing ProductField",
    "rackwright.plan.model": "Contributor Path Plan SitePlan Subject",
    "rackwright.plan.records.facility": "HallLoad LoopLoad RowLoad SiteTotals",
    "rackwright.plan.records.power": "CircuitAfterLoss CircuitLoad DevicesAfterLoss FeedLoad SourceLoad",
    "rackwright.plan.records.racks": "RackClass RackDevice RackPosition",
    "rackwright.policy.api": (
        "Enforcement Finding Measure Outcome Policy Profile Severity Suggestion rule"
    ),
    "rackwright.policy.check": "check",
    "rackwright.policy.engine": "Report Result",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
_OTHERWISE = {"check": "check_blueprint"}
"""Names that are others inside."""

__all__ = [
    "Blueprint",
    "CircuitAfterLoss",
    "CircuitLoad",
    "Contributor",
    "DevicesAfterLoss",
    "Enforcement",
    "ExitCode",
    "FeedLoad",
    "Finding",
    "HallLoad",
    "LoadedPlan",
    "Location",
    "LoopLoad",
    "Measure",
    "Missing",
    "Outcome",
    "Path",
    "Plan",
    "Policy",
    "PolicyLoadError",
    "ProductField",
    "Profile",
    "RackClass",
    "RackDevice",
    "RackPosition",
    "RackwrightError",
    "Report",
    "Result",
    "RowLoad",
    "Severity",
    "SitePlan",
    "SiteTotals",
    "SourceLoad",
    "SpecError",
    "SpecErrors",
    "Subject",
    "Suggestion",
    "UsageError",
    "check",
    "load_plan",
    "rule",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), _OTHERWISE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
