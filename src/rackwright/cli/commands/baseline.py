"""``baseline``: record the failures that are there, so that only new and worse ones block."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint, add_json, add_packs
from rackwright.cli.options.exceptions import add_files, add_today, choice_of
from rackwright.cli.options.telling import answer
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rackwright.policy.engine import Report
    from rackwright.policy.exceptions.baseline import BaselineEntry

_SUMMARIES = {
    "create": "record every failure that blocks now",
    "update": "tighten entries that improved; nothing is added or loosened",
    "prune": "remove entries that no longer fail",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``baseline``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in _SUMMARIES.items():
        action = actions.add_parser(name, help=summary)
        add_blueprint(action)
        add_packs(action)
        add_files(action)
        add_today(action)
        add_json(action)
        if name == "create":
            action.add_argument(
                "--force", action="store_true", help="replace the baseline that there is"
            )


def run(arguments: argparse.Namespace) -> int:
    """Run the action.

    Raises:
        UsageError: there is a baseline to be created without ``--force``, or none to be changed.
    """
    from rackwright.policy.api import Outcome
    from rackwright.policy.exceptions.baseline import created, pruned, tightened
    from rackwright.policy.exceptions.exceptions import baseline_beside

    path = arguments.baseline or baseline_beside(arguments.blueprint)
    if arguments.action == "create":
        if path.exists() and not arguments.force:
            raise UsageError(
                f"there is a baseline, '{path}'",
                hint="'rackwright baseline update' tightens it; --force records everything again",
            )
        report = _judge(arguments, use_baseline=False)
        entries = created(report)
        _write(path, entries)
        left = sum(1 for r in report.results if r.blocks and r.outcome is not Outcome.FAIL)
        rest = f"{left:,} unknown or crashed cannot be recorded and block still\n" if left else ""
        answer(
            arguments,
            "baseline-change",
            {"file": str(path), "recorded": len(entries), "before": None, "not_recordable": left},
            f"{counted(len(entries), 'failure')} recorded in '{path}'\n{rest}",
        )
        return ExitCode.CLEAN
    before = _read(path)
    report = _judge(arguments, use_baseline=True)
    after = {"update": tightened, "prune": pruned}[arguments.action](before, report)
    text = "nothing to change\n"
    if set(after) != set(before):
        _write(path, after)
        text = f"{counted(len(after), 'failure')} recorded in '{path}', {len(before):,} before\n"
    document = {"file": str(path), "recorded": len(after), "before": len(before)}
    answer(arguments, "baseline-change", document, text)
    return ExitCode.CLEAN


def _judge(arguments: argparse.Namespace, *, use_baseline: bool) -> Report:
    from rackwright.plan.load import load_plan
    from rackwright.policy.gate import open_gate

    choice = choice_of(arguments)
    if not use_baseline:
        choice = replace(choice, baseline=None, use_baseline=False)
    gate = open_gate(arguments.blueprint, packs=arguments.pack, choice=choice)
    return gate.judge(load_plan(arguments.blueprint, tuple(arguments.layer)))


def _read(path: Path) -> tuple[BaselineEntry, ...]:
    from rackwright.policy.exceptions.baseline import BaselineFile
    from rackwright.reading.loader import load

    if not path.exists():
        raise UsageError(f"there is no baseline '{path}'", hint="run 'rackwright baseline create'")
    return load(path, BaselineFile).value.entries


def _write(path: Path, entries: Iterable[BaselineEntry]) -> None:
    from rackwright.cli.options.outputs import write_file
    from rackwright.policy.exceptions.baseline import render_baseline

    write_file(path, render_baseline(entries))
