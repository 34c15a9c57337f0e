"""The gate on the command line, for the commands that act on a blueprint only when it passes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_packs
from rackwright.cli.options.exceptions import add_base_ref, add_files, choice_of, files_of
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from rackwright.plan.load import LoadedPlan
    from rackwright.policy.gate import Gate


def add_gate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what judges; the day is always today."""
    add_packs(parser)
    add_files(parser)
    add_base_ref(parser)
    add_isolated(parser)


def gate_words(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments by which another command takes the same gate."""
    words = [word for pack in arguments.pack for word in ("--pack", str(pack))]
    for name in ("waivers", "baseline", "base_ref"):
        if (value := getattr(arguments, name)) is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return [*words, *(["--isolated"] if arguments.isolated else [])]


def gate_of(arguments: argparse.Namespace) -> Gate:
    """Return the gate that the arguments ask for, as ``check`` opens it.

    Raises:
        RackwrightError: a pack, a file or the base revision cannot be read.
        UsageError: isolated, a file is outside the repository.
    """
    from rackwright.policy.gate import open_gate

    if arguments.isolated:
        refuse_outside(arguments.blueprint, [*arguments.layer, *files_of(arguments)])
    return open_gate(
        arguments.blueprint,
        packs=arguments.pack,
        choice=choice_of(arguments),
        isolated=arguments.isolated,
        layers=arguments.layer,
    )


def refused_by(
    gate: Gate, loaded: LoadedPlan, consequence: str, *, no_preview: Collection[str] = ()
) -> int:
    """Return zero if the blueprint passes; otherwise the exit code, after findings and ``consequence``.

    The failures of the rules ``no_preview``, by their ids, count even where the blueprint's policy
    set is older than they are; what the blueprint itself says of them holds.

    Raises:
        UsageError: the stage of the blueprint is too early to be deployed.
    """
    from rackwright.policy.api import Outcome
    from rackwright.policy.gate import refuse_early_stage
    from rackwright.report.text import render_text

    refuse_early_stage(loaded.plan)
    report = gate.judge(loaded)
    if report.exit_code != ExitCode.CLEAN:
        sys.stderr.write(f"{render_text(report)}\n{consequence}\n")
        return report.exit_code
    broken = [
        f"error: {one.policy} {one.subject.name}: {one.message}\n"
        + (f"  hint: {one.fix}\n" if one.fix else "")
        for one in report.results
        if one.preview and one.policy in no_preview and one.outcome is Outcome.FAIL
    ]
    if broken:
        sys.stderr.write(f"{''.join(broken)}{consequence}\n")
        return ExitCode.VIOLATION
    return ExitCode.CLEAN
