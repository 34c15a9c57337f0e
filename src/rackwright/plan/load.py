"""From files to a plan, every mistake at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.catalog.team import catalogue_for
from rackwright.errors import SpecError, SpecErrors, UsageError
from rackwright.files import AnyPath
from rackwright.harmless import counted
from rackwright.model.cluster import Blueprint
from rackwright.plan.audit.template_marks import refuse_templates
from rackwright.plan.derivation.derive import Derived, derive, named_rules
from rackwright.plan.derivation.draft import Derivation
from rackwright.plan.derivation.written import WrittenNames
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.reading.loader import EXAMPLE, load_tree, validate
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.tree import Item, Tree

INPUTS = "<inputs>"
"""File name of a blueprint that did not come from a file."""

_NOWHERE = Item(None, INPUTS, 1, 1)
"""Where every path of such a blueprint is located."""


@dataclass(frozen=True)
class LoadedPlan:
    """A plan and the document it was made from.

    Attributes:
        tree: the document in its full form.
        derivations: what is in it that follows from what is written.
        written: the document as it is written, layers merged; the full form if omitted.
    """

    plan: Plan
    tree: Tree
    derivations: tuple[Derivation, ...] = ()
    written: Tree | None = None

    @cached_property
    def names(self) -> WrittenNames:
        """Names of fields in the words of the document as it is written."""
        return WrittenNames(self.written or self.tree, self.tree)

    def cluster_at(self, site: str | None) -> LoadedPlan:
        """Return the document with the plan of one cluster of its federation.

        Args:
            site: site of the cluster; None where the blueprint has no federation.

        Raises:
            UsageError: the federation has no cluster there, or ``site`` is missing or not needed.
        """
        plan = self.plan
        if not plan.is_federated:
            if site is not None:
                raise UsageError(
                    "--site chooses a cluster of a federation, and the blueprint has none",
                    hint="leave it out; --limit chooses hosts",
                )
            return self
        by_site = {member.spec.site: member for member in plan.members}
        if site is None:
            raise UsageError(
                f"the blueprint federates {counted(len(by_site), 'cluster')}",
                hint=f"name the site of one with --site: {', '.join(by_site)}",
            )
        if site not in by_site:
            hint = did_you_mean(site, by_site) or f"the federation has: {', '.join(by_site)}"
            raise UsageError(f"the federation has no cluster at '{site}'", hint=hint)
        return replace(self, plan=by_site[site].plan)


def load_plan(
    path: AnyPath,
    layers: Sequence[AnyPath] = (),
    *,
    catalogue: Catalogue | None = None,
) -> LoadedPlan:
    """Return the plan of the blueprint in ``path`` with ``layers`` over it.

    Args:
        path: the file.
        layers: files over it, the last one on top.
        catalogue: the products; if omitted, the built-in ones and those that the team of the
            blueprint lists in ``rackwright.yaml``.

    Returns:
        The plan and the document, whose positions messages name.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    blueprint = FilePath(path)
    tree = load_tree(blueprint, layers=[FilePath(layer) for layer in layers])
    return plan_tree(tree, catalogue_for(blueprint) if catalogue is None else catalogue)


def load_data(data: Any, *, catalogue: Catalogue | None = None) -> LoadedPlan:
    """Return the plan of a blueprint that is plain data, without positions."""
    if isinstance(data, dict) and isinstance(data.get(EXAMPLE), bool):  # a mark of a file
        data = {name: value for name, value in data.items() if name != EXAMPLE}
    return plan_tree(nowhere(data), catalogue)


def nowhere(data: Any) -> Tree:
    """Return plain data as a document without positions."""
    return Tree(_NOWHERE, data, (INPUTS,))


def plan_tree(tree: Tree, catalogue: Catalogue | None = None) -> LoadedPlan:
    """Return the plan of a document that is read already.

    Raises:
        SpecErrors: as ``load_plan``.
    """  # noqa: DOC501 - as_written() makes the SpecErrors
    products = load_catalogue() if catalogue is None else catalogue
    try:
        full, blueprint = _validated(tree, products)
    except SpecErrors as error:
        from rackwright.plan.derivation.mistakes import without_followers

        raise without_followers(tree, error, lambda other: _mistakes(other, products)) from None
    refuse_templates(full.tree)
    try:
        plan = expand(blueprint, products)
    except PlanError as error:
        from rackwright.plan.derivation.mistakes import as_written

        raise as_written(tree, locate_problems(error, full.tree)) from None
    return LoadedPlan(plan, full.tree, full.derivations, tree)


def _validated(tree: Tree, products: Catalogue) -> tuple[Derived, Blueprint]:
    """Return a document in its full form, and the blueprint that it is.

    Raises:
        SpecErrors: every mistake.
    """
    full = derive(tree, products)
    if full.unnamed is None:
        return full, validate(full.tree, Blueprint).value
    # What is wrong beside the missing name of the rules is found by those that were meant.
    try:
        validate(derive(named_rules(tree), products).tree, Blueprint)
    except SpecErrors as error:
        raise SpecErrors([full.unnamed, *error.errors]) from None
    raise SpecErrors([full.unnamed])


def _mistakes(tree: Tree, products: Catalogue) -> SpecErrors | None:
    """Return what is wrong with a document; None for nothing."""
    try:
        _validated(tree, products)
    except SpecErrors as error:
        return error
    return None


def full_data(data: Any, catalogue: Catalogue, source: str) -> Any:
    """Return a document that is plain data in its full form.

    Args:
        data: the document; what is wrong with what is written in full is left as it is.
        catalogue: where products are looked up.
        source: what the document is called where nothing follows from it.

    Raises:
        SpecErrors: it is in the short form, and its full form does not follow.
    """
    return derive(Tree(Item(None, source, 1, 1), data, (source,)), catalogue).tree.data


def locate_problems(error: PlanError, tree: Tree) -> SpecErrors:
    """Return the reasons of ``error``, each with its position in the document."""
    return SpecErrors(
        [
            SpecError(
                f"{tree.describe(problem.path)}: {problem.message}",
                hint=problem.hint,
                location=tree.locate(problem.path),
            )
            for problem in error.problems
        ]
    )
