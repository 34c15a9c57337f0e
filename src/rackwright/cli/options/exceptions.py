"""The arguments about waivers and the baseline that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from datetime import date

    from rackwright.policy.exceptions.exceptions import ExceptionChoice


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which files are read."""
    parser.add_argument(
        "--waivers",
        type=Path,
        metavar="FILE",
        help="file of waivers (default: policies/waivers.yaml beside the blueprint)",
    )
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="file of the baseline (default: policies/baseline.json beside the blueprint)",
    )


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how they are judged."""
    add_base_ref(parser)
    add_today(parser)


def add_base_ref(parser: argparse.ArgumentParser) -> None:
    """Add ``--base-ref``."""
    parser.add_argument(
        "--base-ref",
        metavar="REF",
        help="git revision whose waivers, baseline and policy settings apply; those of the change "
        "itself are only listed",
    )


def add_today(parser: argparse.ArgumentParser) -> None:
    """Add ``--today``."""
    parser.add_argument(
        "--today",
        type=_day,
        metavar="YYYY-MM-DD",
        help="date for expiry of waivers (default: today, UTC)",
    )


def choice_of(arguments: argparse.Namespace) -> ExceptionChoice:
    """Return the exceptions that the arguments ask for; missing arguments count as not given.

    Raises:
        UsageError: they contradict each other.
    """
    from rackwright.policy.exceptions.exceptions import ExceptionChoice

    def given(name: str) -> Any:
        return getattr(arguments, name, None)

    if given("no_waivers"):
        for name in ("waivers", "strict_waivers", "show_waived"):
            if given(name):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"'{option}' has no effect with '--no-waivers'")
    if given("no_baseline") and given("baseline"):
        raise UsageError("'--baseline' has no effect with '--no-baseline'")
    return ExceptionChoice(
        waivers=given("waivers"),
        baseline=given("baseline"),
        use_waivers=not given("no_waivers"),
        use_baseline=not given("no_baseline"),
        base_ref=given("base_ref"),
        today=given("today"),
        strict=bool(given("strict_waivers")),
    )


def files_of(arguments: argparse.Namespace) -> list[Path]:
    """Return the files of waivers and of the baseline that the arguments mean, whether they exist or not."""
    from rackwright.policy.exceptions.exceptions import baseline_beside, waivers_beside

    return [
        getattr(arguments, "waivers", None) or waivers_beside(arguments.blueprint),
        getattr(arguments, "baseline", None) or baseline_beside(arguments.blueprint),
    ]


def _day(text: str) -> date:
    from rackwright.policy.exceptions.waivers import read_day

    try:
        return read_day(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
