"""Loading the price lists: every YAML file of ``inventory/prices``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rackwright.errors import SpecError
from rackwright.model.prices import PriceList, Prices, each
from rackwright.resources import bundled
from rackwright.spec.loader import load


@lru_cache(maxsize=1)
def builtin_prices() -> Prices:
    """The price lists that come with Rackwright."""
    return load_prices()


def load_prices(folder: Path | None = None) -> Prices:
    """The price lists in ``folder``, by default the built-in ones.

    Raises:
        SpecErrors: a list is wrong.
        SpecError: two lists price the same thing (none shadows the other silently), a file does
            not bear the name of its list, or there is no such folder.
    """
    folder = bundled("inventory") / "prices" if folder is None else folder
    if not folder.is_dir():
        raise SpecError(f"there is no folder of price lists '{folder}'")
    lists: list[PriceList] = []
    origin: dict[tuple[str, str, str], Path] = {}
    for path in sorted(folder.glob("*.yaml")):
        found = load(path, PriceList).value
        if found.id != path.stem:
            raise SpecError(
                f"'{path}' holds the price list '{found.id}'",
                hint=f"call the file '{found.id}.yaml'",
            )
        for price in each([found]):
            key = (price.offer, price.region, price.item)
            if key in origin:
                raise SpecError(
                    f"'{price.item}' ({price.offer}, {price.region}) is priced twice: "
                    f"'{origin[key]}' and '{path}'",
                    hint="the owner's own price belongs in 'costs' of the blueprint",
                )
            origin[key] = path
        lists.append(found)
    return Prices(tuple(lists))
