"""Sources that are products of the catalogue: what their entries say of them.

A number that the blueprint writes beside a product holds in the place of the product's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Entry, Fact, Ups, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.power import PowerSource, SourceKind
from rackwright.plan.base import Path
from rackwright.plan.missing import Field, Missing, ProductField
from rackwright.plan.problems import PlanProblem

RATED: Mapping[SourceKind, type[Entry]] = {"ups": Ups}
"""What products the sources of a kind are."""

Count = Callable[[PowerSource], int | None]
"""Of how many modules a number is; None where nobody knows."""


def _each(source: PowerSource) -> int | None:
    """A number of one module holds for all."""
    return 1


def _all(source: PowerSource) -> int | None:
    """The modules of a source, spare ones included."""
    return source.modules.count if source.modules else 1


def _needed(source: PowerSource) -> int | None:
    """Those that are not spare."""
    return source.modules.needed if source.modules else 1


_OF_UPS: Mapping[str, Count] = {
    "overload": _needed,
    "efficiency": _each,
    "recharge": _all,
    "backup": _each,
    "voltage_tolerance": _each,
    "short_circuit_rating": _each,
}
_NUMBERS: Mapping[SourceKind, Mapping[str, Count]] = {"ups": _OF_UPS}
"""The fields of a source that its product fills, each called the same there."""


def with_source_products(site: OnPremSite, catalogue: Catalogue) -> OnPremSite:
    """``site`` whose sources have the numbers of their products, where they state none themselves.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    if all(source.product is None for source in site.power.sources):
        return site
    sources = tuple(_filled(source, site, catalogue) for source in site.power.sources)
    power = site.power.model_copy(update={"sources": sources})
    return site.model_copy(update={"power": power})


def _filled(source: PowerSource, site: OnPremSite, catalogue: Catalogue) -> PowerSource:
    entry = _entry(source, catalogue)
    if entry is None:
        return source
    found: dict[str, Any] = {}
    for name, count in _NUMBERS[source.kind].items():
        each, times = _number(entry, name), count(source)
        if getattr(source, name) is None and each is not None and times is not None:
            found[name] = each * times
    if not _unfit(entry, site):
        rating = rating_of(entry)
        if source.modules is None:
            found["capacity"] = rating if source.capacity is None else source.capacity
        elif source.modules.capacity is None:
            found["modules"] = source.modules.model_copy(update={"capacity": rating})
    return source.model_copy(update=found)


def _entry(source: PowerSource, catalogue: Catalogue) -> Entry | None:
    kind = RATED.get(source.kind)
    return None if source.product is None or kind is None else catalogue.get(kind, source.product)


def _number(entry: Entry, name: str) -> float | None:
    fact: Fact[float] | None = getattr(entry, name)
    return fact_value(fact)


def rating_of(entry: Entry) -> float:
    """Continuous power in W of one unit of a product."""
    assert isinstance(entry, Ups)  # noqa: S101 - the kinds of ``RATED``
    return entry.rating.value


def _unfit(entry: Entry, site: OnPremSite) -> tuple[tuple[str, tuple[Field, ...]], ...]:
    """Why the rating of a product does not hold at ``site``: in words, and what would say more."""
    highest = _number(entry, "max_altitude")
    found: list[tuple[str, tuple[Field, ...]]] = []
    if highest is None:
        words = f"nobody says up to which altitude {entry.id} has its rating"
        found.append((words, (ProductField(entry.id, "max_altitude"),)))
    elif site.altitude is None:
        found.append((f"{entry.id} has its rating up to {highest:,g} m", (("altitude",),)))
    elif site.altitude > highest:
        words = f"{entry.id} has its rating up to {highest:,g} m, and the site is at {site.altitude:,g} m"
        found.append((words, ()))
    return tuple(found)


def unrated(source: PowerSource, site: OnPremSite, path: Path, catalogue: Catalogue) -> Missing:
    """What is missing of the capacity of a source, whose product may have a rating that does not hold.

    Args:
        source: it, with nothing that says its capacity.
        site: its site.
        path: the place of the site in the blueprint.
        catalogue: of the plan.
    """
    number = [one.name for one in site.power.sources].index(source.name)
    where: Path = (*path, "power", "sources", number)
    place = (*where, "capacity") if source.modules is None else (*where, "modules", "capacity")
    entry = _entry(source, catalogue)
    unfit = _unfit(entry, site) if entry else ()
    ways: list[Field] = [place]
    if len(unfit) == 1:  # of several, none makes it known by itself
        ways += (f if isinstance(f, ProductField) else (*path, *f) for f in unfit[0][1])
    why = "; ".join(words for words, _ in unfit)
    return Missing(f"capacity of '{source.name}'" + (f" ({why})" if why else ""), *ways)


def unsaid_of(source: PowerSource, name: str, place: Path, words: str | None = None) -> Missing:
    """A number of a source that neither the blueprint nor its product says.

    Args:
        source: it.
        name: the field that it has in the blueprint.
        place: of that field.
        words: what is missing; absent, the field by its name.
    """
    ways: tuple[Field, ...] = ()
    count = _NUMBERS.get(source.kind, {}).get(name)
    if source.product is not None and count is not None and count(source) is not None:
        ways = (ProductField(source.product, name),)
    return Missing(words or f"'{name}' of '{source.name}'", place, *ways)


def named_products(site: OnPremSite, path: Path) -> Iterator[tuple[type[Entry], str, Path]]:
    """The products that the sources of a site name: kind, id and place."""
    for number, source in enumerate(site.power.sources):
        kind = RATED.get(source.kind)
        if source.product is not None and kind is not None:
            yield kind, source.product, (*path, "power", "sources", number, "product")


def check_ratings(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[PlanProblem]:
    """Sources of which the blueprint states more than the rating of their product."""
    for number, source in enumerate(site.power.sources):
        entry = _entry(source, catalogue)
        if entry is None:
            continue
        field: Path = ("capacity",) if source.modules is None else ("modules", "capacity")
        stated = source.capacity if source.modules is None else source.modules.capacity
        rating = rating_of(entry)
        if stated is not None and stated > rating:
            message = (
                f"'{source.name}' is said to carry {stated / 1000:,g} kW, and the rating of "
                f"{entry.id} is {rating / 1000:,g} kW"
            )
            hint = f"take '{'.'.join(map(str, field))}' out, or state what is left of the rating"
            yield PlanProblem((*path, "power", "sources", number, *field), message, hint)
