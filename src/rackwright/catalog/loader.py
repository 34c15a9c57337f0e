"""Looking products up in the catalogue, one file each, read when it is asked for.

A file's folder says what kind of product it holds and its name is the product's id, so an entry
is found without reading the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rackwright.errors import RackwrightError, SpecError
from rackwright.model.hardware import (
    AirHandler,
    Cable,
    Cdu,
    Connector,
    Entry,
    Instance,
    Node,
    Pdu,
    PowerShelf,
    RackType,
    Switch,
)
from rackwright.resources import bundled
from rackwright.spec.loader import load, load_tree, validate
from rackwright.spec.suggest import did_you_mean
from rackwright.spec.tree import Tree

E = TypeVar("E", bound=Entry)

FOLDERS: Mapping[str, type[Entry]] = {
    "nodes": Node,
    "switches": Switch,
    "pdus": Pdu,
    "power-shelves": PowerShelf,
    "racks": RackType,
    "cdus": Cdu,
    "air-handlers": AirHandler,
    "cables": Cable,
    "connectors": Connector,
    "instances": Instance,
}
"""What each folder of a catalogue holds."""

_NOUNS = {Node: "node", Switch: "switch", Pdu: "PDU", PowerShelf: "power shelf", RackType: "rack",
          Cdu: "CDU", AirHandler: "air handler", Cable: "cable", Connector: "connector",
          Instance: "instance type"}  # fmt: skip


class UnknownEntryError(RackwrightError):
    """A product is not in the catalogue."""

    code = "catalogue-unknown"


@dataclass(frozen=True)
class Catalogue:
    """The products of one or more catalogue folders.

    Attributes:
        files: the file of each product, by kind and id.
        patches: fields to change after loading, by id; for examples and what-if questions.
    """

    files: Mapping[type[Entry], Mapping[str, Path]]
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _read: dict[tuple[type[Entry], str], Entry] = field(default_factory=dict, repr=False)

    def get(self, kind: type[E], entry_id: str) -> E:
        """The product of ``kind`` called ``entry_id``.

        Raises:
            UnknownEntryError: there is none.
            SpecErrors: its file is wrong.
        """
        key = (kind, entry_id)
        if key not in self._read:
            path = self.source_of(kind, entry_id)
            self._read[key] = _load_entry(path, kind, self.patches.get(entry_id, {}))
        entry = self._read[key]
        assert isinstance(entry, kind)  # noqa: S101 - the key holds the kind
        return entry

    def source_of(self, kind: type[Entry], entry_id: str) -> Path:
        """The file that ``get`` reads.

        Raises:
            UnknownEntryError: there is no such product.
        """
        path = self.files.get(kind, {}).get(entry_id)
        if path is None:
            raise self._unknown(kind, entry_id)
        return path

    def ids(self, kind: type[Entry]) -> tuple[str, ...]:
        """The ids of every product of ``kind``, sorted."""
        return tuple(sorted(self.files.get(kind, {})))

    def load_all(self) -> Iterator[Entry]:
        """Every product, read and validated."""
        for kind, found in self.files.items():
            for entry_id in sorted(found):
                yield self.get(kind, entry_id)

    def patched(self, patches: Mapping[str, Mapping[str, Any]]) -> Catalogue:
        """This catalogue with fields of some products changed; ``None`` makes one unknown.

        Raises:
            UnknownEntryError: a product to change is not in the catalogue.
        """
        known = sorted({entry_id for found in self.files.values() for entry_id in found})
        for entry_id in sorted(set(patches) - set(known)):
            raise UnknownEntryError(
                f"there is no product '{entry_id}' in the catalogue",
                hint=did_you_mean(entry_id, known),
            )
        return Catalogue(self.files, {**self.patches, **patches})

    def _unknown(self, kind: type[Entry], entry_id: str) -> UnknownEntryError:
        noun = _NOUNS[kind]
        ids = self.ids(kind)
        hint = did_you_mean(entry_id, ids) or f"the catalogue has: {', '.join(ids)}"
        return UnknownEntryError(f"there is no {noun} '{entry_id}' in the catalogue", hint=hint)


def load_catalogue(folders: Sequence[Path] = ()) -> Catalogue:
    """The built-in catalogue together with those in ``folders``.

    Raises:
        SpecError: two files describe the same product (none shadows the other silently), or a
            folder holds something that would never be read.
    """
    files: dict[type[Entry], dict[str, Path]] = {kind: {} for kind in FOLDERS.values()}
    builtin = bundled("inventory") / "catalog"
    for folder in folders:
        _check_layout(folder)
    for folder in (builtin, *folders):
        for name, kind in FOLDERS.items():
            for path in sorted((folder / name).glob("*.yaml")):
                if path.stem in files[kind]:
                    raise SpecError(
                        f"the {_NOUNS[kind]} '{path.stem}' is in the catalogue twice: "
                        f"'{files[kind][path.stem]}' and '{path}'",
                        hint="give the team's entry another id",
                    )
                files[kind][path.stem] = path
    return Catalogue(files)


def _check_layout(folder: Path) -> None:
    """Refuse a catalogue with entries where nobody looks for them."""
    if not folder.is_dir():
        raise SpecError(f"there is no catalogue folder '{folder}'")
    for inside in sorted(path for path in folder.iterdir() if path.is_dir()):
        if inside.name.startswith("."):
            continue
        if inside.name not in FOLDERS:
            raise SpecError(
                f"'{inside}' holds no kind of product",
                hint=did_you_mean(inside.name, FOLDERS)
                or f"a catalogue has the folders {', '.join(FOLDERS)}",
            )
        for path in sorted(inside.iterdir()):
            if path.suffix in {".yml", ".json"}:
                raise SpecError(f"'{path}' is not read", hint=f"call the file '{path.stem}.yaml'")


def _load_entry(path: Path, kind: type[E], patch: Mapping[str, Any]) -> E:
    entry = _load_patched(path, kind, patch) if patch else load(path, kind).value
    if entry.id != path.stem:
        raise SpecError(f"'{path}' describes '{entry.id}'", hint=f"call the file '{entry.id}.yaml'")
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
