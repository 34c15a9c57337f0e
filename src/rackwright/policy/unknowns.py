"""Remedies of unknowns: the field and the file that would state a missing fact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from rackwright.catalog.loader import KINDS, Catalogue
from rackwright.errors import Location
from rackwright.plan.base import Path
from rackwright.plan.derivation.written import name_in_full
from rackwright.plan.facts import takes
from rackwright.plan.missing import Field, ProductField, fields_of
from rackwright.plan.model import Plan

Locate = Callable[[Path], Location | None]
NameOf = Callable[[Path], str]


class Owner(StrEnum):
    """Who can answer a question, in the order in which they are asked."""

    FACILITY = "facility team"
    NETWORK = "network team"
    VENDOR = "vendor"
    YOU = "you"


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A fact that rules lack.

    Attributes:
        field: name of the field that would state it, or words where no field is known.
        remedy: how it becomes known; empty where no field is known.
        rules: ids of the rules that lack it.
        location: place of the field in the blueprint, or of what would have it.
        blocks: a rule that lacks it blocks.
        later: every rule that lacks it is of a later stage.
        about: the field itself; None where it is not known.
    """

    field: str
    remedy: str
    owner: Owner
    rules: tuple[str, ...]
    location: Location | None
    blocks: bool
    later: bool = False
    about: Field | None = None


class Remedies:
    """Remedies of missing facts in words, and their places.

    Args:
        plan: what is judged, with its products.
        locate: where the blueprint says something, or would.
        name_of: name of a field, as its document is written; as in the full form if omitted.
    """

    def __init__(self, plan: Plan, locate: Locate, name_of: NameOf | None = None) -> None:
        self._plan, self._locate = plan, locate
        self._name_of = name_of or partial(name_in_full, plan)
        self._made: dict[tuple[Field, ...], str] = {}

    def fix(self, missing: tuple[str, ...]) -> str | None:
        """Return the fields of each of ``missing``; None if they are unknown."""
        found = dict.fromkeys(self._ways(fields) for one in missing if (fields := fields_of(one)))
        return "; ".join(found) or None

    def _ways(self, fields: tuple[Field, ...]) -> str:
        """Return the fields, each of which does by itself."""
        if fields not in self._made:
            ways = [
                self._of_product(field) if isinstance(field, ProductField) else self._set(field)
                for field in fields
            ]
            self._made[fields] = ", or ".join(ways)
        return self._made[fields]

    def _set(self, path: Path) -> str:
        return f"set '{self._name_of(path)}'{self._place(path)}"

    def name(self, field: Field) -> str:
        """Return the name of a field, like ``sites.sjc1.pue`` or ``peak_power of dgx-h200``."""
        if isinstance(field, ProductField):
            return f"{field.name} of {field.product}"
        return self._name_of(field)

    def place(self, field: Field) -> Location | None:
        """Return the place of a field in a file; None for plain data and for what is missing there."""
        if isinstance(field, ProductField):
            return None
        found = self._locate(field)
        return None if found is None or found.file.startswith("<") else found

    def _place(self, path: Path) -> str:
        location = self._locate(path)
        if location is None or location.file.startswith("<"):  # plain data, not a file
            return " in the blueprint"
        return f" ({location})"

    def _of_product(self, field: ProductField) -> str:
        product, name, catalogue = field.product, field.name, self._plan.catalogue
        ways = []
        if file := own_entry(catalogue, product):
            ways.append(f"set '{name}' in the entry of '{product}' ({file})")
        if can_state(catalogue, field):
            ways.append(f"state '{name}' of '{product}' in 'facts'{self._place(('facts',))}")
        return ", or ".join(ways) or _own(catalogue, field)


def own_entry(catalogue: Catalogue, product: str) -> str | None:
    """Return the file of a product of the team's own; None where it is not one."""
    key = catalogue.keys.get(product)
    return str(catalogue.source_of(*key)) if key and catalogue.is_own(*key) else None


def can_state(catalogue: Catalogue, field: ProductField) -> bool:
    """Return True if ``facts`` of a blueprint may state a field of a product."""
    key = catalogue.keys.get(field.product)
    return key is not None and takes(catalogue.get(*key), field.name)


def _own(catalogue: Catalogue, field: ProductField) -> str:
    """Return the words where only an entry of the team's own could say it."""
    key = catalogue.keys.get(field.product)
    kind = KINDS[key[0]] if key else "instances"  # of the others, all that a plan names are there
    how = f"'rackwright catalogue new {kind}/ID'"
    return f"describe '{field.product}' in a catalogue of your own, with '{field.name}' ({how})"
