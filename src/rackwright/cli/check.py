"""``check``: judge a blueprint."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from rackwright.policy.engine import Report

_FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``check``."""
    parser.add_argument("blueprint", type=Path, help="the blueprint")
    parser.add_argument(
        "--layer", type=Path, action="append", default=[], help="file to put over it; repeatable"
    )
    parser.add_argument(
        "--pack", type=Path, action="append", default=[], help="folder of more policies; repeatable"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="just this policy; repeatable"
    )
    parser.add_argument("--format", choices=_FORMATS, default="text", help="form on stdout")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="write the report to a file as well; repeatable",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show what passes, too")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(arguments: argparse.Namespace) -> int:
    """Judge; the exit code is the verdict."""
    from rackwright.policy.check import check_blueprint
    from rackwright.policy.packs import load_packs
    from rackwright.spec.suggest import did_you_mean

    form = "json" if arguments.json else arguments.format
    if form == "json" and arguments.verbose:
        raise UsageError("--verbose has no effect on JSON, which holds everything")
    outputs = [_parse_output(text) for text in arguments.output]
    known = [policy.id for policy in load_packs(tuple(arguments.pack))]
    for policy in arguments.only:
        if policy not in known:
            raise UsageError(f"there is no policy '{policy}'", hint=did_you_mean(policy, known))
    report = check_blueprint(
        arguments.blueprint,
        layers=tuple(arguments.layer),
        packs=tuple(arguments.pack),
        only=tuple(arguments.only),
    )
    for output_form, path in outputs:
        path.write_text(_render(report, output_form, arguments, colour=False), encoding="utf-8")
    sys.stdout.write(_render(report, form, arguments, colour=_wants_colour(arguments.color)))
    return int(report.exit_code)


def _parse_output(text: str) -> tuple[str, Path]:
    form, equals, name = text.partition("=")
    if not equals or form not in _FORMATS or not name:
        raise UsageError(f"'{text}' is not FORMAT=FILE", hint=f"formats: {', '.join(_FORMATS)}")
    return form, Path(name)


def _render(report: Report, form: str, arguments: argparse.Namespace, *, colour: bool) -> str:
    if form == "json":
        from rackwright.report.json import render_json

        return render_json(report)
    from rackwright.report.text import render_text

    return render_text(report, verbose=arguments.verbose, colour=colour)


def _wants_colour(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
