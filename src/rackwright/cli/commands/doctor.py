"""``doctor``: what is installed, what is missing and how to fix it, by purpose."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``doctor``."""
    parser.add_argument(
        "purpose",
        nargs="*",
        metavar="PURPOSE",
        help="check, aws, local, configure, design, workbook, repair or power (default: all are "
        "listed, and only what 'check' needs must be there)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the checks of each purpose; exit code 4 when one that is asked for is not possible.

    Raises:
        UsageError: a purpose does not exist.
    """
    from dataclasses import asdict

    from rackwright.errors import UsageError
    from rackwright.provision.doctor import PURPOSES, run_doctor
    from rackwright.reading.suggest import did_you_mean

    for word in arguments.purpose:
        if word not in PURPOSES:
            hint = did_you_mean(word, PURPOSES) or f"name one of {', '.join(PURPOSES)}"
            raise UsageError(f"'{word}' is not a purpose", hint=hint)
    checks = run_doctor(arguments.purpose or PURPOSES)
    if arguments.json:
        document = {"schema": "rackwright.doctor/v1", "checks": [asdict(check) for check in checks]}
        sys.stdout.write(json_text(document))
    else:
        for purpose, group in groupby(checks, key=lambda check: check.purpose):
            found = list(group)
            ready = all(check.status != "fail" for check in found)
            print(f"{purpose}: {PURPOSES[purpose]}: {'ready' if ready else 'not ready'}")
            for check in found:
                print(f"  {check.status:<4} {check.name}: {check.detail}")
                if check.fix:
                    print(f"       fix: {check.fix}")
    failed = any(
        check.status == "fail" and (arguments.purpose or check.purpose == "check")
        for check in checks
    )
    return ExitCode.EXTERNAL if failed else ExitCode.CLEAN
