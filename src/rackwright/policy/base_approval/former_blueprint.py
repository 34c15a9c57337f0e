"""Path of the blueprint in a base revision, even if a change has renamed it.

A blueprint that moves to another file, or takes the place of another one, stays the same cluster:
what was approved of it holds on. The revision alone says which file that was, by the cluster's name;
a change that gives it another name as well is held by what it takes away, if that is one blueprint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError, SpecErrors, UsageError
from rackwright.harmless import visible
from rackwright.policy.base_approval.things import alike
from rackwright.reading.loader import LAYERS, load_tree, tree_of
from rackwright.reading.tree import to_data
from rackwright.reading.versions import git
from rackwright.reading.versions.base import layers_at, repository_of
from rackwright.reading.yaml_reader import read_bytes, read_file

_MARK = "rackwright/v1"
_MAY_SAY_IT = re.compile(rb"rackwright|\\(?:x[0-7]|u00[0-7]|U000000[0-7]|\r?\n)")
"""The mark, or an escape in quoted text that may be part of it."""


def former_path(blueprint: Path, ref: str) -> Path:
    """Return the path at which ``ref`` has the cluster of ``blueprint``.

    The blueprint's own where the revision has one there, or has no other one: a new cluster's, or
    the usual one.

    Raises:
        UsageError: the revision has another cluster there and this one elsewhere, or has several
            that this one may be.
        RackwrightError: the revision cannot be read.
    """
    head = _on_disk(blueprint)
    if head is None:
        return blueprint
    top = repository_of(blueprint)
    commit = git.resolve(top, ref)
    inside = git.path_inside(top, blueprint)
    if inside is None:
        return blueprint
    before = _at(top, commit, inside)
    if before == head:
        return blueprint
    same_name = before is not None and before.get("name") == head.get("name")
    if before is not None and same_name and 2 * alike(before, head) >= alike(head, head):
        return blueprint
    found = dict(_blueprints(top, commit))
    found.pop(inside, None)
    absent = git.left_out(top)
    gone = [path for path in found if _is_gone(top, path, found[path], absent)]
    named = [path for path in found if found[path].get("name") == head.get("name")]
    moved = [path for path in named if path in gone]
    if before is None and not moved and gone:
        moves = [*_elsewhere(top, inside, found)]
        gone = [path for path in gone if not _has_moved(found[path], moves, head)]
    others = moved or ([*gone] if same_name else [*named, *gone])
    if not others:
        return blueprint
    # A new cluster beside several of its name, all of which stay, may grant itself what the most similar one may.
    if before is None and not gone and len(named) > 1:
        return top / max(named, key=lambda path: (alike(found[path], head), path))
    if before is None and len(others) == 1:
        return top / others[0]
    best, *rest = sorted(others, key=lambda path: (alike(found[path], head), path), reverse=True)
    if before is None:  # the change chooses what is alike
        raise UsageError(
            f"'{ref}' does not have '{visible(inside)}', which may be {_called(found[best])} of "
            f"'{visible(best)}' or {_called(found[rest[0]])} of '{visible(rest[0])}': it is not clear "
            "which of both has approved it",
            hint="move or remove one cluster at a time, and merge each change before the next one",
        )
    # What stood here says what this file may grant itself, so that no other one takes its place.
    if not (moved and not same_name) and alike(found[best], head) <= alike(before, head):
        return blueprint
    raise UsageError(
        f"'{ref}' has the cluster {_called(before)} in '{visible(inside)}', where this change has "
        f"{_called(head)}, which may be {_called(found[best])} of '{visible(best)}': it is not clear "
        "which of both has approved it",
        hint="move one cluster at a time: merge the removal of the other one first",
    )


def _called(document: Mapping[str, Any]) -> str:
    return f"'{visible(str(document.get('name')))}'"


def _is_gone(top: Path, path: str, before: Mapping[str, Any], absent: AbstractSet[str]) -> bool:
    """Return True if a file no longer has its cluster.

    A file that is not checked out has that of ``HEAD``. One whose layers do not load may still have it.
    """
    if path in absent:
        now = _at(top, git.resolve(top, "HEAD"), path)
        return now is None or now.get("name") != before.get("name")
    file = top / path
    if not file.is_file():
        return True
    now = _on_disk(file)
    if now is None:
        try:  # a layer may be missing that is generated before it is checked
            alone = to_data(read_file(file))
        except RackwrightError:
            return True
        if not isinstance(alone, Mapping):
            return True
        return "name" in alone and alone["name"] != before.get("name")
    return now.get("name") != before.get("name")


def _elsewhere(
    top: Path, inside: str, found: Mapping[str, Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the clusters that ``HEAD`` has in files where the base revision has none of their name.

    Args:
        top: the repository.
        inside: the blueprint in question, which does not count.
        found: blueprints of the base revision by path.
    """
    for path, now in _blueprints(top, git.resolve(top, "HEAD")):
        if path != inside and found.get(path, {}).get("name") != now.get("name"):
            yield now


def _has_moved(
    before: Mapping[str, Any], moves: Sequence[Mapping[str, Any]], head: Mapping[str, Any]
) -> bool:
    """Return True if a cluster is elsewhere by its name, and no less like itself than ``head`` is."""
    return any(
        now.get("name") == before.get("name") and alike(before, now) >= alike(before, head)
        for now in moves
    )


def _on_disk(path: Path) -> Mapping[str, Any] | None:
    """Return the document in a file, with its layers; None where there is none."""
    try:
        data = load_tree(path).data
    except RackwrightError:
        return None
    return data if isinstance(data, Mapping) else None


def _at(top: Path, commit: str, inside: str) -> Mapping[str, Any] | None:
    """Return a blueprint of a revision; None where the file is none."""
    try:
        return _document(git.read_at(top, commit, inside), top, commit, inside)
    except (git.FileMissingError, git.UnreadableFileError):
        return None


def _document(content: bytes, top: Path, commit: str, inside: str) -> Mapping[str, Any] | None:
    """Return the blueprint in a file, with its layers; None where it is none."""
    try:
        item = read_bytes(content, inside)
        data = to_data(item)
        if not (isinstance(data, Mapping) and data.get("apiVersion") == _MARK):
            return None
    except SpecErrors:
        return None
    file = top / inside
    try:  # a cluster may have its name and its sites in a layer
        whole = tree_of([item, *layers_at(item, file, commit, file).values()]).data
    except (SpecErrors, UsageError, git.UnreadableFileError):
        return data
    return whole if isinstance(whole, Mapping) else data


def _blueprints(top: Path, commit: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every blueprint of a revision, by path."""
    for path, content in git.files_with(top, commit, _MAY_SAY_IT):
        document = _document(content, top, commit, path)
        if document is not None and not {"sites", LAYERS}.isdisjoint(document):
            yield path, document
