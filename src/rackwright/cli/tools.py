"""``tools install``: the programs that Rackwright drives."""

from __future__ import annotations

import argparse
import sys

from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``tools``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("install", help="install the Pulumi CLI and its Python language host")


def run(arguments: argparse.Namespace) -> int:
    """Install; print where the CLI is."""
    from rackwright.provision.tools import install_pulumi

    tool = install_pulumi(progress=lambda line: print(line, file=sys.stderr, flush=True))
    print(f"pulumi {tool.version} ({tool.origin}): {tool.path}")
    return ExitCode.CLEAN
