"""Names in the costs of a blueprint that lead nowhere.

A mistyped site would silently keep the common rates, and a mistyped product the price of a list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import get_args

from rackwright.catalog.loader import Catalogue
from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.model.connections import Connector
from rackwright.model.cooling import PlantKind
from rackwright.model.instances import Instance
from rackwright.model.power import SourceKind
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.products import NO_PRODUCTS
from rackwright.reading.suggest import did_you_mean

_NOT_BOUGHT = (Instance, Connector)
"""Kinds of products that no bill of materials contains."""
_KINDS = tuple(kind for kind in (*get_args(SourceKind), *get_args(PlantKind)) if kind != "utility")
"""Articles of the bill of materials that may have no product."""


def find_cost_problems(blueprint: Blueprint, catalogue: Catalogue) -> list[PlanProblem]:
    """Return the sites, products and instance types in ``costs`` that do not exist."""
    costs = blueprint.costs
    if costs is None:
        return []
    owned = [site.name for site in blueprint.sites if not isinstance(site, AwsSite)]
    bought = [
        name for kind in catalogue.files if kind not in _NOT_BOUGHT for name in catalogue.ids(kind)
    ]
    articles = [*bought, *NO_PRODUCTS, *_KINDS]
    return [
        *_unknown("sites", costs.sites, owned, "bare-metal site"),
        *_unknown("capex", costs.capex, articles, "hardware product"),
        *_unknown("lead_times", costs.lead_times, articles, "hardware product"),
        *_unknown("instances", costs.instances, catalogue.ids(Instance), "instance type"),
        *_unknown("reserved", costs.reserved, catalogue.ids(Instance), "instance type"),
    ]


def _unknown(
    field: str, named: Collection[str], known: Iterable[str], noun: str
) -> Iterable[PlanProblem]:
    names = list(known)
    is_mapping = isinstance(named, Mapping)
    for number, name in enumerate(named):
        if name not in names:
            message = f"there is no {noun} '{name}'"
            where = ("costs", field, name if is_mapping else number)
            yield PlanProblem(where, message, did_you_mean(name, names))
