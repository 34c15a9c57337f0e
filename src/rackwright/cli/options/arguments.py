"""Arguments that many commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

BLUEPRINT = "blueprint.yaml"
"""File name of the blueprint in a folder."""


def add_blueprint(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the blueprint and the files over it.

    Args:
        parser: of the verb.
        required: it must be named, since another argument follows; otherwise it is that of the
            working directory.
    """
    if required:
        parser.add_argument("blueprint", type=in_folder, help="the blueprint, or its folder")
    else:
        parser.add_argument(
            "blueprint",
            type=in_folder,
            nargs="?",
            default=BLUEPRINT,
            help=f"the blueprint, its folder, or - for standard input (default: {BLUEPRINT})",
        )
    add_layers(parser)


def in_folder(text: str) -> Path:
    """Return the path of a blueprint that is named by its file or its folder."""
    path = Path(text)
    return path / BLUEPRINT if path.is_dir() else path


def add_layers(parser: argparse.ArgumentParser) -> None:
    """Add the files over the blueprint."""
    parser.add_argument(
        "--layer", type=Path, action="append", default=[], help="file to put over it; repeatable"
    )


def add_json(parser: argparse.ArgumentParser, what: str = "the result") -> None:
    """Add the option that prints the answer of a command as JSON."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def add_packs(parser: argparse.ArgumentParser) -> None:
    """Add the folders of policies beside the built-in ones."""
    parser.add_argument(
        "--pack", type=Path, action="append", default=[], help="folder of more policies; repeatable"
    )


def add_aws_site(parser: argparse.ArgumentParser, *, hosts: bool = False) -> None:
    """Add which AWS site, and where it is provisioned; with ``hosts`` it may be hosts of bare metal instead."""
    parser.add_argument("--site", help="the AWS site, where the blueprint has several")
    parser.add_argument(
        "--target",
        choices=("local", "aws", "hosts") if hosts else ("local", "aws"),
        required=True,
        help="local: the embedded AWS of this machine; aws: AWS, with your credentials"
        + ("; hosts: Slurm and its hosts, over SSH" if hosts else ""),
    )
