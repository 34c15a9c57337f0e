"""Designs of racks: a blueprint of the built-in policies with changes, its plan, and what a rule says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from factories import CATALOGUE
from omissions import POLICIES, changed, without
from rackwright.catalog.loader import Catalogue
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.packs.loader import builtin_pack

GONE = object()
"""In the place of a value: the key is left out."""
Changes = Mapping[Any, Any]
"""A value, or ``GONE``, by its path."""
Patches = Mapping[str, Any]
"""Fields of catalogue entries by product."""


def said(value: str | int) -> dict[str, Any]:
    """A number of a catalogue entry."""
    return {"value": value, "source": "example"}


class Design:
    """A blueprint with one site.

    Args:
        name: its file among the fixtures of the built-in policies.
        patches: what the catalogue says of products in all tests.
        catalogue: where its products are looked up; absent, the built-in one.
    """

    def __init__(
        self, name: str, patches: Patches | None = None, catalogue: Catalogue = CATALOGUE
    ) -> None:
        self._catalogue = catalogue
        text = (builtin_pack() / "fixtures" / f"{name}.yaml").read_text("utf-8")
        self._data = yaml.safe_load(text)
        self._patches = dict(patches or {})

    def plan(self, changes: Changes | None = None, patches: Patches | None = None) -> Plan:
        """The plan with changes, whose paths begin at the site, or after a ``/`` at the top."""
        data = self._data
        for path, value in (changes or {}).items():
            place = path[1:] if path[0] == "/" else ("sites", 0, *path)
            data = without(data, place) if value is GONE else changed(data, place, value)
        merged = {**self._patches}
        for product, patch in (patches or {}).items():
            merged[product] = {**merged.get(product, {}), **patch}
        return expand(Blueprint.model_validate(data), self._catalogue.patched(merged))

    def site(self, changes: Changes | None = None, patches: Patches | None = None) -> SitePlan:
        """The same of its site."""
        (site,) = self.plan(changes, patches).onprem
        return site

    def judged(
        self,
        rule: str,
        changes: Changes | None = None,
        patches: Patches | None = None,
        **parameters: Any,
    ) -> Sequence[Result]:
        """What a rule finds, with parameters of its own."""
        (policy,) = (policy for policy in POLICIES if policy.id == rule)
        return evaluate(
            self.plan(changes, patches), [policy(**parameters)], {}, lambda _: None
        ).results
