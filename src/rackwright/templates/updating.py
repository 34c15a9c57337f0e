"""Three-way updates: merge of the template's changes into the files of the team."""

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
"""Start of a conflict that a person must resolve."""
_MOST_CONFLICTS = 127


class Step(StrEnum):
    """Action of an update on a file."""

    NEW = "new"
    """The template added the file."""
    UPDATED = "updated"
    """The file has the changes of the template and those of the team."""
    CONFLICT = "conflict"
    """Both changed the same lines: the file has both, with conflict markers."""
    REMOVED = "removed"
    """The template dropped the file, and the team had not changed it."""
    KEPT = "kept"
    """The template dropped the file, but the team had changed it."""
    LEFT_OUT = "left-out"
    """The team removed the file."""


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """Change of one file of the cluster by an update.

    Attributes:
        name: path relative to the cluster.
        step: action on the file.
        before: current text; None if the file does not exist.
        after: new text; None if the file is removed or unchanged.
        conflicts: line numbers of conflict markers, from one.
    """

    name: str
    step: Step
    before: str | None = None
    after: str | None = None
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """Planned changes of an update to a cluster."""

    changes: tuple[FileUpdate, ...]
    kept: Kept

    @property
    def conflicts(self) -> int:
        """Number of conflicts that the user must resolve."""
        return sum(len(change.conflicts) for change in self.changes)


def plan_update(
    folder: Path, kept: Kept, template: Template, answers: Mapping[str, Answer]
) -> Update:
    """Plan the update of the cluster in ``folder`` to ``template``.

    Args:
        folder: folder of the cluster.
        kept: record of the cluster.
        template: new version of the template, with the source from the record.
        answers: changed answers; other questions that still exist keep the recorded ones.

    Raises:
        RackwrightError: an answer is invalid, the template cannot be rendered, or a file of the cluster cannot be
            read, is a link or still has conflicts.
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
    """Raise if an update would overwrite uncommitted changes; folders outside of a repository are not checked.

    Raises:
        UsageError: a file that would change differs from the last commit.
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
        # Compare with the last commit: a change that is only staged would be lost as well.
        if committed != change.before.encode():
            raise UsageError(
                f"'{path}' has changes that are not committed",
                hint="commit them first, so that the update is a change of its own",
            )


def write_update(folder: Path, update: Update) -> None:
    """Write the changes of an update, the record last.

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
    """Return the files with a catalogue digest, and the digest.

    If the template changed no product, the recorded digest stays: the team must approve later changes of the catalogue
    itself.
    """
    recorded = kept.record.offered.get("catalogue_digest", UNPINNED)
    if not any(UNPINNED in text for text in files.values()):
        return files, recorded
    digest = digest_of_products(files, folder)
    if recorded != UNPINNED:
        # An original blueprint that can no longer be planned has no digest: the new one applies.
        with contextlib.suppress(SpecErrors, UsageError):
            if digest_of_products(kept.base, folder) == digest:
                digest = recorded
    return {name: text.replace(UNPINNED, digest) for name, text in files.items()}, digest


def _change(
    folder: Path, name: str, base: str | None, new: str | None, labels: Sequence[str]
) -> FileUpdate | None:
    """Return the action on one file; None if there is nothing to do.

    Raises:
        UsageError: the file still has conflicts of a previous update.
    """
    check_name(name)
    if base == new:
        return None
    mine = _read(folder, name)
    # The team has already made the same change.
    if mine == new:
        return None
    if mine is not None and any(line.startswith(_OPEN) for line in mine.splitlines()):
        raise UsageError(
            f"'{folder / name}' still has conflicts",
            hint=f"resolve the lines between '{_OPEN}' and '>>>>>>> ', and commit the file",
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
        # Clusters from before modelines get one, regardless of changes to the first lines.
        mine, base = add_modeline(mine), add_modeline(base)
    merged = merge_texts(mine, base, new, labels)
    conflicts = tuple(
        number
        for number, line in enumerate(merged.splitlines(), 1)
        if line == f"{_OPEN}{labels[0]}"
    )
    return FileUpdate(name, Step.CONFLICT if conflicts else Step.UPDATED, before, merged, conflicts)


def _only(base: str | None, new: str) -> str | None:
    """Return the new text of a file that the team did not remove."""
    return new if base is None else None


def merge_texts(mine: str, base: str, new: str, labels: Sequence[str]) -> str:
    """Merge two changes of ``base``; if both change the same lines, mark the three versions as a conflict.

    Args:
        mine: text of the team.
        base: original text.
        new: text of the template.
        labels: labels of the three in conflict markers, in this order.

    Raises:
        ExternalToolError: git is missing or failed.
    """
    with tempfile.TemporaryDirectory(prefix="rackwright-merge-") as made:
        top = Path(made)
        for name, text in (("mine", mine), ("base", base), ("new", new)):
            # newline="": line ends stay as they are, otherwise every line would differ.
            (top / name).write_text(text, encoding="utf-8", newline="")
        named = [word for label in labels for word in ("-L", label)]
        done = run_apart(top, "merge-file", "-p", "--diff3", *named, "mine", "base", "new")
    # merge-file returns the number of conflicts; higher codes are errors.
    if done.returncode > _MOST_CONFLICTS:
        raise ExternalToolError("git merge-file failed", hint=said(done.stderr))
    return done.stdout.decode("utf-8")


def _read(folder: Path, name: str) -> str | None:
    """Return the text of a file of the cluster; None if it does not exist.

    Raises:
        UsageError: the path is or passes through a link, or the file is not text.
    """
    path = folder / name
    for part in _inside(folder, path):
        if part.is_symlink():
            raise UsageError(f"'{visible(str(part))}' is a link", hint="replace it with the file")
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
