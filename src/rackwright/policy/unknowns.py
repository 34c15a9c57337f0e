"""How what is unknown becomes known: which field of which file would say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rackwright.catalog.loader import KINDS, Catalogue
from rackwright.errors import Location
from rackwright.model.base import Model
from rackwright.plan.base import Path
from rackwright.plan.facts import takes
from rackwright.plan.missing import Field, ProductField, fields_of
from rackwright.plan.model import Plan

Locate = Callable[[Path], Location | None]


class Remedies:
    """What to say, and where, so that what is missing is known.

    Args:
        plan: what is judged, with its products.
        locate: where the blueprint says something, or would.
    """

    def __init__(self, plan: Plan, locate: Locate) -> None:
        self._plan, self._locate = plan, locate
        self._made: dict[tuple[Field, ...], str] = {}
        self._named: dict[Path, tuple[str, Any]] = {}

    def fix(self, missing: tuple[str, ...]) -> str | None:
        """The fields of each of ``missing``; None where nobody has said which they are."""
        found = dict.fromkeys(self._ways(fields) for one in missing if (fields := fields_of(one)))
        return "; ".join(found) or None

    def _ways(self, fields: tuple[Field, ...]) -> str:
        """The fields, each of which does by itself."""
        if fields not in self._made:
            ways = [
                self._of_product(field) if isinstance(field, ProductField) else self._set(field)
                for field in fields
            ]
            self._made[fields] = ", or ".join(ways)
        return self._made[fields]

    def _set(self, path: Path) -> str:
        return f"set '{self._name(path)[0]}'{self._place(path)}"

    def _name(self, path: Path) -> tuple[str, Any]:
        """A place in words, like ``sites.sjc1.pue``, with what is there; many begin alike.

        Items of lists stand by name where they have one.
        """
        if not path:
            return "", self._plan.blueprint
        if path not in self._named:
            before, above = self._name(path[:-1])
            word, found = _step(above, path[-1])
            self._named[path] = f"{before}.{word}" if before else word, found
        return self._named[path]

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
    """The file of a product of the team's own; None where it is not one."""
    key = catalogue.keys.get(product)
    return str(catalogue.source_of(*key)) if key and catalogue.is_own(*key) else None


def can_state(catalogue: Catalogue, field: ProductField) -> bool:
    """Whether ``facts`` of a blueprint may state a field of a product."""
    key = catalogue.keys.get(field.product)
    return key is not None and takes(catalogue.get(*key), field.name)


def _own(catalogue: Catalogue, field: ProductField) -> str:
    """The words where only an entry of the team's own could say it."""
    key = catalogue.keys.get(field.product)
    kind = KINDS[key[0]] if key else "instances"  # of the others, all that a plan names are there
    how = f"'rackwright catalogue new {kind}/ID'"
    return f"describe '{field.product}' in a catalogue of your own, with '{field.name}' ({how})"


def _step(above: Any, part: str | int) -> tuple[str, Any]:
    """A part of a place in words, and what is there."""
    found = _inside(above, part)
    name = getattr(found, "name", None) if isinstance(part, int) else None
    return name if isinstance(name, str) else str(part), found


def _inside(value: Any, part: str | int) -> Any:
    if isinstance(value, tuple):  # before Mapping, which is slow to ask for
        return value[part] if isinstance(part, int) and 0 <= part < len(value) else None
    if isinstance(value, Model):
        return getattr(value, str(part), None)
    return value.get(part) if isinstance(value, Mapping) else None
