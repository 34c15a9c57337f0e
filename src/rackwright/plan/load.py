"""From files to a plan, every mistake at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.catalog.team import catalogue_for
from rackwright.errors import SpecError, SpecErrors
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.spec.loader import load_tree, validate
from rackwright.spec.tree import Item, Tree

INPUTS = "<inputs>"
"""File name of a blueprint that did not come from a file."""


@dataclass(frozen=True)
class LoadedPlan:
    """A plan and the document it was made from."""

    plan: Plan
    tree: Tree


def load_plan(
    path: FilePath, layers: Sequence[FilePath] = (), *, catalogue: Catalogue | None = None
) -> LoadedPlan:
    """The plan of the blueprint in ``path`` with ``layers`` over it.

    Args:
        path: the file.
        layers: files over it.
        catalogue: the products; absent, those that its team lists beside the built-in ones.

    Returns:
        The plan and the document, whose positions messages name.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    tree = load_tree(path, layers=layers)
    return plan_tree(tree, catalogue_for(path) if catalogue is None else catalogue)


def load_data(data: Any, *, catalogue: Catalogue | None = None) -> LoadedPlan:
    """The plan of a blueprint that is plain data, without positions."""
    nowhere = Item(None, INPUTS, 1, 1)  # every path of the data is located here
    return plan_tree(Tree(nowhere, data, (INPUTS,)), catalogue)


def plan_tree(tree: Tree, catalogue: Catalogue | None = None) -> LoadedPlan:
    """The plan of a document that is read already.

    Raises:
        SpecErrors: as ``load_plan``.
    """
    blueprint = validate(tree, Blueprint).value
    try:
        plan = expand(blueprint, load_catalogue() if catalogue is None else catalogue)
    except PlanError as error:
        raise locate_problems(error, tree) from None
    return LoadedPlan(plan, tree)


def locate_problems(error: PlanError, tree: Tree) -> SpecErrors:
    """The reasons of ``error``, each with its position in the document."""
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
