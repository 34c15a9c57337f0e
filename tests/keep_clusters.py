"""Make what whole suites start from, so that the next run finds it: `python tests/keep_clusters.py`.

Each is kept under a key of the code that makes it, and a change of a role that is played makes another one. Nothing is made twice.
"""

from __future__ import annotations

import eos_oracle
import metal_machines
import netbox_machine
import npm_tools
import openadr_machine
import simhall_hall
import slurm_releases
from e2e.test_containers import CLUSTER as CONTAINERS
from e2e.test_data_volume import CLUSTER as HEADS
from e2e.test_debian_13 import CLUSTER as DEBIAN_13
from e2e.test_directory import CLUSTER as DIRECTORY
from instances import make_disks
from lab_snapshots import PAIR, SLURM, TRIO
from rackwright_lab.base import make_base
from rackwright_lab.repository import make_repository
from small_cluster import CLUSTER as SMALL
from suites import ROOT

SNAPSHOTS = (
    SLURM, TRIO, PAIR, SMALL, CONTAINERS, DIRECTORY, DEBIAN_13, HEADS,
)  # fmt: skip


def main() -> None:
    """Make what is not there, and print where everything is."""
    for name in (None, "trixie"):
        print(make_repository(make_base(print, name), print))
    print(make_disks())
    print(netbox_machine.root_of())
    print(openadr_machine.environment())
    print(metal_machines.environment(metal_machines.IRONIC))
    print(eos_oracle.python())
    if (python := simhall_hall.newer_python()) is not None:
        print(simhall_hall.command(python))
    for suite in ("bookworm", "trixie"):
        print(slurm_releases.root_of(suite))
    for lock in sorted(ROOT.glob("tests/*/package-lock.json")):
        print(npm_tools.installed(lock.parent.name), flush=True)
    for snapshot in SNAPSHOTS:
        print(snapshot.kept(), flush=True)


if __name__ == "__main__":
    main()
