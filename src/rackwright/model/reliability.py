"""Failures that a cluster is expected to survive."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import ASKED, KEY, SAID, STATEMENT, Claim, Setting
from rackwright.model.names import Name, refuse_twins
from rackwright.model.units import GigabitsPerSecond, Percent, Seconds

FailureRate = Annotated[float, Field(gt=0, le=1000)]
"""Failures of 1,000 hosts in a day."""


class GroupReliability(Model):
    """One node group: how often it fails and what stands by; absent is unknown."""

    site: Annotated[Name, KEY]
    """Site of the group."""
    group: Annotated[Name, KEY]
    """Node group of that site."""
    spares: Annotated[int | None, Field(ge=0), Claim(looser="higher")] = None
    """Hosts that jobs do not need: idle ones of the group, or equal ones on the shelf."""
    node_failures_per_1000_days: Annotated[
        FailureRate | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Failures of the group's nodes in 1000 node days. The cluster's rate if omitted."""
    repair_time: Annotated[
        Annotated[Seconds, Field(gt=0)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Time from a failure until the host is in service again, in h. The cluster's if omitted."""


class JobPart(Model):
    """Hosts of a node group that a job runs on."""

    site: Annotated[Name, KEY]
    """Site of the hosts."""
    group: Annotated[Name, KEY]
    """Node group of the hosts."""
    hosts: Annotated[int, Field(gt=0), Setting(looser="lower")]
    """Number of hosts that the job uses."""


class WanNeed(Model):
    """Requirements of a job on the line between two sites; absent is unknown."""

    bandwidth: Annotated[GigabitsPerSecond | None, Setting(looser="lower")] = None
    """Bandwidth that the job needs in each direction, in Gbps."""
    round_trip_time: Annotated[Seconds | None, Setting(looser="higher")] = None
    """Longest round-trip time at which the job progresses as planned, in ms."""


class JobProfile(Model):
    """A large job that the cluster is built for; absent is unknown."""

    name: Annotated[Name, KEY]
    """Name of the job profile."""
    parts: Annotated[tuple[JobPart, ...], Field(min_length=1), ASKED]
    restart: Annotated[Seconds | None, Claim(looser="lower")] = None
    """Time from a failure to the first new step, in min: detection, a new host, loading the checkpoint."""
    checkpoint_interval: Annotated[
        Annotated[Seconds, Field(gt=0)] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Time from one checkpoint to the next, in min."""
    checkpoint_stall: Annotated[Seconds | None, Claim(looser="lower")] = None
    """Time that a checkpoint stops the job, in s; with asynchronous writing less than the writing."""
    async_save: Annotated[bool, Claim(strictest_first=(False, True), absent="strict")] = False
    """True if checkpoints are written while the job goes on, after a copy to the memory of the hosts."""
    target: Annotated[Annotated[Percent, Field(ge=0, lt=100)] | None, Setting(looser="lower")] = (
        None
    )
    """Least part of its time that the job is to spend on steps which are not repeated, in %."""
    between_sites: Annotated[WanNeed | None, STATEMENT] = None

    @model_validator(mode="after")
    def _parts_differ(self) -> JobProfile:
        refuse_twins("group", ((part.group, part.site) for part in self.parts))
        return self


class Reliability(Model):
    """Failure rates and targets; absent is unknown."""

    node_failures_per_1000_days: Annotated[FailureRate | None, Claim(looser="lower")] = None
    """Failures of 1,000 hosts in a day that end a job."""
    repair_time: Annotated[Annotated[Seconds, Field(gt=0)] | None, Claim(looser="lower")] = None
    """Time from a failure until the host is in service again, in h."""
    groups: Annotated[tuple[GroupReliability, ...], STATEMENT] = ()
    jobs: Annotated[tuple[JobProfile, ...], ASKED] = ()
    controller_fencing: Annotated[bool | None, SAID] = None
    """True if a controller that takes over first switches the other one off."""
    least_after_site_loss: Annotated[
        Annotated[Percent, Field(ge=0, le=100)] | None, Setting(looser="lower", absent="elsewhere")
    ] = None
    """Share of the compute hosts that must be left when any one site is lost."""

    @model_validator(mode="after")
    def _names_differ(self) -> Reliability:
        refuse_twins("group", ((one.group, one.site) for one in self.groups))
        refuse_twins("job", (job.name for job in self.jobs))
        return self

    def of_group(self, site: str, group: str) -> GroupReliability:
        """Return the reliability of a node group; the cluster's rate and repair time apply if it has none."""
        found = next((g for g in self.groups if (g.site, g.group) == (site, group)), None)
        return GroupReliability.model_construct(
            site=site,
            group=group,
            spares=found.spares if found else None,
            node_failures_per_1000_days=(found and found.node_failures_per_1000_days)
            or self.node_failures_per_1000_days,
            repair_time=(found and found.repair_time) or self.repair_time,
        )
