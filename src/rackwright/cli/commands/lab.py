"""``lab``: bare machines to try things on, booted on this machine."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.telling import answer, tell_progress
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text
from rackwright.laboratory.door import DEFAULT_NETWORK, boot_hosts, open_lab, remove_hosts
from rackwright.terminal import print_table

if TYPE_CHECKING:
    from rackwright_lab.host import LabHost
    from rackwright_lab.lab import Lab

GPUS = 8
SUITES = ("bookworm", "trixie")
"""Debian 12 and 13: what hosts of a lab can be installed with."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``lab``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    made = actions.add_parser("up", help="boot the hosts, as root; running hosts are left alone")
    made.add_argument(
        "--hosts",
        default="head,login,gpu[1-4]",
        help="names of the hosts, as a host list; hosts named gpu… pretend to have 8 GPUs",
    )
    made.add_argument(
        "--blueprint", type=Path, help="boot the bare-metal hosts of this blueprint instead"
    )
    made.add_argument("--network", default=DEFAULT_NETWORK, help="an unused IPv4 network")
    made.add_argument(
        "--debian",
        choices=SUITES,
        help="Debian release of a new lab (default: that of this machine)",
    )
    for name, text in (
        ("status", "list the hosts"),
        ("down", "remove the hosts, their disks and everything created for them"),
        ("ssh", "open a shell on a host, or run a command there"),
    ):
        made = actions.add_parser(name, help=text)
        if name == "ssh":
            made.add_argument("host")
            made.add_argument("command", nargs=argparse.REMAINDER)
    for action in actions.choices.values():
        action.add_argument("--name", default="lab", help="name of the lab")
    for name in ("up", "status", "down"):
        add_json(actions.choices[name], "the hosts")


def run(arguments: argparse.Namespace) -> int:
    """Run the action; the exit code."""
    lab = open_lab(arguments.name, getattr(arguments, "network", DEFAULT_NETWORK))
    match arguments.action:
        case "up":
            started = time.monotonic()
            chosen = arguments.blueprint
            wanted = _wanted(arguments.hosts) if chosen is None else _hosts_of(chosen)
            made = boot_hosts(lab, wanted, tell_progress, suite=arguments.debian)
            taken = time.monotonic() - started
            text = f"up: {counted(len(made), 'host')} after {taken:.1f} s\n"
            answer(arguments, "lab", {"hosts": [_entry(host) for host in made]}, text)
        case "down":
            removed = remove_hosts(lab)
            text = f"removed {', '.join(removed)}\n" if removed else "there is no lab\n"
            answer(arguments, "lab-removed", {"removed": list(removed)}, text)
        case "status":
            return _status(lab, as_json=arguments.json)
        case _:
            return _ssh(lab, arguments.host, arguments.command)
    return ExitCode.CLEAN


def _wanted(text: str) -> list[tuple[str, int]]:
    from rackwright.model.names import expand_hostlist

    try:
        names = expand_hostlist(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return [(name, GPUS if name.startswith("gpu") else 0) for name in names]


def _hosts_of(blueprint: Path) -> list[tuple[str, int]]:
    """Return the bare-metal hosts of a blueprint with their numbers of GPUs."""
    from rackwright.inventory.inventory import build_inventory, host_variables
    from rackwright.plan.load import load_plan

    plan = load_plan(blueprint).plan
    names = [host.name for host in plan.hosts if host.place is not None]
    made = build_inventory(plan)
    gpus = {
        name: (host_variables(made, name) or {}).get("rackwright_accelerators") for name in names
    }
    return [(name, gpus[name] or 0) for name in names]


def _entry(host: LabHost) -> dict[str, Any]:
    return {
        "name": host.name,
        "address": str(host.address.ip),
        "running": host.running,
        "gpus": host.devices,
    }


def _status(lab: Lab, *, as_json: bool) -> int:
    found = [_entry(host) for host in lab.hosts()]
    if as_json:
        sys.stdout.write(json_text({"schema": "rackwright.lab/v1", "hosts": found}))
    else:
        rows = [
            (host["name"], host["address"], "runs" if host["running"] else "is off", host["gpus"])
            for host in found
        ]
        print_table(("host", "address", "state", "GPUs"), rows, "{} {} {}, {} GPUs")
    return ExitCode.CLEAN if found else ExitCode.NOTHING


def _ssh(lab: Lab, name: str, command: list[str]) -> int:
    for host in lab.hosts():
        if host.name == name:
            sys.stdout.flush()
            words = [*lab.ssh(host), *command]
            if command and not sys.stdout.isatty():
                return _relay(words)
            os.execvp(words[0], words)  # noqa: S606 - the words are our own
    raise UsageError(f"there is no host '{name}' in the lab '{lab.name}'")


def _relay(command: list[str]) -> int:
    """Return the exit code of a command; a job's log gets what it writes by way of our own guarded streams."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        errors = threading.Thread(target=shutil.copyfileobj, args=(process.stderr, sys.stderr))
        errors.start()
        for line in process.stdout or ():
            sys.stdout.write(line)
        errors.join()
    return process.returncode
