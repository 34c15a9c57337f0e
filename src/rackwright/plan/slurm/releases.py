"""Releases of Slurm: in which order they came, and from which of them another can be reached.

Source is SchedMD's guide to upgrades (``upgrades.html``, release cycle and compatibility window): a
release reads the state, the messages and the database of the two before it, from 24.11 on of the
three before it. What is older is refused by its daemons, and has to be taken there in steps.
"""

from __future__ import annotations

from rackwright.errors import UsageError

Release = tuple[int, int]

FIRST_CYCLES: tuple[Release, ...] = (
    (19, 5), (20, 2), (20, 11), (21, 8), (22, 5), (23, 2), (23, 11), (24, 5),
)  # fmt: skip
"""Releases about every nine months; from 24.05 on one comes each May and each November."""

WIDER_FROM: Release = (24, 11)
"""The release from which on three older ones are read."""

NARROW, WIDE = 2, 3


class ReleaseError(UsageError):
    """A version of Slurm that is none, or that cannot be reached."""

    code = "slurm-release"


def release_of(version: str) -> Release:
    """Return the release of a version: of ``24.11`` and of ``24.11.5-1`` it is (24, 11).

    Raises:
        ReleaseError: there is no such release.
    """
    year, _, rest = version.partition(".")
    month = rest[:2]
    if not (year.isdigit() and month.isdigit() and _known((int(year), int(month)))):
        raise ReleaseError(
            f"Slurm has no release '{version}'",
            hint=f"a release is named after its month, like 24.11; the oldest known here is "
            f"{name_of(FIRST_CYCLES[0])}",
        )
    return int(year), int(month)


def name_of(release: Release) -> str:
    """Return the release as SchedMD writes it, like ``24.05``."""
    return f"{release[0]}.{release[1]:02d}"


def readable_from(target: Release) -> tuple[Release, ...]:
    """Return the older releases whose state ``target`` reads, the newest first."""
    found = []
    release: Release | None = target
    for _ in range(WIDE if target >= WIDER_FROM else NARROW):
        release = None if release is None else _previous(release)
        if release is not None:
            found.append(release)
    return tuple(found)


def fits(before: Release, target: Release) -> bool:
    """Return True if an upgrade from ``before`` to ``target`` takes one step."""
    return before == target or before in readable_from(target)


def way(before: Release, target: Release) -> tuple[Release, ...]:
    """Return the releases to install one after the other, ``target`` the last; the fewest that do.

    Raises:
        ReleaseError: ``target`` is older: no release of Slurm reads the state of a newer one.
    """
    if target < before:
        raise ReleaseError(
            f"Slurm {name_of(target)} is older than {name_of(before)}, whose state and database it "
            "cannot read",
            hint="only copies from before an upgrade lead back: docs/operations.md says how",
        )
    steps: list[Release] = []
    at = before
    while at != target:
        at = max(one for one in _between(at, target) if fits(at, one))
        steps.append(at)
    return tuple(steps)


def check_window(before: str, target: str) -> None:
    """Refuse an upgrade that does not go at once, with the steps that do.

    Raises:
        ReleaseError: it is outside SchedMD's window, or one of them is no release.
    """
    old, new = release_of(before), release_of(target)
    steps = way(old, new)
    if len(steps) > 1:
        read = ", ".join(map(name_of, readable_from(new)))
        through = ", then ".join(map(name_of, steps))
        raise ReleaseError(
            f"Slurm {name_of(new)} reads the state of {read} and not of {name_of(old)}",
            hint=f"go in steps, each verified before the next: first {through}",
        )


def _known(release: Release) -> bool:
    return release in FIRST_CYCLES or (release > FIRST_CYCLES[-1] and release[1] in {5, 11})


def _next(release: Release) -> Release:
    later = [one for one in FIRST_CYCLES if one > release]
    if later:
        return later[0]
    year, month = release
    return (year, 11) if month == 5 else (year + 1, 5)


def _previous(release: Release) -> Release | None:
    earlier = [one for one in FIRST_CYCLES if one < release]
    if release in FIRST_CYCLES:
        return earlier[-1] if earlier else None
    year, month = release
    return (year, 5) if month == 11 else (year - 1, 11)


def _between(before: Release, target: Release) -> tuple[Release, ...]:
    """Return the releases after ``before`` up to ``target``."""
    found = []
    at = before
    while at < target:
        at = _next(at)
        found.append(at)
    return tuple(found)
