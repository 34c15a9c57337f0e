"""Federation of sites with its database and data sets, and bursts into another site.

Limits are from SchedMD's Federated Scheduling Guide (``federation.html``) and ``sacctmgr(1)``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    FOR_REVIEW,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import DISTINCT, HostName, Name, refuse_twins
from rackwright.model.prices import Dollars, DollarsPerHour
from rackwright.model.scheduler_settings import PartitionName, SlurmName
from rackwright.model.units import Gibibytes, GramsPerKilowattHour, Seconds
from rackwright.model.users import LoginName

_MEMBER = "the cluster joins or leaves the federation; its own jobs go on"
_WORDS = OnChange("in place", "words by which jobs choose a cluster; jobs go on")
_DATABASE = "the accounting database has to move with it"
_REPLICA = "MariaDB and slurmdbd start again; controllers keep records meanwhile"

MOST_CLUSTERS = 63
"""Maximum number of clusters of a federation: six bits of a job id identify its cluster."""

MOST_UID = 2**32 - 2
"""Largest UID: the next one means no user (``chown(2)``)."""

SlurmVersion = Annotated[str, Field(pattern=r"^\d\d\.(02|05|08|11)(\.\d+)?$")]
Word = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


class FederatedSite(Model):
    """A site with a Slurm cluster of its own, which takes part in the federation."""

    site: Annotated[Name, KEY]
    """Name of the site."""
    cluster: Annotated[
        SlurmName | None,
        HARDWARE,
        OnChange(
            "replace",
            "slurmctld refuses the state of another cluster name: queued jobs and their accounting stay with the old one",
        ),
    ] = None
    """Name of the cluster in Slurm. Names of the blueprint and of the site, joined by a hyphen, if
    omitted."""
    state: Annotated[
        Literal["active", "drain", "leave"], HARDWARE, OnChange("in place", _MEMBER)
    ] = "active"
    """Part that the cluster takes: ``active``; ``drain`` takes no new federated jobs; ``leave`` takes none
    and leaves the federation once its jobs have ended."""
    version: Annotated[
        SlurmVersion | None, HARDWARE, OnChange("rolling", "slurmctld, then slurmd node by node")
    ] = None
    """Slurm release of this cluster, while sites are upgraded one after the other. That of the scheduler
    if omitted."""
    features: Annotated[tuple[Word, ...], Field(max_length=32), HARDWARE, _WORDS] = ()
    """Words that jobs may ask for by ``--cluster-constraint``, beside those that follow from the
    accelerators, data sets, prices and carbon."""
    price: Annotated[DollarsPerHour | None, Claim(looser="lower", absent="elsewhere"), _WORDS] = (
        None
    )
    """Price of one accelerator for an hour, in USD/h. The site is not compared by price if omitted."""
    carbon: Annotated[
        GramsPerKilowattHour | None, Claim(looser="lower", absent="elsewhere"), _WORDS
    ] = None
    """Carbon dioxide of the electricity of the site, in g/kWh. The site is not compared by carbon if
    omitted."""
    uids: Annotated[
        dict[LoginName, Annotated[int, Field(ge=0, le=MOST_UID)]],
        Field(max_length=20_000),
        Claim(looser="either", absent="elsewhere"),
        POLICIES_ONLY,
    ] = {}
    """Numbers that accounts have at this site, as ``getent passwd`` prints them, where a directory of its
    own gives them. Those of ``users`` if omitted."""


class DatabaseReplica(Model):
    """A second slurmdbd with a copy of the database, on another site."""

    site: Annotated[Name, HARDWARE, OnChange("rolling", _REPLICA)]
    """Site of the copy."""
    host: Annotated[HostName | None, HARDWARE, OnChange("rolling", _REPLICA)] = None
    """Host of the copy. The host of that site that is called like the one of the database if omitted."""


class FederationDatabase(Model):
    """The accounting database that all clusters of a federation share."""

    site: Annotated[Name, HARDWARE, OnChange("review", _DATABASE)]
    """Site of the database."""
    host: Annotated[HostName | None, HARDWARE, OnChange("review", _DATABASE)] = None
    """Host of slurmdbd and MariaDB. That of ``scheduler.accounting`` if omitted."""
    version: Annotated[
        SlurmVersion | None,
        HARDWARE,
        OnChange("rolling", "slurmdbd is upgraded before any slurmctld"),
    ] = None
    """Slurm release of slurmdbd, which is upgraded first. That of the scheduler if omitted."""
    replica: Annotated[DatabaseReplica | None, PART, OnChange("rolling", _REPLICA)] = None

    @model_validator(mode="after")
    def _stands_elsewhere(self) -> FederationDatabase:
        if self.replica is not None and self.replica.site == self.site:
            raise ValueError(
                f"the replica is at '{self.site}', like the database: choose another site"
            )
        return self


class Federation(Model):
    """Slurm clusters, one of each site, among which jobs find their place."""

    name: Annotated[SlurmName, HARDWARE, OnChange("in place", _MEMBER)]
    """Name of the federation in Slurm."""
    sites: Annotated[
        tuple[FederatedSite, ...],
        Field(min_length=2),
        PART,
        OnChange("in place", _MEMBER, event="added"),
        OnChange("review", "write 'state: leave' first, so that its jobs end", event="removed"),
    ]
    """Sites with a cluster each."""
    database: Annotated[FederationDatabase, PART]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Federation:
        refuse_twins("site of the federation", (one.site for one in self.sites))
        refuse_twins(
            "cluster of the federation", (one.cluster for one in self.sites if one.cluster)
        )
        names = [one.site for one in self.sites]
        replica = self.database.replica
        for site in (self.database.site, *(() if replica is None else (replica.site,))):
            if site not in names:
                raise ValueError(
                    f"the database is at '{site}', which is not a site of the federation: choose one of {', '.join(names)}"
                )
        if len(self.sites) > MOST_CLUSTERS:
            raise ValueError(
                f"a federation has at most {MOST_CLUSTERS} clusters, not {len(self.sites)}: six bits "
                "of a job id name the cluster"
            )
        return self


class Dataset(Model):
    """Data that jobs read, and the sites that have it."""

    name: Annotated[Name, KEY]
    """Name of the data set."""
    size: Annotated[Annotated[Gibibytes, Field(gt=0)] | None, Claim(looser="lower")] = None
    """Size of the data set, in TiB. Unknown if omitted."""
    at: Annotated[tuple[Name, ...], DISTINCT, Field(min_length=1), Claim(looser="more"), FOR_REVIEW]
    """Sites whose file systems have the data set."""
    mirror: Annotated[
        str | None, Field(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?$"),
        Claim(looser="either"), FOR_REVIEW,
    ] = None  # fmt: skip
    """Bucket with a copy, from which sites on AWS read it. None if omitted."""


class BurstCondition(Model):
    """Moment from which jobs go elsewhere."""

    wait: Annotated[Annotated[Seconds, Field(gt=0)], HARDWARE]
    """Time that the first job of the queue has waited, in min."""


class Burst(Model):
    """Hosts of another site that a partition gets while its queue is long."""

    partition: Annotated[PartitionName, KEY]
    """Partition whose jobs may go elsewhere."""
    to: Annotated[str, Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$"), KEY]
    """Site on AWS and its node group, like ``cloud/h100``."""
    max: Annotated[int, Field(gt=0), Setting(looser="higher")]
    """Most hosts at a time."""
    when: Annotated[BurstCondition, PART]
    budget: Annotated[Dollars, Setting(looser="higher")]
    """Most that the hosts may cost in a calendar month, in USD."""
    datasets: Annotated[
        tuple[Name, ...], DISTINCT, Setting(looser="either", absent="elsewhere"), POLICIES_ONLY
    ] = ()
    """Data sets that the jobs read."""

    @model_validator(mode="after")
    def _spends_something(self) -> Burst:
        if self.budget <= 0:
            raise ValueError(
                f"the budget of the burst of '{self.partition}' is 0 USD, so no host could start: set an "
                "amount, or remove the burst"
            )
        return self
