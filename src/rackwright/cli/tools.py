"""``tools install``: the programs that Rackwright drives."""

from __future__ import annotations

import argparse
import sys

from rackwright.exit_codes import ExitCode

TOOLS = ("pulumi", "receptor")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``tools``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    install = actions.add_parser("install", help="install what is missing")
    install.add_argument(
        "tools",
        nargs="*",
        choices=TOOLS,
        default=TOOLS[0],
        metavar="TOOL",
        help="'pulumi', with its Python language host (the default), or 'receptor', "
        "for 'configure --workers'; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    """Install; print where each tool is."""
    from rackwright.provision.tools import install_pulumi, install_receptor

    wanted = [arguments.tools] if isinstance(arguments.tools, str) else arguments.tools
    for name in dict.fromkeys(wanted):
        if name == "receptor":
            print(f"receptor: {install_receptor(progress=_say)}")
        else:
            tool = install_pulumi(progress=_say)
            print(f"pulumi {tool.version} ({tool.origin}): {tool.path}")
    return ExitCode.CLEAN


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
