"""What each field of a blueprint is: hardware, a claim, or a setting.

Hardware is what a purchase, a building site or a roll-out changes, and the diff says so. A claim is
what the blueprint says of hardware or of the place, and nothing but its word makes it so: distances,
capacities and weights without a product among them. A setting is what its owner asks for. A change does not approve its own claims and settings: those of
its base hold until it is merged (``rackwright.policy.base_approval.claims``).

A test fails for a field that is in no class.
"""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.model import (
    addresses,
    aws,
    aws_storage,
    cluster,
    cooling,
    cost,
    fabric,
    facts,
    interconnect,
    onprem,
    operations,
    power,
    quotas,
    reliability,
    scheduler,
    scheduler_settings,
    security,
    software,
    storage,
    users,
)
from rackwright.model.base import Model
from rackwright.model.field_classes import FieldClass, Fields
from rackwright.model.milder import (
    APART,
    GRANTED,
    SAID,
    Absent,
    Direction,
    Milder,
    higher,
    lower,
    ordered,
    other,
)

__all__ = ["CLASSES", "FieldClass", "Fields"]

_BUDGET = higher(Absent.ELSEWHERE)
# Costs without any budget are unknown, and with one the other may be absent.
_WORKLOAD = {name: lower() for name in ("read", "write", "data", "files")}
_MEASURED = {
    name: higher() for name in ("target_read", "target_write", "server_read", "server_write")
}
_RATE = lower(Absent.ELSEWHERE)
_MACHINE = {
    "power": lower(Absent.ELSEWHERE),
    "start_step": other(Absent.STRICT),
    "restart": lower(),
    "outdoor_temperature": higher(),
}
# Where a source does not say these, its product may.
_MORE_OF_A_SOURCE = [
    "overload",
    "step_load",
    "backup",
    "efficiency",
    "impedance",
    "short_circuit_rating",
]
_LESS_OF_A_SOURCE = ["losses", "recharge", "consumption", "voltage_tolerance"]

_CLUSTER: Mapping[type[Model], Fields] = {
    cluster.Blueprint: Fields(
        hardware="apiVersion name owner",
        parts="sites interconnects scheduler users",
        statements="reliability operations costs facts",
        # What is derived is compared as if it were written, whatever rules it follows by.
        settings=dict.fromkeys(("derive", "profile", "policy_set", "policies", "reasons"), APART),
    ),
    cluster.Reason: Fields(settings=dict.fromkeys(("reason", "owner"), APART)),
    cluster.PolicySetting: Fields(
        settings=dict.fromkeys(("enforcement", "parameters", "reason", "owner"), APART)
    ),
    # Nobody but the change says so: a number that is new, or another one, is the base's to approve.
    facts.ProductFact: Fields(
        "product field source",
        claims={
            "value": other(Absent.UNKNOWN),
            "date": higher(),
            "confidence": other(Absent.UNKNOWN),
        },
        identity=("product", "field"),
    ),
    interconnect.Interconnect: Fields(
        "name sites",
        claims={"bandwidth": higher(), "round_trip_time": lower()},
        identity=("name", "sites"),
    ),
    reliability.Reliability: Fields(
        statements="groups",
        asked="jobs",
        claims={
            "node_failures_per_1000_days": lower(),
            "repair_time": lower(),
            "controller_fencing": SAID,
        },
        settings={"least_after_site_loss": lower(Absent.ELSEWHERE)},
    ),
    reliability.GroupReliability: Fields(
        "site group",
        claims={
            "spares": higher(),
            "node_failures_per_1000_days": _RATE,
            "repair_time": _RATE,
        },
        identity=("site", "group"),
    ),
    reliability.JobProfile: Fields(
        "name",
        asked="parts",
        statements="between_sites",
        claims={"restart": lower(), "checkpoint_interval": other(), "checkpoint_stall": lower()},
        settings={"target": lower()},
    ),
    reliability.JobPart: Fields(
        "site group", settings={"hosts": lower()}, identity=("site", "group")
    ),
    reliability.WanNeed: Fields(settings={"bandwidth": lower(), "round_trip_time": higher()}),
    operations.Operations: Fields(
        "drain_on_xids",
        parts="software firmware memory hosts",
        statements="burn_in changes all_reduce",
        claims={"health_checks": SAID},
        settings={"catalogue_digest": APART},  # the catalogue's own, or it is refused
    ),
    operations.FirmwareBaseline: Fields(
        "type versions", claims={"enforced": SAID}, identity=("type",)
    ),
    operations.BurnIn: Fields(claims={"facility_informed": SAID, "duration": higher()}),
    operations.ChangeControl: Fields(claims={"protect_storage": SAID, "most_nodes": lower()}),
    operations.AllReduce: Fields(
        "group", settings={"node": _RATE, "across": _RATE}, identity=("group",)
    ),
    operations.HostMemory: Fields(
        "group transparent_huge_pages", parts="huge_pages", identity=("group",)
    ),
    operations.HostSettings: Fields("name sites time_servers kernel_parameters"),
    operations.HugePages: Fields("size count", identity=("size",)),
    software.SoftwareBill: Fields(
        "name sites system server_system kernel server_kernel driver fabric_manager imex cuda dcgm nccl nccl_tests "
        "ofi_plugin libfabric efa_installer enroot container_toolkit pyxis grafana slurm",
        parts="ofed lustre_client lustre_server",
    ),
    software.KernelModules: Fields("version kernel ofed"),
    cost.Costs: Fields(
        statements="owned sites",
        claims={
            "capex": _RATE,
            "instances": _RATE,
            "reserved": Milder(Direction.MORE),
            "storage": _RATE,
            "network": _RATE,
            "discount": higher(Absent.STRICT),
        },
        settings={
            "budget_per_year": _BUDGET,
            "budget_per_hour": _BUDGET,
            "as_of": other(),
            "rental_region": other(),
        },
    ),
    cost.OwnedRates: Fields(
        claims={
            "energy": _RATE,
            "energy_region": other(),
            "utilisation": _RATE,
            "amortisation_years": higher(Absent.ELSEWHERE),
            "opex": _RATE,
            "facility": _RATE,
        }
    ),
    scheduler.Scheduler: Fields(
        "kind version cluster sites requeue mpi prolog epilog reboot_program auth return_to_service "
        "schedulable_memory default_shares private_data configless extra",
        parts="controllers accounting partitions qos preemption health_check topology processes "
        "cgroup reserve priority tuning nodes folders shared_state packages",
    ),
    scheduler.Controller: Fields("host address", identity=("host",)),
    scheduler.Accounting: Fields("host address backup enforce", parts="keep accounts"),
    scheduler_settings.SlurmAccount: Fields("name parent share max_gpus"),
    scheduler.Partition: Fields(
        "name groups default max_time default_time max_nodes priority_tier preempt_mode exclusive "
        "qos allow_qos allow_accounts state topology priority_factor memory_per_gpu cpus_per_gpu"
    ),
    scheduler.Qos: Fields(
        "name priority preempts preempt_mode grace max_wall max_nodes_per_user max_gpus_per_user"
    ),
    scheduler.Preemption: Fields("by mode exempt"),
    scheduler.HealthCheck: Fields("program interval states cycle"),
    scheduler.Topology: Fields("plugin block_sizes", parts="switches"),
    scheduler.DeclaredSwitch: Fields("name nodes children"),
    scheduler_settings.Processes: Fields("tracking tasks accounting contain"),
    scheduler_settings.Cgroup: Fields("plugin cores memory swap devices"),
    scheduler.NodeSettings: Fields(
        "groups cpus memory gres features weight detect gpus_by_socket",
        parts="reserve",
        identity=("groups",),
    ),
    scheduler_settings.Folders: Fields("state spool log run"),
    scheduler_settings.SharedState: Fields("mount type server"),
    scheduler_settings.Priority: Fields(
        "fair_share age job_size partition qos half_life reset max_age favor_small"
    ),
    scheduler_settings.Reserve: Fields("cores memory"),
    scheduler_settings.SlurmPackages: Fields("source", parts="names"),
    scheduler_settings.OwnPackages: Fields(
        "client slurmctld slurmd slurmdbd sackd pam_slurm_adopt"
    ),
    scheduler_settings.SrunPorts: Fields("first steps"),
    scheduler_settings.Tuning: Fields(
        "message_timeout tree_width max_jobs max_array_size unkillable_step_timeout "
        "reboot_timeout backfill_window backfill_resolution",
        parts="srun_ports",
    ),
    scheduler_settings.Retention: Fields(
        "events jobs reservations steps suspensions transactions usage archive"
    ),
    users.Users: Fields(parts="groups directory accounts sudo ssh"),
    users.Directory: Fields("uris base ca allowed_groups members cache make_homes", parts="bind"),
    users.DirectoryBind: Fields("dn password_file", identity=("dn",)),
    users.UserGroup: Fields("name gid"),
    users.Account: Fields(
        "name uid group groups keys comment shell slurm_account removed",
    ),
    users.SudoRule: Fields("group commands", identity=("group",)),
    users.Ssh: Fields("root_login login_groups admin_groups compute"),
}

_AWS: Mapping[type[Model], Fields] = {
    aws.AwsSite: Fields(
        "provider name region tags",
        parts="network node_groups head login file_systems efs access",
        statements="limits",
    ),
    aws.AwsNetwork: Fields(
        "cidr availability_zones nat endpoints dns_zone ssh_from on_premises growth",
        parts="existing",
    ),
    aws.ExistingNetwork: Fields(
        "vpc private_subnet public_subnet security_groups", claims={"addresses": higher()}
    ),
    aws.AwsAccess: Fields(
        "permissions_boundary user key_pair connect encryption_key", parts="instance_profiles"
    ),
    aws.InstanceProfiles: Fields("head login node"),
    aws.AwsNodeGroup: Fields(
        "name type count name_digits image efa placement_group metadata_hops root_volume root_device",
        parts="capacity",
    ),
    aws.AwsServer: Fields("type image count root_volume"),
    aws.AwsHead: Fields("type image count root_volume", parts="data_volume"),
    aws.DataVolume: Fields("size iops throughput encryption_key snapshot", parts="snapshots"),
    aws.Snapshots: Fields("every at keep"),
    aws.LustreFileSystem: Fields(
        "name deployment capacity throughput efa mount compression",
        parts="existing data_repositories",
        statements="workload",
    ),
    aws_storage.ExistingLustre: Fields(
        "id mount_name security_group",
        claims={"capacity": higher(), "throughput": higher()},
        identity=("id",),
    ),
    aws_storage.ElasticFileSystem: Fields(
        "name mount on_head throughput backups",
        parts="existing tiering",
        settings={"data": lower()},
    ),
    aws_storage.ExistingElastic: Fields("id security_group", identity=("id",)),
    aws_storage.Tiering: Fields("infrequent_access archive back_on_access"),
    aws.DataRepository: Fields("bucket prefix path create_bucket", identity=("path",)),
    # One that is left out is AWS's default, which may be higher.
    aws.Limits: Fields(claims={"recorded": higher(), "quotas": higher(Absent.ELSEWHERE)}),
    aws.OnDemand: Fields("kind"),
    aws.Reservation: Fields(
        "kind id placement_group",
        claims={
            "instances": higher(),
            "availability_zone": other(Absent.UNKNOWN),
            "ends": other(Absent.UNKNOWN),
        },
        identity=("id",),
    ),
    aws.CapacityBlock: Fields(
        "kind id",
        claims={
            "instances": other(Absent.UNKNOWN),  # enough of them, and not too many
            "availability_zone": other(Absent.UNKNOWN),
            "starts": other(Absent.UNKNOWN),
            "ends": higher(),
        },
        identity=("id",),
    ),
}

_PLANT: Mapping[type[Model], Fields] = {
    onprem.OnPremSite: Fields(
        "provider name",
        parts="power halls loops plant facility_water node_groups fabrics file_systems nfs addresses",
        statements="security",
        claims={
            "pue": lower(Absent.ELSEWHERE),  # what has an entry of its own may say less
            "allow_estimates": GRANTED,
            "altitude": lower(),
            "design_dry_bulb": lower(),
            "design_wet_bulb": lower(),
        },
        settings={"pue_budget": higher()},
    ),
    security.SiteSecurity: Fields(
        statements="infiniband",
        claims=dict.fromkeys(
            (
                "management_isolated",
                "management_tls",
                "default_credentials_replaced",
                "credentials_per_device",
                "secure_boot",
            ),
            SAID,
        ),
    ),
    security.SubnetManagerKeys: Fields(
        claims={
            "m_key_protection_level": higher(),
            **dict.fromkeys(
                ("congestion_key", "node_key", "vendor_key", "limited_membership"), SAID
            ),
        }
    ),
    power.SitePower: Fields(
        parts="sources",
        claims={
            "continuous_derate": higher(),
            "power_factor": higher(),
            "contract": higher(),
            "oversubscription": lower(Absent.STRICT),
            "capping": GRANTED,
            "generator_acceptance": lower(),
        },
    ),
    power.PowerSource: Fields(
        "name kind fed_by product",
        parts="modules circuit conductors",
        claims={
            "redundancy": ordered("N-1", "N", absent=Absent.STRICT),
            **dict.fromkeys(_MORE_OF_A_SOURCE, higher(Absent.ELSEWHERE)),
            **dict.fromkeys(_LESS_OF_A_SOURCE, lower(Absent.ELSEWHERE)),
            "capacity": higher(Absent.ELSEWHERE),
            # More carries more, and its short circuits are larger.
            "rating": other(),
            "voltage": other(),
            "fuel": higher(),
            "walk_in": GRANTED,
            "start_step": other(Absent.STRICT),
            "fault_current": lower(Absent.ELSEWHERE),
        },
    ),
    # What is short loses less voltage, and limits a short circuit less.
    power.Conductors: Fields(
        "parallel cross_section material",
        claims=dict.fromkeys(("length", "resistance", "reactance"), other(Absent.UNKNOWN)),
    ),
    power.Modules: Fields("count", claims={"capacity": higher(Absent.ELSEWHERE), "spare": lower()}),
    power.Circuit: Fields("voltage current phases", claims={"continuous_rated": GRANTED}),
    power.RackFeed: Fields("name source pdu pdus", parts="circuit tap_off conductors"),
    power.TapOff: Fields("current racks", claims={"continuous_rated": GRANTED}),
    power.RackShelves: Fields("type count per_feed", claims={"backup": higher(Absent.ELSEWHERE)}),
    onprem.Hall: Fields(
        "name",
        parts="air rows trays",
        statements="floor delivery",
        claims={"clear_height": higher()},
        settings={"power_limit": higher(Absent.MILD)},
    ),
    onprem.CableTrays: Fields(
        "joined",
        parts="section crossing",
        claims={
            "height": other(Absent.UNKNOWN),
            "row_pitch": other(Absent.UNKNOWN),
            "fill": lower(),
        },
    ),
    onprem.TraySection: Fields("width depth"),
    onprem.Floor: Fields(claims=dict.fromkeys(("uniform", "concentrated", "rolling"), higher())),
    onprem.DeliveryPath: Fields(
        claims=dict.fromkeys(("height", "width", "rating", "rolling"), higher())
        | {"slope": lower()}
    ),
    onprem.Shipping: Fields(claims=dict.fromkeys(("height", "width", "weight"), lower())),
    onprem.Row: Fields(
        "name",
        parts="rack_groups",
        claims={"length": other()},
        settings={"power_limit": higher(Absent.MILD)},
    ),
    onprem.RackGroup: Fields(
        "racks type air_direction gap",
        parts="feeds cooling shelves",
        statements="shipping",
        claims={
            "blanking": SAID,
            "aisle_depth": higher(),
            # More leaves cables room to bend, less leaves devices room in the rack.
            "cable_allowance": other(Absent.UNKNOWN),
            "cable_weight": lower(),
        },
        identity=("racks",),
    ),
    cooling.RackCooling: Fields(
        "mode loop rear_door rear_door_loop",
        parts="manifolds",
        claims={
            # Where the racks do not say these, the product of their door may.
            "rear_door_capacity": higher(Absent.ELSEWHERE),
            "rear_door_difference": lower(Absent.ELSEWHERE),
            "rear_door_weight": lower(Absent.ELSEWHERE),
            "rear_door_pressure_drop": lower(Absent.ELSEWHERE),
            "lift_allowance": lower(),
            "coolant_weight": lower(),
            "power_limit": higher(),
            "leak_detection": SAID,
            "isolation": SAID,
        },
    ),
    cooling.Manifolds: Fields("count", claims={"height": lower(), "weight": lower()}),
    cooling.Supply: Fields("count fed_by", identity=("fed_by",)),
    cooling.FacilityWater: Fields(
        "name fluid",
        claims={
            "volume": higher(),
            "warming": higher(),
            # Warmer is easier for what cools it, and harder for a condenser that it cools.
            "supply_temperature": other(Absent.UNKNOWN),
        },
    ),
    cooling.AirSupply: Fields(
        "type count containment fed_by water",
        parts="supplies",
        claims={
            **_MACHINE,
            "volume": higher(),
            "ashrae_class": ordered("H1", "A1", "A2", "A3", "A4"),
            "inlet_temperature": other(Absent.UNKNOWN),
            "temperature_rise": higher(),
        },
    ),
    cooling.CoolingLoop: Fields(
        "name cdu count in_rack fluid fed_by water",
        parts="supplies",
        claims={
            **_MACHINE,
            "volume": higher(),
            "temperature_rise": higher(),
            "supply_temperature": other(Absent.UNKNOWN),
            "facility_temperature": lower(),
            "facility_class": ordered("W+", "W45", "W40", "W32", "W27", "W17"),
            "approach": other(Absent.UNKNOWN),
            "dew_point": lower(),
            "heat_capacity": higher(),
            "pressure": other(Absent.UNKNOWN),
            "flow_limit": other(Absent.UNKNOWN),
            "pressure_drop": lower(),
        },
    ),
    cooling.MechanicalPlant: Fields(
        "name kind product count fed_by water rejects_to",
        parts="supplies",
        claims={
            **_MACHINE,
            "capacity": higher(Absent.ELSEWHERE),
            "restart": lower(Absent.ELSEWHERE),
            "outdoor_temperature": higher(Absent.ELSEWHERE),
        },
    ),
    onprem.NodeGroup: Fields(
        "name role type count racks per_rack start_unit psus_per_feed host_names name_digits",
        parts="scratch",
        claims={"power_cap": lower(Absent.STRICT)},
    ),
    storage.LocalScratch: Fields("mount keep"),
}

_NETWORK: Mapping[type[Model], Fields] = {
    fabric.Fabric: Fields(
        "name technology rail_optimized unit_hosts last_unit_hosts top_of_rack shared_racks rate subnets "
        "routing_engine m_key sa_key mtu pfc ecn",
        parts="tiers attached links patches subnet_managers roce segments routing_run",
        claims={"role": other(Absent.UNKNOWN)},
        settings={"oversubscription": higher(Absent.STRICT)},
    ),
    # A run is about one fabric, by its digest: one of another fabric is another run.
    fabric.RoutingRun: Fields(
        "fabric",
        claims={"date": higher(), "engine": other(), "balance": lower()},
        identity=("fabric",),
    ),
    fabric.SwitchTier: Fields(
        "name type count racks per_rack air_direction start_unit split asn asn_shared",
        # More needs fewer switches above; less, or none, judges the cables that there are otherwise.
        settings={"oversubscription": other()},
    ),
    fabric.Attachment: Fields("group ports interfaces split rate rails", identity=("group",)),
    fabric.Cables: Fields(
        "name lower upper parallel pods pod_switches planes count same_rack cable upper_cable fibre "
        "lower_shell upper_shell",
        statements="route",
        claims=dict.fromkeys(("length", "diameter", "bend_space"), lower(Absent.ELSEWHERE)),
    ),
    # Without it, the trays of the hall say how long cables are.
    fabric.CableRoute: Fields(claims=dict.fromkeys(("tray", "drop"), lower(Absent.ELSEWHERE))),
    fabric.Patch: Fields("node interface switch port", identity=("node", "interface")),
    fabric.SubnetManagers: Fields("at count priority", identity=("at",)),
    fabric.RoceTraffic: Fields("dscp priority"),
    fabric.Segment: Fields("name pkey vlan prefix groups"),
    addresses.SiteAddresses: Fields("domain serial", parts="name_servers networks"),
    addresses.NameServer: Fields("host address", identity=("host",)),
    addresses.SiteNetwork: Fields(
        "name kind prefix fabric segment interface rack_prefix gateway reserved macs",
        parts="ranges",
    ),
    addresses.AddressRange: Fields("of first", identity=("of",)),
}

_STORAGE: Mapping[type[Model], Fields] = {
    storage.ParallelFileSystem: Fields(
        "name kind mount locks",
        parts="networks management metadata objects clients quota",
        statements="workload",
    ),
    storage.LnetNetwork: Fields("name fabric subnet interfaces"),
    storage.ManagementService: Fields("servers nids device"),
    storage.MetadataTargets: Fields(
        "servers count size backend data_on_metadata networks failover nids devices"
    ),
    storage.ObjectTargets: Fields(
        "servers count size networks failover nids devices", claims=_MEASURED
    ),
    storage.Clients: Fields("group networks", identity=("group",)),
    storage.Workload: Fields(settings={**_WORKLOAD, "checkpoint": other(Absent.UNKNOWN)}),
    storage.Checkpoint: Fields(
        settings=dict.fromkeys(
            ("size", "parameters", "bytes_per_parameter", "write_time"), other(Absent.UNKNOWN)
        )
    ),
    storage.NfsShare: Fields(
        "name server export mount clients networks address read_only", parts="quota"
    ),
    quotas.FileSystemQuota: Fields("space files", parts="accounts"),
    quotas.AccountQuota: Fields("name space files"),
}

CLASSES: Mapping[type[Model], Fields] = {**_CLUSTER, **_AWS, **_PLANT, **_NETWORK, **_STORAGE}
"""The fields of every model that a blueprint is made of."""
