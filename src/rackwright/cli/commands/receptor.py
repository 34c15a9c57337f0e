"""``receptor``: what Receptor needs on this machine and on the workers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``receptor``."""
    parser.add_argument("workers", type=Path, help="who configures which hosts")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for them, with a folder for each node; keep it to yourself",
    )
    parser.add_argument(
        "--renew", action="store_true", help="make the certificates of all nodes again"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write configuration, certificates and keys; what is there and still right stays."""
    from rackwright.files import write_changed
    from rackwright.receptor.pki import make_credentials
    from rackwright.receptor.render import render_receptor
    from rackwright.receptor.workers import load_workers

    workers = load_workers(arguments.workers)
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    certified = make_credentials(workers, folder, renew=arguments.renew)
    for node, files in render_receptor(workers).items():
        for name, text in files.items():
            write_changed(folder / node / name, text)
        new = " (new certificate)" if node in certified else ""
        sys.stdout.write(f"{node}: {folder / node}{new}\n")
    return ExitCode.CLEAN
