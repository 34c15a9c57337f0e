"""A running cluster gets another driver, with the reboots that takes; what fails goes back."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab_snapshots import SLURM, configured_machines
from lab_support import LAB_MARKS, Machines
from rackwright_lab.mock_packages.gpu import DRIVER, FAULTY_DRIVER, FORMER_DRIVER
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
NODES = ("gpu-1", "gpu-2")


class Cluster(Machines):
    def bill(self, version: str) -> None:
        """Have the blueprint name a driver, and just that one."""
        path = self.folder / "blueprint.yaml"
        lines = [line for line in path.read_text().splitlines() if "name: drivers" not in line]
        made = "\n".join(lines).replace("\n  software:\n", "\n")
        entry = f"    - {{name: drivers, driver: {version}, fabric_manager: {version}}}"
        assert made.count("\noperations:\n") == 1
        path.write_text(made.replace("\noperations:\n", f"\noperations:\n  software:\n{entry}\n") + "\n")  # fmt: skip

    def loaded(self, node: str) -> str:
        """The driver that runs."""
        query = "nvidia-smi --query-gpu=driver_version --format=csv,noheader"
        return self.on(node, f"{query} | sort -u")

    def boots(self) -> dict[str, str]:
        """Which boot each node is in."""
        return {node: self.on(node, "cat /proc/sys/kernel/random/boot_id") for node in NODES}

    def states(self) -> dict[str, str]:
        """What Slurm says of the nodes: state and reason."""
        told = self.on("head-1", "sinfo -h -N -o '%N|%T|%E'").splitlines()
        return {line.split("|")[0]: line.split("|", 1)[1] for line in told}

    def job(self, number: str) -> str:
        """State, exit code and restarts of a job."""
        told = self.on("head-1", f"scontrol --oneliner show job {number}")
        words = dict(word.partition("=")[::2] for word in told.split())
        return f"{words['JobState']} {words['ExitCode']} {words['Restarts']}"

    def all_idle(self) -> bool:
        return wait_for(lambda: set(self.states().values()) == {"idle|none"}, 300, 0.5)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("upgrade")
    with configured_machines(folder, "upgr", "10.213.70.0/24", SLURM) as machines:
        made = Cluster(machines.lab, folder)
        made.bill(FORMER_DRIVER)
        made.rackwright("configure")
        yield made


def test_a_first_unit_that_fails_is_rolled_back_and_a_good_driver_goes_to_all(
    cluster: Cluster,
) -> None:
    assert {cluster.loaded(node) for node in NODES} == {FORMER_DRIVER}
    before = cluster.boots()

    cluster.bill(FAULTY_DRIVER)
    shown = cluster.rackwright("upgrade")
    assert f"driver {FORMER_DRIVER} → {FAULTY_DRIVER} on gpu-[1-2]: drained and rebooted" in shown
    assert cluster.boots() == before
    assert cluster.all_idle(), cluster.states()

    told = json.loads(cluster.rackwright("upgrade", "--yes", "--json", expect=4))
    failed = "gpu-1, which is tried first, failed, and is back on the versions before"
    assert told["stopped"] == failed
    assert "gpu-1 has 7 of 8 GPUs" in told["undone"]["gpu-1"]
    assert told["quarantine"] == {}
    assert told["versions"]["gpu-1"]["driver"] == [FORMER_DRIVER, FORMER_DRIVER]
    after = cluster.boots()
    assert after["gpu-1"] != before["gpu-1"], "the way there and back has reboots"
    assert after["gpu-2"] == before["gpu-2"], "nothing goes on after the first unit"
    assert {cluster.loaded(node) for node in NODES} == {FORMER_DRIVER}
    assert cluster.all_idle(), cluster.states()

    cluster.bill(DRIVER)
    script = "until test -e /tmp/end; do sleep 0.3; done"
    job = cluster.on("head-1", f"sbatch --parsable --chdir=/tmp -w gpu-2 --no-requeue --wrap '{script}'")  # fmt: skip
    assert wait_for(lambda: cluster.job(job).startswith("RUNNING"), 300, 0.5)
    cluster.on("gpu-2", "(sleep 45; touch /tmp/end) >/dev/null 2>&1 &")
    told = json.loads(cluster.rackwright("upgrade", "--yes", "--json"))
    assert told["stopped"] is None
    assert [wave["state"] for wave in told["waves"]] == ["done", "done"]
    for node in NODES:
        assert told["versions"][node]["driver"] == [FORMER_DRIVER, DRIVER]
        assert cluster.loaded(node) == DRIVER
    done = cluster.boots()
    assert all(done[node] != after[node] for node in NODES)
    assert cluster.job(job) == "COMPLETED 0:0 0", "its node was rebooted after it"
    assert cluster.all_idle(), cluster.states()
    cluster.rackwright("upgrade", expect=3)


def test_an_upgrade_of_slurm_beyond_the_window_touches_nothing(cluster: Cluster) -> None:
    path = cluster.folder / "blueprint.yaml"
    text, boots = path.read_text(), cluster.boots()
    versions = cluster.on("head-1", "slurmctld -V; slurmdbd -V")
    assert text.count('version: "22.05"') == 1
    path.write_text(text.replace('version: "22.05"', 'version: "24.11"'))
    try:
        cluster.rackwright("upgrade", "--yes", expect=2)
    finally:
        path.write_text(text)
    assert cluster.on("head-1", "slurmctld -V; slurmdbd -V") == versions
    assert cluster.boots() == boots
    assert cluster.all_idle(), cluster.states()


def test_a_release_that_no_repository_has_changes_no_package(cluster: Cluster) -> None:
    """The database's host is asked first, is as it was, and nothing else has its turn."""
    path = cluster.folder / "blueprint.yaml"
    text = path.read_text()
    packages = cluster.on("head-1", "dpkg-query --show 'slurm*'")
    path.write_text(text.replace('version: "22.05"', 'version: "23.11"'))
    try:
        told = json.loads(cluster.rackwright("upgrade", "--yes", "--json", expect=4))
        cluster.rackwright("configure", expect=2)  # it exchanges no installed package
    finally:
        path.write_text(text)
    assert "does not offer slurm-client 23.11, but 22.05" in told["undone"]["head-1"], told
    assert [wave["state"] for wave in told["waves"]][1:] == ["not started"] * 2
    assert cluster.on("head-1", "dpkg-query --show 'slurm*'") == packages
    assert cluster.on("head-1", "scontrol ping").endswith("is UP")
    assert cluster.all_idle(), cluster.states()
