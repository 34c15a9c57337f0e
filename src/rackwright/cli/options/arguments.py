"""Arguments that many commands share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_blueprint(parser: argparse.ArgumentParser) -> None:
    """Add the blueprint and the files over it."""
    parser.add_argument("blueprint", type=Path, help="the blueprint")
    add_layers(parser)


def add_layers(parser: argparse.ArgumentParser) -> None:
    """Add the files over the blueprint."""
    parser.add_argument(
        "--layer", type=Path, action="append", default=[], help="file to put over it; repeatable"
    )


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
