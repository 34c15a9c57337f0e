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
    subject: str
    what: str
    """What is measured."""
    unit: str
    """Canonical unit of all numbers."""
    before: float | None
    after: float | None
    limit_before: float | None
    limit: float | None
    headroom_before: float | None
    headroom: float | None
    """What is left to the limit; negative when it is broken."""
    outcome: Outcome | None
    """Of the head; null where the subject is gone."""
    blocks: bool
    known: bool
    """The baseline allows it."""


@with_config(DESCRIBED)
class ComparedResultDocument(TypedDict):
    """What a policy says in one of the revisions."""

    outcome: Outcome
    enforcement: Enforcement
    blocks: bool
    baseline_state: BaselineState | None
    message: str
    value: float | None
    limit: float | None
    unit: str
    """Canonical unit of both."""
    fix: str | None
    missing: list[str]
    location: LocationDocument | None
    fingerprint: str


@with_config(DESCRIBED)
class FindingDocument(TypedDict):
    """What a policy says about one subject in both revisions."""

    policy: str
    title: str
    severity: Severity
    subject: str
    before: ComparedResultDocument | None
    after: ComparedResultDocument | None


@with_config(DESCRIBED)
class KnownDocument(TypedDict):
    """A finding of both revisions."""

    policy: str
    subject: str
    blocks: bool


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
    """What a site costs."""

    per_hour: float
    per_year: float
    complete: bool
    """False: a price is missing, and it costs at least so much."""


@with_config(DESCRIBED)
class CostChangeDocument(TypedDict):
    """What a site cost and costs."""

    site: str
    currency: Literal["USD"]
    before: CostDocument | None
    after: CostDocument | None


@with_config(DESCRIBED)
class ProductDocument(TypedDict):
    """Units of a product."""

    site: str
    kind: str
    product: str
    before: Count
    after: Count


@with_config(DESCRIBED)
class HostsDocument(TypedDict):
    """Hosts of a node group."""

    site: str
    group: str
    before: Count
    after: Count
    added: str
    """A host list; empty on AWS, where names come with instances."""
    removed: str


@with_config(DESCRIBED)
class FileDocument(TypedDict):
    """A generated file that differs."""

    name: str
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
    before: AnyValue
    after: AnyValue
    action: Action
    reason: str
    location: LocationDocument | None


@with_config(DESCRIBED)
class ComparisonDocument(TypedDict):
    """What 'rackwright diff --json' writes."""

    schema: Literal["rackwright.diff/v1"]
    blueprint: str
    base: SideDocument
    head: SideDocument
    exit_code: Count
    """The verdict on the head; 5 as well when data would be destroyed, or a mandatory rule fails
    anew or worse."""
    summary: str
    """The verdict in words."""
    empty: bool
    """Nothing changes."""
    budgets: list[BudgetDocument]
    """Measures that changed, what blocks first."""
    findings: FindingsDocument
    costs: list[CostChangeDocument]
    hardware: list[ProductDocument]
    """Products of which there are more or fewer."""
    hosts: list[HostsDocument]
    """Node groups whose hosts changed."""
    files: list[FileDocument]
    """Generated files that differ."""
    files_not_compared: list[str]
    """Why files of one side cannot be generated."""
    updates: list[UpdateDocument]
    """Changed fields, the gravest first."""
    layers_not_in_base: list[str]
