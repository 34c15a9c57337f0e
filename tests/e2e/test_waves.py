"""A running cluster is changed rack by rack: no job is killed, and what is bad stays drained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab_snapshots import SLURM, configured_machines
from lab_support import INTERRUPT, LAB_MARKS, Machines
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
LIMITS = "/etc/security/limits.d/90-rackwright.conf"
FIRST, SECOND = "wave 1 of 2 (gpu-1, the first dgx-h100)", "wave 2 of 2 (rack c02)"


class Cluster(Machines):
    def job(self, number: str) -> str:
        """State, exit code and restarts of a job."""
        told = self.on("head-1", f"scontrol --oneliner show job {number}")
        words = dict(word.partition("=")[::2] for word in told.split())
        return f"{words['JobState']} {words['ExitCode']} {words['Restarts']}"

    def submit(self, node: str) -> str:
        """The number of a job for ``node``, which runs until ``end`` lets it end well."""
        until = "until test -e /tmp/end; do sleep 0.3; done"
        self.on(node, "rm -f /tmp/end")
        return self.on(
            "head-1", f"sbatch --parsable --chdir=/tmp -w {node} --no-requeue --wrap '{until}'"
        )

    def end(self, node: str) -> None:
        """Let the job of a node end."""
        self.on(node, "touch /tmp/end")

    def states(self) -> dict[str, str]:
        """What Slurm says of the nodes: state and reason."""
        told = self.on("head-1", "sinfo -h -N -o '%N|%T|%E'").splitlines()
        return {line.split("|")[0]: line.split("|", 1)[1] for line in told}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("waves")
    with configured_machines(folder, "waves", "10.213.62.0/24", SLURM) as machines:
        yield Cluster(machines.lab, folder)


@pytest.fixture(scope="module")
def team(cluster: Cluster) -> Path:
    """A team's own variables, which are the change."""
    path = cluster.folder / "team.json"
    path.write_text(json.dumps({"all": {"vars": {"base_memlock": "4194304"}}}))
    return path


def test_a_change_goes_rack_by_rack_beside_the_jobs(cluster: Cluster, team: Path) -> None:
    more = ("--inventory", str(team))
    begin = ("--waves", "rack", "--limit", "slurm_compute", "--tags", "configure", *more)
    foreseen = json.loads(cluster.rackwright("configure", *begin, "--check", "--json"))
    assert [wave["hosts"] for wave in foreseen["waves"]] == [["gpu-1"], ["gpu-2"]]
    assert set(foreseen["would_change"]) == {"gpu-1", "gpu-2"}
    assert cluster.states() == {"gpu-1": "idle|none", "gpu-2": "idle|none"}

    # A job keeps the second rack from being changed; the run is interrupted while it waits.
    long = cluster.submit("gpu-2")
    _, said = cluster.configure_while(
        *begin, at={f"{SECOND}: 1 job still running on gpu-2": lambda: INTERRUPT}, expect=130
    )
    assert f"{FIRST}: resuming 1 node" in said
    assert "drained by us: gpu-2 (rackwright: change " in said
    states = cluster.states()
    assert states["gpu-1"] == "idle|none"
    assert states["gpu-2"].startswith("draining|rackwright: change ")
    assert cluster.job(long) == "RUNNING 0:0 0"
    assert "4194304" in cluster.on("gpu-1", f"cat {LIMITS}")
    assert "4194304" not in cluster.on("gpu-2", f"cat {LIMITS}")

    # The job ends, and one in the first rack runs while the second is changed and turns bad.
    beside = cluster.submit("gpu-1")

    def break_it() -> None:
        cluster.on("gpu-2", "rm /dev/nvidia7")
        assert cluster.job(long) == "COMPLETED 0:0 0", "the second rack is changed after its job"
        assert cluster.job(beside) == "RUNNING 0:0 0"

    output, said = cluster.configure_while(
        *("--resume", *more),
        at={
            f"{SECOND}: 1 job still running on gpu-2": lambda: cluster.end("gpu-2"),
            f"{SECOND}: verifying 1 host": break_it,
        },
        expect=4,
    )
    assert FIRST not in said, "what is done is not done again"
    assert f"{SECOND}: gpu-2 failed: 7 of 8 accelerators" in said
    assert "the change has stopped: 1 of 1 host of the wave failed, more than 20 %" in output
    assert "quarantined gpu-2: 7 of 8 accelerators" in output
    states = cluster.states()
    assert states["gpu-1"] == "mixed|none"
    assert states["gpu-2"].startswith("drained|rackwright: 7 of 8 accelerators (change ")
    assert cluster.job(beside) == "RUNNING 0:0 0"
    assert "4194304" in cluster.on("gpu-2", f"cat {LIMITS}")

    # Mended, it is taken back: by the change, because the change has drained it.
    cluster.on("gpu-2", "mknod -m 666 /dev/nvidia7 c 195 7")
    output, _ = cluster.configure_while("--resume", *more, at={f"{SECOND}: resuming 1 node": lambda: None}, expect=0)  # fmt: skip
    assert "quarantined" not in output
    assert wait_for(lambda: cluster.states()["gpu-2"] == "idle|none", 300, 0.5), cluster.states()
    assert cluster.job(beside) == "RUNNING 0:0 0"
    cluster.end("gpu-1")
    assert wait_for(lambda: cluster.job(beside) == "COMPLETED 0:0 0", 300, 0.5), cluster.job(beside)
    nothing = cluster.rackwright("configure", "--limit", "slurm_compute", "--tags", "configure", "--check", "--json", *more)  # fmt: skip
    assert {n: h["changed"] for n, h in json.loads(nothing)["hosts"].items() if h["changed"]} == {}


def test_a_whole_configuration_goes_rack_by_rack_on_a_busy_and_reserved_cluster(
    cluster: Cluster,
) -> None:
    """Every drained node failed the verification of its own slurmd: no whole wave ever passed."""
    more = cluster.folder / "more.json"
    more.write_text(json.dumps({"all": {"vars": {"base_memlock": "8388608"}}}))
    reservation = "ReservationName=works StartTime=now Duration=60 Users=root Nodes=gpu-2"
    cluster.on("head-1", f"scontrol create {reservation} Flags=maint,ignore_jobs")
    long, late = cluster.submit("gpu-1"), ""

    def follow() -> None:
        """The job of the first rack ends, and one begins there again when it is back."""
        cluster.end("gpu-1")

    def begin_again() -> None:
        nonlocal late
        late = cluster.submit("gpu-1")

    output, said = cluster.configure_while(
        *("--waves", "rack", "--limit", "slurm_compute", "--inventory", str(more)),
        at={
            "1 job still running on gpu-1": follow,
            f"{SECOND}: draining 1 node": begin_again,
        },
        expect=0,
    )
    assert "quarantined" not in output, output + said
    assert cluster.job(long) == "COMPLETED 0:0 0"
    assert cluster.job(late) == "RUNNING 0:0 0"
    for node in ("gpu-1", "gpu-2"):
        assert "8388608" in cluster.on(node, f"cat {LIMITS}")
    states = cluster.states()
    assert states["gpu-1"] == "mixed|none"
    assert states["gpu-2"] == "maint|none"
    cluster.end("gpu-1")
    cluster.on("head-1", "scontrol delete ReservationName=works")
    assert wait_for(lambda: cluster.states()["gpu-2"] == "idle|none", 300, 0.5), cluster.states()
