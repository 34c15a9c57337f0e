"""``policy``: list the policies and run their examples."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``policy``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the policies")
    listing.add_argument("--json", action="store_true", help="as JSON")
    testing = actions.add_parser("test", help="run the examples of a pack")
    testing.add_argument("pack", type=Path, nargs="?", help="folder of the pack; else the built-in")


def run(arguments: argparse.Namespace) -> int:
    """List or test."""
    return _list(as_json=arguments.json) if arguments.action == "list" else _test(arguments.pack)


def _list(*, as_json: bool) -> int:
    from rackwright.policy.packs import load_packs
    from rackwright.policy.sets import RELEASED, is_preview

    policies = load_packs()
    if as_json:
        rows = [
            {
                "id": policy.id,
                "title": policy.title,
                "family": policy.family,
                "severity": policy.severity.value,
                "enforcement": policy.enforcement.value,
                "since": policy.since,
                "profile": policy.profile.value,
                "preview": is_preview(policy, RELEASED),
            }
            for policy in policies
        ]
        sys.stdout.write(
            json.dumps({"schema": "rackwright.policies/v1", "policies": rows}, indent=2)
        )
        sys.stdout.write("\n")
        return ExitCode.CLEAN
    for policy in policies:
        sys.stdout.write(
            f"{policy.id:<9} {policy.severity:<8} {policy.enforcement:<9} "
            f"{policy.profile:<10} {policy.since:<4} {policy.title}\n"
        )
    return ExitCode.CLEAN


def _test(pack: Path | None) -> int:
    from rackwright.policy.examples import load_examples, run_example
    from rackwright.policy.packs import builtin_pack, load_pack

    folder = pack or builtin_pack()
    failed = count = 0
    for policy in load_pack(folder):
        for example in load_examples(policy):
            count += 1
            if problem := run_example(policy, example, folder):
                failed += 1
                sys.stdout.write(f"FAILED {policy.id} {example.name}\n  {problem}\n")
    sys.stdout.write(f"{count - failed} passed, {failed} failed\n")
    if not count:
        return ExitCode.NOTHING
    return ExitCode.VIOLATION if failed else ExitCode.CLEAN
