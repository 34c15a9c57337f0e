"""``tools install``: the programs that Rackwright drives."""

from __future__ import annotations

import argparse

from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.telling import answer, tell
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

TOOLS = ("pulumi", "aws-provider")


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
        help="'pulumi', with its Python language host (the default), or 'aws-provider', for "
        "'--target local': the code of Terraform's AWS provider as a plugin of Pulumi; repeatable",
    )
    install.add_argument(
        "--archive",
        metavar="FILE#sha256=DIGEST",
        help="the vendor's archive of the Pulumi CLI, a file or an https address, with its digest; "
        "without it, the CLI is built with Go where there is none",
    )
    add_json(install, "the tools")


def run(arguments: argparse.Namespace) -> int:
    """Install; print where each tool is.

    Raises:
        UsageError: ``--archive`` is given without ``pulumi``, or names no archive.
    """
    from rackwright.provision.tools.archive import parse_archive
    from rackwright.provision.tools.aws_provider import install_aws_provider
    from rackwright.provision.tools.install import install_pulumi

    wanted = [arguments.tools] if isinstance(arguments.tools, str) else arguments.tools
    archive = parse_archive(arguments.archive) if arguments.archive else None
    if archive is not None and "pulumi" not in wanted:
        raise UsageError("--archive is for 'pulumi', which is not to be installed")
    tools: list[dict[str, str]] = []
    lines: list[str] = []
    for name in dict.fromkeys(wanted):
        if name == "aws-provider":
            path = str(install_aws_provider(progress=_say))
            tools.append({"name": name, "path": path})
            lines.append(f"aws-provider: {path}\n")
        else:
            tool = install_pulumi(progress=_say, archive=archive)
            path = str(tool.path)
            found = {"version": str(tool.version), "origin": str(tool.origin), "path": path}
            tools.append({"name": name, **found})
            lines.append(f"pulumi {tool.version} ({tool.origin}): {tool.path}\n")
    answer(arguments, "tools", {"tools": tools}, "".join(lines))
    return ExitCode.CLEAN


def _say(line: str) -> None:
    tell(f"{line}\n")
