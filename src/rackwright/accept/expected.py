"""Expectations of each host from the plan alone, never from the host's own facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rackwright.model.hardware import Accelerators
from rackwright.model.scheduler import Scheduler
from rackwright.model.software import KernelModules, SoftwareBill
from rackwright.model.storage import ParallelFileSystem
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.records.nodes import HostHardware
from rackwright.plan.slurm.cluster import SlurmCluster
from rackwright.plan.slurm.devices import PATTERNS, device_pattern
from rackwright.plan.slurm.node_health import LUSTRE, mount_points
from rackwright.plan.slurm.nodes import NodeSet, covers
from rackwright.plan.software.versions import NVSWITCH, WIDE_NVLINK, kernel_of
from rackwright.plan.storage.filesystem import serves_lustre

MEMORY_SHARE = 95.0
"""Per cent of the installed memory that a kernel shows at least; firmware keeps the rest. The
scheduler's ``schedulable_memory`` takes its place where there is one."""

NOT_IN_A_LAB = frozenset(
    {"processors", "memory", "accelerator model", "ports", "subnet manager", "EFA devices"}
)
"""Kinds of items that a lab host cannot pose as having: it shares the hardware of one machine."""


class Comparing(StrEnum):
    """Comparison of a fact with its expectation."""

    EQUAL = "equal"
    AT_LEAST = "at least"
    WORD = "word"
    """Each name found has it among its words: ``h100`` in ``NVIDIA H100 80GB HBM3``."""
    VERSION = "version"
    """The same version, whatever a package adds behind it."""
    RELEASE = "release"
    """That version or one of its maintenance releases."""
    SCHEDULABLE = "schedulable"
    """A node's state in which it gets jobs."""
    PORTS = "ports"
    """At least so many active ports of a rate."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a host must have.

    Attributes:
        item: its name, unique on a host.
        kind: what it is one of; the first word of its name, mostly.
        key: where it stands among the facts of the host.
        expected: None where nobody has given the number.
        tolerance: what is allowed to differ, in words; None for nothing.
        least: the smallest number that passes, for ``AT_LEAST``.
        rate_gbps: of the ports that count, for ``PORTS``.
    """

    item: str
    kind: str
    key: tuple[str, ...]
    rule: Comparing
    expected: float | int | str | None
    tolerance: str | None = None
    unit: str = ""
    least: float | None = None
    rate_gbps: float | None = None


@dataclass(frozen=True, slots=True)
class HostExpectations:
    """A host with what it must have and what its collector has to look at.

    Attributes:
        name: in the inventory.
        node: its name in Slurm where it runs jobs.
        devices: patterns of the device files of its accelerators.
    """

    name: str
    node: str | None
    devices: tuple[str, ...]
    items: tuple[Expectation, ...]

    @property
    def request(self) -> dict[str, Any]:
        """Request to the collector on this host."""
        return {
            "devices": list(self.devices),
            "mounts": sorted(e.key[1] for e in self.items if e.key[0] == "mounts"),
            "services": sorted(e.key[1] for e in self.items if e.key[0] == "services"),
            "slurm_node": self.node,
        }


def expect(plan: Plan, *, lab: bool = False) -> tuple[HostExpectations, ...]:
    """Return every host of the inventory with what it must have.

    Args:
        plan: the cluster.
        lab: the hosts are a lab's; what they cannot pose as is left out.
    """
    slurm = plan.slurm
    scheduler, sets = (None, ()) if slurm is None else (slurm.scheduler, slurm.nodes)
    of_group = {(nodes.site, nodes.group): nodes for nodes in sets}

    places = _places(slurm)
    known: dict[tuple[str, str], tuple[Expectation, ...]] = {}
    made = []
    for host in plan.hosts:
        nodes = of_group.get((host.site, host.group))
        of_kind = (host.site, host.group)
        if of_kind not in known:  # the hosts of a group are equal
            found = (*_hardware(plan, host, nodes), *_mounts(plan, host), *_versions(plan, host))
            known[of_kind] = tuple(
                item for item in found if not (lab and item.kind in NOT_IN_A_LAB)
            )
        board = _accelerators(host)
        made.append(
            HostExpectations(
                name=host.inventory_name,
                node=host.name if nodes is not None else None,
                devices=_devices(board, nodes),
                items=(
                    *known[of_kind],
                    *_services(scheduler, host),
                    *_slurm(nodes, places.get(host.name)),
                ),
            )
        )
    return tuple(made)


def _hardware(plan: Plan, host: Host, nodes: NodeSet | None) -> Iterator[Expectation]:
    equipment = host.equipment
    if equipment is None:
        return
    yield from _gpus(equipment, nodes)
    cpus = equipment.cpus if nodes is None else nodes.cpus
    yield Expectation("processors", "processors", ("cpus",), Comparing.EQUAL, cpus)
    yield _memory(plan, equipment, nodes)
    if host.place is not None:
        yield from _ports(equipment, _stated_rates(plan, host))
        yield from _subnet_manager(plan, host)
    elif (count := host.efa_devices) is not None:
        yield Expectation("EFA devices", "EFA devices", ("efa",), Comparing.EQUAL, count)


def _accelerators(host: Host) -> Accelerators | None:
    return None if host.equipment is None else host.equipment.board


def _devices(board: Accelerators | None, nodes: NodeSet | None) -> tuple[str, ...]:
    """Return patterns of device files; those of NVIDIA where there are to be none."""
    if nodes is not None and nodes.gres is not None:
        found = device_pattern(nodes)
        return (found,) if isinstance(found, str) else tuple(found)
    vendor = "nvidia" if board is None else board.vendor
    return (PATTERNS[vendor],)


def _gpus(equipment: HostHardware, nodes: NodeSet | None) -> Iterator[Expectation]:
    board, count = equipment.board, equipment.accelerators
    if nodes is not None and nodes.gres is not None:
        count = nodes.gres.count
    yield Expectation("accelerators", "accelerators", ("accelerators",), Comparing.EQUAL, count)
    if board is not None and board.vendor == "nvidia":
        said = "" if nodes is None or nodes.gres is None else nodes.gres.type
        word = said or board.gres
        key = ("accelerator_models",)
        yield Expectation("accelerator model", "accelerator model", key, Comparing.WORD, word)


def _memory(plan: Plan, equipment: HostHardware, nodes: NodeSet | None) -> Expectation:
    """Return the number of Slurm if the blueprint gives one: slurmd rejects a node with less."""
    scheduler, gib = plan.scheduler, equipment.memory_gib
    share = MEMORY_SHARE if scheduler is None else scheduler.schedulable_memory
    installed = None if gib is None else gib * 1024
    least = None if installed is None else installed * share / 100
    tolerance: str | None = f"{share:g} % of it or more"
    if nodes is not None and nodes.memory is not None and nodes.memory != _floor(least):
        installed, least, tolerance = float(nodes.memory), float(nodes.memory), "or more"
    return Expectation(
        "memory", "memory", ("memory_mib",), Comparing.AT_LEAST, installed, tolerance, "MiB", least
    )


def _floor(value: float | None) -> int | None:
    return None if value is None else int(value + 1e-6)


def _ports(equipment: HostHardware, stated: Mapping[str, float]) -> Iterator[Expectation]:
    """Yield the ports of each technology and rate; a host does not know which network a port is in.

    Args:
        equipment: of the host, with the rates that its ports can run at.
        stated: rates that its fabrics run the ports of a role at.
    """
    counts = {(one.technology, one.rate_gbps): one.count for one in equipment.ports_by_rate}
    for port in equipment.ports:
        can, runs = port.rate_gbps, stated.get(port.role, port.rate_gbps)
        count, known = port.count, counts.get((port.technology, can))
        if runs != can and count is not None and known is not None:
            counts[port.technology, can] = known - count
            counts[port.technology, runs] = (counts.get((port.technology, runs)) or 0) + count
    for (technology, rate), expected in sorted(counts.items()):
        if expected != 0:
            yield Expectation(
                item=f"ports {technology} {rate:g} Gbps",
                kind="ports",
                key=(technology,),
                rule=Comparing.PORTS,
                expected=expected,
                tolerance="or more",
                rate_gbps=rate,
            )


def _subnet_manager(plan: Plan, host: Host) -> Iterator[Expectation]:
    """Yield a manager for the hosts of InfiniBand fabrics: opensm, UFM and switches answer the same question."""
    layouts = (one for site in plan.onprem if site.name == host.site for one in site.layouts)
    if any(
        layout.technology == "infiniband" and hosts.group.name == host.group and hosts.interfaces
        for layout in layouts
        for hosts in layout.hosts
    ):
        kind = "subnet manager"
        yield Expectation(kind, kind, ("subnet_manager",), Comparing.EQUAL, "SMINFO_MASTER")


def _stated_rates(plan: Plan, host: Host) -> dict[str, float]:
    """Return the rate at which a host's ports of a role run, where all fabrics that say one say the same."""
    rates: dict[str, set[float]] = {}
    for layout in (one for site in plan.onprem if site.name == host.site for one in site.layouts):
        for hosts in layout.hosts:
            if hosts.group.name == host.group and hosts.attachment.rate is not None:
                role = hosts.attachment.ports or layout.fabric.role
                rates.setdefault(role, set()).add(hosts.attachment.rate)
    return {role: found.pop() for role, found in rates.items() if len(found) == 1}


def _mounts(plan: Plan, host: Host) -> Iterator[Expectation]:
    for system in _unclaimed(plan, host):
        yield _mount(system.mount, None)
    for place in mount_points(plan, host.site, host.group, host.role):
        yield _mount(place.path, place.kind)


def _unclaimed(plan: Plan, host: Host) -> Iterator[ParallelFileSystem]:
    """Yield file systems of which nobody says who mounts them, so that this host may have to."""
    for system in plan.file_systems:
        lustre = system.lustre if system.site == host.site else None
        if lustre is not None and lustre.clients is None and host.role == "compute":
            yield lustre


def _mounts_lustre(plan: Plan, host: Host) -> bool:
    places = mount_points(plan, host.site, host.group, host.role)
    return any(place.kind == LUSTRE for place in places) or any(_unclaimed(plan, host))


def _mount(place: str, expected: str | None) -> Expectation:
    return Expectation(f"mount {place}", "mount", ("mounts", place), Comparing.EQUAL, expected)


def stated_versions(plan: Plan, host: Host) -> dict[str, str]:
    """Return the versions of what a host carries, by component; what nobody states is absent.

    Slurm's is first: of the bill, else the scheduler's release.
    """
    scheduler, bill = plan.scheduler, plan.software[host.site].bill
    stated = {}
    if scheduler is not None and covers(scheduler, host.site):
        stated["slurm"] = (bill.slurm if bill is not None else None) or scheduler.version
    if bill is not None:
        stated |= dict(sorted(_billed(plan, bill, host)))
    return stated


def _versions(plan: Plan, host: Host) -> Iterator[Expectation]:
    bill = plan.software[host.site].bill
    for component, version in stated_versions(plan, host).items():
        of_release = component == "slurm" and (bill is None or bill.slurm is None)
        rule = Comparing.RELEASE if of_release else Comparing.VERSION
        yield _version(component, version, rule)


def _version(component: str, version: str, rule: Comparing) -> Expectation:
    tolerance = "any build of it" if rule is Comparing.VERSION else "any maintenance release of it"
    return Expectation(
        f"version {component}", "version", ("versions", component), rule, version, tolerance
    )


def _billed(plan: Plan, bill: SoftwareBill, host: Host) -> Iterator[tuple[str, str]]:
    """Yield the components of the bill that a host of this kind carries."""
    board = _accelerators(host)
    nvidia = board is not None and board.vendor == "nvidia"
    serves = serves_lustre(plan, host.site, host.group)
    kernel = kernel_of(plan, host.site, host.group)
    wide = board is not None and board.gres in WIDE_NVLINK
    switched = board is not None and board.gres in NVSWITCH and board.count >= 8
    equipment = host.equipment
    rdma = equipment is not None and any(port.role == "compute" for port in equipment.ports)
    scheduler = plan.scheduler
    role = host.role if scheduler is not None and covers(scheduler, host.site) else None
    # Where the group asks for no EFA there is none of its software either.
    efa = nvidia and host.place is None and host.efa_devices != 0
    carried: Iterable[tuple[str, str | None, bool]] = (
        ("kernel", kernel, True),
        *_of_others(bill, None if board is None else board.vendor),
        ("driver", bill.driver, nvidia),
        ("fabric_manager", bill.fabric_manager, nvidia and switched),
        ("imex", bill.imex, wide),
        ("cuda", bill.cuda, nvidia),
        ("dcgm", bill.dcgm, nvidia),
        ("nccl", bill.nccl, nvidia),
        ("nccl_tests", bill.nccl_tests, nvidia),
        ("ofi_plugin", bill.ofi_plugin, efa),
        ("libfabric", bill.libfabric, efa),
        ("efa_installer", bill.efa_installer, efa),
        ("ofed", _module(bill.ofed), rdma),
        ("lustre_client", _module(bill.lustre_client), _mounts_lustre(plan, host)),
        ("lustre_server", _module(bill.lustre_server), serves),
        ("enroot", bill.enroot, role == "compute"),
        ("container_toolkit", bill.container_toolkit, nvidia and role == "compute"),
        ("pyxis", bill.pyxis, role in {"compute", "login"}),
    )
    for component, version, applies in carried:
        if applies and version is not None:
            yield component, version


def _of_others(bill: SoftwareBill, vendor: str | None) -> Iterator[tuple[str, str | None, bool]]:
    """Yield versions of accelerators that are not of NVIDIA."""
    if bill.amd is not None:
        yield "amdgpu", bill.amd.driver, vendor == "amd"
        yield "rocm", bill.amd.rocm, vendor == "amd"
    if bill.neuron is not None:
        yield "neuron", bill.neuron.driver, vendor == "aws"


def _module(modules: KernelModules | None) -> str | None:
    return None if modules is None else modules.version


def _services(scheduler: Scheduler | None, host: Host) -> Iterator[Expectation]:
    if scheduler is None or not covers(scheduler, host.site):
        return
    wanted = ["munge"] if scheduler.auth == "munge" else []
    if host.role == "login" and scheduler.auth == "slurm":
        wanted.append("sackd")
    if host.role == "compute":
        wanted.append("slurmd")
    if host.name in {controller.host for controller in scheduler.controllers}:
        wanted.append("slurmctld")
    accounting = scheduler.accounting
    if accounting is not None and host.name == accounting.host:
        wanted += ["mariadb", "slurmdbd"]
    for name in wanted:
        yield Expectation(
            f"service {name}", "service", ("services", name), Comparing.EQUAL, "active"
        )


def _places(slurm: SlurmCluster | None) -> dict[str, str]:
    """Return the lowest switch, or the block, of each node in Slurm's topology.

    Only where it has one kind of them: a node in a tree and in blocks is shown with both.
    """
    if slurm is None or not slurm.nodes:
        return {}
    own, *others = slurm.topologies
    if others:
        return {}
    switches = {node: switch.name for switch in own.switches for node in switch.nodes}
    return switches or {node: block.name for block in own.blocks for node in block.nodes}


def _slurm(nodes: NodeSet | None, unit: str | None) -> Iterator[Expectation]:
    if nodes is None:
        return
    key = ("slurm", "state")
    yield Expectation("Slurm state", "Slurm state", key, Comparing.SCHEDULABLE, "takes jobs")
    key, count = ("slurm", "accelerators"), nodes.accelerators
    yield Expectation("Slurm accelerators", "Slurm accelerators", key, Comparing.EQUAL, count)
    if unit is not None:
        key = ("slurm", "topology")
        yield Expectation("Slurm topology", "Slurm topology", key, Comparing.EQUAL, unit)
