"""``doctor``: what is installed, what is missing and how to fix it."""

from __future__ import annotations

import argparse
import sys

from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``doctor``."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run every check; exit code 4 when a tool that is needed is missing."""
    from dataclasses import asdict

    from rackwright.provision.doctor import run_doctor

    checks = run_doctor()
    if arguments.json:
        document = {"schema": "rackwright.doctor/v1", "checks": [asdict(check) for check in checks]}
        sys.stdout.write(json_text(document))
    else:
        for check in checks:
            print(f"{check.status:<4} {check.name}: {check.detail}")
            if check.fix:
                print(f"     fix: {check.fix}")
    failed = any(check.status == "fail" for check in checks)
    return ExitCode.EXTERNAL if failed else ExitCode.CLEAN
