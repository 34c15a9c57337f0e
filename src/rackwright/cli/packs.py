"""The argument about packs that commands for untrusted changes share."""

from __future__ import annotations

import argparse


def add_isolated(parser: argparse.ArgumentParser) -> None:
    """Add ``--isolated``."""
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="run none of the repository's code: leave out the packs that rackwright.yaml lists",
    )
