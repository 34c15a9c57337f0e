"""How jobs are scheduled: Slurm, its partitions and quality of service.

What is written here is meant; the numbers of the nodes come from the catalogue and their place in
the network from the fabric.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.names import HostList, Name, refuse_twins
from rackwright.model.scheduler_settings import (
    Cgroup,
    Folders,
    Priority,
    Private,
    Processes,
    Program,
    Reserve,
    Retention,
    SharedState,
    SlurmAccount,
    SlurmName,
    SlurmPackages,
    Tuning,
)
from rackwright.model.slurm_conf_keys import BACKFILL, FIELD_OF, GENERATED_KEYS, STRUCTURE
from rackwright.model.units import Gibibytes, Percent, Seconds

JobTime = Annotated[str, Field(pattern=r"^(UNLIMITED|(\d{1,5}-)?\d{1,2}:\d{2}:\d{2})$")]
"""A time limit in Slurm's own form: ``2-00:00:00`` is two days."""


def job_minutes(limit: JobTime) -> int | None:
    """A time limit in minutes, rounded up as Slurm does; None where there is no limit."""
    if limit == "UNLIMITED":
        return None
    days, _, clock = limit.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    return int(days or 0) * 1440 + hours * 60 + minutes + (seconds > 0)


Address = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]*$")]
"""A host name or an IP address."""

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/+-]*$")]


def _check_option(text: str) -> str:
    if not text.isprintable() or "#" in text or not text.strip():
        raise ValueError("an option is printable text on one line without '#'")
    return text


Option = Annotated[str, AfterValidator(_check_option)] | int


class Controller(Model):
    """A host that runs slurmctld."""

    host: Name
    """Name of the host."""
    address: Address | None = None
    """How the others reach it, where it stands outside the blueprint."""


class Accounting(Model):
    """The accounting database, which also holds accounts, limits and QOS."""

    host: Name
    """Where slurmdbd runs."""
    address: Address | None = None
    """How it is reached, where it stands outside the blueprint."""
    backup: Name | None = None
    """A second slurmdbd on the same database. Both stand outside the blueprint then: a host of the
    blueprint has its own MariaDB, which nobody else writes to."""
    keep: Retention | None = None
    """Absent, slurmdbd keeps every record for ever."""
    accounts: Annotated[tuple[SlurmAccount, ...], Field(max_length=1000)] = ()
    """The tree of accounts; absent, those of ``users`` have equal shares, and no tree."""
    enforce: tuple[Literal["associations", "limits", "nojobs", "nosteps", "qos", "safe"], ...] = (
        "associations",
        "limits",
        "qos",
        "safe",
    )
    """What slurmctld refuses jobs for: AccountingStorageEnforce."""

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
        """The accounts, each behind the one that it is in.

        Raises:
            ValueError: one is in itself.
        """
        by_name = {account.name: account for account in self.accounts}
        above = {one.name: (one.parent,) if one.parent else () for one in self.accounts}
        try:
            return tuple(by_name[name] for name in TopologicalSorter(above).static_order())
        except CycleError as error:
            raise ValueError(f"accounts are in each other: {' → '.join(error.args[1])}") from None


class Qos(Model):
    """A quality of service; it lives in the accounting database."""

    name: SlurmName
    """How the rest of the blueprint calls it."""
    priority: Annotated[int, Field(ge=0)] = 0
    """Added to the priority of its jobs, after it is weighed."""
    preempts: tuple[SlurmName, ...] = ()
    """QOS whose jobs give way to this one."""
    preempt_mode: Literal["cancel", "requeue"] | None = None
    """What becomes of a job of this QOS that gives way; absent, the cluster's mode."""
    grace: Seconds | None = None
    """Time between the warning and the end of a job that gives way. With it Slurm 22.05 was seen to
    end such a job for good, also where it was to be queued again."""
    max_wall: JobTime | None = None
    """Longest that a job may run: MaxWall."""
    max_nodes_per_user: Annotated[int, Field(gt=0)] | None = None
    """Nodes that a user may have at a time."""
    max_gpus_per_user: Annotated[int, Field(gt=0)] | None = None
    """Accelerators that a user may have at a time."""


class Preemption(Model):
    """Which jobs give way, and how."""

    by: Literal["qos", "partition"]
    """What says which job goes first: PreemptType."""
    mode: Literal["cancel", "requeue", "suspend"]
    """What becomes of a job that makes way: PreemptMode."""
    exempt: JobTime | None = None
    """Time that a job runs before it may be preempted."""


class HealthCheck(Model):
    """A program that judges a node between jobs."""

    program: Program
    """Path of the program on each host."""
    interval: Seconds = 300.0
    """Time from one check to the next."""
    states: Annotated[
        tuple[Literal["IDLE", "ALLOC", "MIXED", "ANY", "NONDRAINED_IDLE"], ...],
        Field(min_length=1),
    ] = ("ANY",)
    """Node states in which it runs. A node of a busy cluster is seldom idle, so that a check of idle
    nodes alone would hardly ever see it."""
    cycle: bool = True
    """Spread over the interval instead of all nodes at once."""


class Partition(Model):
    """Node groups that jobs are sent to together."""

    name: SlurmName
    """How the rest of the blueprint calls it."""
    groups: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Node groups, of any of the cluster's sites."""
    default: bool = False
    """Jobs that name no partition come here."""
    max_time: JobTime = "UNLIMITED"
    """Longest that a job may run: MaxTime."""
    default_time: JobTime | None = None
    """Time of a job that asks for none: DefaultTime."""
    max_nodes: Annotated[int, Field(gt=0)] | None = None
    """Most nodes of a job: MaxNodes."""
    priority_tier: Annotated[int, Field(ge=1, le=65533)] = 1
    """Jobs of a higher tier are looked at first: PriorityTier."""
    priority_factor: Annotated[int, Field(ge=1, le=65533)] | None = None
    """What it adds to the priority of its jobs, against that of the other partitions."""
    preempt_mode: Literal["off", "cancel", "requeue", "suspend"] | None = None
    """What becomes of a job here that makes way; absent, as for the cluster."""
    exclusive: bool = False
    """One job has a node to itself."""
    memory_per_gpu: Annotated[Gibibytes, Field(gt=0)] | None = None
    """Memory of a job for each GPU that it asks for, unless it asks for other memory; absent, the
    GPU's equal share of its node."""
    cpus_per_gpu: Annotated[int, Field(gt=0)] | None = None
    """Logical CPUs, likewise."""
    qos: SlurmName | None = None
    """QOS whose limits hold for the whole partition."""
    allow_qos: tuple[SlurmName, ...] = ()
    """Absent, every QOS."""
    allow_accounts: tuple[SlurmName, ...] = ()
    """Accounts that may use it; empty, all."""
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = "UP"
    """What it does with jobs: State."""
    topology: Literal["tree", "block", "flat"] | None = None
    """Absent, the cluster's; another one needs Slurm 25.05."""


class DeclaredSwitch(Model):
    """A switch of a topology that a site writes by hand."""

    name: Name
    """How the rest of the blueprint calls it."""
    nodes: HostList | None = None
    """Hosts below it."""
    children: HostList | None = None
    """Switches below it."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> DeclaredSwitch:
        if (self.nodes is None) == (self.children is None):
            raise ValueError(f"the switch '{self.name}' needs either 'nodes' or 'children'")
        return self


class Topology(Model):
    """What Slurm knows of the network."""

    plugin: Literal["tree", "block", "flat"]
    """How Slurm sees the network: TopologyPlugin."""
    block_sizes: tuple[Annotated[int, Field(gt=0)], ...] = ()
    """Hosts in a block and in the larger ones made of it; absent, the hosts of one unit."""
    switches: tuple[DeclaredSwitch, ...] = ()
    """A tree written by hand, as measured; absent, it follows from the fabric."""

    @model_validator(mode="after")
    def _parts_are_used(self) -> Topology:
        refuse_twins("switch", (switch.name for switch in self.switches))
        return self


class NodeSettings(Model):
    """What a site says about its nodes, where the catalogue is silent or they differ from it."""

    groups: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Node groups that it is about."""
    cpus: Annotated[int, Field(gt=0)] | None = None
    """Logical CPUs of one host."""
    memory: Gibibytes | None = None
    """Memory of one host that jobs may have, as slurmd reports it; taken as it is."""
    gres: Annotated[str, Field(pattern=r"^gpu:[a-z0-9_.-]+:[1-9]\d{0,3}$")] | None = None
    """Accelerators of one host, like ``gpu:h100:8``."""
    detect: Literal["nvidia", "nvml"] | None = None
    """What slurmd asks for NVIDIA GPUs, and compares with what is written: a node that differs is
    drained. ``nvidia`` needs Slurm 24.11, ``nvml`` a Slurm built with NVIDIA's library; absent,
    nothing is compared."""
    gpus_by_socket: bool = False
    """The first accelerators stand at the first socket, as many at the next: their jobs get its
    cores rather than others."""
    features: tuple[Word, ...] = ()
    """Words by which jobs choose nodes: Features."""
    weight: Annotated[int, Field(ge=1)] | None = None
    """Nodes of a low weight are used first."""
    reserve: Reserve | None = None
    """What its hosts keep for the system; absent, as the cluster's."""


class Scheduler(Model):
    """A Slurm cluster over the sites of a blueprint."""

    kind: Literal["slurm"]
    """The scheduler."""
    version: Annotated[str, Field(pattern=r"^\d\d\.(02|05|08|11)(\.\d+)?$")]
    """Slurm release, like ``25.05``: it decides which files and options it understands."""
    packages: SlurmPackages = SlurmPackages()
    """Whose packages it is installed from; only those of ``version`` are."""
    cluster: SlurmName | None = None
    """Absent, the blueprint's name."""
    sites: tuple[Name, ...] = ()
    """Sites that it covers; absent, all."""
    controllers: Annotated[tuple[Controller, ...], Field(min_length=1)]
    """The primary first, then its backups."""
    accounting: Accounting | None = None
    partitions: Annotated[tuple[Partition, ...], Field(min_length=1)]
    qos: tuple[Qos, ...] = ()
    preemption: Preemption | None = None
    requeue: bool = True
    """A job whose node fails is queued again."""
    health_check: HealthCheck | None = None
    topology: Topology
    processes: Processes = Processes()
    cgroup: Cgroup = Cgroup()
    mpi: Literal["none", "pmi2", "pmix"] = "none"
    """What ``srun`` starts tasks with when the user does not say."""
    prolog: Program | None = None
    """Seconds at most, and never scontrol: a failure drains the node."""
    epilog: Program | None = None
    """Program that runs on each node when a job has ended. ``/usr/local/sbin/rackwright-epilog`` comes with
    the generated health checks and takes away what the job left; any other path is a program of the team's."""
    reboot_program: Program | None = None
    """Program by which ``scontrol reboot`` restarts a node. ``/usr/sbin/reboot`` if omitted."""
    auth: Literal["munge", "slurm"] = "munge"
    """What daemons and commands know each other by: MUNGE, or from Slurm 23.11 on a key of Slurm's own."""
    configless: bool = False
    """The controllers serve the configuration to the hosts that run jobs, which have no files of it;
    controllers, logins and the database's host have them as ever."""
    return_to_service: Literal[0, 1, 2] = 1
    """A node that failed by itself stays down until somebody has looked; 2 takes it back."""
    schedulable_memory: Annotated[Percent, Field(gt=0, le=100)] = 95.0
    """Share of the catalogue's memory that jobs may have: kernel and firmware keep the rest.
    AWS ParallelCluster takes the same 95 %."""
    reserve: Reserve = Reserve()
    """What each host keeps for the system."""
    default_shares: bool = True
    """A job that does not say what it needs gets the share of its GPUs, or of its CPUs where a
    partition has no GPUs, and not all the memory of its nodes."""
    priority: Priority | None = None
    """Absent, only the priorities of QOS and the factors of partitions count."""
    private_data: tuple[Private, ...] = ()
    """What users do not see of others: PrivateData."""
    tuning: Tuning = Tuning()
    nodes: tuple[NodeSettings, ...] = ()
    folders: Folders = Folders()
    shared_state: SharedState | None = None
    """Storage that all controllers mount and that holds ``folders.state``. Without it a backup controller
    finds no state to go on with, unless a share or file system of the blueprint holds the folder."""
    extra: dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*$")], Option] = {}
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
        given = {key.lower() for key in self.extra}
        for key, field in FIELD_OF.items():
            section, _, name = field.partition("/")
            said = getattr(self, section)
            if key.lower() in given and (getattr(said, name) if name else said) is not None:
                place = field.replace("/", ".")
                raise ValueError(f"'{key}' is in 'extra' and follows from '{place}': keep one")
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
        """The options that ``extra`` gives for a key, by their names in lower case."""
        lists = (str(value) for name, value in self.extra.items() if name.lower() == key.lower())
        words = [word.strip() for text in lists for word in text.split(",") if word.strip()]
        return {word.partition("=")[0].lower(): word for word in words}

    def extra_value(self, key: str) -> str | None:
        """What ``extra`` gives for a key, in whatever case; None where it does not."""
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
