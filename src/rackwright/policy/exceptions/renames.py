"""Rules that have another id now: what a team wrote under the old one still holds.

Files are read with the new id in the place of the old one, and the report says where to change it.
Nothing here knows a rule; ``packs.loader.former_ids`` makes the table of old and new ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.base import Model
from rackwright.plan.model import Subject
from rackwright.policy.base_approval.approval import Asked
from rackwright.policy.engine import fingerprint
from rackwright.policy.exception_report import Notice, NoticeKind
from rackwright.policy.exceptions.apply_waivers import Waivers
from rackwright.policy.exceptions.baseline import Baseline, BaselineEntry, BaselineFile
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.policy.packs.loader import NewIds
from rackwright.reading.loader import Loaded
from rackwright.reading.tree import Item, Tree
from rackwright.reading.tree import KeyValue as Key

F = TypeVar("F", bound=Model)


def renamed_settings(asked: Asked, table: NewIds) -> tuple[Asked, tuple[Notice, ...]]:
    """What a blueprint asks for, by the new ids.

    Raises:
        SpecErrors: it has settings for the old and for the new id of a rule, or for two old ones.
    """
    old = [name for name in asked.settings if name in table]
    if not old:
        return asked, ()
    taken = {name: name for name in asked.settings if name not in table}
    errors, notices = [], []
    for name in old:
        place = asked.tree.locate(("policies", name), key=True) if asked.tree else None
        new = table[name]
        if new in taken:
            errors.append(
                SpecError(
                    f"policies: '{name}' is '{new}' now, and '{taken[new]}' is given as well",
                    hint=f"keep one of them, as '{new}'",
                    location=place,
                )
            )
        taken[new] = name
        notices.append(_notice(name, new, "in 'policies'", place))
    if errors:
        raise SpecErrors(errors)
    settings = {table.get(name, name): setting for name, setting in asked.settings.items()}
    tree = _renamed_tree(asked.tree, table) if asked.tree else None
    return replace(asked, settings=settings, tree=tree), tuple(notices)


def _renamed_tree(tree: Tree, table: NewIds) -> Tree:
    """``tree`` with other keys below ``policies``; every position stays."""
    root, data = tree.root, tree.data
    if isinstance(data, dict) and isinstance(data.get("policies"), dict):
        data = data | {"policies": {table.get(k, k): v for k, v in data["policies"].items()}}
    held: Key | None = root.value.get("policies") if isinstance(root.value, dict) else None
    if held is not None and isinstance(held.item.value, dict):
        item = held.item
        keys = {table.get(name, name): entry for name, entry in item.value.items()}
        made = Key(Item(keys, item.file, item.line, item.column), held.line, held.column)
        root = Item(root.value | {"policies": made}, root.file, root.line, root.column)
    return Tree(root, data, tree.files)


def renamed_waivers(waivers: Waivers, table: NewIds) -> tuple[Waivers, tuple[Notice, ...]]:
    """The waivers by the new ids."""
    head, base = _of_waivers(waivers.head, table), _of_waivers(waivers.base, table)
    made = Waivers(head, base, waivers.base_ref)
    shown = waivers.shown
    notices = []
    for number, waiver in enumerate(shown.value.waivers if shown else ()):
        if shown and waiver.policy in table:
            place = shown.tree.locate(("waivers", number, "policy"))
            text = f"in the waiver '{waiver.id}'"
            notices.append(_notice(waiver.policy, table[waiver.policy], text, place))
    return made, tuple(notices)


def _of_waivers(loaded: Loaded[WaiverFile] | None, table: NewIds) -> Loaded[WaiverFile] | None:
    if loaded is None or not any(waiver.policy in table for waiver in loaded.value.waivers):
        return loaded
    waivers = tuple(
        waiver.model_copy(update={"policy": table.get(waiver.policy, waiver.policy)})
        for waiver in loaded.value.waivers
    )
    return _with(loaded, waivers=waivers)


def renamed_baseline(baseline: Baseline, table: NewIds) -> tuple[Baseline, tuple[Notice, ...]]:
    """The baseline by the new ids; there is one notice for each old id, at its first entry."""
    head, base = _of_baseline(baseline.head, table), _of_baseline(baseline.base, table)
    made = Baseline(head, base, baseline.base_ref)
    shown = baseline.shown
    found: dict[str, list[int]] = {}
    for number, entry in enumerate(shown.value.entries if shown else ()):
        if entry.policy in table:
            found.setdefault(entry.policy, []).append(number)
    notices = []
    for old, numbers in found.items():
        place = shown.tree.locate(("entries", numbers[0], "policy")) if shown else None
        noun = "entry" if len(numbers) == 1 else "entries"
        text = f"in {len(numbers):,} {noun} of the baseline"
        hint = "; 'rackwright baseline update' writes the new id"
        notices.append(_notice(old, table[old], text, place, hint))
    return made, tuple(notices)


def _of_baseline(loaded: Loaded[BaselineFile] | None, table: NewIds) -> Loaded[BaselineFile] | None:
    if loaded is None or not any(entry.policy in table for entry in loaded.value.entries):
        return loaded
    return _with(loaded, entries=renamed_entries(loaded.value.entries, table))


def renamed_entries(entries: tuple[BaselineEntry, ...], table: NewIds) -> tuple[BaselineEntry, ...]:
    """``entries`` by the new ids; one that is recorded under the new id as well is left out."""
    known = {entry.fingerprint for entry in entries if entry.policy not in table}
    renamed = (_renamed_entry(entry, table) for entry in entries)
    return tuple(
        new
        for old, new in zip(entries, renamed, strict=True)
        if new is old or new.fingerprint not in known
    )


def _renamed_entry(entry: BaselineEntry, table: NewIds) -> BaselineEntry:
    if entry.policy not in table:
        return entry
    policy = table[entry.policy]
    name = fingerprint(policy, Subject(entry.at, ()), entry.what)
    return entry.model_copy(update={"policy": policy, "fingerprint": name})


def _with(loaded: Loaded[F], **changes: Any) -> Loaded[F]:
    return Loaded(loaded.value.model_copy(update=changes), loaded.tree)


def _notice(
    old: str, new: str, where: str, place: Location | None, hint: str = "; write the new id"
) -> Notice:
    return Notice(NoticeKind.RENAMED, old, new, f"{renaming(old, new)}, {where}{hint}", place)


def renaming(old: str, new: str) -> str:
    """That a rule has another id now, in words."""
    return f"the policy '{old}' is '{new}' now"


def current(ids: Sequence[str], table: NewIds) -> tuple[str, ...]:
    """``ids`` with the new ones for the old ones."""
    return tuple(table.get(name, name) for name in ids)
