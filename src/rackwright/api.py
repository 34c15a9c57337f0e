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
    from rackwright.catalog.loader import Catalogue
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
    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.base import Contributor, FieldPath, Subject
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.expansion import SitePlan
    from rackwright.plan.host_list import Host
    from rackwright.plan.load import LoadedPlan, load_plan
    from rackwright.plan.missing import Missing, ProductField
    from rackwright.plan.model import Plan
    from rackwright.plan.records.racks import RackClass, RackDevice, RackKind
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
    from rackwright.policy.exceptions.exceptions import (
        ExceptionChoice,
        PolicyExceptions,
        read_exceptions,
    )

_PLACES = {
    "rackwright.catalog.loader": "Catalogue",
    "rackwright.errors": "Location PolicyLoadError RackwrightError SpecError SpecErrors UsageError",
    "rackwright.exit_codes": "ExitCode",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.plan.aws.site": "AwsSitePlan",
    "rackwright.plan.base": "Contributor FieldPath Subject",
    "rackwright.plan.cost.summary": "CostSummary",
    "rackwright.plan.expansion": "SitePlan",
    "rackwright.plan.host_list": "Host",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.missing": "Missing ProductField",
    "rackwright.plan.model": "Plan",
    "rackwright.plan.records.racks": "RackClass RackDevice RackKind",
    "rackwright.policy.api": "Enforcement Finding Measure Outcome Policy Profile Severity Suggestion rule",
    "rackwright.policy.check": "check",
    "rackwright.policy.engine": "Report Result",
    "rackwright.policy.exceptions.exceptions": "ExceptionChoice PolicyExceptions read_exceptions",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
_OTHERWISE = {"check": "check_blueprint"}
"""Names that are others inside."""

__all__ = [
    "AwsSitePlan", "Blueprint", "Catalogue", "Contributor", "CostSummary", "Enforcement",
    "ExceptionChoice", "ExitCode", "FieldPath", "Finding", "Host", "LoadedPlan", "Location",
    "Measure", "Missing", "Outcome", "Plan", "Policy", "PolicyExceptions",
    "PolicyLoadError", "ProductField", "Profile", "RackClass", "RackDevice", "RackKind",
    "RackwrightError", "Report", "Result", "Severity", "SitePlan", "SpecError", "SpecErrors",
    "Subject", "Suggestion", "UsageError", "check", "load_plan", "read_exceptions", "rule",
]  # fmt: skip


if not TYPE_CHECKING:  # a type checker would take any name for one of the module

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_MODULE_OF[name]), _OTHERWISE.get(name, name))
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
