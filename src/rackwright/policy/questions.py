"""Questions of a report: facts that rules lack, each asked once, and who can answer it."""

from __future__ import annotations

from collections.abc import Iterable

from rackwright.plan.missing import Field, ProductField, fields_of
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result
from rackwright.policy.unknowns import OpenQuestion, Owner, Remedies

_OWNERS = {
    "fabric": Owner.NETWORK,
    "fabrics": Owner.NETWORK,
    "interconnects": Owner.NETWORK,
    "air": Owner.FACILITY,
    "altitude": Owner.FACILITY,
    "design_dry_bulb": Owner.FACILITY,
    "facility_water": Owner.FACILITY,
    "feeds": Owner.FACILITY,
    "halls": Owner.FACILITY,
    "loops": Owner.FACILITY,
    "plant": Owner.FACILITY,
    "power": Owner.FACILITY,
    "pue": Owner.FACILITY,
    "pue_budget": Owner.FACILITY,
    "racks": Owner.FACILITY,
    "sources": Owner.FACILITY,
}
"""Teams by the keys of the fields that they know."""


def questions(results: Iterable[Result], remedies: Remedies) -> tuple[OpenQuestion, ...]:
    """Return what ``results`` lack: what blocks first, then by who can answer.

    Facts that only a rule in preview lacks are left out; those of later stages come last.
    """
    found: dict[tuple[str, str], OpenQuestion] = {}
    unknown = (result for result in results if result.outcome is Outcome.UNKNOWN)
    for result in sorted(unknown, key=lambda one: one.later):
        if result.preview and not result.blocks:
            continue
        for missing in result.missing:
            fields = fields_of(missing)
            field = remedies.name(fields[0]) if fields else str(missing)
            remedy = remedies.fix((missing,)) or ""
            key = (field, "" if fields else remedy)
            known = found.get(key)
            if known is not None and result.later and not known.later:
                continue
            rules = (result.policy,) if known is None else known.rules
            found[key] = OpenQuestion(
                field,
                remedy if known is None else known.remedy,
                owner_of(fields[0]) if fields else Owner.YOU,
                rules if result.policy in rules else (*rules, result.policy),
                (remedies.place(fields[0]) if fields else result.location)
                if known is None
                else known.location,
                result.blocks or (known is not None and known.blocks),
                result.later,
                fields[0] if fields else None,
            )
    order = tuple(Owner)
    return tuple(
        sorted(found.values(), key=lambda one: (one.later, not one.blocks, order.index(one.owner)))
    )


def owner_of(field: Field) -> Owner:
    """Return who can answer for a field."""
    if isinstance(field, ProductField):
        return Owner.VENDOR
    return next((_OWNERS[part] for part in field if part in _OWNERS), Owner.YOU)
