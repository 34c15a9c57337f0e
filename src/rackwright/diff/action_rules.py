"""The table of update actions: which field is rolled out how, and why.

AWS: what ``pulumi-aws`` 7 updates and what it replaces. Slurm: the manual page of ``slurm.conf``,
section on reconfiguration. Lustre: formatting options of a target are fixed. A field that is not
here is for review, so a new field is never silently taken for harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.diff.actions import Action, ActionRule, Event

_IN_PLACE, _ROLLING, _DRAIN = Action.IN_PLACE, Action.ROLLING, Action.DRAIN
_REPLACE, _REVIEW, _REFUSED = Action.REPLACE, Action.REVIEW, Action.REFUSED

_JUDGED = "read by the policies only; nothing on the cluster changes"
_PLANT = "work on the plant: settle with facilities which racks must be drained"
_TEMPLATE = (
    "a new version of the launch template: nodes stay what they are until 'rackwright replace --outdated' "
    "drains and replaces them in turn"
)
_SURPLUS = "'up' ends no node: 'rackwright replace --surplus' drains and ends them before"
_VOLUME = ("head", "data_volume")
_NEXT_HEAD = (
    "another head node takes its place, once 'up --replace-head' is given: snapshots are made, it is stopped, and its "
    "data volume is detached, stays as it is and goes to the new one"
)
_MOVED = "the nodes are moved or recabled"
_CABLES = "the nodes behind these links lose them meanwhile"
_FORMATTED = "fixed when the target is formatted"


def _rules(
    prefix: str, action: Action, reason: str, names: str, *, event: Event = "any"
) -> Iterator[ActionRule]:
    for name in names.split():
        yield ActionRule(f"{prefix}{name}", event, action, reason)


def _mounted(place: str) -> tuple[ActionRule, ...]:
    """Of file systems of AWS that hosts mount, made or existing."""
    return (
        ActionRule(
            place,
            "removed",
            _REFUSED,
            "the file system and all data in it would go; they are retained until taken out by hand",
        ),
        ActionRule(
            place,
            "removed",
            _DRAIN,
            "it is unmounted on every node; it exists without the stacks and stays as it is",
            owner_has=("existing",),
        ),
        ActionRule(
            f"{place}/existing",
            "any",
            _REFUSED,
            "one that is made and one that exists would take each other's place; write one beside the other and "
            "move the data",
        ),
        ActionRule(
            f"{place}/existing/security_group",
            "any",
            _IN_PLACE,
            "rules come and go that let the cluster in",
        ),
        ActionRule(f"{place}/mount", "any", _DRAIN, "it is unmounted on every node"),
    )


_CLUSTER = (
    ActionRule(
        "name", "any", _REPLACE, "part of every resource's name: all is made anew", data=True
    ),
    ActionRule("apiVersion", "any", _IN_PLACE, "the form of the file"),
    ActionRule("owner", "any", _IN_PLACE, "a tag"),
    *_rules(
        "",
        _IN_PLACE,
        _JUDGED,
        "policies/** derive profile policy_set costs/** reliability/** interconnects/**",
    ),
    ActionRule(
        "users/accounts/*",
        "removed",
        _REVIEW,
        "the accounts stay on the hosts as they are: mark them 'removed' to have them locked",
    ),
    *_rules(
        "users/accounts/*/",
        _REFUSED,
        "files keep the former number: they must be given to it",
        "uid",
        event="changed",
    ),
    *_rules(
        "users/groups/*/",
        _REFUSED,
        "files keep the former number: they must be given to it",
        "gid",
        event="changed",
    ),
    ActionRule(
        "users/**", "any", _IN_PLACE, "accounts and sshd's settings; sessions and jobs go on"
    ),
    ActionRule("sites/aws", "added", _IN_PLACE, "a new site; nothing that exists changes"),
    ActionRule("sites/aws", "removed", _DRAIN, "the whole site is removed", data=True),
    ActionRule("sites/onprem", "added", _IN_PLACE, "a new site; nothing that exists changes"),
    ActionRule("sites/onprem", "removed", _DRAIN, "the whole site is given up", data=True),
)

_OPERATIONS = (
    ActionRule("operations", "any", _REVIEW,
         "nodes are brought to what it states: see whether that is what they run"),
    *_rules("operations/", _IN_PLACE, _JUDGED,
            "health_checks burn_in/** changes/** catalogue_digest firmware/*/enforced"),
    ActionRule("operations/drain_on_xids", "any", _IN_PLACE, "health checks are written anew"),
    ActionRule("operations/hosts/**", "any", _IN_PLACE, "the time is had from others; parameters of the kernel are set"),
    ActionRule("operations/firmware/**", "any", _DRAIN, "firmware is written on idle nodes"),
    *_rules("operations/software/*/", _DRAIN,
            "hosts are installed anew, which Rackwright does not do: it refuses those that run another one",
            "system server_system"),
    *_rules("operations/software/*/", _DRAIN, "exchanged on idle nodes, wave by wave",
            "kernel driver fabric_manager imex cuda ofed/** efa_installer lustre_client/**"),
    *_rules("operations/software/*/", _ROLLING, "jobs that start later use it",
            "nccl ofi_plugin libfabric dcgm enroot container_toolkit pyxis"),
    *_rules("operations/software/*/", _ROLLING,
            "server by server; its partner has its targets meanwhile",
            "lustre_server/** server_kernel"),
    ActionRule("operations/software/*/grafana", "any", _IN_PLACE,
         "Grafana starts again; nothing is measured less meanwhile"),
    ActionRule("operations/software/*/slurm", "any", _ROLLING,
         "slurmdbd first, then slurmctld, then slurmd node by node"),
)  # fmt: skip

_SLURM = (
    ActionRule("scheduler", "added", _DRAIN, "Slurm is installed on nodes that run without it"),
    ActionRule("scheduler", "removed", _DRAIN, "Slurm is taken off the nodes"),
    *_rules("scheduler/", _IN_PLACE, "slurmctld reads it anew; jobs go on",
            "partitions/** qos/** preemption/** requeue health_check/** mpi prolog epilog reboot_program "
            "return_to_service topology/switches/** topology/block_sizes default_shares "
            "priority/** priority private_data tuning/** tuning"),
    *_rules("scheduler/", _IN_PLACE, "slurmctld starts again; jobs go on",
            "topology/plugin accounting/enforce tuning/max_jobs"),
    *_rules("scheduler/accounting/", _REVIEW,
            "slurmdbd starts again, and removes at once what is older than it is to be kept",
            "keep keep/**"),
    ActionRule("scheduler/accounting", "added", _IN_PLACE, "slurmctld starts again; jobs go on"),
    *_rules("scheduler/accounting/", _REVIEW, "the accounting database has to move with it",
            "host address"),
    ActionRule("scheduler/sites", "any", _DRAIN, "nodes join or leave the cluster"),
    *_rules("scheduler/", _ROLLING, "slurmdbd first, then slurmctld, then slurmd node by node",
            "version"),
    *_rules("scheduler/", _ROLLING, "slurmctld moves to its backup and back",
            "controllers/** accounting/backup shared_state/** shared_state"),
    *_rules("scheduler/", _ROLLING, "slurmd starts again node by node; jobs go on",
            "nodes/** schedulable_memory reserve/** reserve cgroup/**"),
    *_rules("scheduler/", _DRAIN, "slurmd loses track of jobs that run meanwhile",
            "processes/** folders/**"),
    *_rules("scheduler/", _DRAIN, "every daemon changes at the same time", "auth"),
    *_rules("scheduler/", _REPLACE, "slurmctld refuses the state of another cluster name: "
            "queued jobs and their accounting stay with the old one", "cluster"),
)  # fmt: skip

_NAMES_FOLLOW = "hosts that it renames are listed with the group's hosts"
_RENAMED = (
    "hosts are renamed: Slurm ends the jobs of nodes that leave its configuration; keep the names, or "
    "replace the hosts in a group of another name"
)

_AWS = (
    ActionRule("sites/aws/region", "any", _REPLACE, "nothing moves between regions", data=True),
    ActionRule("sites/aws/tags/**", "any", _IN_PLACE, "tags"),
    ActionRule("sites/aws/limits/**", "any", _IN_PLACE, _JUDGED),
    ActionRule("sites/aws/network/cidr", "any", _REPLACE, "a VPC keeps its addresses for life",
         data=True),
    ActionRule("sites/aws/network/availability_zones", "any", _IN_PLACE,
         "subnets of zones are made or removed; what that does to them is listed apart"),
    ActionRule("sites/aws/network/growth", "any", _IN_PLACE,
         "room in the cluster's subnet; a subnet that changes is listed apart"),
    ActionRule("sites/aws/network/nat", "any", _IN_PLACE,
         "routes change: traffic to the internet is interrupted for a moment"),
    ActionRule("sites/aws/network/endpoints", "any", _IN_PLACE, "endpoints are made or removed"),
    ActionRule("sites/aws/network/dns_zone", "any", _REPLACE,
         "the private zone and every name in it are made anew"),
    ActionRule("sites/aws/network/ssh_from", "any", _IN_PLACE, "rules of a security group"),
    ActionRule("sites/aws/network/existing", "any", _REPLACE,
         "hosts and file systems stay in their VPC for life", data=True),
    *_rules("sites/aws/network/existing/", _REPLACE, "hosts and file systems stay where they are",
            "vpc private_subnet public_subnet"),
    ActionRule("sites/aws/network/existing/addresses", "any", _IN_PLACE, _JUDGED),
    ActionRule("sites/aws/network/existing/security_groups", "any", _ROLLING, _TEMPLATE),
    ActionRule("sites/aws/network/on_premises", "any", _IN_PLACE, "rules of a security group"),
    ActionRule("sites/aws/access/permissions_boundary", "any", _IN_PLACE, "roles get another boundary"),
    ActionRule("sites/aws/access/instance_profiles/**", "any", _ROLLING, _TEMPLATE),
    *_rules("sites/aws/access/", _IN_PLACE, "how Ansible reaches the hosts", "user connect"),
    ActionRule("sites/aws/access/key_pair", "any", _REPLACE,
         "an instance keeps its key pair for life: login nodes are made anew, and head nodes keep theirs"),
    ActionRule("sites/aws/access/encryption_key", "any", _REFUSED,
         "file systems and root volumes keep their key for life: others would take their place"),
    ActionRule("sites/aws/(cluster-subnet)", "any", _REPLACE,
         "a subnet cannot be resized or moved: all that stands in it is made anew", data=True),
    ActionRule("sites/aws/(subnets)", "any", _REPLACE,
         "gateways, endpoints and public login nodes in them are made anew"),
    *(
        rule
        for server in ("head", "login")
        for rule in (
            ActionRule(f"sites/aws/{server}/type", "any", _DRAIN, "the instance stops and starts again"),
            ActionRule(f"sites/aws/{server}/root_volume", "grown", _IN_PLACE, "the volume grows"),
            ActionRule(f"sites/aws/{server}/count", "grown", _IN_PLACE, "more instances"),
        )
    ),
    ActionRule("sites/aws/login/image", "any", _REPLACE,
         "the instance is made anew; its root volume goes with it"),
    ActionRule("sites/aws/login/root_volume", "shrunk", _REPLACE,
         "a volume cannot shrink: the instance is made anew"),
    ActionRule("sites/aws/login/count", "shrunk", _DRAIN, "the last instances are removed"),
    ActionRule("sites/aws/head/image", "any", _REVIEW,
         "a head node keeps the image that it was made with, since its root volume holds Slurm's state and the "
         "accounting database: give it a 'data_volume' first, or bring new packages by 'configure'"),
    ActionRule("sites/aws/head/root_volume", "shrunk", _REPLACE,
         "a volume cannot shrink: another instance would take its place, without Slurm's state", data=True),
    ActionRule("sites/aws/head/image", "any", _REPLACE,
         f"{_NEXT_HEAD}; an image that is named by 'ssm:' replaces none", owner_has=_VOLUME),
    ActionRule("sites/aws/head/root_volume", "shrunk", _REPLACE, f"a volume cannot shrink: {_NEXT_HEAD}",
         owner_has=_VOLUME),
    ActionRule("sites/aws/access/key_pair", "any", _REPLACE,
         f"an instance keeps its key pair for life: login nodes are made anew, and {_NEXT_HEAD}", owner_has=_VOLUME),
    ActionRule("sites/aws/head/data_volume", "added", _IN_PLACE,
         "a volume is made and attached; 'configure' stops slurmctld and MariaDB while it copies their files to it"),
    ActionRule("sites/aws/head/data_volume", "removed", _REFUSED,
         "Slurm's state and the accounting database are on it, and nothing moves them back"),
    ActionRule("sites/aws/head/data_volume/size", "grown", _IN_PLACE,
         "the volume grows, and 'configure' has its file system fill it"),
    ActionRule("sites/aws/head/data_volume/size", "shrunk", _REFUSED,
         "a volume never shrinks: another one would take its place"),
    *_rules("sites/aws/head/data_volume/", _IN_PLACE, "the volume is modified as it is used", "iops throughput"),
    ActionRule("sites/aws/head/data_volume/encryption_key", "any", _REFUSED,
         "a volume keeps its key for life: another one would take its place"),
    *_rules("sites/aws/head/data_volume/", _IN_PLACE, "snapshots that are there stay until they are too many",
            "snapshots snapshots/**"),
    ActionRule("sites/aws/head/data_volume/snapshot", "any", _REPLACE,
         "a volume of the snapshot takes the place of the one that is there, which is retained: what was written since "
         "the snapshot is on that one alone"),
    ActionRule("sites/aws/head/count", "shrunk", _DRAIN,
         "the last head nodes would be removed, with what their root volumes hold", data=True),
    ActionRule("sites/aws/login", "added", _IN_PLACE, "new instances"),
    ActionRule("sites/aws/login", "removed", _DRAIN, "the login nodes are removed"),
    ActionRule("sites/aws/node_groups/*", "added", _IN_PLACE, "new instances"),
    ActionRule("sites/aws/node_groups/*", "removed", _DRAIN, _SURPLUS),
    ActionRule("sites/aws/node_groups/*/count", "grown", _IN_PLACE, "more instances"),
    ActionRule("sites/aws/node_groups/*/name_digits", "any", _IN_PLACE, _NAMES_FOLLOW),
    ActionRule("sites/aws/node_groups/*/(hosts)", "any", _REFUSED, _RENAMED),
    ActionRule("sites/aws/node_groups/*/count", "shrunk", _DRAIN, _SURPLUS),
    *_rules("sites/aws/node_groups/*/", _ROLLING, _TEMPLATE,
            "type image root_volume root_device metadata_hops"),
    *_rules("sites/aws/node_groups/*/", _REPLACE,
            "an instance keeps it for life, and a placement group goes with its last instance",
            "efa placement_group capacity/**"),
    *_rules("sites/aws/node_groups/*/capacity/", _IN_PLACE, _JUDGED,
            "instances availability_zone starts ends"),
    ActionRule("sites/aws/file_systems/*", "added", _IN_PLACE, "a new file system"),
    *_mounted("sites/aws/file_systems/*"),
    *_rules("sites/aws/file_systems/*/existing/", _DRAIN, "another file system is mounted on every node", "id mount_name"),
    *_rules("sites/aws/file_systems/*/existing/", _IN_PLACE, _JUDGED, "capacity throughput"),
    *_rules("sites/aws/file_systems/*/", _REFUSED,
            "chosen at creation: another file system would take its place; make one beside it "
            "and move the data",
            "deployment efa"),
    ActionRule("sites/aws/file_systems/*/capacity", "grown", _IN_PLACE,
         "storage is added while it is mounted"),
    ActionRule("sites/aws/file_systems/*/capacity", "shrunk", _REFUSED,
         "capacity cannot be taken away: another file system would take its place"),
    ActionRule("sites/aws/file_systems/*/throughput", "any", _IN_PLACE,
         "servers are exchanged while it is mounted; input and output pause"),
    ActionRule("sites/aws/file_systems/*/compression", "any", _IN_PLACE, "holds for what is written"),
    ActionRule("sites/aws/file_systems/*/workload/**", "any", _IN_PLACE, _JUDGED),
    ActionRule("sites/aws/efs/*", "added", _IN_PLACE, "a file system that hosts mount with the next 'configure'"),
    *_mounted("sites/aws/efs/*"),
    ActionRule("sites/aws/efs/*/existing/id", "any", _DRAIN, "another file system is mounted on every node"),
    ActionRule("sites/aws/efs/*/on_head", "any", _IN_PLACE, "head nodes mount it with the next 'configure', or keep it "
         "until somebody unmounts it"),
    *_rules("sites/aws/efs/*/", _IN_PLACE, "changed while it is mounted", "throughput backups tiering tiering/**"),
    ActionRule("sites/aws/efs/*/data", "any", _IN_PLACE, _JUDGED),
    ActionRule("sites/aws/file_systems/*/data_repositories/*", "added", _IN_PLACE, "a new link"),
    ActionRule("sites/aws/file_systems/*/data_repositories/*", "removed", _IN_PLACE,
         "the link goes, the bucket and the files stay"),
    *_rules("sites/aws/file_systems/*/data_repositories/*/", _REPLACE,
            "the link is made anew; the bucket and the files stay", "bucket prefix"),
    ActionRule("sites/aws/file_systems/*/data_repositories/*/create_bucket", "any", _REVIEW,
         "the bucket changes hands between Rackwright and its owner"),
)  # fmt: skip

_NODES = "sites/onprem/node_groups/*"
_RACKS = "sites/onprem/halls/*/rows/*/rack_groups/*"
_DEALT = "equal things are dealt out in this order: see which places and power cords change"

_ONPREM = (
    *_rules("sites/onprem/", _REVIEW, _DEALT,
            "node_groups/(order) fabrics/(order) fabrics/*/tiers/(order) "
            "halls/*/rows/*/rack_groups/(order) halls/*/rows/*/rack_groups/*/feeds/(order)"),
    *_rules("sites/onprem/", _IN_PLACE, _JUDGED,
            "altitude pue pue_budget allow_estimates security/** power/contract "
            "power/continuous_derate power/power_factor power/oversubscription power/capping "
            "power/generator_acceptance halls/*/floor/** halls/*/power_limit "
            "halls/*/rows/*/power_limit halls/*/clear_height"),
    *_rules("sites/onprem/", _REVIEW, _PLANT, "power/sources/** loops/** halls/*/air/** halls/*/trays/** "
            "halls/*/rows/*/length"),
    ActionRule("sites/onprem/halls/*", "added", _IN_PLACE, "a new hall"),
    ActionRule("sites/onprem/halls/*", "removed", _DRAIN, "its racks are given up"),
    ActionRule("sites/onprem/halls/*/rows/*", "added", _IN_PLACE, "a new row"),
    ActionRule("sites/onprem/halls/*/rows/*", "removed", _DRAIN, "its racks are given up"),
    ActionRule(_RACKS, "added", _IN_PLACE, "new racks"),
    ActionRule(_RACKS, "removed", _DRAIN, "the racks are given up"),
    ActionRule(f"{_RACKS}/racks", "any", _REVIEW, "racks are added, given up or renamed"),
    ActionRule(f"{_RACKS}/gap", "any", _REVIEW, "racks stand elsewhere in their row"),
    ActionRule(f"{_RACKS}/type", "any", _DRAIN, "another rack: its nodes are moved"),
    *_rules(f"{_RACKS}/", _DRAIN, "the racks lose this feed meanwhile",
            "feeds/** shelves/**"),
    *_rules(f"{_RACKS}/cooling/", _DRAIN, "the racks are cooled in another way",
            "mode loop rear_door rear_door_loop rear_door_capacity rear_door_difference rear_door_weight "
            "manifolds/**"),
    *_rules(f"{_RACKS}/", _IN_PLACE, _JUDGED,
            "cooling/power_limit cooling/lift_allowance cooling/leak_detection cooling/isolation blanking aisle_depth "
            "cable_allowance"),
    ActionRule(f"{_RACKS}/air_direction", "any", _DRAIN, "fans or devices are turned round"),
    ActionRule(_NODES, "added", _IN_PLACE, "new nodes"),
    ActionRule(_NODES, "removed", _DRAIN, "the nodes are taken out", data=True),
    ActionRule(f"{_NODES}/count", "grown", _IN_PLACE, "more nodes"),
    ActionRule(f"{_NODES}/count", "shrunk", _DRAIN, "the last nodes are taken out", data=True),
    ActionRule(f"{_NODES}/type", "any", _REPLACE, "other hardware takes their place", data=True),
    *_rules(f"{_NODES}/", _DRAIN, _MOVED, "racks per_rack start_unit psus_per_feed"),
    ActionRule(f"{_NODES}/host_names", "any", _REVIEW, "hosts are added, given up or renamed"),
    ActionRule(f"{_NODES}/role", "any", _DRAIN, "the nodes are set up anew", data=True),
    ActionRule(f"{_NODES}/power_cap", "any", _IN_PLACE, "set through the management controllers"),
    ActionRule(f"{_NODES}/name_digits", "any", _IN_PLACE, _NAMES_FOLLOW),
    ActionRule(f"{_NODES}/(hosts)", "any", _REFUSED, _RENAMED),
)  # fmt: skip

_ADDRESSES = "sites/onprem/addresses"

_NAMES = (
    ActionRule(f"{_ADDRESSES}/**", "any", _IN_PLACE,
         "names, zones, and what DHCP and Slurm know of addresses are written anew"),
    *_rules(f"{_ADDRESSES}/networks/*/", _DRAIN,
            "hosts are looked for at other addresses: theirs change at the same time",
            "prefix segment interface rack_prefix ranges/*/first"),
)  # fmt: skip

_FABRIC = "sites/onprem/fabrics/*"

_FABRICS = (
    ActionRule(_FABRIC, "added", _IN_PLACE, "a new network"),
    ActionRule(_FABRIC, "removed", _DRAIN, "the nodes lose it"),
    ActionRule(f"{_FABRIC}/tiers/*", "added", _ROLLING, "routes are computed anew"),
    ActionRule(f"{_FABRIC}/tiers/*", "removed", _DRAIN, _CABLES),
    ActionRule(f"{_FABRIC}/tiers/*/count", "grown", _ROLLING, "routes are computed anew"),
    ActionRule(f"{_FABRIC}/tiers/*/count", "shrunk", _DRAIN, _CABLES),
    *_rules(f"{_FABRIC}/tiers/*/", _DRAIN, _CABLES,
            "type racks per_rack start_unit air_direction split"),
    *_rules(f"{_FABRIC}/", _DRAIN, _CABLES,
            "attached/** links/** patches/** technology rate subnets rail_optimized unit_hosts "
            "last_unit_hosts top_of_rack shared_racks"),
    *_rules(f"{_FABRIC}/", _ROLLING, "switch by switch; routes are computed anew",
            "tiers/*/asn tiers/*/asn_shared pfc ecn segments/**"),
    *_rules(f"{_FABRIC}/", _ROLLING, "the subnet managers start again and route anew",
            "routing_engine subnet_managers/** m_key sa_key"),
    *_rules(f"{_FABRIC}/", _DRAIN, "both ends of every link change", "mtu"),
    *_rules(f"{_FABRIC}/", _IN_PLACE, _JUDGED, "role routing_run/** oversubscription "
            "tiers/*/oversubscription"),
)  # fmt: skip

_LUSTRE = "sites/onprem/file_systems/*"

_FILE_SYSTEMS = (
    ActionRule(_LUSTRE, "added", _IN_PLACE, "a new file system"),
    ActionRule(_LUSTRE, "removed", _REFUSED, "all data in it would go"),
    ActionRule(f"{_LUSTRE}/kind", "any", _REFUSED, "another file system would take its place"),
    ActionRule(f"{_LUSTRE}/mount", "any", _DRAIN, "it is unmounted on every node"),
    *_rules(f"{_LUSTRE}/", _DRAIN, "clients and servers are unmounted: LNet starts again",
            "networks/** metadata/networks objects/networks management/nids"),
    ActionRule(f"{_LUSTRE}/metadata/count", "grown", _IN_PLACE, "new targets"),
    ActionRule(f"{_LUSTRE}/objects/count", "grown", _IN_PLACE, "new targets"),
    *(
        ActionRule(f"{_LUSTRE}/{kind}/count", "shrunk", _REFUSED, "a target with its data would go")
        for kind in ("metadata", "objects")
    ),
    *_rules(f"{_LUSTRE}/", _REFUSED, f"{_FORMATTED}: its data would go",
            "metadata/backend metadata/size objects/size"),
    *_rules(f"{_LUSTRE}/", _REFUSED, "the targets with their data stand in the servers",
            "metadata/servers objects/servers management/servers"),
    *_rules(f"{_LUSTRE}/", _REFUSED, "the targets with their data would go",
            "metadata objects management", event="removed"),
    *_rules(f"{_LUSTRE}/", _IN_PLACE, "new targets", "metadata objects management",
            event="added"),
    *_rules(f"{_LUSTRE}/", _DRAIN, "the targets are mounted anew with other partners",
            "metadata/failover objects/failover"),
    ActionRule(f"{_LUSTRE}/metadata/data_on_metadata", "any", _IN_PLACE, "holds for new files"),
    *_rules(f"{_LUSTRE}/", _IN_PLACE, _JUDGED,
            "workload/** objects/target_read objects/target_write objects/server_read "
            "objects/server_write"),
    ActionRule(f"{_LUSTRE}/clients/**", "any", _ROLLING, "mounted or unmounted node by node"),
    ActionRule(f"{_LUSTRE}/clients", "any", _ROLLING, "mounted or unmounted node by node"),
)  # fmt: skip

RULES: Sequence[ActionRule] = (
    *_CLUSTER,
    *_OPERATIONS,
    *_SLURM,
    *_AWS,
    *_ONPREM,
    *_NAMES,
    *_FABRICS,
    *_FILE_SYSTEMS,
)
"""Every rule."""
