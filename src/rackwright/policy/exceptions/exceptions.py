"""Exceptions from policies: the waivers and the baseline, read from where they count.

They are files beside the blueprint. With a base revision, as in a pull request, that revision's
files decide, so that no change approves itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import TypeVar

from rackwright.errors import UsageError
from rackwright.model.base import Model
from rackwright.policy.api import Severity
from rackwright.policy.engine import Report
from rackwright.policy.exception_report import ExceptionReport
from rackwright.policy.exceptions.apply_waivers import Waivers, apply_waivers
from rackwright.policy.exceptions.baseline import Baseline, BaselineFile, apply_baseline
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.reading.links import refuse_links
from rackwright.reading.loader import Loaded, load, tree_of, validate
from rackwright.reading.versions.base import read_base

F = TypeVar("F", bound=Model)

FOLDER = "policies"
"""Folder beside the blueprint that holds both files."""


@dataclass(frozen=True)
class ExceptionChoice:
    """Choice of the exceptions to read.

    Attributes:
        waivers: the file of waivers; None means ``policies/waivers.yaml`` beside the blueprint.
        baseline: the baseline; None means ``policies/baseline.json`` beside the blueprint.
        use_waivers: false judges without any, as audits do; the same for ``use_baseline``.
        base_ref: the revision whose files decide; None lets the files as they are decide.
        today: the day that decides what has expired; None means today, in UTC.
        strict: problems of hygiene fail a report that is clean otherwise.
    """

    waivers: Path | None = None
    baseline: Path | None = None
    use_waivers: bool = True
    use_baseline: bool = True
    base_ref: str | None = None
    today: date | None = None
    strict: bool = False


@dataclass(frozen=True)
class PolicyExceptions:
    """Waivers and baseline of a blueprint."""

    waivers: Waivers | None
    baseline: Baseline | None
    today: date
    strict: bool = False


def waivers_beside(blueprint: Path) -> Path:
    """Return the default path of the waivers of ``blueprint``."""
    return blueprint.parent / FOLDER / WaiverFile.NAME


def baseline_beside(blueprint: Path) -> Path:
    """Return the default path of the baseline of ``blueprint``."""
    return blueprint.parent / FOLDER / BaselineFile.NAME


def read_exceptions(
    blueprint: str | PathLike[str],
    choice: ExceptionChoice | None = None,
    *,
    former: Path | None = None,
) -> PolicyExceptions:
    """Read the waivers and the baseline of ``blueprint``.

    Args:
        blueprint: the file.
        choice: which files, and of which revision; None means those beside it.
        former: where the base revision has the blueprint, if the change has moved it: what that
            revision has beside its new place was approved for another one.

    Returns:
        The exceptions, as ``check`` takes them.

    Raises:
        SpecErrors: a file is not valid; a waiver that cannot be read never holds.
        UsageError: a file that was named does not exist anywhere.
        RackwrightError: the base revision cannot be read.
    """
    blueprint = Path(blueprint)
    choice = choice or ExceptionChoice()
    today = choice.today or datetime.now(UTC).date()
    waivers = baseline = None
    if choice.use_waivers:
        path = choice.waivers or waivers_beside(blueprint)
        then = choice.waivers or waivers_beside(former or blueprint)
        named = choice.waivers is not None
        waivers = Waivers(
            *_versions(path, then, WaiverFile, choice.base_ref, blueprint, named=named)
        )
    if choice.use_baseline:
        path = choice.baseline or baseline_beside(blueprint)
        then = choice.baseline or baseline_beside(former or blueprint)
        named = choice.baseline is not None
        baseline = Baseline(
            *_versions(path, then, BaselineFile, choice.base_ref, blueprint, named=named)
        )
    return PolicyExceptions(waivers, baseline, today, choice.strict)


def read_files(waivers: Path | None, baseline: Path | None) -> PolicyExceptions | None:
    """Return the waivers and the baseline in these files and no others; None when both are None.

    Raises:
        SpecErrors: a file is not valid.
        UsageError: a file does not exist.
    """
    if waivers is None and baseline is None:
        return None
    choice = ExceptionChoice(
        waivers,
        baseline,
        use_waivers=waivers is not None,
        use_baseline=baseline is not None,
    )
    return read_exceptions(Path(), choice)


def apply_exceptions(
    report: Report,
    exceptions: PolicyExceptions,
    severities: Mapping[str, Severity],
    only: Collection[str] = (),
) -> Report:
    """Return ``report`` with waivers applied, and what they leave compared with the baseline.

    Args:
        report: finished, as the engine made it.
        exceptions: the files that hold.
        severities: of every policy that there is, by id.
        only: ids of the policies that were judged; empty means all.
    """
    made = replace(report, hygiene=ExceptionReport(exceptions.today, strict=exceptions.strict))
    if exceptions.waivers is not None and exceptions.waivers.sources:
        made = apply_waivers(made, exceptions.waivers, exceptions.today, severities, only)
    if exceptions.baseline is not None and exceptions.baseline.sources:
        made = apply_baseline(made, exceptions.baseline, exceptions.today, only)
    return made


def _versions(
    path: Path, then: Path, model: type[F], ref: str | None, blueprint: Path, *, named: bool
) -> tuple[Loaded[F] | None, Loaded[F] | None, str | None]:
    """Return the file as it is now and, at ``then``, in the revision ``ref``, and that revision.

    Raises:
        UsageError: the file was ``named``, and neither has it.
    """
    head, base = _here(path, model), _at(then, model, ref, blueprint)
    if named and head is None and base is None:
        raise UsageError(f"there is no file '{path}'")
    return head, base, ref


def _here(path: Path, model: type[F]) -> Loaded[F] | None:
    """Return the file on disk; None where there is none.

    A link is refused as it is in a revision: what it leads to was never part of a change that
    somebody approved.

    Raises:
        UsageError: it is a link.
        SpecErrors: it is not valid.
    """
    if path.is_symlink():
        raise UsageError(f"'{path}' is a link", hint="put the file itself there")
    return load(path, model) if path.exists() else None


def _at(path: Path, model: type[F], ref: str | None, blueprint: Path) -> Loaded[F] | None:
    """Return the file in a revision of the blueprint's repository; None where that has no such file."""
    if ref is None:
        return None
    refuse_links([path])
    item = read_base(path, ref, blueprint)
    return None if item is None else validate(tree_of([item]), model)
