"""The blueprint: one cluster over one or more sites."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rackwright.model.aws import AwsSite
from rackwright.model.base import Model, Prose
from rackwright.model.cost import Costs
from rackwright.model.facts import ProductFact
from rackwright.model.federation import Burst, Dataset, Federation
from rackwright.model.field_kinds import (
    APART,
    ASKED,
    FOR_REVIEW,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    OnChange,
)
from rackwright.model.interconnect import Interconnect
from rackwright.model.names import Name, refuse_twins
from rackwright.model.onprem import OnPremSite
from rackwright.model.operations import Operations
from rackwright.model.reliability import Reliability
from rackwright.model.scheduler import Scheduler
from rackwright.model.users import Users
from rackwright.model.workloads import TrainingWorkload

Site = Annotated[AwsSite | OnPremSite, Field(discriminator="provider")]


class PolicySetting(Model):
    """Setting of one policy for this cluster."""

    enforcement: Annotated[Literal["mandatory", "advisory", "disabled"] | None, APART] = None
    """Enforcement of the policy. The policy's own default if omitted."""
    parameters: Annotated[dict[str, Any], APART] = {}
    """Values for the policy's parameters, validated by the policy."""
    reason: Annotated[Prose | None, APART] = None
    """Reason for which this cluster differs; required when the enforcement is lowered."""
    owner: Annotated[str | None, APART] = None
    """Team or address that answers for it. The blueprint's owner if omitted."""


class Reason(Model):
    """Reason for the value of a field, for those who approve it."""

    reason: Annotated[Prose, APART]
    """Reason for the value of the field."""
    owner: Annotated[str | None, APART] = None
    """Team or address that answers for it. The blueprint's owner if omitted."""


class Blueprint(Model):
    """A cluster as it is meant to be."""

    apiVersion: Annotated[
        Literal["rackwright/v1"], HARDWARE, OnChange("in place", "the form of the file")
    ]
    """Version of the form of this file."""
    name: Annotated[
        Name,
        KEY,
        OnChange(
            "replace", "part of every resource's name: everything is replaced", keeps_data=True
        ),
    ]
    """Name of the cluster; part of every resource name."""
    owner: Annotated[str | None, HARDWARE, OnChange("in place", "a tag")] = None
    """Team or address that answers for the cluster."""
    sites: Annotated[
        tuple[Site, ...],
        Field(min_length=1, max_length=64),
        PART,
        OnChange("in place", "a new site; nothing that exists changes", event="added"),
        OnChange("drain", "the whole site is removed", event="removed", keeps_data=True),
    ]
    """Regions of AWS and places with halls."""
    interconnects: Annotated[tuple[Interconnect, ...], STATEMENT, POLICIES_ONLY] = ()
    """Lines between the sites."""
    scheduler: Annotated[
        Scheduler | None,
        PART,
        OnChange("drain", "Slurm is installed on nodes that run without it", event="added"),
        OnChange("drain", "Slurm is taken off the nodes", event="removed"),
    ] = None
    federation: Annotated[
        Federation | None,
        PART,
        OnChange(
            "review", "each site gets a cluster of its own, with a queue of its own", event="added"
        ),
        OnChange("review", "sites have no common queue any more", event="removed"),
    ] = None
    """Slurm clusters of the sites, joined. One cluster over all sites if omitted."""
    datasets: Annotated[tuple[Dataset, ...], Field(max_length=1000), ASKED, FOR_REVIEW] = ()
    """Data sets that jobs read, with the sites that have them."""
    burst: Annotated[
        tuple[Burst, ...], Field(max_length=100), PART,
        OnChange("in place", "jobs that wait may go elsewhere"),
    ] = ()  # fmt: skip
    """Partitions whose jobs may go to another site while they wait."""
    users: Annotated[
        Users | None,
        PART,
        OnChange("in place", "accounts and sshd's settings; sessions and jobs go on"),
    ] = None
    """Accounts on the hosts. They are managed elsewhere if omitted."""
    reliability: Annotated[Reliability | None, STATEMENT, POLICIES_ONLY] = None
    operations: Annotated[
        Operations | None,
        STATEMENT,
        OnChange(
            "review", "nodes are brought to what it states: see whether that is what they run"
        ),
    ] = None
    costs: Annotated[Costs | None, STATEMENT, POLICIES_ONLY] = None
    workloads: Annotated[
        tuple[TrainingWorkload, ...], Field(max_length=100), ASKED, POLICIES_ONLY
    ] = ()
    """Training jobs that the cluster is built for."""
    facts: Annotated[tuple[ProductFact, ...], Field(max_length=1000), STATEMENT, FOR_REVIEW] = ()
    """Numbers of products that the catalogue lacks; a report lists them."""
    derive: Annotated[Literal["1"] | None, APART, POLICIES_ONLY] = None
    """Set of rules that derive omitted fields from the rest; a newer Rackwright keeps it. Every field
    is written out if omitted."""
    profile: Annotated[Literal["lab", "pilot", "production"] | None, APART, POLICIES_ONLY] = None
    """Importance of the cluster. ``production``, the strictest, if omitted."""
    stage: Annotated[Literal["concept", "design", "build", "run"] | None, APART, POLICIES_ONLY] = (
        None
    )
    """Stage of the design: what is asked at a later one may be unknown until then. Only ``build`` and
    ``run`` can be deployed. ``run``, at which everything is asked, if omitted."""
    policy_set: Annotated[str | None, Field(pattern=r"^\d+\.\d+$"), APART, POLICIES_ONLY] = None
    """Policy set to check against, like "0.1"; newer rules only warn. The released set if omitted."""
    policies: Annotated[dict[str, PolicySetting], APART, POLICIES_ONLY] = {}
    """Settings by policy id."""
    reasons: Annotated[dict[str, Reason], APART, FOR_REVIEW] = {}
    """Reasons by name of a field, like "sites.lab.node_groups.gpu.power_cap"; reported where a change
    makes the field looser, or something inside it."""

    @model_validator(mode="after")
    def _sites_differ(self) -> Blueprint:
        names = [site.name for site in self.sites]
        refuse_twins("site", names)
        refuse_twins("workload", (one.name for one in self.workloads))
        for bill in self.operations.software if self.operations else ():
            for name in bill.sites:
                if name not in names:
                    raise ValueError(f"the software entry '{bill.name}' names no site: '{name}'")
        for entry in self.operations.hosts if self.operations else ():
            for name in entry.sites:
                if name not in names:
                    raise ValueError(f"the entry '{entry.name}' of 'hosts' names no site: '{name}'")
        return self

    @model_validator(mode="after")
    def _facts_differ(self) -> Blueprint:
        stated = Counter((fact.product, fact.field) for fact in self.facts)
        for (product, name), times in stated.items():
            if times > 1:
                raise ValueError(f"'{name}' of '{product}' is stated twice in 'facts'")
        return self

    @model_validator(mode="after")
    def _federation_has_schedulers(self) -> Blueprint:
        names = [site.name for site in self.sites]
        for data in self.datasets:
            for name in data.at:
                if name not in names:
                    raise ValueError(f"the data set '{data.name}' is at no site: '{name}'")
        if self.federation is None:
            return self
        if self.scheduler is None or self.scheduler.accounting is None:
            raise ValueError(
                "'federation' needs a 'scheduler' with 'accounting': its clusters share one database"
            )
        if self.scheduler.sites or self.scheduler.cluster:
            raise ValueError(
                "'federation' names the sites and their clusters: leave 'sites' and 'cluster' out of "
                "'scheduler'"
            )
        for member in self.federation.sites:
            if member.site not in names:
                raise ValueError(f"the federation names no site: '{member.site}'")
        return self

    @model_validator(mode="after")
    def _jobs_let_users_in(self) -> Blueprint:
        if self.users is None or self.users.ssh.compute != "jobs":
            return self
        if self.scheduler is None:
            raise ValueError(
                "users.ssh.compute is 'jobs', and there is no 'scheduler' to ask for jobs"
            )
        if not self.scheduler.processes.in_container:
            raise ValueError(
                "users.ssh.compute is 'jobs', and pam_slurm_adopt knows a job by its container: "
                "scheduler.processes needs 'tracking: cgroup' and 'contain: true'"
            )
        return self

    @model_validator(mode="after")
    def _accounts_are_in_the_tree(self) -> Blueprint:
        accounting = None if self.scheduler is None else self.scheduler.accounting
        if self.users is None or accounting is None or not accounting.accounts:
            return self
        known = {account.name for account in accounting.accounts}
        for user in self.users.accounts:
            if user.slurm_account is not None and user.slurm_account not in known:
                raise ValueError(
                    f"'{user.name}' is in the Slurm account '{user.slurm_account}', which "
                    "'scheduler.accounting.accounts' does not have"
                )
        return self

    def site(self, name: str) -> AwsSite | OnPremSite:
        """Return the site called ``name``.

        Raises:
            KeyError: there is none.
        """
        for site in self.sites:
            if site.name == name:
                return site
        raise KeyError(name)
