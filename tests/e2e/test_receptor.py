"""Configuration from several machines: three workers, each in the network of its own lab host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab_snapshots import TRIO
from lab_support import LAB_MARKS, rackwright
from rackwright.receptor.control import Control
from rackwright.receptor.pki import make_signing_key
from rackwright_lab.system import run, wait_for
from receptor_support import (
    LOST_AFTER_S,
    WORKERS,
    Mesh,
    a_mesh,
    changes,
    failures,
)

pytestmark = LAB_MARKS


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    with a_mesh(tmp_path_factory.mktemp("receptor")) as made:
        yield made


UNDO = """\
set -e
for unit in slurmctld slurmd munge; do
  test ! -e /lib/systemd/system/$unit.service || systemctl disable --quiet --now $unit
done
rm -r /etc/slurm /etc/munge/munge.key /etc/security/limits.d/90-rackwright.conf
rm -rf /var/spool/slurmctld /var/spool/slurmd
apt-get purge --yes --quiet prometheus-node-exporter
"""
"""Takes Slurm, the key of the cluster and a package from a host."""
UNDONE = {"base", "munge", "node_exporter", "slurm_config"}


def test_workers_configure_their_own_hosts_and_leave_nothing_behind(mesh: Mesh) -> None:
    hosts = [spec.name for spec in TRIO.hosts]
    for name in hosts:
        run(*mesh.lab.ssh(mesh.host(name)), UNDO)
    made = mesh.configure()
    assert failures(made) == {}
    assert sorted(made["hosts"]) == hosts
    for name, tasks in changes(made).items():
        own = "slurm_controller" if name == "head-1" else "slurm_compute"
        assert UNDONE | {own} <= {task.partition(" / ")[0] for task in tasks}, name
    assert sorted(changes(made)) == hosts
    runs = {path.parent.name for path in mesh.folder.glob("configure/*/runner/workers/*/hosts")}
    assert runs == set(WORKERS)
    for node, name in WORKERS.items():
        (told,) = mesh.folder.glob(f"configure/*/runner/workers/{node}/hosts/artifacts/stdout")
        others = set(WORKERS.values()) - {name}
        assert name in told.read_text()
        assert not any(other in told.read_text() for other in others), "only its own host"
    assert mesh.left_behind() == []

    again = mesh.configure("--limit", "slurm_compute")
    assert (failures(again), changes(again), len(again["hosts"])) == ({}, {}, 3)


def test_workers_change_a_running_cluster_in_waves(mesh: Mesh) -> None:
    words = ("--waves", "unit", "--limit", "gpu-1,gpu-2", "--tags", "configure")
    made = mesh.configure(*words)
    assert {wave["state"] for wave in made["waves"]} == {"done"}
    assert sorted(host for wave in made["waves"] for host in wave["hosts"]) == ["gpu-1", "gpu-2"]
    assert (made["drained"], made["stopped"], made["quarantine"]) == ({}, None, {})
    for node in ("hall-1", "hall-2"):
        (told,) = mesh.folder.glob(f"configure/*/runner/workers/{node}/hosts/artifacts/stdout")
        assert "[acceptance : " in told.read_text(), "it was verified from there"
    assert mesh.left_behind() == []

    mesh.stop("hall-2")
    assert wait_for(lambda: "hall-2" not in mesh.control.nodes(), 300)
    over = ("--lab", "recep", "--workers", mesh.folder / "workers.yaml")
    rackwright("configure", mesh.blueprint, *over, *words, expect=4)
    states = run(*mesh.lab.ssh(mesh.host("head-1")), "sinfo -h -N -o '%N %T'", timeout_s=300)
    assert "drain" not in states, "nothing was drained for a worker that is not there"
    mesh.start("hall-2")
    assert wait_for(mesh.connected, 300)


def test_hosts_of_workers_that_are_lost_are_quarantined_and_the_others_finish(mesh: Mesh) -> None:
    mesh.stop("hall-1")
    lost = mesh.configure_and_stop("hall-2", "--limit=slurm_compute", "--tags=configure")
    assert failures(lost) == {
        "gpu-1": "the worker 'hall-1' is not connected",
        "gpu-2": f"the worker 'hall-2' was out of reach for more than {LOST_AFTER_S} s",
    }
    assert set(lost["quarantine"]) == {"gpu-1", "gpu-2"}
    assert lost["hosts"]["gpu-3"]["ok"] > 5

    mesh.start("hall-1")
    mesh.start("hall-2")
    assert wait_for(mesh.connected, 300)
    mended = mesh.configure("--retry", "--tags", "configure")
    assert (set(mended["hosts"]), failures(mended)) == ({"gpu-1", "gpu-2"}, {})
    assert set(mended["quarantine"]) == {"gpu-1", "gpu-2"}, "these were not all the steps"
    assert wait_for(lambda: mesh.left_behind() == [], 300), mesh.left_behind()


def test_a_worker_runs_nothing_for_another_worker(mesh: Mesh) -> None:
    """Whoever has taken over a worker has its certificate, and can sign with a key of his own."""
    mesh.stop("hall-1")
    place = mesh.nodes / "hall-1"
    good = (place / "receptor.yml").read_text()
    service = "control-service: {service: control, tls: mesh}"
    assert service in good
    rogue = good.replace(service, f"{service[:-1]}, filename: rogue.sock}}")
    (place / "receptor.yml").write_text(
        f"{rogue}- work-signing: {{privatekey: rogue.key, tokenexpiration: 1h}}\n"
    )
    (place / "rogue.key").write_bytes(make_signing_key())
    (mesh.folder / "work").write_text("{}")
    mesh.start("hall-1")
    try:
        assert wait_for(mesh.connected, 300)
        control = Control(place / "rogue.sock")
        assert wait_for(lambda: control.nodes() >= {"controller", "hall-2"}, 300)
        units = [
            control.submit(node, mesh.folder / "work", begin_within_s=3)
            for node in ("hall-2", "controller")
        ]
        assert wait_for(lambda: all(control.unit(unit).state == "Failed" for unit in units), 300)
        assert all("expired" in control.unit(unit).detail for unit in units), "it reached nobody"
        assert not list((mesh.nodes / "hall-2/data/hall-2").glob("*"))
    finally:
        mesh.stop("hall-1")
        (place / "receptor.yml").write_text(good)
        mesh.start("hall-1")
