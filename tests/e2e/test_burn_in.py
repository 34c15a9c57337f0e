"""Burn-in on hosts of the lab with a real Slurm: a flipped bit, a slow node and an untested one are found by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab_snapshots import TRIO, configured_machines
from lab_support import LAB_MARKS, Machines, rackwright
from patched_blas import build, numpy_folders
from rackwright.nodelife.repair.journal import PART, Journal
from rackwright.nodelife.store import open_store, store_path
from rackwright_lab.system import wait_for

pytestmark = [*LAB_MARKS, pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler")]
NODES = ("gpu-1", "gpu-2", "gpu-3")
PACKAGES = "/usr/local/lib/python3.11/dist-packages"
WAITS = "rackwright: burn-in has not passed"


class Cluster(Machines):
    def state(self, node: str) -> str:
        return self.on("head-1", f"sinfo -h -N -n {node} -o %T").split("\n")[0]

    def reason(self, node: str) -> str:
        return self.on("head-1", f"sinfo -h -R -n {node} -o %E")

    def root(self, node: str) -> Path:
        (host,) = (one for one in self.lab.hosts() if one.name == node)
        return Path(host.root)

    def ledger(self, *words: object) -> Any:
        blueprint = self.folder / "blueprint.yaml"
        return json.loads(rackwright("ledger", *words, "--blueprint", blueprint, "--json"))

    def burn_in(self, *words: object, expect: int = 0) -> Any:
        return json.loads(self.rackwright("burn-in", "--json", *words, expect=expect))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("burnin")
    with configured_machines(folder, "burnin", "10.213.20.0/24", TRIO) as machines:
        made = Cluster(machines.lab, folder)
        for node in NODES:
            made.on(node, f"mkdir -p {PACKAGES}")
            for path in numpy_folders():
                shutil.copytree(path, made.root(node) / PACKAGES[1:] / path.name)
            made.on(node, "apt-get install --yes --quiet nccl-tests", timeout_s=120)
        yield made


@pytest.fixture
def layer(cluster: Cluster) -> Path:
    path = cluster.folder / "burn-in-layer.yaml"
    path.write_text("operations:\n  all_reduce: [{group: gpu, node: 460 GB/s, across: 350 GB/s}]\n")
    return path


def test_sound_nodes_pass_alone_and_in_groups_that_grow(cluster: Cluster, layer: Path) -> None:
    signed, results = cluster.folder / "burn-in.md", cluster.folder / "results.yaml"
    told = cluster.burn_in(
        *("--layer", layer, "--groups", "node,pair,hall"),
        *("--output", f"markdown={signed}", "--output", f"layer={results}"),
    )
    assert told["verdict"] == "pass", told
    assert set(told["nodes"]) == set(NODES)
    digests = {rate["name"] for rate in told["nodes"]["gpu-1"]["rates"]}
    assert {"gemm fp32", "gemm fp64", "dimm write", "storage read"} <= digests
    assert [group["kind"] for group in told["groups"]] == ["pair", "pair", "hall"]
    assert {group["gb_s"] for group in told["groups"]} == {370.0}
    assert "| Buyer | | | |" in signed.read_text()
    assert "passed: gpu-[1-3]" in results.read_text()
    assert {cluster.state(node) for node in NODES} == {"idle"}


def test_slow_node_is_found_in_halves(cluster: Cluster, layer: Path) -> None:
    for node in NODES:
        cluster.on(node, "echo slow=gpu-2 > /etc/nccl-tests-lab")
    try:
        told = cluster.burn_in("--layer", layer, "--groups", "node,hall", "--drain", expect=5)
    finally:
        for node in NODES:
            cluster.on(node, "rm -f /etc/nccl-tests-lab")
    (hall,) = told["groups"]
    assert hall["found"]["faulty"] == ["gpu-2"], hall
    assert told["nodes"]["gpu-2"]["verdict"] == "fail"
    assert told["nodes"]["gpu-1"]["verdict"] == told["nodes"]["gpu-3"]["verdict"] == "pass"
    assert "180 GB/s" in cluster.reason("gpu-2")
    cluster.on("head-1", "scontrol update NodeName=gpu-2 State=RESUME")
    assert wait_for(lambda: cluster.state("gpu-2") == "idle", 300, 0.5)


def test_host_whose_blas_flips_a_bit_is_found_by_name(cluster: Cluster, tmp_path: Path) -> None:
    library = build(tmp_path)
    shutil.copy(library, cluster.root("gpu-3") / "usr/local/lib/libpatched.so")
    cluster.on("gpu-3", "echo /usr/local/lib/libpatched.so > /etc/ld.so.preload")
    try:
        told = cluster.burn_in("--steps", "gemm", expect=5)
    finally:
        cluster.on("gpu-3", "rm /etc/ld.so.preload")
    verdicts = {name: node["verdict"] for name, node in told["nodes"].items()}
    assert verdicts == {"gpu-1": "pass", "gpu-2": "pass", "gpu-3": "fail"}
    (reason,) = told["nodes"]["gpu-3"]["reasons"]
    assert "equal products differ" in reason
    assert "bits 0x1000" in reason
    history = cluster.ledger("show", "gpu-3")
    assert any(e["what"] == "fault" and "0x1000" in e["text"] for e in history["entries"])


def test_node_without_a_passed_burn_in_takes_no_jobs(cluster: Cluster, tmp_path: Path) -> None:
    required = tmp_path / "required.yaml"
    required.write_text("operations: {burn_in: {required: true}}\n")
    # gpu-3 failed its last one.
    cluster.rackwright("configure", "--layer", required, "--limit", "gpu-1")
    assert cluster.state("gpu-3") == "drained"
    assert cluster.reason("gpu-3") == WAITS
    assert cluster.state("gpu-1") == "idle", "it passed"
    job = cluster.on("head-1", "sbatch --parsable --nodelist=gpu-3 --chdir=/tmp --wrap true")
    told = cluster.burn_in("--layer", required, "--limit", "gpu-3", "--steps", "gemm,cpu")
    assert told["nodes"]["gpu-3"]["verdict"] == "pass"
    assert wait_for(lambda: cluster.state("gpu-3") in {"idle", "mixed", "allocated"}, 300, 0.5)
    assert cluster.on("head-1", "scontrol show reservation", check=False).startswith(
        "No reservations"
    )
    cluster.on("head-1", f"scancel {job}", check=False)


def test_drained_node_is_proven_without_a_job_and_stays_drained(cluster: Cluster) -> None:
    """As the repair loop asks for it: Slurm would start no job there."""
    with open_store(store_path("bench"), [PART]) as connection:
        journal = Journal(connection)
        for step in ("suspect", "drain", "empty", "repair", "repaired"):
            journal.step("gpu-2", step, 1.0, "Xid 79")
    reason = "rackwright: repair: gpu-off-the-bus"
    cluster.on("head-1", f"scontrol update NodeName=gpu-2 State=DRAIN Reason='{reason}'")
    told = cluster.burn_in("--limit", "gpu-2", "--steps", "gemm,cpu")
    assert told["nodes"]["gpu-2"]["verdict"] == "pass", told
    assert (cluster.state("gpu-2"), cluster.reason("gpu-2")) == ("drained", reason)
    cluster.on("head-1", "scontrol update NodeName=gpu-2 State=RESUME")


SMI = """#!/bin/sh
# Tells of one GPU with a serial number; these hosts have no driver, not even a stand-in.
[ "$*" = "--query --xml-format" ] || exit 1
echo '<nvidia_smi_log><gpu id="0000:1b:00.0"><serial>SERIAL</serial><uuid>GPU-1</uuid></gpu></nvidia_smi_log>'
"""


def test_swapped_part_is_seen_by_verify(cluster: Cluster) -> None:
    smi = cluster.root("gpu-1") / "usr/bin/nvidia-smi"
    try:
        for serial in ("1650111", "1650222"):
            smi.write_text(SMI.replace("SERIAL", serial))
            smi.chmod(0o755)
            cluster.rackwright("verify", "--limit", "gpu-1")
    finally:
        smi.unlink()
    history = cluster.ledger("show", "gpu-1")
    moves = [entry["text"] for entry in history["entries"] if entry["what"] == "move"]
    assert moves == ["gpu-1: GPU in 0000:1b:00.0 is 1650222; it was 1650111"]
    (place,) = cluster.ledger("show", "1650111")["places"]
    assert (place["node"], place["until"] is not None) == ("gpu-1", True)
