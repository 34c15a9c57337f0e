"""Real block devices for hosts of a lab: loop devices, which several hosts may share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab_support import Machines
from rackwright_lab.system import run

BY_ID = "/dev/disk/by-id"


@dataclass
class Disks:
    """Block devices of a lab, sparse files behind them."""

    machines: Machines
    nodes: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, size: str, hosts: Sequence[str]) -> str:
        """A new blank device that each of ``hosts`` has; its name below /dev/disk/by-id."""
        file = self.machines.lab.hosts()[0].shared / f"{name}.disk"
        run("truncate", "-s", size, file)
        node = self.nodes[name] = run("losetup", "--find", "--show", file).strip()
        minor = os.minor(Path(node).stat().st_rdev)
        path = f"{BY_ID}/{name}"
        for host in hosts:
            self.machines.on(
                host,
                f"mkdir -p {BY_ID}; rm -f {path} {node};"
                f" mknod -m 660 {node} b 7 {minor} && ln -s ../..{node[4:]} {path}",
            )
        return path


@contextmanager
def some_disks(machines: Machines) -> Iterator[Disks]:
    """Devices that are given back in the end."""
    disks = Disks(machines)
    try:
        yield disks
    finally:
        for node in disks.nodes.values():
            # One that is still mounted goes by itself when its host does.
            run("losetup", "--detach", node, check=False)
