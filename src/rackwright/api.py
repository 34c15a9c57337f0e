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
        Node,
        Pdu,
        PowerShelf,
        RackType,
        Switch,
    )
    from rackwright.model.instances import Instance
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
    from rackwright.plan.accelerators_per_node import Board
    from rackwright.plan.audit.secrets import SecretPlace
    from rackwright.plan.aws.launch_template import Placement
    from rackwright.plan.aws.security_groups import SecurityRule
    from rackwright.plan.aws.site import AwsSitePlan, GroupPlan, ServerPlan
    from rackwright.plan.aws.subnets import Demand, SubnetPlan
    from rackwright.plan.cost.comparison import RentComparison
    from rackwright.plan.cost.lines import Amount, CostLine, UsedPrice
    from rackwright.plan.cost.summary import CostSummary, GroupCost, SiteCost
    from rackwright.plan.fabric.fabrics import FabricPlan
    from rackwright.plan.fabric.graph import FabricTopology, LeafGroup, SwitchNode
    from rackwright.plan.fabric.layout import Hosts, Layout, Run, Tier
    from rackwright.plan.fabric.lengths import (
        CableLength,
        CableRoutes,
        StandingRack,
        StandingRacks,
    )
    from rackwright.plan.fabric.links import TierLink
    from rackwright.plan.fabric.racks import RackSet, Stretch
    from rackwright.plan.fabric.trays import TrayFill, TrayShare
    from rackwright.plan.host_list import Host, RackPlace
    from rackwright.plan.load import LoadedPlan, load_plan
    from rackwright.plan.missing import Missing, ProductField
    from rackwright.plan.model import Contributor, Path, Plan, SitePlan, Subject
    from rackwright.plan.power.consumers import Consumer
    from rackwright.plan.power.distribution import PowerTree
    from rackwright.plan.power.flows import LoadsAfterLoss
    from rackwright.plan.power.overhead import Overhead
    from rackwright.plan.power.source_loss import Outages
    from rackwright.plan.problems import PlanProblem
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
    from rackwright.plan.records.names import DnsZone, NamedAddress, NamePlan, PlannedNetwork, Range
    from rackwright.plan.records.nodes import HostHardware, HostPorts, NodeGroupPlan, RatePorts
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
    from rackwright.plan.records.products import ConnectorLimits, ShelfSet
    from rackwright.plan.records.racks import (
        NvlinkDomains,
        RackClass,
        RackDelivery,
        RackDevice,
        RackPosition,
    )
    from rackwright.plan.reliability.failures import GroupHosts
    from rackwright.plan.slurm.checks import Cabling
    from rackwright.plan.slurm.cluster import SlurmCluster
    from rackwright.plan.slurm.departures import Departure
    from rackwright.plan.slurm.nodes import Gres, NodeSet, PartitionSets
    from rackwright.plan.slurm.state import StateStorage
    from rackwright.plan.slurm.topology import Block, PlannedTopology, TreeSwitch
    from rackwright.plan.software.needs import (
        Bundle,
        CudaNeeds,
        InstallerNeeds,
        PluginNeeds,
        SoftwareNeeds,
    )
    from rackwright.plan.software.versions import SiteSoftware
    from rackwright.plan.storage.filesystem import FileSystem, Rate
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
    "rackwright.catalog.loader": "Catalogue",
    "rackwright.errors": "Location PolicyLoadError RackwrightError SpecError SpecErrors UsageError",
    "rackwright.exit_codes": "ExitCode",
    "rackwright.model.aws": "CapacityBlock ExistingNetwork LustreFileSystem OnDemand Reservation",
    "rackwright.model.cluster": "Blueprint",
    "rackwright.model.cooling": "AirClass",
    "rackwright.model.fabric": "Cables Fabric Role Segment",
    "rackwright.model.hardware": (
        "Cable Confidence Connector Device Entry Node Pdu PowerShelf RackType Switch"
    ),
    "rackwright.model.instances": "Instance",
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
    "rackwright.plan.accelerators_per_node": "Board",
    "rackwright.plan.audit.secrets": "SecretPlace",
    "rackwright.plan.aws.launch_template": "Placement",
    "rackwright.plan.aws.security_groups": "SecurityRule",
    "rackwright.plan.aws.site": "AwsSitePlan GroupPlan ServerPlan",
    "rackwright.plan.aws.subnets": "Demand SubnetPlan",
    "rackwright.plan.cost.comparison": "RentComparison",
    "rackwright.plan.cost.lines": "Amount CostLine UsedPrice",
    "rackwright.plan.cost.summary": "CostSummary GroupCost SiteCost",
    "rackwright.plan.fabric.fabrics": "FabricPlan",
    "rackwright.plan.fabric.graph": "FabricTopology LeafGroup SwitchNode",
    "rackwright.plan.fabric.layout": "Hosts Layout Run Tier",
    "rackwright.plan.fabric.lengths": "CableLength CableRoutes StandingRack StandingRacks",
    "rackwright.plan.fabric.links": "TierLink",
    "rackwright.plan.fabric.racks": "RackSet Stretch",
    "rackwright.plan.fabric.trays": "TrayFill TrayShare",
    "rackwright.plan.host_list": "Host RackPlace",
    "rackwright.plan.load": "LoadedPlan load_plan",
    "rackwright.plan.missing": "Missing ProductField",
    "rackwright.plan.model": "Contributor Path Plan SitePlan Subject",
    "rackwright.plan.power.consumers": "Consumer",
    "rackwright.plan.power.distribution": "PowerTree",
    "rackwright.plan.power.flows": "LoadsAfterLoss",
    "rackwright.plan.power.overhead": "Overhead",
    "rackwright.plan.power.source_loss": "Outages",
    "rackwright.plan.problems": "PlanProblem",
    "rackwright.plan.racks.capacity": "CircuitRoom",
    "rackwright.plan.records.cooling": "CoolingStage OutdoorUnits RideThrough UncooledWater",
    "rackwright.plan.records.facility": "HallLoad LoopLoad RowLoad SiteTotals LoopProduct",
    "rackwright.plan.records.names": "DnsZone NamePlan NamedAddress PlannedNetwork Range",
    "rackwright.plan.records.nodes": "HostHardware HostPorts NodeGroupPlan RatePorts",
    "rackwright.plan.records.power": (
        "Autonomy CircuitAfterLoss CircuitLoad DevicesAfterLoss FaultCurrent FeedLoad SourceLoad "
        "TapOffLoad VoltageDrop"
    ),
    "rackwright.plan.records.products": "ConnectorLimits ShelfSet",
    "rackwright.plan.records.racks": "NvlinkDomains RackClass RackDelivery RackDevice RackPosition",
    "rackwright.plan.reliability.failures": "GroupHosts",
    "rackwright.plan.slurm.checks": "Cabling",
    "rackwright.plan.slurm.cluster": "SlurmCluster",
    "rackwright.plan.slurm.departures": "Departure",
    "rackwright.plan.slurm.nodes": "Gres NodeSet PartitionSets",
    "rackwright.plan.slurm.state": "StateStorage",
    "rackwright.plan.slurm.topology": "Block PlannedTopology TreeSwitch",
    "rackwright.plan.software.needs": "Bundle CudaNeeds InstallerNeeds PluginNeeds SoftwareNeeds",
    "rackwright.plan.software.versions": "SiteSoftware",
    "rackwright.plan.storage.filesystem": "FileSystem Rate",
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
    "Amount",
    "Autonomy",
    "AwsSitePlan",
    "Block",
    "Blueprint",
    "Board",
    "Bundle",
    "Cable",
    "CableLength",
    "CableRoutes",
    "Cables",
    "Cabling",
    "CapacityBlock",
    "Catalogue",
    "Checkpoint",
    "CircuitAfterLoss",
    "CircuitLoad",
    "CircuitRoom",
    "Confidence",
    "Connector",
    "ConnectorLimits",
    "Consumer",
    "Contributor",
    "CoolingStage",
    "CostLine",
    "CostSummary",
    "CudaNeeds",
    "Demand",
    "Departure",
    "Device",
    "DevicesAfterLoss",
    "DnsZone",
    "Enforcement",
    "Entry",
    "ExistingNetwork",
    "ExitCode",
    "Fabric",
    "FabricPlan",
    "FabricTopology",
    "FaultCurrent",
    "FeedLoad",
    "FileSystem",
    "Finding",
    "FirmwareBaseline",
    "FirmwareComponent",
    "Floor",
    "Gres",
    "GroupCost",
    "GroupHosts",
    "GroupPlan",
    "HallLoad",
    "Host",
    "HostHardware",
    "HostPorts",
    "Hosts",
    "InstallerNeeds",
    "Instance",
    "JobProfile",
    "Kelvin",
    "KernelModules",
    "Layout",
    "LeafGroup",
    "LoadedPlan",
    "LoadsAfterLoss",
    "Location",
    "LoopLoad",
    "LoopProduct",
    "LustreFileSystem",
    "Measure",
    "MetadataTargets",
    "Metres",
    "Missing",
    "NamePlan",
    "NamedAddress",
    "Node",
    "NodeGroupPlan",
    "NodeSet",
    "NvlinkDomains",
    "OnDemand",
    "Outages",
    "Outcome",
    "OutdoorUnits",
    "Overhead",
    "PartitionSets",
    "Path",
    "Pdu",
    "Percent",
    "Placement",
    "Plan",
    "PlanProblem",
    "PlannedNetwork",
    "PlannedTopology",
    "PluginNeeds",
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
    "RackPlace",
    "RackPosition",
    "RackSet",
    "RackShelves",
    "RackType",
    "RackwrightError",
    "Range",
    "Rate",
    "RatePorts",
    "Reliability",
    "RentComparison",
    "Report",
    "Reservation",
    "Result",
    "RideThrough",
    "Role",
    "RowLoad",
    "Run",
    "Scheduler",
    "Seconds",
    "SecretPlace",
    "SecurityRule",
    "Segment",
    "ServerPlan",
    "Severity",
    "ShelfSet",
    "SiteCost",
    "SitePlan",
    "SiteSoftware",
    "SiteTotals",
    "SlurmCluster",
    "SoftwareBill",
    "SoftwareNeeds",
    "SourceKind",
    "SourceLoad",
    "SpecError",
    "SpecErrors",
    "StandingRack",
    "StandingRacks",
    "StateStorage",
    "Stretch",
    "Subject",
    "SubnetManagerKeys",
    "SubnetPlan",
    "Suggestion",
    "Switch",
    "SwitchNode",
    "TapOffLoad",
    "Tier",
    "TierLink",
    "TrayFill",
    "TrayShare",
    "TreeSwitch",
    "UncooledWater",
    "UsageError",
    "UsedPrice",
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
