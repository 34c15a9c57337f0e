"""The plan that is judged: a change's, with the claims and facts that its base has approved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rackwright.errors import SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.model.cluster import Blueprint
from rackwright.plan.load import LoadedPlan, full_data, plan_tree
from rackwright.policy.base_approval.approval import Approval
from rackwright.policy.base_approval.claims import Claims, RefusedClaim, Taken, hold_claims
from rackwright.policy.base_approval.held_products import hold_catalogue, known_facts
from rackwright.policy.base_approval.things import mappings
from rackwright.policy.exception_report import Notice, NoticeKind
from rackwright.policy.reasons import decided, why
from rackwright.reading.tree import Tree

_LONGEST = 60
"""Characters of a value that a notice repeats."""
_MOST = 6
"""Fields that a notice names."""


def grant(loaded: LoadedPlan, approval: Approval) -> tuple[LoadedPlan, tuple[Notice, ...]]:
    """Return the plan to be judged, and what is to be said about the claims of the change.

    Args:
        loaded: the plan of the change.
        approval: what its base has approved.

    Raises:
        SpecErrors: with what the base has approved, the change is no blueprint; or nothing follows from
            the short form that the base has.
    """  # noqa: DOC501 - _unfit() makes the SpecErrors
    tree = loaded.tree
    own = loaded.plan.catalogue
    products = hold_catalogue(own, approval)
    catalogue, told = products.catalogue, products.notices
    # Both sides in full: what a change says in the short form weighs as what follows from it does.
    known_then = own if products.base is None else products.base
    before = full_data(approval.document, known_then, approval.ref)
    claims = hold_claims(tree.data, before)
    holds = bool(claims.kept) and approval.document is not None
    data = claims.data if holds else tree.data
    known = known_facts(data, products)
    about_known = [("facts", number) for number in known]
    kept = tuple(one for one in claims.kept if one.path[:2] not in about_known)
    claims = replace(claims, kept=kept)
    notices = (*_notices(claims, approval, tree, loaded.plan.blueprint), *told)
    if known:
        facts, stated = data["facts"], mappings((before or {}).get("facts"))
        data = {**data, "facts": [f for n, f in enumerate(facts) if n not in known]}
        said = (_known(n, tree, approval.ref) for n in known if facts[n] not in stated)
        notices = (*notices, *said)
    if not holds and not known and catalogue is own:
        return loaded, notices
    held = Tree(tree.root, data, tree.files)
    try:
        return plan_tree(held, catalogue), notices
    except SpecErrors as error:
        if not notices:
            return loaded, notices  # nothing is looser in the change
        if not claims.kept or approval.document is None:
            raise _unfit(approval.ref, notices[-1], error) from None
        first = claims.kept[0]
        raise SpecErrors(
            [
                SpecError(
                    f"{tree.describe(first.path)}: what '{approval.ref}' has approved does not fit "
                    "the rest of this change",
                    hint="what a blueprint claims and asks for is the base's until it is merged; "
                    "merge that on its own first, and the hardware after it",
                    location=tree.locate(first.path),
                ),
                *error.errors,
            ]
        ) from None


def _known(number: int, tree: Tree, ref: str) -> Notice:
    path = ("facts", number)
    text = f"'{ref}' knows the number, and decides: it is not stated until the change is merged"
    return Notice(NoticeKind.LOWERED, tree.describe(path), "", text, tree.locate(path))


def _unfit(ref: str, first: Notice, error: SpecErrors) -> SpecErrors:
    """Return the errors of a change that cannot be planned with the facts of its base."""
    return SpecErrors(
        [
            SpecError(
                f"{first.id}: what '{ref}' says of it does not fit the rest of this change",
                hint="the facts of a product are the base's until they are merged; merge them on "
                "their own first, and what is built of it after it",
                location=first.location,
            ),
            *error.errors,
        ]
    )


def _notices(
    claims: Claims, approval: Approval, tree: Tree, blueprint: Blueprint
) -> Iterator[Notice]:
    for kept in claims.kept:
        name = tree.describe(kept.path)
        text = _text(kept, approval, why(blueprint.reasons, name, blueprint.owner))
        yield Notice(NoticeKind.LOWERED, name, "", text, tree.locate(kept.path))
    if approval.document is None:
        return
    for taken in claims.taken:
        name = tree.describe(taken.path)
        yield Notice(NoticeKind.PROPOSED, name, "", _new(taken, approval), tree.locate(taken.path))


def _text(kept: RefusedClaim, approval: Approval, reason: str) -> str:
    now = f"{_shown(kept.now)} in this change{reason}"
    was = _shown(kept.was)
    if approval.document is None:
        return f"{now}; {decided(approval.ref, was, is_new=True)}"
    if kept.is_left:
        return (
            f"{now}, of what '{approval.ref}' does not have, and hosts or loads move in this change; "
            f"it is judged as {was} until the change is merged: merge what is new first, and what "
            "moves to it after that"
        )
    if kept.is_new:
        return (
            f"{now}, of what '{approval.ref}' does not have; it is judged as {was} until the "
            "change is merged"
        )
    return f"{now}; {decided(approval.ref, was)}"


def _new(taken: Taken, approval: Approval) -> str:
    names = ", ".join(taken.names[:_MOST])
    more = len(taken.names) - _MOST
    rest = f" and {more} more" if more > 0 else ""
    return f"new in this change; '{approval.ref}' has approved nothing of it: {names}{rest}"


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, dict | list):
        inner = ", ".join(map(str, value))
        value = f"{{{inner}}}" if isinstance(value, dict) else f"[{inner}]"
    elif isinstance(value, bool):
        value = str(value).lower()
    text = str(value)
    return f"'{visible(text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…')}'"
