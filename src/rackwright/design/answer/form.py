"""The form of a design as JSON, ``rackwright.design/v1``, and its schema; additions keep the version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import with_config

# Before Python 3.12 pydantic takes this one only.
from typing_extensions import TypedDict

from rackwright.design.answer.explain import Binding
from rackwright.design.answer.words import barred_texts, cost_of, power_of, to_fill_in
from rackwright.design.model import Objective
from rackwright.design.outcome import DesignOutcome, remedy
from rackwright.design.search import Design, Ending
from rackwright.harmless import json_text
from rackwright.model.names import compress_hostlist
from rackwright.reading.schema import export_document
from rackwright.report.document import DESCRIBED, Count

SCHEMA: Literal["rackwright.design/v1"] = "rackwright.design/v1"


@with_config(DESCRIBED)
class DesignedRacksDocument(TypedDict):
    """Equal racks of a layout."""

    racks: str
    """Names of their positions."""
    count: Count
    """How many they are."""
    units: Count
    """Units of the product in each."""
    hall: str
    """The hall in which they stand."""
    rows: list[str]
    """Rows of their class of positions."""


@with_config(DESCRIBED)
class BlockingDocument(TypedDict):
    """A finding that no layout passes."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    subject: str
    """What was judged, by names."""
    message: str
    """One sentence with the numbers."""
    fix: str
    """Empty where nothing is suggested; fields by their names in the document of the design."""
    location: str | None
    """File, line and column."""


@with_config(DESCRIBED)
class DesignOfProductDocument(TypedDict):
    """Result of the search for one product."""

    facility: str
    """Empty for the one that is given; for an alternative, what it is or the name of its layer."""
    product: str
    """Catalogue id of the node that it places."""
    objective: Objective
    """What the search looked for the most or the least of."""
    ending: Ending
    """How the search ended."""
    accelerators: Count
    """Accelerators of the layout; 0 without one."""
    units: Count
    """Units of the product."""
    value: float | None
    """The objective of the layout; null without one.

    Accelerators, racks, W, dollars a year, cm of cables, tokens a day or TFLOP/s; the latter also per MW or rack, and
    tokens or EFLOP per dollar.
    """
    bound: float | None
    """No layout is better than this; null where nothing bounds it."""
    power_w: float | None
    """Power of its racks, in W."""
    cost_per_year: int | None
    """Cost of its racks, in dollars a year."""
    racks: list[DesignedRacksDocument]
    judged: Count
    """Layouts that the policies judged."""
    blocking: list[BlockingDocument]
    missing: list[str]
    """Prices or lengths of cables that are not known."""
    unjudged: list[str]
    """What would have to be known of racks that are left out, since unknown never passes."""


@with_config(DESCRIBED)
class BindingDocument(TypedDict):
    """A budget that more accelerators would break."""

    what: str
    """The budget, or all budgets of its kind, in words."""
    unit: str
    """Of the numbers; empty for rack positions."""
    load: float
    """What the layout puts on it; of several, on the fullest."""
    limit: float
    """Less the reserve."""
    more: float
    """How much more the next units need there."""
    units: Count
    """Units that fit with so much more; 0 where several budgets bind together."""
    accelerators: Count
    """Accelerators of those."""


@with_config(DESCRIBED)
class DesignResultDocument(TypedDict):
    """The design of a facility, beside those with other products and of alternatives."""

    schema: Literal["rackwright.design/v1"]
    """The form of the document; it changes when keys go or change their meaning, not when some are added."""
    name: str
    """Name of the cluster."""
    exit_code: Count
    """The verdict, as 'rackwright explain exit-codes' lists them."""
    best: DesignOfProductDocument
    """The design that the blueprint is of."""
    designs: list[DesignOfProductDocument]
    """All of them, in the order written."""
    binding: list[BindingDocument]
    """What binds the best one."""
    in_a_rack: list[str]
    """What keeps a rack of the best one from holding more."""


def design_schema() -> dict[str, Any]:
    """Return the schema in draft-07. Later additions keep the version, so unknown keys are allowed."""
    return export_document(
        DesignResultDocument, title="Rackwright design", schema_id="urn:rackwright:design:v1"
    )


def design_json(outcomes: Sequence[DesignOutcome], bindings: Sequence[Binding]) -> str:
    """Return a facility and its alternatives.

    Args:
        outcomes: the facility as it is given, then its alternatives.
        bindings: what binds the best design of the first.
    """
    first = outcomes[0]
    document: DesignResultDocument = {
        "schema": SCHEMA,
        "name": first.builder.document.name,
        "exit_code": int(first.exit_code),
        "best": _design(first, first.best),
        "designs": [_design(one, found) for one in outcomes for found in one.designs],
        "binding": [
            {
                "what": one.what,
                "unit": one.unit,
                "load": one.load,
                "limit": one.limit,
                "more": one.more,
                "units": one.units,
                "accelerators": one.accelerators,
            }
            for one in bindings
        ],
        "in_a_rack": list(barred_texts(first)),
    }
    return json_text(document)


def _design(outcome: DesignOutcome, found: Design) -> DesignOfProductDocument:
    return {
        "facility": outcome.label,
        "product": found.product.type,
        "objective": found.objective,
        "ending": found.ending,
        "accelerators": found.accelerators,
        "units": found.layout.units if found.layout else 0,
        "value": found.value,
        "bound": found.bound,
        "power_w": power_of(found),
        "cost_per_year": cost_of(found),
        "racks": list(_racks(outcome, found)),
        "judged": found.judged,
        "blocking": [
            {
                "policy": one.policy,
                "subject": one.subject.name,
                "message": one.message,
                "fix": remedy(outcome.builder, one),
                "location": None if one.location is None else str(one.location),
            }
            for one in found.results
        ],
        "missing": [str(text) for text in found.missing],
        "unjudged": list(to_fill_in(outcome, found.survey.unjudged)),
    }


def _racks(outcome: DesignOutcome, found: Design) -> Iterator[DesignedRacksDocument]:
    if found.layout is None:
        return
    for number, units, names in outcome.builder.standing_by_class(found.layout):
        one = outcome.builder.classes[number]
        yield {
            "racks": compress_hostlist(names),
            "count": len(names),
            "units": units,
            "hall": one.hall,
            "rows": list(one.rows),
        }
