"""Scheduling of jobs: Slurm, its partitions and quality of service.

What is written here is meant; the numbers of the nodes come from the catalogue and their place in
the network from the fabric.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import FOR_REVIEW, HARDWARE, KEY, PART, OnChange
from rackwright.model.names import DISTINCT, HostList, HostName, Name, refuse_twins
from rackwright.model.queues import Partition, Preemption, Qos
from rackwright.model.scheduler_settings import (
    RELEASE,
    Cgroup,
    Folders,
    PowerSaving,
    Priority,
    Private,
    Processes,
    Program,
    Reserve,
    Retention,
    SharedState,
    SkyPilot,
    SlurmAccount,
    SlurmName,
    SlurmPackages,
    Tuning,
)
from rackwright.model.slurm_conf_keys import (
    BACKFILL,
    FIELD_OF,
    GENERATED_KEYS,
    STRUCTURE,
    refused_option,
)
from rackwright.model.slurm_lines import NodeSettings, Option, OptionName
from rackwright.model.units import Percent, Seconds

_BACKUP = "slurmctld moves to its backup and back"
_DATABASE = "the accounting database has to move with it"
_LOST_JOBS = "slurmd loses track of jobs that run meanwhile"
_NODE_BY_NODE = "slurmd starts again node by node; jobs go on"
_REREAD = "slurmctld reads it again; jobs go on"
_RESTARTED = "slurmctld starts again; jobs go on"


Address = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
"""A host name or an IP address."""


class Controller(Model):
    """A host that runs slurmctld."""

    host: Annotated[HostName, KEY]
    """Name of the host."""
    address: Annotated[Address | None, HARDWARE] = None
    """Address of a controller outside the blueprint."""


class Accounting(Model):
    """The accounting database, which also holds accounts, limits and QOS."""

    host: Annotated[HostName, HARDWARE, OnChange("review", _DATABASE)]
    """Host that runs slurmdbd."""
    address: Annotated[Address | None, HARDWARE, OnChange("review", _DATABASE)] = None
    """Address of a host outside the blueprint."""
    backup: Annotated[Name | None, HARDWARE, OnChange("rolling", _BACKUP)] = None
    """Second slurmdbd on the same database. Both are outside the blueprint then: a host of the
    blueprint has its own MariaDB, which no other host writes to."""
    keep: Annotated[
        Retention | None,
        PART,
        OnChange(
            "review",
            "slurmdbd starts again, and removes at once what is older than it is to be kept",
        ),
    ] = None
    """Age at which records are removed. slurmdbd keeps every record for ever if omitted."""
    accounts: Annotated[tuple[SlurmAccount, ...], Field(max_length=1000), PART, FOR_REVIEW] = ()
    """Tree of accounts. The accounts of ``users`` have equal shares, without a tree, if omitted."""
    enforce: Annotated[
        tuple[Literal["associations", "limits", "nojobs", "nosteps", "qos", "safe"], ...],
        HARDWARE,
        OnChange("in place", _RESTARTED),
    ] = (
        "associations",
        "limits",
        "qos",
        "safe",
    )
    """Limits that slurmctld enforces on jobs: AccountingStorageEnforce."""

    @model_validator(mode="after")
    def _accounts_are_a_tree(self) -> Accounting:
        refuse_twins("account", (account.name for account in self.accounts))
        known = {account.name for account in self.accounts}
        for account in self.accounts:
            if account.name == "root":
                raise ValueError("slurmdbd makes the account 'root' itself, above all others")
            if account.parent is not None and account.parent not in known:
                raise ValueError(
                    f"the account '{account.name}' is in '{account.parent}', which does not exist"
                )
        self.tree()
        return self

    def tree(self) -> tuple[SlurmAccount, ...]:
        """Return the accounts, each behind the one that it is in.

        Raises:
            ValueError: one is in itself.
        """
        by_name = {account.name: account for account in self.accounts}
        above = {one.name: (one.parent,) if one.parent else () for one in self.accounts}
        try:
            return tuple(by_name[name] for name in TopologicalSorter(above).static_order())
        except CycleError as error:
            raise ValueError(f"accounts are in each other: {' → '.join(error.args[1])}") from None


class HealthCheck(Model):
    """A program that judges a node between jobs."""

    program: Annotated[Program, HARDWARE]
    """Path of the program on each host."""
    interval: Annotated[Seconds, HARDWARE] = 300.0
    """Time from one check to the next, in s."""
    states: Annotated[
        tuple[Literal["IDLE", "ALLOC", "MIXED", "ANY", "NONDRAINED_IDLE"], ...],
        Field(min_length=1),
        HARDWARE,
    ] = ("ANY",)
    """Node states in which it runs. A node of a busy cluster is seldom idle, so that a check of idle
    nodes alone would hardly ever see it."""
    cycle: Annotated[bool, HARDWARE] = True
    """True to spread the checks over the interval instead of all nodes at once."""


class DeclaredSwitch(Model):
    """A switch of a topology that a site writes by hand."""

    name: Annotated[HostName, KEY]
    """Name of the switch, by which the rest of the blueprint refers to it."""
    nodes: Annotated[HostList | None, HARDWARE] = None
    """Hosts below it."""
    children: Annotated[HostList | None, HARDWARE] = None
    """Switches below it."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> DeclaredSwitch:
        if (self.nodes is None) == (self.children is None):
            raise ValueError(f"the switch '{self.name}' needs either 'nodes' or 'children'")
        return self


class Topology(Model):
    """Network topology as Slurm knows it."""

    plugin: Annotated[Literal["tree", "block", "flat"], HARDWARE, OnChange("in place", _RESTARTED)]
    """Model of the network in Slurm: TopologyPlugin."""
    block_sizes: Annotated[
        tuple[Annotated[int, Field(gt=0)], ...], HARDWARE, OnChange("in place", _REREAD)
    ] = ()
    """Hosts in a block and in the larger ones made of it. The hosts of one unit if omitted."""
    switches: Annotated[tuple[DeclaredSwitch, ...], PART, OnChange("in place", _REREAD)] = ()
    """Tree of switches written by hand, as measured. Derived from the fabric if omitted."""

    @model_validator(mode="after")
    def _parts_are_used(self) -> Topology:
        refuse_twins("switch", (switch.name for switch in self.switches))
        return self


class Scheduler(Model):
    """A Slurm cluster over the sites of a blueprint."""

    kind: Annotated[Literal["slurm"], HARDWARE, FOR_REVIEW]
    """The scheduler."""
    version: Annotated[
        str,
        Field(pattern=RELEASE),
        HARDWARE,
        OnChange("rolling", "slurmdbd first, then slurmctld, then slurmd node by node"),
    ]
    """Slurm release, like ``25.05``: it decides which files and options it understands."""
    packages: Annotated[SlurmPackages, PART, FOR_REVIEW] = SlurmPackages()
    """Source of Slurm's packages; only those of ``version`` are installed."""
    cluster: Annotated[
        SlurmName | None,
        HARDWARE,
        OnChange(
            "replace",
            "slurmctld refuses the state of another cluster name: queued jobs and their accounting stay with the old one",
        ),
    ] = None
    """Name of the cluster in Slurm. The blueprint's name if omitted."""
    sites: Annotated[
        tuple[Name, ...], DISTINCT, HARDWARE, OnChange("drain", "nodes join or leave the cluster")
    ] = ()
    """Sites that Slurm covers. All if omitted."""
    controllers: Annotated[
        tuple[Controller, ...], Field(min_length=1), PART, OnChange("rolling", _BACKUP)
    ]
    """Hosts of slurmctld: the primary first, then its backups."""
    accounting: Annotated[
        Accounting | None, PART, OnChange("in place", _RESTARTED, event="added")
    ] = None
    partitions: Annotated[
        tuple[Partition, ...], Field(min_length=1), PART, OnChange("in place", _REREAD)
    ]
    qos: Annotated[tuple[Qos, ...], PART, OnChange("in place", _REREAD)] = ()
    preemption: Annotated[Preemption | None, PART, OnChange("in place", _REREAD)] = None
    requeue: Annotated[bool, HARDWARE, OnChange("in place", _REREAD)] = True
    """True if a job whose node fails is queued again."""
    health_check: Annotated[HealthCheck | None, PART, OnChange("in place", _REREAD)] = None
    topology: Annotated[Topology, PART]
    processes: Annotated[Processes, PART, OnChange("drain", _LOST_JOBS)] = Processes()
    cgroup: Annotated[Cgroup, PART, OnChange("rolling", _NODE_BY_NODE)] = Cgroup()
    mpi: Annotated[Literal["none", "pmi2", "pmix"], HARDWARE, OnChange("in place", _REREAD)] = (
        "none"
    )
    """Default of ``srun --mpi``: MpiDefault."""
    prolog: Annotated[Program | None, HARDWARE, OnChange("in place", _REREAD)] = None
    """Program that runs on each node before a job. It takes seconds at most and never calls scontrol: a
    failure drains the node."""
    epilog: Annotated[Program | None, HARDWARE, OnChange("in place", _REREAD)] = None
    """Program that runs on each node when a job has ended. ``/usr/local/sbin/rackwright-epilog`` comes with
    the generated health checks and takes away what the job left; any other path is a program of the team's."""
    reboot_program: Annotated[Program | None, HARDWARE, OnChange("in place", _REREAD)] = None
    """Program by which ``scontrol reboot`` restarts a node. ``/usr/sbin/reboot`` if omitted."""
    auth: Annotated[
        Literal["munge", "slurm"],
        HARDWARE,
        OnChange("drain", "every daemon changes at the same time"),
    ] = "munge"
    """Authentication of daemons and commands: MUNGE, or from Slurm 23.11 on a key of Slurm's own."""
    configless: Annotated[bool, HARDWARE, FOR_REVIEW] = False
    """The controllers serve the configuration to the hosts that run jobs, which have no files of it;
    controllers, logins and the database's host have them as ever."""
    return_to_service: Annotated[Literal[0, 1, 2], HARDWARE, OnChange("in place", _REREAD)] = 1
    """Return of failed nodes: with 1, a node that failed by itself stays down until an operator has
    looked; 2 takes it back."""
    schedulable_memory: Annotated[
        Percent, Field(gt=0, le=100), HARDWARE, OnChange("rolling", _NODE_BY_NODE)
    ] = 95.0
    """Share of the catalogue's memory that jobs may have: kernel and firmware keep the rest.
    AWS ParallelCluster takes the same 95 %."""
    reserve: Annotated[Reserve, PART, OnChange("rolling", _NODE_BY_NODE)] = Reserve()
    """Cores and memory that each host keeps for the system."""
    default_shares: Annotated[bool, HARDWARE, OnChange("in place", _REREAD)] = True
    """True if a job that states no need gets the share of its GPUs, or of its CPUs where a partition
    has no GPUs, and not all the memory of its nodes."""
    priority: Annotated[Priority | None, PART, OnChange("in place", _REREAD)] = None
    """Weights of the factors of a job's priority. Only the priorities of QOS and the factors of
    partitions count if omitted."""
    private_data: Annotated[tuple[Private, ...], HARDWARE, OnChange("in place", _REREAD)] = ()
    """Data of other users that users do not see: PrivateData."""
    tuning: Annotated[Tuning, PART, OnChange("in place", _REREAD)] = Tuning()
    power_saving: Annotated[PowerSaving, PART, OnChange("in place", _REREAD)] = PowerSaving()
    nodes: Annotated[tuple[NodeSettings, ...], PART, OnChange("rolling", _NODE_BY_NODE)] = ()
    folders: Annotated[Folders, PART, OnChange("drain", _LOST_JOBS)] = Folders()
    shared_state: Annotated[SharedState | None, PART, OnChange("rolling", _BACKUP)] = None
    """Storage that all controllers mount and that holds ``folders.state``. Without it a backup controller
    finds no state to go on with, unless a share or file system of the blueprint holds the folder."""
    skypilot: Annotated[SkyPilot | None, PART, OnChange("in place", _REREAD)] = None
    extra: Annotated[dict[OptionName, Option], HARDWARE, FOR_REVIEW] = {}
    """More options of ``slurm.conf``; none that the blueprint decides. What is a list adds to the
    list that is generated, and an option in it stands for the generated one of that name."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Scheduler:
        for what, names in (
            ("partition", [partition.name for partition in self.partitions]),
            ("QOS", [qos.name for qos in self.qos]),
            ("controller", [controller.host for controller in self.controllers]),
            ("node group", [name for settings in self.nodes for name in settings.groups]),
        ):
            refuse_twins(what, names)
        self._check_extra()
        self._check_database()
        self._check_qos()
        if self.preemption is not None and self.preemption.by == "qos" and self.accounting is None:
            raise ValueError("preemption by QOS needs 'accounting': a QOS lives in its database")
        self._check_topologies()
        self._check_detection()
        self._check_packages()
        if self.auth == "slurm" and self.release < (23, 11):
            raise ValueError(f"'auth: slurm' needs Slurm 23.11; this is {self.version}")
        self._check_configless()
        shared = self.shared_state
        if shared is not None and not shared.holds(self.folders.state):
            raise ValueError(
                f"'folders.state' is {self.folders.state}, which is not below {shared.mount}, the "
                f"mount point of 'shared_state': write 'folders: {{state: {shared.mount}/slurmctld}}'"
            )
        return self

    def _check_extra(self) -> None:
        taken = {key.lower(): key for key in GENERATED_KEYS | STRUCTURE}
        for key in self.extra:
            if key.lower() in taken:
                raise ValueError(f"'{taken[key.lower()]}' is generated, it cannot be in 'extra'")
        refuse_twins("extra option", (key.lower() for key in self.extra))
        for key, value in self.extra.items() if self.release >= (22, 5) else ():
            if problem := refused_option(key, value):
                raise ValueError(problem)
        given = {key.lower() for key in self.extra}
        for key, field in FIELD_OF.items():
            section, _, name = field.partition("/")
            said = getattr(self, section)
            if key.lower() in given and (getattr(said, name) if name else said) is not None:
                place = field.replace("/", ".")
                raise ValueError(f"'{key}' is in 'extra' and follows from '{place}': keep one")
        if "taskprolog" in given and self.skypilot is not None and self.skypilot.wheels is not None:
            raise ValueError(
                "'TaskProlog' is in 'extra' and follows from 'skypilot.wheels': keep one"
            )
        if "contain" in self.extra_options("PrologFlags"):
            raise ValueError("'processes.contain' decides about 'Contain' of 'PrologFlags'")
        options = self.extra_options("SchedulerParameters")
        for name, field in BACKFILL.items():
            if name in options and getattr(self.tuning, field) is not None:
                raise ValueError(
                    f"'{name}' is in 'extra' and follows from 'tuning.{field}': keep one"
                )

    def _check_configless(self) -> None:
        if not self.configless:
            return
        if self.release < (20, 2):
            raise ValueError(f"'configless' needs Slurm 20.02; this is {self.version}")
        if self.extra_value("JobContainerType") is not None:
            raise ValueError(
                "'configless' has hosts read the controllers' job_container.conf, and that of "
                "'JobContainerType' is written on the hosts themselves: leave one of both out"
            )

    def extra_options(self, key: str) -> dict[str, str]:
        """Return the options that ``extra`` gives for a key, by their names in lower case."""
        lists = (str(value) for name, value in self.extra.items() if name.lower() == key.lower())
        words = [word.strip() for text in lists for word in text.split(",") if word.strip()]
        return {word.partition("=")[0].lower(): word for word in words}

    def extra_value(self, key: str) -> str | None:
        """Return the value of a key in ``extra``, in any case; None if it is absent."""
        found = (str(value) for name, value in self.extra.items() if name.lower() == key.lower())
        return next(found, None)

    def _check_database(self) -> None:
        hidden = [what for what in ("accounts", "users") if what in self.private_data]
        if hidden and self.accounting is None:
            raise ValueError(
                f"'{hidden[0]}' cannot be private without 'accounting', which has them"
            )
        if self.priority is not None and self.accounting is None:
            raise ValueError(
                "'priority' needs 'accounting': fair-share and age are worked out from its database"
            )
        accounts = () if self.accounting is None else self.accounting.accounts
        shared = [account for account in accounts if account.share != 1]
        by_hand = self.extra_value("PriorityWeightFairshare") is not None
        if shared and not by_hand and (self.priority is None or not self.priority.fair_share):
            raise ValueError(
                f"the share of the account '{shared[0].name}' does nothing without 'fair_share' in "
                "'priority'"
            )

    def _check_qos(self) -> None:
        if self.qos and self.accounting is None:
            raise ValueError("'qos' needs 'accounting': a QOS lives in its database")
        known = {qos.name for qos in self.qos} | {"normal"}  # slurmdbd makes 'normal' itself
        used = [(f"the QOS '{qos.name}'", name) for qos in self.qos for name in qos.preempts]
        used += [
            (f"the partition '{partition.name}'", name)
            for partition in self.partitions
            for name in (*partition.allow_qos, *((partition.qos,) if partition.qos else ()))
        ]
        for who, name in used:
            if name not in known:
                raise ValueError(f"{who} names the QOS '{name}', which does not exist")
        try:  # slurmdbd takes no such thing
            TopologicalSorter({qos.name: qos.preempts for qos in self.qos}).prepare()
        except CycleError as error:
            raise ValueError(f"QOS preempt each other: {' → '.join(error.args[1])}") from None

    def _check_topologies(self) -> None:
        wanted = {p.topology or self.topology.plugin for p in self.partitions}
        if len(wanted | {self.topology.plugin}) > 1 and self.release < (25, 5):
            raise ValueError(
                f"partitions with topologies of their own need Slurm 25.05; this is {self.version}"
            )
        if "block" in wanted and self.release < (23, 11):
            raise ValueError(f"topology 'block' needs Slurm 23.11; this is {self.version}")

    def _check_detection(self) -> None:
        for entry in self.nodes:
            if entry.detect == "nvidia" and self.release < (24, 11):
                raise ValueError(
                    f"'detect: nvidia' of '{entry.groups[0]}' needs Slurm 24.11; this is "
                    f"{self.version}: 'nvml' does the same where Slurm is built with it"
                )

    def _check_packages(self) -> None:
        names = self.packages.names
        if names is None:
            return
        for part, needed, why in (
            ("slurmdbd", self.accounting is not None, "'accounting'"),
            ("sackd", self.auth == "slurm", "'auth: slurm'"),
        ):
            if needed and not getattr(names, part):
                raise ValueError(f"'packages.names' has none for {part}, which {why} needs")

    @property
    def release(self) -> tuple[int, int]:
        """The major release as numbers, ``(25, 5)`` for ``25.05.3``."""
        year, month = self.version.split(".")[:2]
        return int(year), int(month)
