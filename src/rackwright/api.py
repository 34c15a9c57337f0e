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
    from rackwright.model.aws import ExistingNetwork
    from rackwright.model.aws_instances import CapacityBlock, OnDemand, Reservation
    from rackwright.model.cluster import Blueprint
    from rackwright.model.connections import Cable
    from rackwright.model.cooling import AirClass
    from rackwright.model.fabric import Cables, Fabric, Role, Segment
    from rackwright.model.hardware import Confidence, Device, Entry, Node, Pdu, RackType, Switch
    from rackwright.model.instances import Instance
    from rackwright.model.operations import FirmwareBaseline, FirmwareComponent
    from rackwright.model.power import SourceKind
    from rackwright.model.prices import Price
    from rackwright.model.reliability import JobProfile, Reliability, WanNeed
    from rackwright.model.scheduler import Scheduler
    from rackwright.model.security import SubnetManagerKeys
    from rackwright.model.software import KernelModules, SoftwareBill
    from rackwright.model.storage import Checkpoint, MetadataTargets
    from rackwright.model.units import Kelvin, Metres, Percent, Seconds, Watts
    from rackwright.plan.aws.security_groups import SecurityRule
    from rackwright.plan.aws.site import AwsSitePlan, GroupPlan
    from rackwright.plan.cost.comparison import RentComparison
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.fabric.links import TierLink
    from rackwright.plan.fabric.trays import TrayFill
    from rackwright.plan.host_list import Host
    from rackwright.plan.load import LoadedPlan, load_plan
    from rackwright.plan.missing import Missing, ProductField
    from rackwright.plan.model import Contributor, FieldPath, Plan, SitePlan, Subject
    from rackwright.plan.racks.capacity import CircuitRoom
    from rackwright.plan.records.circuits import (
        CircuitAfterLoss,
        CircuitLoad,
        DevicesAfterLoss,
        FeedLoad,
    )
    from rackwright.plan.records.cooling import (
        CoolingStage,
        OutdoorUnits,
        RideThrough,
        UncooledWater,
        WaterFit,
    )
    from rackwright.plan.records.facility import HallLoad, LoopLoad, LoopProduct, SiteTotals
    from rackwright.plan.records.nodes import NodeGroupPlan
    from rackwright.plan.records.power import (
        Autonomy,
        FaultCurrent,
        LineRating,
        SourceLoad,
        TapOffLoad,
        VoltageDrop,
    )
    from rackwright.plan.records.products import ShelfSet
    from rackwright.plan.records.racks import RackClass, RackDevice, RackKind
    from rackwright.plan.slurm.cluster import SlurmCluster
    from rackwright.plan.slurm.nodes import NodeSet, PartitionSets
    from rackwright.plan.slurm.state import StateStorage
    from rackwright.plan.storage.filesystem import FileSystem
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
    "rackwright.model.aws": "ExistingNetwork",
    "rackwright.model.aws_instances": "CapacityBlock OnDemand Reservation",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.model.connections": "Cable",
    "rackwright.model.cooling": "AirClass",
    "rackwright.model.fabric": "Cables Fabric Role Segment",
    "rackwright.model.hardware": "Confidence Device Entry Node Pdu RackType Switch",
    "rackwright.model.instances": "Instance",
    "rackwright.model.operations": "FirmwareBaseline FirmwareComponent",
    "rackwright.model.power": "SourceKind",
    "rackwright.model.prices": "Price",
    "rackwright.model.reliability": "JobProfile Reliability WanNeed",
    "rackwright.model.scheduler": "Scheduler",
    "rackwright.model.security": "SubnetManagerKeys",
    "rackwright.model.software": "KernelModules SoftwareBill",
    "rackwright.model.storage": "Checkpoint MetadataTargets",
    "rackwright.model.units": "Kelvin Metres Percent Seconds Watts",
    "rackwright.plan.aws.security_groups": "SecurityRule",
    "rackwright.plan.aws.site": "AwsSitePlan GroupPlan",
    "rackwright.plan.cost.comparison": "RentComparison",
    "rackwright.plan.cost.summary": "CostSummary",
    "rackwright.plan.fabric.layout": "Layout",
    "rackwright.plan.fabric.links": "TierLink",
    "rackwright.plan.fabric.trays": "TrayFill",
    "rackwright.plan.host_list": "Host",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.missing": "Missing ProductField",
    "rackwright.plan.model": "Contributor FieldPath Plan SitePlan Subject",
    "rackwright.plan.racks.capacity": "CircuitRoom",
    "rackwright.plan.records.circuits": "CircuitAfterLoss CircuitLoad DevicesAfterLoss FeedLoad",
    "rackwright.plan.records.cooling": "CoolingStage OutdoorUnits RideThrough UncooledWater WaterFit",
    "rackwright.plan.records.facility": "HallLoad LoopLoad LoopProduct SiteTotals",
    "rackwright.plan.records.nodes": "NodeGroupPlan",
    "rackwright.plan.records.power": "Autonomy FaultCurrent LineRating SourceLoad TapOffLoad VoltageDrop",
    "rackwright.plan.records.products": "ShelfSet",
    "rackwright.plan.records.racks": "RackClass RackDevice RackKind",
    "rackwright.plan.slurm.cluster": "SlurmCluster",
    "rackwright.plan.slurm.nodes": "NodeSet PartitionSets",
    "rackwright.plan.slurm.state": "StateStorage",
    "rackwright.plan.storage.filesystem": "FileSystem",
    "rackwright.policy.api": "Enforcement Finding Measure Outcome Policy Profile Severity Suggestion rule",
    "rackwright.policy.check": "check",
    "rackwright.policy.engine": "Report Result",
    "rackwright.policy.exceptions.exceptions": "ExceptionChoice PolicyExceptions read_exceptions",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
_OTHERWISE = {"check": "check_blueprint"}
"""Names that are others inside."""

__all__ = [
    "AirClass", "Autonomy", "AwsSitePlan", "Blueprint", "Cable", "Cables", "CapacityBlock",
    "Catalogue", "Checkpoint", "CircuitAfterLoss", "CircuitLoad", "CircuitRoom", "Confidence",
    "Contributor", "CoolingStage", "CostSummary", "Device", "DevicesAfterLoss", "Enforcement",
    "Entry", "ExceptionChoice", "ExistingNetwork", "ExitCode", "Fabric", "FaultCurrent", "FeedLoad", "FieldPath",
    "FileSystem", "Finding", "FirmwareBaseline", "FirmwareComponent", "GroupPlan", "HallLoad",
    "Host", "Instance", "JobProfile", "Kelvin", "KernelModules", "Layout", "LineRating", "LoadedPlan",
    "Location", "LoopLoad", "LoopProduct", "Measure", "MetadataTargets", "Metres", "Missing",
    "Node", "NodeGroupPlan", "NodeSet", "OnDemand", "Outcome", "OutdoorUnits",
    "PartitionSets", "Pdu", "Percent", "Plan", "Policy", "PolicyExceptions",
    "PolicyLoadError", "Price", "ProductField", "Profile", "RackClass",
    "RackDevice", "RackKind", "RackType", "RackwrightError", "Reliability", "RentComparison", "Report",
    "Reservation", "Result", "RideThrough", "Role", "Scheduler", "Seconds", "SecurityRule",
    "Segment", "Severity", "ShelfSet", "SitePlan", "SiteTotals", "SlurmCluster",
    "SoftwareBill", "SourceKind", "SourceLoad", "SpecError", "SpecErrors", "StateStorage", "Subject",
    "SubnetManagerKeys", "Suggestion", "Switch", "TapOffLoad", "TierLink", "TrayFill",
    "UncooledWater", "UsageError", "VoltageDrop", "WanNeed", "WaterFit", "Watts", "check", "load_plan",
    "read_exceptions", "rule"
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), _OTHERWISE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
