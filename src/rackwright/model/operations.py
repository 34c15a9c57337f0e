"""Operation of a cluster: software versions, health checks, firmware, burn-in, changes."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    ABOUT,
    APART,
    FOR_REVIEW,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    SAID,
    STATEMENT,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import DISTINCT, HostList, Name, refuse_twins
from rackwright.model.repair import Repair
from rackwright.model.scheduler_settings import PartitionName, SlurmName
from rackwright.model.software import SoftwareBill
from rackwright.model.tuning import HostTuning
from rackwright.model.units import Gibibytes, MegabytesPerSecond, Percent, Seconds

FirmwareComponent = Literal["bios", "bmc", "cpld", "gpu", "nic", "nvswitch", "psu", "nvme"]
XidNumber = Annotated[int, Field(gt=0, lt=1000)]


class FirmwareBaseline(Model):
    """The firmware that every node of a product has."""

    type: Annotated[str, KEY]
    """Catalogue id."""
    versions: Annotated[
        dict[FirmwareComponent, Annotated[str, Field(min_length=1, max_length=80)]], HARDWARE, ABOUT
    ]
    """Version of each component, in the maker's own words."""
    enforced: Annotated[bool | None, SAID, POLICIES_ONLY] = None
    """True if a node with other firmware takes no jobs until it is updated."""


class BurnInResult(Model):
    """Burn-in of a node group that was run."""

    site: Annotated[Name, KEY]
    """Site of the group."""
    group: Annotated[Name, KEY]
    """Name of the node group."""
    date: Annotated[dt.date, Claim(looser="higher")]
    """Day on which it ended."""
    duration: Annotated[Seconds, Claim(looser="higher")]
    """Time for which each node was under load, in h."""
    passed: Annotated[HostList | None, Claim(looser="either")] = None
    """Nodes that passed, as a host list. None passed if omitted."""


class BurnIn(Model):
    """The load that new nodes run before they take jobs; absent is unknown."""

    duration: Annotated[Seconds | None, Claim(looser="higher")] = None
    """Time for which new nodes are burnt in, in h."""
    facility_informed: Annotated[bool | None, SAID] = None
    """True if the facility team knows about the burn-in, which swings the power of all nodes together."""
    required: Annotated[
        bool | None,
        Setting(strictest_first=(True, False), absent="loose"),
        OnChange("drain", "nodes without a passed burn-in take no jobs until they have one"),
    ] = None
    """True if ``configure`` takes nodes into service only after a passed burn-in. No node waits if omitted."""
    results: Annotated[tuple[BurnInResult, ...], STATEMENT] = ()
    """Burn-ins that were run, as ``rackwright burn-in --output layer=FILE`` writes them."""

    @model_validator(mode="after")
    def _groups_differ(self) -> BurnIn:
        refuse_twins("result of", ((one.group, one.site) for one in self.results))
        return self


class ChangeControl(Model):
    """Limits of one change of the blueprint; absent is unknown."""

    protect_storage: Annotated[bool | None, SAID] = None
    """True if file systems and buckets are never destroyed or replaced by a change."""
    most_nodes: Annotated[Annotated[Percent, Field(gt=0, le=100)] | None, Claim(looser="lower")] = (
        None
    )
    """Largest part of a node group that one change takes out of service at a time, in %."""


class AllReduce(Model):
    """Bus bandwidth that an NCCL all-reduce of 8 GiB reaches at least; absent is unknown."""

    group: Annotated[str, KEY]
    """Name of the node group."""
    node: Annotated[
        Annotated[MegabytesPerSecond, Field(gt=0)] | None,
        Setting(looser="lower", absent="elsewhere"),
    ] = None
    """Bus bandwidth of an all-reduce on one node, in MB/s; it replaces the catalogue's number."""
    across: Annotated[
        Annotated[MegabytesPerSecond, Field(gt=0)] | None,
        Setting(looser="lower", absent="elsewhere"),
    ] = None
    """Bus bandwidth of an all-reduce across all nodes of the group, in MB/s."""


class HugePages(Model):
    """Memory that the kernel of a host reserves in large pages of one size."""

    size: Annotated[Gibibytes, Field(gt=0), KEY]
    """Size of one page, as the kernel has it: ``2 MiB`` and ``1 GiB`` on x86-64."""
    count: Annotated[int, Field(gt=0), HARDWARE]
    """Pages of each host."""


class HostMemory(Model):
    """Memory settings of the kernel on a group's hosts; absent is left as it is."""

    group: Annotated[str, KEY]
    """Name of the node group."""
    huge_pages: Annotated[tuple[HugePages, ...], PART] = ()
    """Huge pages reserved at every boot, whether they are used or not; each size once. With EFA those
    of 2 MiB are for libfabric as well, which has 5128 of them if omitted."""
    transparent_huge_pages: Annotated[Literal["always", "madvise", "never"] | None, HARDWARE] = None
    """Mode in which the kernel makes huge pages by itself."""

    @model_validator(mode="after")
    def _each_size_once(self) -> HostMemory:
        sizes = [pages.size for pages in self.huge_pages]
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"the memory of '{self.group}' names a size of huge pages twice")
        return self


TimeServer = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$")]
"""A name or an address that answers NTP."""
KernelParameter = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[A-Za-z0-9_/-]+)+$")]
"""As ``sysctl`` names it, like ``net.ipv4.tcp_mtu_probing``."""
ParameterValue = (
    Annotated[str, Field(pattern=r"^[\x21-\x7e]([\x20-\x7e]{0,199}[\x21-\x7e])?$")] | int
)


class HostSettings(Model):
    """Settings of all hosts of one or more sites; absent is left as it is."""

    name: Annotated[Name, KEY]
    """Name of the entry, by which the rest of the blueprint refers to it."""
    sites: Annotated[tuple[Name, ...], DISTINCT, HARDWARE] = ()
    """Sites that the entry covers. All sites, with no other entry, if omitted."""
    time_servers: Annotated[tuple[TimeServer, ...], HARDWARE] = ()
    """Servers of the NTP that every host follows; health checks compare its clock with them."""
    kernel_parameters: Annotated[dict[KernelParameter, ParameterValue], HARDWARE] = {}
    """Kernel parameters set now and at every boot: a number, or a text where there are several."""


class PowerClass(Model):
    """Jobs that give way together while a site has less power."""

    name: Annotated[Name, KEY]
    """Name of the class."""
    partitions: Annotated[tuple[PartitionName, ...], DISTINCT, HARDWARE] = ()
    """Partitions whose jobs are of the class."""
    qos: Annotated[tuple[SlurmName, ...], DISTINCT, HARDWARE] = ()
    """Quality of service of its jobs, which counts before the partition."""
    protected: Annotated[bool, HARDWARE] = False
    """True if its nodes are never limited."""

    @model_validator(mode="after")
    def _has_jobs(self) -> PowerClass:
        if not self.partitions and not self.qos:
            raise ValueError(f"the power class '{self.name}' needs 'partitions' or 'qos'")
        return self


class Operations(Model):
    """Declarations about operation; absent is unknown."""

    health_checks: Annotated[bool | None, SAID, POLICIES_ONLY] = None
    """True if nodes run health checks that are generated from this blueprint."""
    drain_on_xids: Annotated[
        tuple[XidNumber, ...] | None, HARDWARE, OnChange("in place", "health checks are rewritten")
    ] = None
    """Xid errors of the GPU driver for which a node is drained besides those of the table of faults."""
    software: Annotated[tuple[SoftwareBill, ...], PART, FOR_REVIEW] = ()
    firmware: Annotated[
        tuple[FirmwareBaseline, ...],
        STATEMENT,
        OnChange("drain", "firmware is written on idle nodes"),
    ] = ()
    burn_in: Annotated[BurnIn | None, STATEMENT, POLICIES_ONLY] = None
    changes: Annotated[ChangeControl | None, STATEMENT, POLICIES_ONLY] = None
    repair: Annotated[Repair | None, STATEMENT, POLICIES_ONLY] = None
    """Limits of ``rackwright repair``."""
    all_reduce: Annotated[tuple[AllReduce, ...], STATEMENT, FOR_REVIEW] = ()
    memory: Annotated[tuple[HostMemory, ...], PART, FOR_REVIEW] = ()
    """Huge pages of node groups, for software that needs them."""
    tuning: Annotated[
        tuple[HostTuning, ...],
        PART,
        OnChange(
            "in place", "settings of the kernel and of PCIe bridges change under running jobs"
        ),
    ] = ()
    """Tuning of node groups for transfers between accelerators and adapters."""
    hosts: Annotated[
        tuple[HostSettings, ...],
        PART,
        OnChange("in place", "the time is had from others; parameters of the kernel are set"),
    ] = ()
    power_classes: Annotated[
        tuple[PowerClass, ...],
        Field(max_length=20),
        PART,
        OnChange("in place", "read when a site has less power"),
    ] = ()
    """Classes of jobs, the first to give way first, when ``rackwright power`` limits accelerators. Idle
    nodes give way before all, and jobs of no class not at all."""
    catalogue_digest: Annotated[
        str | None, Field(pattern=r"^sha256:[0-9a-f]{64}$"), APART, POLICIES_ONLY
    ] = None
    """Digest of the catalogue entries in use, as they were when the blueprint was reviewed."""

    @model_validator(mode="after")
    def _nothing_twice(self) -> Operations:
        for what, names in (
            ("software entry", [bill.name for bill in self.software]),
            ("power class", [one.name for one in self.power_classes]),
            ("firmware baseline of", [baseline.type for baseline in self.firmware]),
            ("all-reduce of the group", [one.group for one in self.all_reduce]),
            ("memory of the group", [one.group for one in self.memory]),
            ("tuning of the group", [one.group for one in self.tuning]),
            ("site of a software entry", [site for bill in self.software for site in bill.sites]),
            ("entry of 'hosts'", [entry.name for entry in self.hosts]),
            ("maintenance window", [w.name for w in self.repair.windows] if self.repair else []),
            ("site of 'hosts'", [site for entry in self.hosts for site in entry.sites]),
        ):
            refuse_twins(what, names)
        if len(self.software) > 1:
            for bill in self.software:
                if not bill.sites:
                    raise ValueError(f"the software entry '{bill.name}' must name its 'sites'")
        if len(self.hosts) > 1:
            for entry in self.hosts:
                if not entry.sites:
                    raise ValueError(f"the entry '{entry.name}' of 'hosts' must name its 'sites'")
        return self

    def settings_of(self, site: str) -> HostSettings | None:
        """Return the settings of hosts of ``site``; None if there are none."""
        covering = (entry for entry in self.hosts if not entry.sites or site in entry.sites)
        return next(covering, None)
