"""Three-way updates: what the template changed since a cluster was made, put into the team's files."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rackwright.errors import ExternalToolError, RackwrightError, SpecErrors, UsageError
from rackwright.files import write_changed
from rackwright.harmless import visible
from rackwright.reading.versions.git import read_at
from rackwright.reading.versions.git_command import find_top, run_apart, said
from rackwright.templates.contents import check_name
from rackwright.templates.making import (
    BLUEPRINT,
    MODELINE,
    UNPINNED,
    add_modeline,
    digest_of_products,
    with_modeline,
)
from rackwright.templates.questions import Answer, check_answers
from rackwright.templates.record import Kept, Record, write_kept
from rackwright.templates.rendering import render_template
from rackwright.templates.source import Template

_OPEN = "<<<<<<< "
"""Begins what a person has to decide."""
_MOST_CONFLICTS = 127


class Step(StrEnum):
    """Action of an update on a file."""

    NEW = "new"
    """The template has it now."""
    UPDATED = "updated"
    """It has what the template changed, and what the team changed."""
    CONFLICT = "conflict"
    """Both changed the same lines: both are in it, marked."""
    REMOVED = "removed"
    """The template has it no more, and the team had not changed it."""
    KEPT = "kept"
    """The template has it no more, and the team had changed it."""
    LEFT_OUT = "left-out"
    """The team removed it."""


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """A file of the cluster that an update is about.

    Attributes:
        name: from the folder of the cluster.
        step: what is done with it.
        before: what it holds; None where there is none.
        after: what it is to hold; None where it goes or stays as it is.
        conflicts: lines, from one, at which marked conflicts begin.
    """

    name: str
    step: Step
    before: str | None = None
    after: str | None = None
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """All that an update does to a cluster, before it is done."""

    changes: tuple[FileUpdate, ...]
    kept: Kept

    @property
    def conflicts(self) -> int:
        """Number of conflicts that the user has to resolve."""
        return sum(len(change.conflicts) for change in self.changes)


def plan_update(
    folder: Path, kept: Kept, template: Template, answers: Mapping[str, Answer]
) -> Update:
    """Plan the update of the cluster in ``folder`` to ``template``.

    Args:
        folder: of the cluster.
        kept: what it keeps.
        template: the version to update to, whose source is as the cluster keeps it.
        answers: those that change; the others are the recorded ones, to questions that are left.

    Raises:
        RackwrightError: an answer is refused, the template cannot be rendered, or a file of the
            cluster cannot be read, is a link or still holds conflicts.
    """
    manifest = template.manifest
    former = {k: v for k, v in kept.record.answers.items() if k in manifest.questions}
    given = check_answers(manifest, {**former, **answers}, template.name)
    offered = {**kept.record.offered, "catalogue_digest": UNPINNED}
    rendered = render_template(template.files, manifest, given, offered)
    files, digest = _pinned(with_modeline(rendered.files), folder, kept)
    record = Record(
        template=str(template.source),
        version=template.version,
        commit=template.commit,
        digest=template.digest,
        offered={**offered, "catalogue_digest": digest},
        answers=rendered.answers,
    )
    labels = ("yours", f"template {kept.record.label}", f"template {record.label}")
    names = sorted({*kept.base, *files})
    changes = [
        change
        for name in names
        if (change := _change(folder, name, kept.base.get(name), files.get(name), labels))
    ]
    return Update(tuple(changes), Kept(record, files))


def refuse_uncommitted(folder: Path, update: Update) -> None:
    """Refuse to write over what git does not have; a folder outside of a repository is taken as it is.

    Raises:
        UsageError: a file that would change is not as the last commit has it.
    """
    try:
        top = find_top(folder)
    except UsageError:
        return
    for change in update.changes:
        if change.before is None or change.step in {Step.KEPT, Step.LEFT_OUT}:
            continue
        path = (folder / change.name).resolve()
        try:
            committed = read_at(top, "HEAD", path.relative_to(top).as_posix())
        except RackwrightError:
            committed = None
        if committed != change.before.encode():
            raise UsageError(
                f"'{path}' has changes that are not committed",
                hint="commit them first, so that the update can be looked at by itself",
            )


def write_update(folder: Path, update: Update) -> None:
    """Do what an update does; the record is written last.

    Raises:
        OSError: a file cannot be written.
    """
    for change in update.changes:
        path = folder / change.name
        if change.step is Step.REMOVED:
            path.unlink(missing_ok=True)
        elif change.after is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_changed(path, change.after)
    write_kept(folder, update.kept)


def _pinned(files: dict[str, str], folder: Path, kept: Kept) -> tuple[dict[str, str], str]:
    """Return the files with a digest of the catalogue, and that digest.

    Where the template changed no product it is the recorded one: what the catalogue changed since is
    the team's to approve.
    """
    recorded = kept.record.offered.get("catalogue_digest", UNPINNED)
    if not any(UNPINNED in text for text in files.values()):
        return files, recorded
    digest = digest_of_products(files, folder)
    if recorded != UNPINNED:
        # A blueprint of before may be one that cannot be planned any more.
        with contextlib.suppress(SpecErrors, UsageError):
            if digest_of_products(kept.base, folder) == digest:
                digest = recorded
    return {name: text.replace(UNPINNED, digest) for name, text in files.items()}, digest


def _change(
    folder: Path, name: str, base: str | None, new: str | None, labels: Sequence[str]
) -> FileUpdate | None:
    """Return the action on one file; None if there is nothing to do.

    Raises:
        UsageError: the file still holds the conflicts of an update before.
    """
    check_name(name)
    if base == new:
        return None
    mine = _read(folder, name)
    if mine == new:
        return None
    if mine is not None and any(line.startswith(_OPEN) for line in mine.splitlines()):
        raise UsageError(
            f"'{folder / name}' still holds conflicts",
            hint=f"decide what is between '{_OPEN}' and '>>>>>>> ', and commit it",
        )
    if new is None:
        if mine is None:
            return None
        return FileUpdate(name, Step.REMOVED if mine == base else Step.KEPT, mine)
    if mine is None:
        return FileUpdate(name, Step.NEW if base is None else Step.LEFT_OUT, None, _only(base, new))
    if mine == base:
        return FileUpdate(name, Step.UPDATED, mine, new)
    before, base = mine, base or ""
    if name == BLUEPRINT and new.startswith(MODELINE) and base != add_modeline(base):
        # A cluster of before modelines gets its own whatever the team made of the first lines.
        mine, base = add_modeline(mine), add_modeline(base)
    merged = merge_texts(mine, base, new, labels)
    conflicts = tuple(
        number
        for number, line in enumerate(merged.splitlines(), 1)
        if line == f"{_OPEN}{labels[0]}"
    )
    return FileUpdate(name, Step.CONFLICT if conflicts else Step.UPDATED, before, merged, conflicts)


def _only(base: str | None, new: str) -> str | None:
    """Return the text of a file that the team did not remove."""
    return new if base is None else None


def merge_texts(mine: str, base: str, new: str, labels: Sequence[str]) -> str:
    """Return both changes of ``base`` in one text; where both change the same lines, all three are marked.

    Args:
        mine: what the team has.
        base: what both began with.
        new: what the template has.
        labels: what the three are called in marks, in this order.

    Raises:
        ExternalToolError: git is missing or failed.
    """
    with tempfile.TemporaryDirectory(prefix="rackwright-merge-") as made:
        top = Path(made)
        for name, text in (("mine", mine), ("base", base), ("new", new)):
            (top / name).write_text(text, encoding="utf-8", newline="")
        named = [word for label in labels for word in ("-L", label)]
        done = run_apart(top, "merge-file", "-p", "--diff3", *named, "mine", "base", "new")
    if done.returncode > _MOST_CONFLICTS:
        raise ExternalToolError("git merge-file failed", hint=said(done.stderr))
    return done.stdout.decode("utf-8")


def _read(folder: Path, name: str) -> str | None:
    """Return a file of the cluster; None where there is none.

    Raises:
        UsageError: it is a link, passes one, or is no text.
    """
    path = folder / name
    for part in _inside(folder, path):
        if part.is_symlink():
            raise UsageError(f"'{visible(str(part))}' is a link", hint="put the file itself there")
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"'{path}' is not UTF-8") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{path}' cannot be read: {reason}") from None


def _inside(folder: Path, path: Path) -> Iterator[Path]:
    """Yield ``path`` and the folders above it below ``folder``."""
    while path != folder:
        yield path
        path = path.parent
