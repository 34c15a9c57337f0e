"""Hosts of the lab that have what roles put there, without Slurm."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab_snapshots import Snapshot
from lab_support import Machines, some_machines


@contextmanager
def kept_machines(folder: Path, name: str, snapshot: Snapshot, *ready: str) -> Iterator[Machines]:
    """Yield the hosts of a new lab as ``snapshot`` has them, once its controller answers at the URLs ``ready``.

    They have the addresses with which they were made: roles write those of other hosts into files.
    """
    kept = snapshot.kept()
    if (kept / "files").exists():
        shutil.copytree(kept / "files", folder, dirs_exist_ok=True)
    with some_machines(folder, name, snapshot.network, snapshot.hosts, kept) as machines:
        for url in ready:
            patient = "curl --silent --fail --retry 300 --retry-delay 1 --retry-all-errors"
            machines.on(snapshot.controller, f"{patient} {url}")
        yield machines
