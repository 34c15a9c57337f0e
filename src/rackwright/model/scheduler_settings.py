"""Settings of Slurm beyond partitions and QOS: priorities, shares, reserves, sizes and retention.

Facts stand with their source: manual pages are those of ``slurm.conf(5)`` and ``slurmdbd.conf(5)``
unless another one is named, in the release that is named.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.directories import MountPath
from rackwright.model.field_kinds import HARDWARE, KEY, PART, POLICIES_ONLY, Claim, OnChange
from rackwright.model.units import Gibibytes, Seconds

RELEASE = r"^\d\d\.(02|05|08|11)(\.\d+)?$"
"""A release of Slurm."""
Program = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]+$")]
"""An absolute path without blanks."""

SlurmName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""A QOS, account or cluster; short, because it stands in every job's record."""


def _check_partition(name: str) -> str:
    if name.upper() == "DEFAULT":
        raise ValueError(
            f"'{name}' stands for the defaults of all partitions in slurm.conf: name it otherwise"
        )
    return name


PartitionName = Annotated[
    str, Field(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,39}$"), AfterValidator(_check_partition)
]
"""A partition, as ``slurm.conf`` has it: capitals count."""

LARGEST_WEIGHT = 2**32 - 1
"""A job's priority is a number of 32 bits, of which weights are parts."""

LONGEST_WINDOW = 43_200 * 60.0
"""Seconds of ``bf_window`` at most: 30 days."""

LARGEST_PORT = 65_535

_TASK_PROLOG = (
    "slurmd reads TaskProlog again once nodes have its program; jobs go on, except on configless nodes "
    "without it, such as elastic nodes of an older image"
)
_UV = "hosts install this release of uv; jobs go on"

DAY = 86_400
"""Seconds of a day."""


def _whole(step: int, name: str) -> AfterValidator:
    def check(seconds: float) -> float:
        if seconds % step:
            raise ValueError(f"it is a whole number of {name}: that is how Slurm counts it")
        return seconds

    return AfterValidator(check)


WholeSeconds = Annotated[Seconds, _whole(1, "seconds")]
WholeMinutes = Annotated[Seconds, _whole(60, "minutes")]
Age = Annotated[Seconds, Field(ge=DAY, le=36_500 * DAY), _whole(DAY, "days")]
"""How old a record of slurmdbd becomes. It counts months, days or hours, and removes at the start
of each; whole months would be removed at once."""

Weight = Annotated[int, Field(ge=0, le=LARGEST_WEIGHT)]


class Priority(Model):
    """Priority of jobs: the weight of each factor, which is a number from 0 to 1.

    The weights are those of SchedMD's example (guide of the multifactor plugin, Slurm 22.05),
    except that of the QOS, which weighs as much as fair-share: the example leaves it out, and then
    the priority of a QOS does nothing.
    """

    fair_share: Annotated[Weight, HARDWARE] = 10_000
    """Weight for accounts and users who have used less than their share."""
    age: Annotated[Weight, HARDWARE] = 1_000
    """Weight for jobs that have waited."""
    job_size: Annotated[Weight, HARDWARE] = 1_000
    """Weight for jobs that ask for more of the cluster."""
    partition: Annotated[Weight, HARDWARE] = 1_000
    """Weight of the ``priority_factor`` of a partition; it is not written where none has one."""
    qos: Annotated[Weight, HARDWARE] = 10_000
    """Weight of the ``priority`` of a QOS."""
    half_life: Annotated[WholeMinutes | None, HARDWARE] = None
    """Time after which use counts half, in d. Slurm's 7 days if omitted. With ``0 s`` it counts in full
    until the ``reset``."""
    reset: Annotated[
        Literal["daily", "weekly", "monthly", "quarterly", "yearly"] | None, HARDWARE
    ] = None
    """Period after which past use is forgotten at once."""
    max_age: Annotated[Annotated[WholeMinutes, Field(gt=0)] | None, HARDWARE] = None
    """Waiting time beyond which age counts no more, in d. Slurm's 7 days if omitted."""
    favor_small: Annotated[bool, HARDWARE] = False
    """True if the factor of the size is that of small jobs."""

    @model_validator(mode="after")
    def _can_be(self) -> Priority:
        if self.half_life == 0 and self.reset is None:
            raise ValueError("with a 'half_life' of 0 use is never forgotten: give a 'reset'")
        total = self.fair_share + self.age + self.job_size + self.partition + self.qos
        if total > LARGEST_WEIGHT:
            raise ValueError(
                f"the weights make {total:,} together; a priority is at most {LARGEST_WEIGHT:,}"
            )
        return self


class SlurmAccount(Model):
    """An account in the accounting database: users, or other accounts, who share what it gets."""

    name: Annotated[SlurmName, KEY]
    """Name of the account in the database."""
    parent: Annotated[SlurmName | None, HARDWARE] = None
    """Account above this one. None if omitted."""
    share: Annotated[int, Field(ge=0, le=65_533), HARDWARE] = 1
    """Share of the account above, against the accounts and users beside it."""
    max_gpus: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """GPUs of all its running jobs, and of those in accounts below it."""


class Reserve(Model):
    """Memory and cores that each host reserves for the system."""

    cores: Annotated[int, Field(ge=0), HARDWARE] = 0
    """Number of whole cores, with all their threads."""
    memory: Annotated[Gibibytes, HARDWARE] = 0.0
    """Memory, in whole MiB; slurmd is confined to it where jobs are confined by control groups."""


PackageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$")]
"""Name of a package, as ``apt`` and ``dnf`` have it."""

PackageNames = Annotated[tuple[PackageName, ...], Field(max_length=20)]


class OwnPackages(Model):
    """Names of a team's own packages of Slurm, by what is in them."""

    client: Annotated[PackageNames, Field(min_length=1), HARDWARE]
    """Commands, with the library and the plugins that every daemon needs."""
    slurmctld: Annotated[PackageNames, Field(min_length=1), HARDWARE]
    """The controller's daemon."""
    slurmd: Annotated[PackageNames, Field(min_length=1), HARDWARE]
    """The nodes' daemon."""
    slurmdbd: Annotated[PackageNames, HARDWARE] = ()
    """The daemon of the accounting database."""
    sackd: Annotated[PackageNames, HARDWARE] = ()
    """The daemon of authentication on logins."""
    pam_slurm_adopt: Annotated[PackageNames, HARDWARE] = ()
    """The module of PAM that lets in those with a job."""


class SlurmPackages(Model):
    """Whose packages Slurm is installed from. Those of another one are never taken away."""

    source: Annotated[Literal["distribution", "schedmd", "own"], HARDWARE] = "distribution"
    """Packages to install: the distribution's, those that SchedMD's sources make (``slurm-smd-…`` of
    Debian and Ubuntu, ``slurm-…`` of the RHEL family), or a team's own."""
    names: Annotated[OwnPackages | None, PART] = None
    """Package names of a team's own packages."""

    @model_validator(mode="after")
    def _names_its_own(self) -> SlurmPackages:
        if (self.source == "own") != (self.names is not None):
            raise ValueError(
                "'names' are given for the packages of 'source: own', and for no others"
            )
        return self


class SrunPorts(Model):
    """The ports on which ``srun`` listens, for firewalls that must know them."""

    first: Annotated[int, Field(ge=1024, le=LARGEST_PORT), HARDWARE] = 60_001
    """Number of the first port."""
    steps: Annotated[int, Field(gt=0), HARDWARE] = 10
    """Job steps over all nodes that run at a time from one host."""


class Tuning(Model):
    """Times and sizes; each that is absent follows from the nodes, or is Slurm's own."""

    message_timeout: Annotated[Annotated[WholeSeconds, Field(ge=1, le=100)] | None, HARDWARE] = None
    """Time of a message and its answer. Slurm warns of more than 100 s."""
    tree_width: Annotated[int | None, Field(ge=1, le=65_533), HARDWARE] = None
    """Hosts to which each daemon passes a message on."""
    max_jobs: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_WEIGHT),
        HARDWARE,
        OnChange("in place", "slurmctld starts again; jobs go on"),
    ] = None
    """Jobs in the memory of slurmctld, those that wait and that have just ended as well."""
    max_array_size: Annotated[int | None, Field(ge=0, le=4_000_001), HARDWARE] = None
    """One more than the highest index of a job array; 0 for no arrays."""
    unkillable_step_timeout: Annotated[
        Annotated[WholeSeconds, Field(ge=1, le=65_533)] | None, HARDWARE
    ] = None
    """Time that processes have to end once they were killed, before the node is drained, in s."""
    reboot_timeout: Annotated[Annotated[WholeSeconds, Field(ge=1, le=65_533)] | None, HARDWARE] = (
        None
    )
    """Time that a node may take to come back from ``scontrol reboot`` before it is set down, in s:
    ResumeTimeout. 30 minutes if omitted."""
    backfill_window: Annotated[
        Annotated[WholeMinutes, Field(gt=0, le=LONGEST_WINDOW)] | None, HARDWARE
    ] = None
    """Time ahead for which jobs are planned, in h."""
    backfill_resolution: Annotated[
        Annotated[WholeSeconds, Field(ge=1, le=3600)] | None, HARDWARE
    ] = None
    """Step of the plan of jobs, in s."""
    srun_ports: Annotated[SrunPorts | None, PART] = None
    """Ports of ``srun``. Any port that the kernel gives if omitted."""


class PowerSaving(Model):
    """Times of elastic nodes, which Slurm launches for jobs and ends when they are idle."""

    boot: Annotated[
        Annotated[WholeSeconds, Field(ge=1, le=65_533)] | None,
        Claim(looser="lower"),
        POLICIES_ONLY,
    ] = None
    """Time from the launch of a node to the start of its slurmd, as measured, in s. Unknown if omitted."""
    idle: Annotated[WholeSeconds, Field(ge=60, le=31_536_000), HARDWARE] = 600.0
    """Time that a node is idle before it is ended, in s: SuspendTime. 10 minutes if omitted."""
    resume_timeout: Annotated[WholeSeconds, Field(ge=60, le=65_533), HARDWARE] = 1800.0
    """Time after which a launched node that has not joined is given up and ended, in s: ResumeTimeout. 30
    minutes if omitted."""
    suspend_timeout: Annotated[WholeSeconds, Field(ge=1, le=65_533), HARDWARE] = 120.0
    """Time after which an ended node may be launched again, in s: SuspendTimeout. 2 minutes if omitted."""


class Retention(Model):
    """Retention of records in slurmdbd; records without an age are kept forever."""

    events: Annotated[Age | None, HARDWARE] = None
    """Age at which events of nodes are removed, in d."""
    jobs: Annotated[Age | None, HARDWARE] = None
    """Age at which ended jobs are removed, in d."""
    reservations: Annotated[Age | None, HARDWARE] = None
    """Age at which ended reservations are removed, in d."""
    steps: Annotated[Age | None, HARDWARE] = None
    """Age at which steps of jobs are removed, in d."""
    suspensions: Annotated[Age | None, HARDWARE] = None
    """Age at which suspensions of jobs are removed, in d."""
    transactions: Annotated[Age | None, HARDWARE] = None
    """Age at which changes by administrators are removed, in d."""
    usage: Annotated[Age | None, HARDWARE] = None
    """Age at which sums by account, user and hour, day and month are removed, in d."""
    archive: Annotated[Program | None, HARDWARE] = None
    """Folder on the database's host for records that are removed. They are lost if omitted."""

    @property
    def ages(self) -> dict[str, float]:
        """Seconds by kind of record, of those that have an age."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: age for name, age in given.items() if isinstance(age, float)}

    @model_validator(mode="after")
    def _removes_something(self) -> Retention:
        if not self.ages:
            raise ValueError("it gives no record an age: leave 'keep' out to keep all for ever")
        return self


Private = Literal[
    "accounts", "events", "jobs", "nodes", "partitions", "reservations", "usage", "users"
]
"""What users see only of themselves."""


def slurm_time(seconds: float) -> str:
    """Return a time in Slurm's own form, in whole minutes: ``14-00:00:00`` is two weeks."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02d}:{minutes:02d}:00"


class Cgroup(Model):
    """Confinement of jobs by control groups."""

    plugin: Annotated[Literal["autodetect", "cgroup/v1", "cgroup/v2"], HARDWARE] = "autodetect"
    """Version of control groups: CgroupPlugin."""
    cores: Annotated[bool, HARDWARE] = True
    """True if jobs are held to their cores: ConstrainCores."""
    memory: Annotated[bool, HARDWARE] = True
    """True if jobs are held to their memory: ConstrainRAMSpace."""
    swap: Annotated[bool, HARDWARE] = True
    """True if jobs are held to their swap: ConstrainSwapSpace."""
    devices: Annotated[bool, HARDWARE] = True
    """True if a job sees its own accelerators only."""


class Processes(Model):
    """The plugins that start and follow the processes of a job."""

    tracking: Annotated[Literal["cgroup", "linuxproc", "pgid"], HARDWARE] = "cgroup"
    """Tracking of the processes of a job: ProctrackType."""
    tasks: Annotated[tuple[Literal["cgroup", "affinity", "none"], ...], HARDWARE] = (
        "affinity",
        "cgroup",
    )
    """Binding and confinement of tasks: TaskPlugin."""
    accounting: Annotated[Literal["cgroup", "linux", "none"], HARDWARE] = "cgroup"
    """Measurement of jobs: JobAcctGatherType."""
    contain: Annotated[bool, HARDWARE] = True
    """True to make the job's container before the prolog, so that ssh sessions join it."""

    @property
    def in_container(self) -> bool:
        """True if a job has a container on each of its hosts from its start to its end."""
        return self.contain and self.tracking == "cgroup"


class Folders(Model):
    """Folders of the daemons."""

    state: Annotated[Program, HARDWARE] = "/var/spool/slurmctld"
    """Directory of the state of slurmctld (StateSaveLocation). With a backup controller it has to be on
    shared storage."""
    spool: Annotated[Program, HARDWARE] = "/var/spool/slurmd"
    """State of slurmd on each host."""
    log: Annotated[Program, HARDWARE] = "/var/log/slurm"
    """Logs of the daemons."""
    run: Annotated[Program, HARDWARE] = "/run/slurm"
    """Directory of the daemons' files while they run."""


class SharedState(Model):
    """Storage on which all controllers see the same state, so that a backup can take over.

    The storage is the team's own: a filer, a cluster file system, or DRBD below one. Rackwright mounts
    nothing here; it checks on each controller that the mount is there, writable and the same one.
    """

    mount: Annotated[MountPath, HARDWARE]
    """Mount point on every controller, like ``/srv/slurm``. ``folders.state`` is below it."""
    type: Annotated[
        Literal["beegfs", "ceph", "gfs2", "gpfs", "lustre", "nfs", "nfs4", "ocfs2", "wekafs"]
        | None,
        HARDWARE,
    ] = None
    """File system as the kernel names it in ``/proc/self/mountinfo``; any if omitted. DRBD is mounted by
    one host at a time unless the file system on it is ``gfs2`` or ``ocfs2``."""
    server: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")] | None, HARDWARE
    ] = None
    """Host name or address of the server. It is not a controller: the loss of that host would take
    controller and state together."""

    def holds(self, folder: str) -> bool:
        """True if ``folder`` is below the mount point, or is it."""
        return f"{folder}/".startswith(f"{self.mount}/")


class UvRelease(Model):
    """Release of uv, which root installs from a wheel."""

    version: Annotated[
        Annotated[str, Field(pattern=r"^\d+(\.\d+)+((a|b|rc)\d+)?$")],
        HARDWARE,
        OnChange("in place", _UV),
    ]
    """Release of uv, like ``0.9.8``."""
    checksums: Annotated[
        tuple[Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")], ...],
        Field(min_length=1),
        HARDWARE,
        OnChange("in place", _UV),
    ]
    """Checksums of its wheel, one for each architecture of the hosts: ``sha256:`` and 64 hex digits."""


class SkyPilot(Model):
    """Users of SkyPilot, whose tasks are jobs of the cluster.

    ``render`` writes the files by which SkyPilot reaches the cluster, and ``configure`` installs what SkyPilot needs on the hosts.
    """

    wheels: Annotated[MountPath | None, HARDWARE, OnChange("in place", _TASK_PROLOG)] = None
    """Folder that all hosts mount, with the wheels of uv and of SkyPilot's runtime, for halls without internet
    access. Hosts download both if omitted. Root owns the folder and the wheels, and no one else may write them."""
    uv: Annotated[UvRelease | None, PART, OnChange("in place", _UV)] = None
    """Release of uv in the folder of wheels. Needed with ``wheels``."""

    @model_validator(mode="after")
    def _has_a_pinned_uv(self) -> SkyPilot:
        if (self.wheels is None) != (self.uv is None):
            raise ValueError("'wheels' and 'uv' of 'skypilot' need each other")
        return self
