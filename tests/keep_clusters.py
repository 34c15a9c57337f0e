"""Make what labs of whole suites start from, so that the next run finds it: `python tests/keep_clusters.py`.

Each is kept under a key of the code that makes it, and a change of a role makes another one. Nothing is made twice.
"""

from __future__ import annotations

from e2e.test_containers import CLUSTER as CONTAINERS
from instances import make_disks
from lab_snapshots import PAIR, SLURM, TRIO
from rackwright_lab.base import make_base
from rackwright_lab.repository import make_repository
from small_cluster import CLUSTER as SMALL

SNAPSHOTS = (SLURM, TRIO, PAIR, SMALL, CONTAINERS)


def main() -> None:
    """Make what is not there, and print where everything is."""
    for suite in (None, "trixie"):
        print(make_repository(make_base(print, suite), print))
    print(make_disks())
    for snapshot in SNAPSHOTS:
        print(snapshot.kept(), flush=True)


if __name__ == "__main__":
    main()
