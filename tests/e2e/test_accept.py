"""Acceptance and health checks on hosts of the lab: what is broken is found, named and drained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from lab_snapshots import SLURM, configured_machines
from lab_support import LAB_MARKS, Machines, Refused
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
PROGRAM = "/usr/local/sbin/rackwright-health"
LIBRARY = "/usr/local/lib/rackwright/node_health.py"


class Cluster(Machines):
    def state(self, node: str) -> str:
        return self.on("head-1", f"sinfo -h -N -n {node} -o %T").split("\n")[0]

    def reason(self, node: str) -> str:
        return self.on("head-1", f"sinfo -h -R -n {node} -o %E")

    def mend(self, node: str) -> None:
        """Give the node its GPU back, and take it back into service."""
        self.on(node, "test -e /dev/nvidia7 || mknod -m 666 /dev/nvidia7 c 195 7")
        self.on("head-1", f"scontrol update NodeName={node} State=RESUME")
        assert wait_for(lambda: self.state(node) == "idle", 300, 0.5), self.state(node)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("accept")
    with configured_machines(folder, "accept", "10.213.16.0/24", SLURM) as machines:
        yield Cluster(machines.lab, folder)


def items(document: Any, host: str) -> dict[str, Any]:
    return {item["item"]: item for item in document["hosts"][host]["items"]}


def test_a_cluster_as_it_is_meant_is_accepted(cluster: Cluster, tmp_path: Path) -> None:
    for more in ([], ["--check"]):
        again = json.loads(cluster.rackwright("configure", "--json", "--limit", "gpu-1", *more))
        assert again["hosts"]["gpu-1"]["changed"] == []
    junit = tmp_path / "verify.xml"
    told = json.loads(cluster.rackwright("verify", "--json", "--output", f"junit={junit}"))
    assert told["schema"] == "rackwright.verify/v1"
    assert told["outcome"] == "pass"
    assert set(told["hosts"]) == {"gpu-1", "gpu-2", "head-1"}
    gpu = items(told, "gpu-1")
    assert gpu["accelerators"]["found"] == gpu["accelerators"]["expected"] == "8"
    assert gpu["Slurm state"]["found"].startswith("IDLE")
    assert gpu["Slurm topology"]["found"] == gpu["Slurm topology"]["expected"] == "leaf-1"
    assert gpu["Slurm accelerators"]["found"] == "8"
    assert {item for item in items(told, "head-1") if item.startswith("service")} == {
        "service mariadb", "service munge", "service slurmctld", "service slurmdbd",
    }  # fmt: skip
    root = ET.parse(junit).getroot()
    assert int(root.get("tests", "0")) > 15
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_an_all_reduce_is_run_where_no_job_is(cluster: Cluster) -> None:
    cluster.on("gpu-1", "apt-get install --yes --quiet nccl-tests", timeout_s=120)
    cluster.on("gpu-2", "apt-get install --yes --quiet nccl-tests", timeout_s=120)
    told = json.loads(cluster.rackwright("verify", "--json", "--all-reduce"))
    assert items(told, "gpu-1")["NCCL all-reduce"]["found"] == "480 GB/s"
    assert items(told, "gpu-2")["NCCL all-reduce"]["outcome"] == "pass"
    assert items(told, "gpu (2 nodes together)")["NCCL all-reduce"]["found"] == "370 GB/s"
    assert "NCCL all-reduce" not in items(told, "head-1")

    quick = cluster.folder / "quick.json"
    quick.write_text('{"all": {"vars": {"acceptance_all_reduce_wait": 3}}}')
    job = cluster.on("head-1", "sbatch --parsable --nodelist=gpu-1 --exclusive --wrap 'sleep 600'")
    cluster.on("gpu-2", "echo bandwidth=301.50 > /etc/nccl-tests-lab")
    try:
        told = json.loads(
            cluster.rackwright(
                *("verify", "--json", "--all-reduce", "--drain", "--inventory", quick), expect=5
            )
        )
    finally:
        cluster.on("head-1", f"scancel {job}")
        cluster.on("gpu-2", "rm /etc/nccl-tests-lab")
    assert items(told, "gpu-1")["NCCL all-reduce"]["outcome"] == "unknown", "a job is on it"
    assert cluster.on("head-1", f"sacct -n -X -j {job} -o State").startswith("CANCELLED")
    assert items(told, "gpu-2")["NCCL all-reduce"]["outcome"] == "fail"
    assert not any("together" in name for name in told["hosts"]), "one node is no group"
    assert "NCCL all-reduce is 301.5 GB/s, not 460 GB/s" in cluster.reason("gpu-2")
    cluster.mend("gpu-2")


def test_a_node_that_lacks_a_gpu_is_named_and_drained(cluster: Cluster) -> None:
    cluster.on("gpu-1", "rm /dev/nvidia7")
    try:
        told = cluster.rackwright("verify", expect=5)
        assert "7 of 8 accelerators" in told
        assert "gpu-2: " not in told
        assert cluster.state("gpu-1") == "idle", "without --drain nothing is changed"
        document = json.loads(cluster.rackwright("verify", "--json", "--drain", expect=5))
        assert document["drained"] == {"gpu-1": "rackwright verify: 7 of 8 accelerators"}
        assert cluster.state("gpu-1") == "drained"
        assert cluster.reason("gpu-1") == "rackwright verify: 7 of 8 accelerators"
        hosts = cluster.on("head-1", "for n in 1 2; do srun -N1 hostname; done").split()
        assert hosts == ["gpu-2", "gpu-2"]
    finally:
        cluster.mend("gpu-1")
    cluster.rackwright("verify", "--limit", "gpu-1")


def test_a_job_whose_node_is_unhealthy_finishes_elsewhere(cluster: Cluster) -> None:
    cluster.on("gpu-1", "rm /dev/nvidia7")
    try:
        job = cluster.on("head-1", "sbatch --parsable --chdir=/tmp --wrap hostname")
        assert wait_for(lambda: "drain" in cluster.state("gpu-1"), 300, 0.5)
        shown = cluster.on("head-1", f"scontrol show job {job}")
        assert "Restarts=1" in shown, shown
        assert "Held" not in shown, shown
        assert cluster.reason("gpu-1") == "Prolog error", "a prolog speaks to nobody"

        def ended() -> bool:
            # Slurm waits two minutes before it starts a job again; the test does not.
            cluster.on("head-1", f"scontrol update JobId={job} StartTime=now || true")
            return "JobState=COMPLETED" in cluster.on("head-1", f"scontrol show job {job}")

        assert wait_for(ended, 300, 1.0), cluster.on("head-1", f"scontrol show job {job}")
        assert "NodeList=gpu-2" in cluster.on("head-1", f"scontrol show job {job}")

        # The health check gives the reason that the prolog could not give.
        cluster.on("gpu-1", f"{PROGRAM} || test $? = 1")
        assert cluster.reason("gpu-1") == "node health: 7 of 8 accelerators"
    finally:
        cluster.mend("gpu-1")


def test_the_health_check_drains_by_itself_and_takes_nothing_back(cluster: Cluster) -> None:
    cluster.on("gpu-2", f"{PROGRAM}")
    assert cluster.state("gpu-2") == "idle"
    cluster.on("gpu-2", "systemctl stop munge; rm /dev/nvidia7")
    try:
        told = cluster.on("gpu-2", f"{LIBRARY} --print || test $? = 1").splitlines()
        assert told == ["7 of 8 accelerators", "munge is inactive"]
        assert cluster.state("gpu-2") == "idle", "'--print' tells nobody"
        cluster.on("gpu-2", "systemctl start munge")
        cluster.on("gpu-2", f"{PROGRAM} || test $? = 1")
        assert cluster.state("gpu-2") == "drained"
        cluster.on("gpu-2", "mknod -m 666 /dev/nvidia7 c 195 7")
        cluster.on("gpu-2", PROGRAM)
        assert cluster.state("gpu-2") == "drained"
        assert cluster.reason("gpu-2") == "node health: 7 of 8 accelerators"
    finally:
        cluster.on("gpu-2", "systemctl start munge")
        cluster.mend("gpu-2")


BAD: Refused = {
    "a-program-that-is-no-path": (
        "health_check",
        {"health_check_accelerators": 8, "health_check_program": "/usr/bin/x; reboot"},
        "absolute paths without blanks",
    ),
    "a-threshold-that-no-file-system-meets": (
        "health_check",
        {"health_check_accelerators": 8, "health_check_free": [{"path": "/", "percent": 100}]},
        "shares of free space are between 0 and 100",
    ),
    "a-health-check-without-a-number-of-accelerators": (
        "health_check",
        {},
        "missing required arguments: health_check_accelerators",
    ),
    "an-acceptance-without-a-question": (
        "acceptance",
        {},
        "missing required arguments: acceptance_request",
    ),
    "an-acceptance-that-may-last-no-time": (
        "acceptance",
        {
            "acceptance_timeout": 0,
            "acceptance_request": {"devices": ["/dev/x"], "mounts": [], "services": []},
        },
        "a time above 0 are needed",
    ),
}
"""For each role, variables under which it must refuse, and what it says."""


def test_the_roles_refuse_what_they_cannot_do(cluster: Cluster) -> None:
    cluster.check_refusals("gpu-1", BAD)
