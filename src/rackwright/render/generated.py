"""Files generated from a plan, and how they get into a folder: only where something changed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rackwright.errors import UsageError
from rackwright.plan.model import Plan
from rackwright.render import federation, names, skypilot, slurm
from rackwright.render.switches.files import INDEX, render_switches

Action = Literal["written", "unchanged", "removed"]


SWITCHES = "switches"
"""Folder of the files of switches."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """Outcome of one file.

    Attributes:
        before: its text, or None where it is not there.
        after: its text, or None where it is to go.
        foreign: it is there and was not generated.
    """

    path: Path
    before: str | None
    after: str | None
    foreign: bool

    @property
    def action(self) -> Action:
        """Action that the change needs."""
        if self.before == self.after:
            return "unchanged"
        return "removed" if self.after is None else "written"


def generate(plan: Plan) -> Mapping[str, str]:
    """Return every file that follows from the plan, by its path in the output folder.

    Raises:
        NoSchedulerError: the blueprint has neither a scheduler nor addresses nor switching.
        PlanError: something that the files need is unknown or leads nowhere.
    """
    files = generate_switches(plan)
    if files and plan.scheduler is None and not plan.names.networks:
        return files
    return {**generate_cluster(plan), **files}


def generate_cluster(plan: Plan) -> Mapping[str, str]:
    """Return the files of names, addresses and Slurm, by their paths in the output folder.

    Raises:
        NoSchedulerError: the blueprint has neither a scheduler nor addresses.
        PlanError: something that the files need is unknown or leads nowhere.
    """
    files = {f"names/{name}": text for name, text in names.render_names(plan).items()}
    if plan.is_federated:
        files |= federation.render_federation(plan)
    elif not files or plan.scheduler is not None:
        files |= {f"slurm/{name}": text for name, text in slurm.render_slurm(plan).items()}
        if plan.slurm is not None and plan.slurm.scheduler.skypilot is not None:
            files |= skypilot.render_skypilot(plan.name, (plan,), (plan.slurm.name,))
    return files


def generate_switches(plan: Plan) -> Mapping[str, str]:
    """Return the files of switches, by their paths in the output folder; none without switching.

    Raises:
        PlanError: something that the files need is missing, unknown or given twice.
    """
    return {f"{SWITCHES}/{name}": text for name, text in render_switches(plan).items()}


def compare(files: Mapping[str, str], folder: Path) -> tuple[FileOutcome, ...]:
    """Return the changes of ``folder``, in the order of the paths.

    Files that were generated once and no longer are have to go; others are not looked at.

    Raises:
        UsageError: a file cannot be read.
    """
    known = {f"slurm/{name}" for name in slurm.FILES} | {f"names/{name}" for name in names.FILES}
    known |= set(skypilot.FILES)
    known |= {str(path.relative_to(folder)) for path in federation.known_files(folder)}
    known |= {f"names/{path.name}" for path in (folder / "names").glob(f"{names.ZONE_FILE}*")}
    listed = _listed(folder)
    changes = []
    for name in sorted({*files, *known, *listed}):
        path = folder / name
        before = _read(path)
        headed = before is not None and before.startswith((slurm.HEADER, names.ZONE_HEADER))
        foreign = before is not None and not headed and name not in listed
        after = files.get(name)
        if after is not None or (before is not None and not foreign):
            changes.append(FileOutcome(path, before, after, foreign))
    return tuple(changes)


def _listed(folder: Path) -> set[str]:
    """Return the files of switches that were generated once, by the list that lies beside them."""
    index = f"{SWITCHES}/{INDEX}"
    text = _read(folder / index)
    if text is None or not text.startswith(slurm.HEADER):
        return set()
    names_of = (line.strip() for line in text.splitlines()[1:])
    # A list that somebody wrote leads out of the folder nowhere.
    inside = (name for name in names_of if name and ".." not in name.split("/") and name[0] != "/")
    return {index, *(f"{SWITCHES}/{name}" for name in inside)}


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None


def apply(changes: tuple[FileOutcome, ...]) -> None:
    """Do what ``changes`` say; a file is there as a whole or not at all.

    Raises:
        UsageError: a file would be overwritten that was not generated, or cannot be written.
    """
    for change in changes:
        if change.foreign and change.action != "unchanged":
            raise UsageError(
                f"'{change.path}' was not generated, so it is not overwritten",
                hint="move it away, or choose another folder",
            )
    for change in changes:
        try:
            _apply(change)
        except OSError as error:
            raise UsageError(f"'{change.path}' cannot be written: {error.strerror}") from None


def _apply(change: FileOutcome) -> None:
    match change.action:
        case "written":
            change.path.parent.mkdir(parents=True, exist_ok=True)
            partial = change.path.with_name(f".{change.path.name}.{os.getpid()}")
            partial.write_text(change.after or "", encoding="utf-8", newline="\n")
            partial.replace(change.path)
        case "removed":
            change.path.unlink()
        case "unchanged":
            pass


def show_diff(changes: tuple[FileOutcome, ...], folder: Path) -> Iterator[str]:
    """Yield the lines of a unified diff from what is there to what is generated."""
    for change in changes:
        name = change.path.relative_to(folder)
        yield from difflib.unified_diff(
            (change.before or "").splitlines(keepends=True),
            (change.after or "").splitlines(keepends=True),
            "/dev/null" if change.before is None else f"a/{name}",
            "/dev/null" if change.after is None else f"b/{name}",
        )
