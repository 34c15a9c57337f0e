"""Loading the table of faults: every YAML file of ``inventory/faults``, and those of a team."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from rackwright.catalog.files import own_files
from rackwright.errors import SpecError, SpecErrors, UsageError
from rackwright.model.faults import (
    Fault,
    FaultAction,
    FaultFile,
    FaultSeverity,
    FaultSource,
    LinkRow,
    Signal,
)
from rackwright.reading.loader import load
from rackwright.reading.suggest import did_you_mean
from rackwright.resources import bundled

LINK_XIDS = range(144, 151)
"""Xid errors of NVLink from Blackwell on, whose class is in the bits of the message."""

_IMMEDIATE: Mapping[str, tuple[FaultSeverity, FaultAction]] = {
    "IGNORE": (FaultSeverity.INFO, FaultAction.NONE),
    "OPEN": (FaultSeverity.WATCH, FaultAction.WATCH),
    "RESTART_APP": (FaultSeverity.INFO, FaultAction.USER),
    "RESET_GPU": (FaultSeverity.DRAIN, FaultAction.RESET_GPU),
    "RESTART_BM": (FaultSeverity.FATAL, FaultAction.COLD_CYCLE),
    "RESTART_VM": (FaultSeverity.DRAIN, FaultAction.REBOOT),
    "CONTACT_SUPPORT": (FaultSeverity.WATCH, FaultAction.TICKET),
    "CHECK_MECHANICALS": (FaultSeverity.DRAIN, FaultAction.RESEAT),
    "UPDATE_SWFW": (FaultSeverity.WATCH, FaultAction.UPDATE),
    "CHECK_UVM": (FaultSeverity.WATCH, FaultAction.TICKET),
}
"""Severity and first action for each immediate action of NVIDIA's catalogue."""
_LATER: Mapping[str, tuple[FaultAction, ...]] = {
    "CONTACT_SUPPORT": (FaultAction.TICKET,),
    "CHECK_APP/CUDA": (FaultAction.USER,),
    "INVESTIGATE_SW": (FaultAction.UPDATE,),
    "INVESTIGATE_LINK_SI": (FaultAction.CLEAN,),
}


@dataclass(frozen=True)
class FaultTable:
    """Faults of one or more folders.

    Attributes:
        faults: by id.
        sources: documents, by file and key.
        places: file of each fault.
        links: classes of NVLink errors from Blackwell on.
    """

    faults: Mapping[str, Fault]
    sources: Mapping[tuple[Path, str], FaultSource]
    places: Mapping[str, Path]
    links: tuple[LinkRow, ...]

    def get(self, fault_id: str) -> Fault:
        """Return a fault by its id, or by ``xid-79``.

        Raises:
            UsageError: there is none.
        """
        if (match := re.fullmatch(r"xid-0*(\d+)", fault_id)) is not None:
            if found := self.by_xid.get(int(match[1])):
                return found[0]
        elif fault_id in self.faults:
            return self.faults[fault_id]
        hint = did_you_mean(fault_id, self.faults) or "'rackwright faults list' lists them"
        raise UsageError(f"there is no fault '{fault_id}'", hint=hint)

    @cached_property
    def by_xid(self) -> Mapping[int, tuple[Fault, ...]]:
        """Faults that have each Xid as a signal."""
        found: dict[int, dict[str, Fault]] = {}
        for fault in self.faults.values():
            for signal in fault.signals:
                if signal.xid is not None:
                    found.setdefault(signal.xid, {})[fault.id] = fault
        return {xid: tuple(faults.values()) for xid, faults in found.items()}

    def sources_of(self, fault: Fault) -> tuple[FaultSource, ...]:
        """Return the documents that a fault cites."""
        return tuple(self.sources[self.places[fault.id], key] for key in fault.source)

    def class_of(self, xid: int, first: int, second: int) -> LinkRow | None:
        """Return the class of an NVLink error by the two numbers of its message; None if there is none."""
        rows = [row for row in self.links if row.xid == xid and int(row.status, 16) == second]
        bits = f"{first:032b}"
        for form in ("v1", "v2"):
            for row in rows:
                pattern: str = getattr(row, form)
                if all(want in {"-", bit} for want, bit in zip(pattern, bits, strict=True)):
                    return row
        return None


@lru_cache(maxsize=1)
def builtin_faults() -> FaultTable:
    """Return the faults that come with Rackwright."""
    return load_faults()


def faults_for(blueprint: Path) -> FaultTable:
    """Return the built-in faults and those that the team of ``blueprint`` lists.

    Raises:
        SpecErrors: the configuration or a file of faults is not valid.
        UsageError: the configuration is a link.
    """
    from rackwright.team.config import config_of, listed_folders

    config = config_of(blueprint)
    return builtin_faults() if config is None else load_faults(listed_folders(config, "faults"))


def load_faults(folders: Sequence[Path] = ()) -> FaultTable:
    """Return the built-in faults together with those in ``folders``.

    Raises:
        SpecErrors: a file is wrong, two faults have one id, or a folder holds something that would
            never be read.
    """
    errors: list[SpecError] = []
    files: list[tuple[Path, FaultFile]] = []
    paths = sorted((bundled("inventory") / "faults").glob("*.yaml"))
    for folder in folders:
        if folder.is_dir():
            paths += own_files(folder, errors)
        else:
            errors.append(SpecError(f"there is no folder of faults '{folder}'"))
    for path in paths:
        try:
            files.append((path, load(path, FaultFile).value))
        except SpecErrors as error:
            errors += error.errors
    faults: dict[str, Fault] = {}
    places: dict[str, Path] = {}
    claimed = {signal.xid for _, file in files for fault in file.faults for signal in fault.signals}
    for path, file in files:
        for fault in (*file.faults, *_unclaimed(file, claimed)):
            if fault.id in faults:
                errors.append(
                    SpecError(
                        f"the fault '{fault.id}' of '{path}' is in '{places[fault.id]}' too",
                        hint="give it another id",
                    )
                )
                continue
            faults[fault.id], places[fault.id] = _with_documented(fault, files), path
    if errors:
        raise SpecErrors(errors)
    sources = {(path, key): source for path, file in files for key, source in file.sources.items()}
    return FaultTable(
        faults, sources, places, tuple(row for _, file in files for row in file.links)
    )


def _unclaimed(file: FaultFile, claimed: Iterable[int | None]) -> Iterable[Fault]:
    """Return a fault for each Xid of a file that no fault names."""
    for xid, text, immediate, later in file.xids:
        if xid in claimed or file.xid_source is None or xid in LINK_XIDS:
            continue
        severity, action = _IMMEDIATE.get(immediate, (FaultSeverity.WATCH, FaultAction.TICKET))
        again = _LATER.get(later, ())
        if severity.leaves_service:
            again = (
                (FaultAction.REBOOT, FaultAction.TICKET)
                if action is FaultAction.RESET_GPU
                else (FaultAction.TICKET,)
            )
        yield Fault(
            id=f"xid-{xid:03d}",
            name=f"Xid {xid}: {text}",
            subject="gpu",
            severity=severity,
            signals=(Signal(xid=xid),),
            action=action,
            again=again,
            evidence=("nvidia-bug-report",) if severity.leaves_service else (),
            source=(file.xid_source,),
        )


def _with_documented(fault: Fault, files: Sequence[tuple[Path, FaultFile]]) -> Fault:
    """Return the fault with the documented actions of its first Xid."""
    if fault.documented is not None:
        return fault
    for signal in fault.signals:
        for _, file in files:
            for xid, _, immediate, later in file.xids:
                if xid == signal.xid:
                    text = " / ".join(word for word in (immediate, later) if word != "OPEN")
                    return fault.model_copy(update={"documented": text or None})
    return fault
