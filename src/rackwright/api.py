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
    from rackwright.model.aws import (
        CapacityBlock,
        ExistingNetwork,
        LustreFileSystem,
        OnDemand,
        Reservation,
    )
    from rackwright.model.cluster import Blueprint
    from rackwright.model.cooling import AirClass
    from rackwright.model.fabric import Cables, Fabric, Role, Segment
    from rackwright.model.hardware import (
        Cable,
        Confidence,
        Connector,
        Device,
        Entry,
        Instance,
        Node,
        Pdu,
        PowerShelf,
        RackType,
        Switch,
    )
    from rackwright.model.onprem import Floor, RackGroup
    from rackwright.model.operations import FirmwareBaseline, FirmwareComponent
    from rackwright.model.power import RackShelves, SourceKind
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
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.fabric.links import TierLink
    from rackwright.plan.load import LoadedPlan, load_plan
    from rackwright.plan.missing import Missing, ProductField
    from rackwright.plan.model import Contributor, Path, Plan, SitePlan, Subject
    from rackwright.plan.power.distribution import PowerTree
    from rackwright.plan.racks.capacity import CircuitRoom
    from rackwright.plan.records.cooling import (
        CoolingStage,
        OutdoorUnits,
        RideThrough,
        UncooledWater,
    )
    from rackwright.plan.records.facility import (
        HallLoad,
        LoopLoad,
        LoopProduct,
        RowLoad,
        SiteTotals,
    )
    from rackwright.plan.records.power import (
        Autonomy,
        CircuitAfterLoss,
        CircuitLoad,
        DevicesAfterLoss,
        FaultCurrent,
        FeedLoad,
        SourceLoad,
        TapOffLoad,
        VoltageDrop,
    )
    from rackwright.plan.records.products import ShelfSet
    from rackwright.plan.records.racks import RackClass, RackDelivery, RackDevice, RackPosition
    from rackwright.plan.slurm.cluster import SlurmCluster
    from rackwright.plan.slurm.nodes import NodeSet, PartitionSets
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

_PLACES = {
    "rackwright.plan.slurm.cluster": "SlurmCluster",
    "rackwright.plan.records.products": "ShelfSet",
    "rackwright.catalog.loader": "Catalogue",
    "rackwright.errors": "Location PolicyLoadError RackwrightError SpecError SpecErrors UsageError",
    "rackwright.exit_codes": "ExitCode",
    "rackwright.model.aws": "CapacityBlock ExistingNetwork LustreFileSystem OnDemand Reservation",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.model.cooling": "AirClass",
    "rackwright.model.fabric": "Cables Fabric Role Segment",
    "rackwright.model.hardware": (
        "Cable Confidence Connector Device Entry Instance Node Pdu PowerShelf RackType Switch"
    ),
    "rackwright.model.onprem": "Floor RackGroup",
    "rackwright.model.operations": "FirmwareBaseline FirmwareComponent",
    "rackwright.model.power": "RackShelves SourceKind",
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
    "rackwright.plan.fabric.layout": "Layout",
    "rackwright.plan.fabric.links": "TierLink",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.missing": "Missing ProductField",
    "rackwright.plan.model": "Contributor Path Plan SitePlan Subject",
    "rackwright.plan.power.distribution": "PowerTree",
    "rackwright.plan.racks.capacity": "CircuitRoom",
    "rackwright.plan.records.cooling": "CoolingStage OutdoorUnits RideThrough UncooledWater",
    "rackwright.plan.records.facility": "HallLoad LoopLoad RowLoad SiteTotals LoopProduct",
    "rackwright.plan.records.power": (
        "Autonomy CircuitAfterLoss CircuitLoad DevicesAfterLoss FaultCurrent FeedLoad SourceLoad "
        "TapOffLoad VoltageDrop"
    ),
    "rackwright.plan.records.racks": "RackClass RackDelivery RackDevice RackPosition",
    "rackwright.plan.slurm.nodes": "NodeSet PartitionSets",
    "rackwright.plan.storage.filesystem": "FileSystem",
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
    "AirClass",
    "Autonomy",
    "AwsSitePlan",
    "Blueprint",
    "Cable",
    "Cables",
    "CapacityBlock",
    "Catalogue",
    "Checkpoint",
    "CircuitAfterLoss",
    "CircuitLoad",
    "CircuitRoom",
    "Confidence",
    "Connector",
    "Contributor",
    "CoolingStage",
    "Device",
    "DevicesAfterLoss",
    "Enforcement",
    "Entry",
    "ExistingNetwork",
    "ExitCode",
    "Fabric",
    "FaultCurrent",
    "FeedLoad",
    "FileSystem",
    "Finding",
    "FirmwareBaseline",
    "FirmwareComponent",
    "Floor",
    "GroupPlan",
    "HallLoad",
    "Instance",
    "JobProfile",
    "Kelvin",
    "KernelModules",
    "Layout",
    "LoadedPlan",
    "Location",
    "LoopLoad",
    "LoopProduct",
    "LustreFileSystem",
    "Measure",
    "MetadataTargets",
    "Metres",
    "Missing",
    "Node",
    "NodeSet",
    "OnDemand",
    "Outcome",
    "OutdoorUnits",
    "PartitionSets",
    "Path",
    "Pdu",
    "Percent",
    "Plan",
    "Policy",
    "PolicyLoadError",
    "PowerShelf",
    "PowerTree",
    "Price",
    "ProductField",
    "Profile",
    "RackClass",
    "RackDelivery",
    "RackDevice",
    "RackGroup",
    "RackPosition",
    "RackShelves",
    "RackType",
    "RackwrightError",
    "Reliability",
    "RentComparison",
    "Report",
    "Reservation",
    "Result",
    "RideThrough",
    "Role",
    "RowLoad",
    "Scheduler",
    "Seconds",
    "SecurityRule",
    "Segment",
    "Severity",
    "ShelfSet",
    "SitePlan",
    "SiteTotals",
    "SlurmCluster",
    "SoftwareBill",
    "SourceKind",
    "SourceLoad",
    "SpecError",
    "SpecErrors",
    "Subject",
    "SubnetManagerKeys",
    "Suggestion",
    "Switch",
    "TapOffLoad",
    "TierLink",
    "UncooledWater",
    "UsageError",
    "VoltageDrop",
    "WanNeed",
    "Watts",
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
