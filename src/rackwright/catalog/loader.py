"""Looking products up in the catalogue, one file each, read when it is asked for.

A file's folder says what kind of product it holds and its name is the product's id, so an entry
is found without reading the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rackwright.catalog.files import LIKE_YAML, NO_LINK, at_top, own_files
from rackwright.errors import Location, RackwrightError, SpecError, SpecErrors
from rackwright.model.connections import Cable, Connector
from rackwright.model.hardware import ID, Entry, Node, Pdu, PowerShelf, Switch
from rackwright.model.instances import Instance
from rackwright.model.plant import (
    AirHandler,
    Cdu,
    Chiller,
    DryCooler,
    Generator,
    RearDoor,
    Transformer,
    Ups,
)
from rackwright.model.racks import RackType
from rackwright.reading.loader import load, load_tree, validate
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.tree import Tree
from rackwright.resources import bundled

if TYPE_CHECKING:
    from rackwright.catalog.fault_table import FaultTable
    from rackwright.model.prices import Prices

E = TypeVar("E", bound=Entry)

FOLDERS: Mapping[str, type[Entry]] = {
    "nodes": Node,
    "switches": Switch,
    "pdus": Pdu,
    "power-shelves": PowerShelf,
    "racks": RackType,
    "ups": Ups,
    "transformers": Transformer,
    "generators": Generator,
    "cdus": Cdu,
    "air-handlers": AirHandler,
    "chillers": Chiller,
    "dry-coolers": DryCooler,
    "rear-doors": RearDoor,
    "cables": Cable,
    "connectors": Connector,
    "instances": Instance,
}
"""What each folder of a catalogue holds."""

KINDS: Mapping[type[Entry], str] = {kind: folder for folder, kind in FOLDERS.items()}
"""The folder of each kind of product."""

Key = tuple[type[Entry], str]
"""A kind of product, and the id of one."""

NOUNS: Mapping[type[Entry], str] = {Node: "node", Switch: "switch", Pdu: "PDU", PowerShelf: "power shelf", RackType: "rack",
          Ups: "UPS", Transformer: "transformer", Generator: "generator", Cdu: "CDU", AirHandler: "air handler", Chiller: "chiller", DryCooler: "dry cooler",
          RearDoor: "rear door", Cable: "cable", Connector: "connector",
          Instance: "instance type"}  # fmt: skip
"""What people call each kind."""


_ID = re.compile(ID)


class UnknownEntryError(RackwrightError):
    """A product is not in the catalogue."""

    code = "catalogue-unknown"


@dataclass(frozen=True)
class Catalogue:
    """The products of one or more catalogue folders, and what they cost.

    Attributes:
        files: the file of each product, by kind and id.
        patches: fields to change after loading, by id; for examples and what-if questions.
        folders: those beside the built-in one.
        price_folders: the folders of price lists beside the built-in ones.
        fault_folders: the folders of tables of faults beside the built-in one.
        held: products that are judged as they stand here, whatever their files say.
        held_prices: the prices that are judged so; None where nothing is held.
        filled: products with the numbers that a blueprint states of them.
    """

    files: Mapping[type[Entry], Mapping[str, Path]]
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    price_folders: tuple[Path, ...] = ()
    fault_folders: tuple[Path, ...] = ()
    held: Mapping[Key, Entry] = field(default_factory=dict)
    held_prices: Prices | None = None
    filled: Mapping[Key, Entry] = field(default_factory=dict)
    _read: dict[Key, Entry] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def prices(self) -> Prices:
        """The price lists.

        Raises:
            SpecErrors: a list is wrong.
            SpecError: two lists price the same thing.
        """
        from rackwright.catalog.prices import all_prices

        return all_prices(self.price_folders) if self.held_prices is None else self.held_prices

    @cached_property
    def faults(self) -> FaultTable:
        """The table of faults.

        Raises:
            SpecErrors: a file is wrong.
        """
        from rackwright.catalog.fault_table import builtin_faults, load_faults

        return load_faults(self.fault_folders) if self.fault_folders else builtin_faults()

    @cached_property
    def keys(self) -> Mapping[str, Key]:
        """The kind and id of every product, by its id."""
        return {name: (kind, name) for kind, found in self.files.items() for name in found}

    @property
    def bare(self) -> Catalogue:
        """The same without what a blueprint states."""
        return replace(self, filled={}, _read={}) if self.filled else self

    @property
    def used(self) -> tuple[Key, ...]:
        """The products that were looked up."""
        return tuple(self._read)

    def get(self, kind: type[E], entry_id: str) -> E:
        """Return the product of ``kind`` called ``entry_id``.

        Raises:
            UnknownEntryError: there is none.
            SpecErrors: its file is wrong.
        """
        key = (kind, entry_id)
        if key not in self._read:
            path = self.source_of(kind, entry_id)
            made = self.filled.get(key) or self.held.get(key)
            self._read[key] = made or _load_entry(path, kind, self.patches.get(entry_id, {}))
        entry = self._read[key]
        assert isinstance(entry, kind)  # noqa: S101 - the key holds the kind
        return entry

    def source_of(self, kind: type[Entry], entry_id: str) -> Path:
        """Return the file that ``get`` reads.

        Raises:
            UnknownEntryError: there is no such product.
        """
        path = self.files.get(kind, {}).get(entry_id)
        if path is None:
            raise self._unknown(kind, entry_id)
        return path

    def is_own(self, kind: type[Entry], entry_id: str) -> bool:
        """Return True if a product is of a folder beside the built-in one."""
        path = self.files.get(kind, {}).get(entry_id)
        return path is not None and any(path.is_relative_to(folder) for folder in self.folders)

    def ids(self, kind: type[Entry]) -> tuple[str, ...]:
        """Return the ids of every product of ``kind``, sorted."""
        return tuple(sorted(self.files.get(kind, {})))

    def patched(self, patches: Mapping[str, Mapping[str, Any]]) -> Catalogue:
        """Return this catalogue with fields of some products changed; ``None`` makes one unknown.

        Raises:
            UnknownEntryError: a product to change is not in the catalogue.
        """
        known = sorted(self.keys)
        for entry_id in sorted(set(patches) - set(known)):
            raise UnknownEntryError(
                f"there is no product '{entry_id}' in the catalogue",
                hint=did_you_mean(entry_id, known),
            )
        return replace(self, patches={**self.patches, **patches}, _read={})

    def own(self) -> list[Any]:
        """Return the products that are not built in and were looked up, as plain data."""
        return [
            self.get(kind, entry_id).model_dump(mode="json")
            for kind, entry_id in sorted(self.used, key=lambda key: key[1])
            if self.is_own(kind, entry_id)
        ]

    def as_data(self) -> dict[str, Any]:
        """Return the data from which ``catalogue_of_data`` makes the same catalogue in another process."""
        return {
            "folders": list(map(str, self.folders)),
            "prices": list(map(str, self.price_folders)),
            "held": [[KINDS[kind], one.model_dump(mode="json", exclude_none=True)]
                     for (kind, _), one in self.held.items()],
            "held_prices": None if self.held_prices is None else [
                one.model_dump(mode="json", exclude_none=True) for one in self.held_prices.lists
            ],
        }  # fmt: skip

    def _unknown(self, kind: type[Entry], entry_id: str) -> UnknownEntryError:
        noun = NOUNS[kind]
        ids = self.ids(kind)
        known = f"the catalogue has: {', '.join(ids)}." if ids else "the catalogue has none."
        others = [
            NOUNS[other] for other in NOUNS if other is not kind and entry_id in self.ids(other)
        ]
        if others:
            article = "an" if others[0][0] in "aio" else "a"
            hint = f"'{entry_id}' is {article} {others[0]}; 'rackwright catalogue list --kind {KINDS[kind]}' lists what fits"
            return UnknownEntryError(f"there is no {noun} '{entry_id}' in the catalogue", hint=hint)
        near = did_you_mean(entry_id, ids) or known
        hint = f"{near} {how_to_add(kind, entry_id)}"
        return UnknownEntryError(f"there is no {noun} '{entry_id}' in the catalogue", hint=hint)


def how_to_add(kind: type[Entry], entry_id: str) -> str:
    """Return the hint by which a team begins an entry for a missing product."""
    own = entry_id if _ID.fullmatch(entry_id) else "ID"
    return f"A product of your own: 'rackwright catalogue new {KINDS[kind]}/{own}'"


def load_catalogue(
    folders: Sequence[Path] = (),
    *,
    price_folders: Sequence[Path] = (),
    fault_folders: Sequence[Path] = (),
) -> Catalogue:
    """Return the built-in catalogue together with those in ``folders``.

    Raises:
        SpecErrors: two files describe products of the same id (none shadows the other silently), or
            a folder holds something that would never be read.
    """
    builtin = bundled("inventory") / "catalog"
    files: dict[type[Entry], dict[str, Path]] = {
        kind: {path.stem: path for path in sorted((builtin / name).glob("*.yaml"))}
        for name, kind in FOLDERS.items()
    }
    if folders:
        _add_own(files, folders)
    return Catalogue(
        files,
        folders=tuple(folders),
        price_folders=tuple(price_folders),
        fault_folders=tuple(fault_folders),
    )


def catalogue_of_data(data: Mapping[str, Any]) -> Catalogue:
    """Return the catalogue that ``Catalogue.as_data`` has told."""
    from rackwright.model.prices import PriceList, Prices

    folders, prices = map(Path, data["folders"]), map(Path, data["prices"])
    made = load_catalogue(tuple(folders), price_folders=tuple(prices))
    held: dict[Key, Entry] = {}
    for folder, entry in data["held"]:
        kind = FOLDERS[folder]
        held[kind, entry["id"]] = kind.model_validate(entry)
    lists = data["held_prices"]
    if lists is None:
        return replace(made, held=held)
    found = tuple(PriceList.model_validate(one) for one in lists)
    return replace(made, held=held, held_prices=Prices(found))


def _add_own(files: dict[type[Entry], dict[str, Path]], folders: Sequence[Path]) -> None:
    """Add the products of ``folders``, each of which has an id of its own.

    Raises:
        SpecErrors: a product has the id of another one, a folder is missing, or one holds something
            that would never be read.
    """
    errors: list[SpecError] = []
    known = {
        entry_id: (kind, path) for kind, found in files.items() for entry_id, path in found.items()
    }
    for folder in folders:
        for kind, path in _entries(folder, errors):
            if path.stem in known:
                other, first = known[path.stem]
                errors.append(
                    SpecError(
                        f"the {NOUNS[kind]} '{path.stem}' has the id of the {NOUNS[other]} "
                        f"in '{first}'",
                        hint="give it another id, which is also its file's name",
                        location=_place_of_id(path),
                    )
                )
                continue
            known[path.stem] = kind, path
            files[kind][path.stem] = path
    if errors:
        raise SpecErrors(errors)


def _place_of_id(path: Path) -> Location:
    try:
        return load_tree(path).locate(("id",))
    except SpecErrors:
        return Location(str(path), 1, 1)


def _entries(folder: Path, errors: list[SpecError]) -> Iterator[tuple[type[Entry], Path]]:
    """Yield the files of the products in ``folder``, and what is wrong with it."""
    if not folder.is_dir():
        errors.append(SpecError(f"there is no catalogue folder '{folder}'"))
        return
    for inside in sorted(folder.iterdir()):
        if inside.name.startswith((".", "__")):
            continue
        if inside.suffix in LIKE_YAML and not inside.is_dir():
            hint = f"put it into the folder of its kind: {', '.join(FOLDERS)}"
            errors.append(at_top(inside, f"'{inside}' is not read", hint))
        elif inside.is_symlink():
            errors.append(at_top(inside, f"'{inside}' is a link", NO_LINK))
        elif inside.is_dir() and inside.name not in FOLDERS:
            near = did_you_mean(inside.name, FOLDERS)
            hint = near or f"a catalogue has the folders {', '.join(FOLDERS)}"
            errors.append(at_top(inside, f"'{inside}' holds no kind of product", hint))
        elif inside.is_dir():
            for path in own_files(inside, errors):
                yield FOLDERS[inside.name], path


def _load_entry(path: Path, kind: type[E], patch: Mapping[str, Any]) -> E:
    entry = _load_patched(path, kind, patch) if patch else load(path, kind).value
    if entry.id != path.stem:
        raise SpecErrors(
            [
                SpecError(
                    f"'{path}' describes '{entry.id}'",
                    hint=f"call the file '{entry.id}.yaml'",
                    location=_place_of_id(path),
                )
            ]
        )
    return entry


def _load_patched(path: Path, kind: type[E], patch: Mapping[str, Any]) -> E:
    tree = load_tree(path)
    data = _overlay(tree.data, patch)
    cited = set(_cited(data))
    sources = {key: value for key, value in data.get("sources", {}).items() if key in cited}
    example = {"title": "a number of this example", "date": "2026-01-01", "confidence": "official"}
    sources.update(dict.fromkeys(sorted(cited - set(sources)), example))
    return validate(Tree(tree.root, {**data, "sources": sources}, tree.files), kind).value


def _overlay(data: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(data)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif (
            isinstance(value, Mapping)
            and isinstance(merged.get(key), Mapping)
            and "value" not in value
        ):
            merged[key] = _overlay(merged[key], value)
        else:
            merged[key] = value
    return merged


def _cited(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "value" in value and isinstance(value.get("source"), str):
            yield value["source"]
        for key, item in value.items():
            if key != "sources":
                yield from _cited(item)
    elif isinstance(value, list):
        for item in value:
            yield from _cited(item)
