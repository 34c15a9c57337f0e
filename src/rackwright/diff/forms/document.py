"""The form of the JSON comparison: what ``diff/json.py`` fills in, and what its schema is made of.

Every key is always there, as a consumer may rely on it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema, with_config

# Before Python 3.12 pydantic takes this one only.
from typing_extensions import TypedDict

from rackwright.diff.actions import Action
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.exception_report import BaselineState
from rackwright.report.document import DESCRIBED, Count, LocationDocument, OutcomeCounts

AnyValue = Annotated[Any, WithJsonSchema({})]


@with_config(DESCRIBED)
class SideDocument(TypedDict):
    """One of the two revisions."""

    revision: str
    """As the user named it."""
    commit: str | None
    """Null for the working tree."""
    exit_code: Count | None
    """Null where there is no such blueprint."""
    counts: OutcomeCounts | None
    """Number of results by outcome."""


@with_config(DESCRIBED)
class BudgetDocument(TypedDict):
    """A measure of the two revisions; null where it is unknown or not there."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    subject: str
    """What was judged, by names."""
    what: str
    """What is measured."""
    unit: str
    """Canonical unit of all numbers."""
    before: float | None
    """What is measured in the base."""
    after: float | None
    """What is measured in the head."""
    limit_before: float | None
    """Its limit in the base."""
    limit: float | None
    """Its limit in the head."""
    headroom_before: float | None
    """What was left to the limit in the base; negative when it was broken."""
    headroom: float | None
    """What is left to the limit; negative when it is broken."""
    outcome: Outcome | None
    """Of the head; null where the subject is gone."""
    blocks: bool
    """In the head it stops a deployment."""
    known: bool
    """The baseline allows it."""


@with_config(DESCRIBED)
class ComparedResultDocument(TypedDict):
    """Result of a policy in one of the revisions."""

    outcome: Outcome
    enforcement: Enforcement
    blocks: bool
    """It stops a deployment."""
    baseline_state: BaselineState | None
    message: str
    """One sentence with the numbers."""
    value: float | None
    """What is measured; null when it is unknown or no number."""
    limit: float | None
    """Its limit; null when it is unknown or no number."""
    unit: str
    """Canonical unit of both."""
    fix: str | None
    """A remedy of a failure, or the fields that would make an unknown known."""
    missing: list[str]
    """What would have to be known."""
    location: LocationDocument | None
    fingerprint: str
    """The same for the same rule and subject in any version."""


@with_config(DESCRIBED)
class FindingDocument(TypedDict):
    """Results of a policy about one subject in both revisions."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    title: str
    """What the policy demands."""
    severity: Severity
    subject: str
    """What was judged, by names."""
    before: ComparedResultDocument | None
    after: ComparedResultDocument | None


@with_config(DESCRIBED)
class KnownDocument(TypedDict):
    """A finding of both revisions."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    subject: str
    """What was judged, by names."""
    blocks: bool
    """In the head it stops a deployment."""


@with_config(DESCRIBED)
class FindingsDocument(TypedDict):
    """The findings that are not the same, and those that are."""

    new: list[FindingDocument]
    """Not there in the base."""
    regressions: list[FindingDocument]
    """There in the base, and worse now."""
    fixed: list[FindingDocument]
    """Gone in the head."""
    unchanged: list[KnownDocument]
    """There in the base, and no worse now."""


@with_config(DESCRIBED)
class CostDocument(TypedDict):
    """Cost of a site."""

    per_hour: float
    """Cost of an hour, in the currency of the change."""
    per_year: float
    """Cost of a year, in the same."""
    complete: bool
    """False: a price is missing, and it costs at least so much."""


@with_config(DESCRIBED)
class WorkloadChangeDocument(TypedDict):
    """Yield of a workload in both revisions."""

    name: str
    """Name of the workload."""
    before: float | None
    """Tokens a day in the base; null where they are unknown."""
    after: float | None
    """Tokens a day in the head; null where they are unknown."""
    dollars_before: float | None
    """Dollars of 10¹² tokens in the base; null where they are unknown."""
    dollars_after: float | None
    """Dollars of 10¹² tokens in the head; null where they are unknown."""


@with_config(DESCRIBED)
class CostChangeDocument(TypedDict):
    """Cost of a site in both revisions."""

    site: str
    """Name of the site."""
    currency: Literal["USD"]
    """Of all its amounts."""
    before: CostDocument | None
    after: CostDocument | None


@with_config(DESCRIBED)
class ProductDocument(TypedDict):
    """Units of a product."""

    site: str
    """Name of the site."""
    kind: str
    """Kind of product, in words."""
    product: str
    """Catalogue id, or instance type."""
    before: Count
    """Units in the base."""
    after: Count
    """Units in the head."""


@with_config(DESCRIBED)
class HostsDocument(TypedDict):
    """Hosts of a node group."""

    site: str
    """Name of the site."""
    group: str
    """Name of the node group."""
    before: Count
    """Hosts in the base."""
    after: Count
    """Hosts in the head."""
    added: str
    """A host list; empty on AWS, where names come with instances."""
    removed: str
    """The same of hosts that are gone."""


@with_config(DESCRIBED)
class FileDocument(TypedDict):
    """A generated file that differs."""

    name: str
    """Path of the file among those that are generated."""
    added: Count
    """Lines."""
    removed: Count
    """Lines."""
    diff: list[str]
    """Lines of a unified diff."""


@with_config(DESCRIBED)
class UpdateDocument(TypedDict):
    """A changed field, and what the change does to what is running."""

    path: str
    """The field, list items by name."""
    kind: Literal["added", "removed", "changed"]
    """What became of the field."""
    before: AnyValue
    """Its value in the base, as the model holds it; null where it is absent."""
    after: AnyValue
    """Its value in the head, the same."""
    action: Action
    reason: str
    """Why it takes that action."""
    location: LocationDocument | None


@with_config(DESCRIBED)
class SwitchWaveDocument(TypedDict):
    """Switches that are changed together."""

    site: str
    """Name of the site."""
    fabric: str
    """Name of the fabric."""
    switches: str
    """A host list."""
    cut_off: str
    """Hosts and switches below that nothing else joins meanwhile; a host list, empty where there are none."""


@with_config(DESCRIBED)
class ComparisonDocument(TypedDict):
    """Output of 'rackwright diff --json'."""

    schema: Literal["rackwright.diff/v1"]
    """The form of the document; it changes when keys go or change their meaning, not when some are added."""
    blueprint: str
    """Name of the blueprint."""
    base: SideDocument
    head: SideDocument
    exit_code: Count
    """The verdict on the head; 5 as well when data would be destroyed, or a mandatory rule fails
    newly or worse."""
    summary: str
    """The verdict in words."""
    empty: bool
    """Nothing changes."""
    budgets: list[BudgetDocument]
    """Measures that changed, what blocks first."""
    findings: FindingsDocument
    costs: list[CostChangeDocument]
    workloads: list[WorkloadChangeDocument]
    """Workloads whose tokens a day change."""
    hardware: list[ProductDocument]
    """Products of which there are more or fewer."""
    hosts: list[HostsDocument]
    """Node groups whose hosts changed."""
    files: list[FileDocument]
    """Generated files that differ."""
    switches: list[SwitchWaveDocument]
    """Switches whose configuration changes, in the order in which they are changed."""
    files_not_compared: list[str]
    """Why files of one side cannot be generated."""
    updates: list[UpdateDocument]
    """Changed fields, the gravest first."""
    layers_not_in_base: list[str]
    """Files of layers that the base does not have."""
