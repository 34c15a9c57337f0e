"""Loading the price lists: every YAML file of ``inventory/prices``, and those of a team."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rackwright.catalog.files import own_files
from rackwright.errors import SpecError, SpecErrors
from rackwright.model.prices import PriceList, Prices, each
from rackwright.reading.loader import Loaded, load
from rackwright.resources import bundled

Origins = dict[tuple[str, str, str], Path]
"""The file of each price, by offer, region and item."""


@lru_cache(maxsize=1)
def builtin_prices() -> Prices:
    """Return the price lists that come with Rackwright."""
    return load_prices()


def all_prices(folders: tuple[Path, ...] = ()) -> Prices:
    """Return the built-in price lists together with those in ``folders``.

    Raises:
        SpecErrors: a list is wrong, two lists price the same thing, or a folder holds something
            that would never be read.
    """
    if not folders:
        return builtin_prices()
    lists = list(builtin_prices().lists)
    builtin = bundled("inventory") / "prices"
    origin: Origins = {
        (price.offer, price.region, price.item): builtin / f"{one.id}.yaml"
        for one in lists
        for price in each([one])
    }
    errors: list[SpecError] = []
    for folder in folders:
        if not folder.is_dir():
            errors.append(SpecError(f"there is no folder of price lists '{folder}'"))
            continue
        for path in own_files(folder, errors):
            try:
                lists.append(_read(path, origin))
            except SpecErrors as error:
                errors += error.errors
    if errors:
        raise SpecErrors(errors)
    return Prices(tuple(lists))


def load_prices(folder: Path | None = None) -> Prices:
    """Return the price lists in ``folder``, by default the built-in ones.

    Raises:
        SpecErrors: a list is wrong, two lists price the same thing (none shadows the other
            silently), or a file does not bear the name of its list.
        SpecError: there is no such folder.
    """
    folder = bundled("inventory") / "prices" if folder is None else folder
    if not folder.is_dir():
        raise SpecError(f"there is no folder of price lists '{folder}'")
    origin: Origins = {}
    return Prices(tuple(_read(path, origin) for path in sorted(folder.glob("*.yaml"))))


def _read(path: Path, origin: Origins) -> PriceList:
    """Return the list in a file, whose prices are noted in ``origin``.

    Raises:
        SpecErrors: the list is wrong, the file does not bear its name, or something is priced
            twice.
    """
    loaded: Loaded[PriceList] = load(path, PriceList)
    found, tree = loaded.value, loaded.tree
    if found.id != path.stem:
        raise SpecErrors(
            [
                SpecError(
                    f"'{path}' holds the price list '{found.id}'",
                    hint=f"call the file '{found.id}.yaml'",
                    location=tree.locate(("id",)),
                )
            ]
        )
    errors = []
    for price in each([found]):
        key = (price.offer, price.region, price.item)
        if key in origin:
            errors.append(
                SpecError(
                    f"'{price.item}' ({price.offer}, {price.region}) is priced twice: "
                    f"'{origin[key]}' and '{path}'",
                    hint="the owner's own price belongs in 'costs' of the blueprint",
                    location=tree.locate(("prices", price.item)),
                )
            )
        origin[key] = path
    if errors:
        raise SpecErrors(errors)
    return found
