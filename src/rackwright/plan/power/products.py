"""Sources that are products of the catalogue: what their entries say of them.

A number that the blueprint writes beside a product holds instead of the product's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Entry, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import Generator, Transformer, Ups
from rackwright.model.power import PowerSource, SourceKind
from rackwright.plan.base import Path
from rackwright.plan.missing import Field, Missing, ProductField
from rackwright.plan.problems import PlanProblem

RATED: Mapping[SourceKind, type[Entry]] = {
    "ups": Ups,
    "transformer": Transformer,
    "generator": Generator,
}
"""What products the sources of a kind are."""

Count = Callable[[PowerSource], int | None]
"""Function that returns the number of modules that a rating covers; None if unknown."""


class Unfit(NamedTuple):
    """Reason why the rating of a product may be invalid at a site.

    Attributes:
        words: for people.
        ways: what would say that it does, places from the site on.
    """

    words: str
    ways: tuple[Field, ...]


def _each(source: PowerSource) -> int | None:
    """Return a number of one module, which applies to all."""
    return 1


def _all(source: PowerSource) -> int | None:
    """Return the modules of a source, spare ones included."""
    return source.modules.count if source.modules else 1


def _needed(source: PowerSource) -> int | None:
    """Return those that are not spare."""
    return source.modules.needed if source.modules else 1


_NUMBERS: Mapping[SourceKind, Mapping[str, tuple[str, Count]]] = {
    "ups": {
        "overload": ("overload", _needed),
        "efficiency": ("efficiency", _each),
        "recharge": ("recharge", _all),
        "backup": ("backup", _each),
        "voltage_tolerance": ("voltage_tolerance", _each),
        "short_circuit_rating": ("short_circuit_rating", _each),
    },
    "transformer": {
        "rating": ("rating", _all),
        "losses": ("losses", _all),
        "impedance": ("impedance", _each),
        "voltage": ("voltage", _each),
    },
    "generator": {
        "step_load": ("step_load", _needed),
        # All run: one that is loaded less burns more for each kWh, and no more than at its rating.
        "consumption": ("consumption", _all),
        "voltage_tolerance": ("voltage_tolerance", _each),
    },
}
"""By kind, the fields of a source that its product fills, with the product's field."""


def with_source_products(site: OnPremSite, catalogue: Catalogue) -> OnPremSite:
    """Return ``site`` whose sources have the numbers of their products, where they state none themselves.

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
    for name, (field, count) in _NUMBERS[source.kind].items():
        each, times = _number(entry, field), count(source)
        if getattr(source, name) is None and each is not None and times is not None:
            found[name] = each * times
    if source.efficiency is not None:
        found.pop("losses", None)
    if not _unfit(entry, site):
        rating = rated_power(entry, site.power.power_factor)
        if source.modules is None:
            found["capacity"] = rating if source.capacity is None else source.capacity
        elif source.modules.capacity is None:
            found["modules"] = source.modules.model_copy(update={"capacity": rating})
    return source.model_copy(update=found)


def _entry(source: PowerSource, catalogue: Catalogue) -> Entry | None:
    kind = RATED.get(source.kind)
    return None if source.product is None or kind is None else catalogue.get(kind, source.product)


def _number(entry: Entry, name: str) -> float | None:
    found: float | None = fact_value(getattr(entry, name))
    return found


def rated_power(entry: Entry, power_factor: float) -> float:
    """Return the power in W that one unit of a product carries at a power factor without limit of time."""
    if isinstance(entry, Transformer):
        return entry.rating.value * power_factor
    assert isinstance(entry, Ups | Generator)  # noqa: S101 - the kinds of ``RATED``
    return entry.rating.value


def _unfit(entry: Entry, site: OnPremSite) -> tuple[Unfit, ...]:
    """Return the reasons why the rating of a product is invalid or unknown at ``site``."""
    found = [_beyond(entry, "max_altitude", "m", site, "altitude")]
    if isinstance(entry, Generator):
        found.append(_beyond(entry, "max_ambient", "°C", site, "design_dry_bulb"))
    return tuple(one for one in found if one is not None)


def _beyond(entry: Entry, limit: str, unit: str, site: OnPremSite, field: str) -> Unfit | None:
    """Return the reason if a number of the site exceeds the one up to which a rating holds."""
    most, here = _number(entry, limit), getattr(site, field)
    if most is None:
        return Unfit(f"{entry.id} does not say up to which '{field}' of a site its rating holds",
                     (ProductField(entry.id, limit),))  # fmt: skip
    if here is None:
        words = f"the rating of {entry.id} holds up to {most:,g} {unit}, and the site states no '{field}'"
        return Unfit(words, ((field,),))
    if here <= most:
        return None
    words = (
        f"the rating of {entry.id} holds up to {most:,g} {unit}, and '{field}' is {here:,g} {unit}"
    )
    return Unfit(words, ())


def unrated(source: PowerSource, site: OnPremSite, path: Path, catalogue: Catalogue) -> Missing:
    """Return the missing fact about the capacity of a source, whose product may have an invalid rating.

    Args:
        source: it, with nothing that says its capacity.
        site: its site.
        path: the place of the site in the blueprint.
        catalogue: of the plan.
    """
    number = [one.name for one in site.power.sources].index(source.name)
    where: Path = (*path, "power", "sources", number)
    entry = _entry(source, catalogue)
    unfit = _unfit(entry, site) if entry else ()
    field = (*where, *_capacity_field(source))
    return missing_capacity(f"capacity of '{source.name}'", field, unfit, path)


def missing_capacity(what: str, field: Path, unfit: Sequence[Unfit], path: Path) -> Missing:
    """Return a capacity that is not stated, with why that of a product does not hold in its place.

    Args:
        what: the capacity, as people call it.
        field: its place in the blueprint.
        unfit: why that of the product does not hold.
        path: the place of the site in the blueprint.
    """
    ways: list[Field] = [field]
    if len(unfit) == 1:  # of several, none makes it known by itself
        ways += (f if isinstance(f, ProductField) else (*path, *f) for f in unfit[0].ways)
    why = "; ".join(one.words for one in unfit)
    return Missing(f"{what} ({why})" if why else what, *ways)


def _capacity_field(source: PowerSource) -> Path:
    """Return the field in which a source with a product, or without one, would state its capacity."""
    return ("capacity",) if source.modules is None else ("modules", "capacity")


def unsaid_of(source: PowerSource, name: str, place: Path, words: str | None = None) -> Missing:
    """Return a number of a source that neither the blueprint nor its product says.

    Args:
        source: it.
        name: the field that it has in the blueprint.
        place: of that field.
        words: what is missing; absent, the field by its name.
    """
    ways: tuple[Field, ...] = ()
    field, count = _NUMBERS.get(source.kind, {}).get(name, ("", _each))
    if source.product is not None and field and count(source) is not None:
        ways = (ProductField(source.product, field),)
    return Missing(words or f"'{name}' of '{source.name}'", place, *ways)


def named_products(site: OnPremSite, path: Path) -> Iterator[tuple[type[Entry], str, Path]]:
    """Yield the products that the sources of a site name: kind, id and place."""
    for number, source in enumerate(site.power.sources):
        kind = RATED.get(source.kind)
        if source.product is not None and kind is not None:
            yield kind, source.product, (*path, "power", "sources", number, "product")


def check_ratings(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[PlanProblem]:
    """Yield the sources that state more than the rating of their product, or another plate than it has."""
    for number, source in enumerate(site.power.sources):
        entry = _entry(source, catalogue)
        if entry is None:
            continue
        where: Path = (*path, "power", "sources", number)
        stated = source.capacity if source.modules is None else source.modules.capacity
        rating = rated_power(entry, site.power.power_factor)
        if stated is not None and stated > rating:
            field = _capacity_field(source)
            message = (
                f"'{source.name}' is said to carry {stated / 1000:,g} kW, and the rating of "
                f"{entry.id} is {rating / 1000:,g} kW"
            )
            hint = f"take '{'.'.join(map(str, field))}' out, or state what is left of the rating"
            yield PlanProblem((*where, *field), message, hint)
        if isinstance(entry, Transformer):
            yield from _other_plate(source, entry, where)


def _other_plate(source: PowerSource, entry: Transformer, where: Path) -> Iterator[PlanProblem]:
    """Yield the numbers of the plate of a transformer that are not those of its product."""
    units = _all(source) or 1
    for name, times, scale, unit in (("rating", units, 1000, "kVA"), ("voltage", 1, 1, "V")):
        stated, plate = getattr(source, name), _number(entry, name)
        if stated is None or plate is None or stated == plate * times:
            continue
        made = f"{plate * times / scale:,g} {unit}"
        message = f"'{source.name}' has {stated / scale:,g} {unit}, and {entry.id} {made}"
        yield PlanProblem((*where, name), message, f"take '{name}' out")
