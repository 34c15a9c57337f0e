"""Promises of the templates, kept by the daemons of a release of Slurm: failover, segments, shares, lost devices.

slurmctld places jobs on nodes that never come up, except where a slurmd runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
import yaml

from node_support import PROGRAM
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.slurm import render_slurm
from rackwright.resources import bundled
from slurm_machines import SlurmMachine, slurm_machines, wait_for, with_placed_jobs

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="not installed: debootstrap"),
]
SUITE = "trixie"


def files_of(folder: Path, template: str, case: str) -> dict[str, str]:
    """Return the files of Slurm that a template makes with the answers of one of its cases."""
    place = bundled("templates") / "blueprints" / template / "template-test.yaml"
    answers = yaml.safe_load(place.read_text())["cases"][case]
    return dict(
        render_slurm(load_plan(write_blueprint(find_template(template), folder, answers)[0]).plan)
    )


def controllers(files: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return the files with these controllers alone, and a backup that does not wait for minutes."""
    text = re.sub(r"^SlurmctldHost=.*\n", "", files["slurm.conf"], flags=re.MULTILINE)
    first = "".join(f"SlurmctldHost={name}\n" for name in names)
    return {**files, "slurm.conf": f"{text}{first}SlurmctldTimeout=10\n"}


def start(machine: SlurmMachine, files: Mapping[str, str]) -> None:
    """Start slurmctld with the files, and wait until it answers."""
    machine.put(files)
    machine.start("slurmctld -D -v", "slurmctld.log")
    wait_for(lambda: is_up(machine, machine.name), f"slurmctld of {machine.name}")


def is_up(machine: SlurmMachine, name: str) -> bool:
    return f" at {name} is UP" in machine.on("scontrol ping", check=False)


def test_backup_takes_over_with_the_jobs_that_the_primary_had(tmp_path: Path) -> None:
    """Every template for metal had three controllers and a state folder on each: no backup ever took over."""
    files = files_of(tmp_path / "blueprint", "onprem-h100", "shared-state")
    assert "StateSaveLocation=/srv/slurm/slurmctld\n" in files["slurm.conf"]
    files = controllers(with_placed_jobs(files), "head-1", "head-2")
    with slurm_machines(tmp_path, SUITE, "head-1", "head-2") as (first, second):
        first.on("mkdir /srv/slurm/slurmctld; chown slurm:slurm /srv/slurm/slurmctld")
        start(first, files)
        second.put(files)
        second.start("slurmctld -D -v", "slurmctld.log")
        wait_for(lambda: is_up(first, "head-2"), "the backup")
        first.on(
            "for n in 1 2; do sbatch -N2 --gres=gpu:8 --wrap 'sleep 3600'; done; sbatch -H -N1 --wrap true"
        )
        first.on("touch /srv/slurm/sent")  # it saves them every few seconds
        saved = "test /srv/slurm/slurmctld/job_state -nt /srv/slurm/sent && echo yes"
        wait_for(lambda: first.on(saved, check=False) == "yes", "the jobs to be saved")
        first.on("pkill -9 slurmctld")
        wait_for(lambda: "3" in second.on("squeue -h -o %i", check=False).split(), "the jobs")
        assert sorted(second.on("squeue -h -o %i").split()) == ["1", "2", "3"]
        assert second.on("sbatch -N1 --wrap true") == "Submitted batch job 4", "it takes jobs, too"


def test_without_shared_state_the_backup_never_takes_over(tmp_path: Path) -> None:
    """REL-005 blocks it: this is what it is about."""
    files = files_of(tmp_path / "blueprint", "onprem-h100", "shared-state")
    files = controllers(with_placed_jobs(files), "head-1", "head-2")
    text = files["slurm.conf"].replace("/srv/slurm/slurmctld", "/var/spool/slurmctld")
    with slurm_machines(tmp_path, SUITE, "head-1", "head-2") as (first, second):
        start(first, {**files, "slurm.conf": text})
        second.put({**files, "slurm.conf": text})
        second.start("slurmctld -D -v", "slurmctld.log")
        first.on("sleep 5; pkill -9 slurmctld")
        wait_for(lambda: "heartbeat file" in second.log("slurmctld.log"), "the backup's word")
        assert not is_up(second, "head-2")


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmMachine]:
    """Yield a controller of eight NVL72, as the template has them."""
    folder = tmp_path_factory.mktemp("racks")
    files = files_of(folder / "blueprint", "onprem-gb200-nvl72", "eight-racks")
    with slurm_machines(folder, SUITE, "head-1") as (machine,):
        start(machine, controllers(with_placed_jobs(files), "head-1"))
        yield machine


def racks_of(machine: SlurmMachine, job: str) -> list[set[int]]:
    """Return the racks of each segment of a job that would be placed; none where it is refused or waits."""
    told = machine.on(f"sbatch --test-only --exclusive {job} --wrap true 2>&1", check=False)
    _, _, where = told.partition(" on nodes ")
    numbers: list[int] = []
    for part in re.findall(r"[\d-]+(?=[\],])|(?<=nvl72-)\d+", where.replace("nvl72-[", "")):
        low, _, high = part.partition("-")
        numbers += range(int(low), int(high or low) + 1)
    size = int(job.split("--segment=")[1])
    places = [(number - 1) // 18 for number in numbers]
    return [set(places[start : start + size]) for start in range(0, len(places), size)]


@pytest.mark.parametrize(
    "job",
    ["-N18 --segment=18", "-N18 --segment=9", "-N16 --segment=16", "-N12 --segment=12",
     "-N17 --segment=17", "-N36 --segment=18", "-N8 --segment=4"],
)  # fmt: skip
def test_segment_stays_within_an_nvlink_domain(racks: SlurmMachine, job: str) -> None:
    """With block sizes of 9 and 18 Slurm refused segments of 12 to 18 on an empty cluster."""
    placed = racks_of(racks, job)
    assert placed, "it is placed"
    assert all(len(segment) == 1 for segment in placed)


def test_segment_of_what_is_left_after_a_lost_tray_stays_within_a_domain(
    racks: SlurmMachine,
) -> None:
    first = racks.on("scontrol show hostnames $(sinfo -h -o %N)").split()[::18]
    assert len(first) == 8
    for node in first:
        racks.on(f"scontrol update NodeName={node} State=DRAIN Reason=tray")
    try:
        for size in (17, 16, 9):
            (segment,) = racks_of(racks, f"-N{size} --segment={size}")
            assert len(segment) == 1
    finally:
        racks.on(f"scontrol update NodeName={','.join(first)} State=RESUME")


def test_jobs_without_gpus_share_a_node_with_those_that_have_some(tmp_path: Path) -> None:
    """A job of one core had all memory of an eight-GPU node, and so the node."""
    files = files_of(tmp_path / "blueprint", "onprem-h100", "three-feeds")
    with slurm_machines(tmp_path, SUITE, "head-1") as (machine,):
        start(machine, controllers(with_placed_jobs(files), "head-1"))
        jobs = ("-n1", "-n1", "-n1 --gres=gpu:1", "-n1 --gpus=1 -c2")
        machine.on("; ".join(f"sbatch {job} --wrap 'sleep 99'" for job in jobs))
        wait_for(lambda: machine.on("squeue -h -o %N").count("dgx-01") == 4, "one node for all")
        memory = machine.on("squeue -h -S i -o %m").split()
        assert memory[0] == memory[1] != memory[2]
        assert memory[2] == memory[3] == "249036M", "the share of a GPU, however many cores it has"


def on_one_host(files: Mapping[str, str], group: str, name: str) -> dict[str, str]:
    """Return the files for a host that runs slurmctld and slurmd, without control groups and databases."""

    def alone(match: re.Match[str]) -> str:
        return name if match.group().startswith(group) else ""

    out = (
        r"^(Accounting\w*|Prolog|Epilog|HealthCheck\w*|JobAcct\w*|PrologFlags|TopologyPlugin)=.*\n"
    )
    text = re.sub(out, "", files["slurm.conf"], flags=re.MULTILINE)
    text = re.sub(r"^(ProctrackType=).*", r"\1proctrack/linuxproc", text, flags=re.MULTILINE)
    text = re.sub(r"^(TaskPlugin=).*", r"\1task/none", text, flags=re.MULTILINE)
    text = re.sub(rf"{group}-\[[^]]*\]", alone, text)
    text += "SlurmdParameters=config_overrides\n"
    # There are no GPUs that a driver would find.
    gres = re.sub(rf"{group}-\[[^]]*\]| AutoDetect=nvidia", alone, files["gres.conf"])
    return {"slurm.conf": text, "gres.conf": gres, "cgroup.conf": "CgroupPlugin=disabled\n"}


def test_slurmd_comes_up_without_a_gpu_and_the_node_drains_with_the_reason(tmp_path: Path) -> None:
    """slurmd 24.11 ended at the missing /dev/nvidia7, and its node was down without a reason."""
    files = controllers(files_of(tmp_path / "blueprint", "onprem-h100", "three-feeds"), "dgx-01")
    made = on_one_host(files, "dgx", "dgx-01")
    with slurm_machines(tmp_path, SUITE, "dgx-01") as (machine,):
        for number in range(7):
            machine.on(f"mknod /dev/nvidia{number} c 195 {number}")
        start(machine, made)
        slurmd = machine.start("slurmd -D -N dgx-01", "slurmd.log")
        assert slurmd.wait(timeout=90) != 0
        assert "can't stat gres.conf file /dev/nvidia7" in machine.log("slurmd.log")

        devices = [f"{machine.root}/dev/nvidia{number}" for number in range(8)]
        settings = tmp_path / "settings.json"
        settings.write_text(json.dumps({
            "node": "dgx-01", "accelerators": 8, "device_pattern": f"{machine.root}/dev/nvidia[0-9]*",
            "devices": devices, "mounts": [], "free": [], "services": [], "faults": [],
            "verdict": str(tmp_path / "verdict.json"),
        }))  # fmt: skip
        bin_ = tmp_path / "bin"
        bin_.mkdir()
        (bin_ / "scontrol").write_text(f'#!/bin/sh\nexec chroot {machine.root} scontrol "$@"\n')
        (bin_ / "scontrol").chmod(0o755)
        program = tmp_path / "node_health.py"
        paths = f'PATHS = "{bin_}:/usr/sbin:/usr/bin:/sbin:/bin"'
        source = re.sub(r"^PATHS = .*", paths, PROGRAM.read_text(), flags=re.MULTILINE)
        program.write_text(source.replace("DRIVER_S = 20", "DRIVER_S = 0"))
        words = [*machine.enter(), sys.executable, str(program), "--settings", str(settings)]
        subprocess.run([*words, "--start"], check=True)
        machine.start("slurmd -D -N dgx-01", "slurmd.log")
        wait_for(lambda: state_of(machine, "dgx-01").startswith("idle"), "slurmd")
        assert subprocess.run([*words, "--prolog"], check=False).returncode == 1
        assert subprocess.run(words, check=False).returncode == 1
        assert state_of(machine, "dgx-01").startswith("drain")
        reason = machine.on("sinfo -h -n dgx-01 -o %E")
        assert reason == "node health: 7 of 8 accelerators"


def state_of(machine: SlurmMachine, node: str) -> str:
    return machine.on(f"sinfo -h -n {node} -o %T", check=False)


def is_idle(machine: SlurmMachine, node: str) -> bool:
    return state_of(machine, node).startswith("idle")


def test_mi300x_nodes_come_up_with_all_their_gpus(tmp_path: Path) -> None:
    """AutoDetect=rsmi without its library gave a node no GPU, and it was invalid."""
    files = controllers(files_of(tmp_path / "blueprint", "onprem-mi300x", "one-unit"), "amd-01")
    made = on_one_host(files, "amd", "amd-01")
    with slurm_machines(tmp_path, SUITE, "amd-01") as (machine,):
        machine.on("mkdir /dev/dri")
        for number in range(64):  # the kernel makes eight for each GPU
            machine.on(f"mknod /dev/dri/renderD{128 + number} c 226 {128 + number}")
        start(machine, made)
        machine.start("slurmd -D -N amd-01", "slurmd.log")
        wait_for(lambda: state_of(machine, "amd-01").startswith("idle"), "slurmd")
        told = machine.on("scontrol show node amd-01")
        assert "Gres=gpu:mi300x:8" in told
        assert "State=IDLE" in told
        told = machine.on("srun --gpus=2 printenv")
        assert "ROCR_VISIBLE_DEVICES=0,1" in told.splitlines()
        assert "CUDA_VISIBLE_DEVICES" not in told


MIXED = {
    "sites": [
        {
            "name": "sjc1",
            "node_groups": [
                {"name": "amd", "role": "compute", "type": "supermicro-as-8125gs-tnmr2", "count": 2,
                 "racks": "c[01-02]", "per_rack": 1},
            ],
        },
        {"name": "cloud", "node_groups": [{"name": "train", "type": "trn2.48xlarge"}]},
    ],
    "facts": [
        {"product": "supermicro-as-8125gs-tnmr2", "field": field, "value": value, "source": "a test",
         "date": "2026-11-21", "confidence": "secondary"}
        for field, value in (("cpus", 96), ("sockets", 2), ("threads_per_core", 1), ("host_memory", "2000000 MiB"))
    ],
    "scheduler": {"topology": {"plugin": "flat"}, "partitions": [{"name": "amd", "groups": ["amd"]}]},
}  # fmt: skip
"""AMD's and AWS's accelerators beside the H100 of the template ``hybrid-h100``."""
NODES = {"dgx-01": "dgx-[01-32]", "amd-1": "amd-[1-2]", "train-0001": "train-[0001-0016]"}
"""The node of each kind that has a slurmd, and its group."""


def test_accelerators_of_three_makers_are_scheduled_by_their_type(tmp_path: Path) -> None:
    """One Slurm has H100, MI300X and Trainium, each with the device files and the variable of its maker."""
    layer = tmp_path / "layer.yaml"
    layer.write_text(yaml.safe_dump(MIXED))
    place = write_blueprint(find_template("hybrid-h100"), tmp_path / "blueprint", {})[0]
    files = controllers(dict(render_slurm(load_plan(place, [layer]).plan)), "head-1")
    made = on_one_host(files, "nothing", "nothing")
    for node, group in NODES.items():
        made = {name: text.replace(group, node) for name, text in made.items()}
    text = re.sub(r"NodeAddr=\S+ ", "", made["slurm.conf"]).replace(" Topology=flat", "")
    text = re.sub(r" AutoDetect=nvidia", "", text)
    with slurm_machines(tmp_path, SUITE, "head-1", *NODES) as (head, *machines):
        start(head, {**made, "slurm.conf": text})
        makes = (
            "for n in $(seq 0 7); do mknod /dev/nvidia$n c 195 $n; done",
            "mkdir /dev/dri; for n in $(seq 128 191); do mknod /dev/dri/renderD$n c 226 $n; done",
            "for n in $(seq 0 15); do mknod /dev/neuron$n c 240 $n; done",
        )
        for machine, devices in zip(machines, makes, strict=True):
            machine.on(devices)
            machine.put({**made, "slurm.conf": text})
            machine.start(f"slurmd -D -N {machine.name}", "slurmd.log")
        for node in NODES:
            wait_for(partial(is_idle, head, node), f"slurmd of {node}")
        ran = {}
        for partition, wanted in (
            ("metal", "gpu:h100:2"),
            ("amd", "gpu:mi300x:3"),
            ("cloud", "neuron:trainium2:16"),
        ):
            said = head.on(f"srun -p {partition} --gres={wanted} printenv").splitlines()
            known = dict(line.split("=", 1) for line in said if "=" in line)
            ran[known["SLURMD_NODENAME"]] = known
        assert list(ran) == list(NODES)
        assert ran["dgx-01"]["CUDA_VISIBLE_DEVICES"] == "0,1"
        assert ran["amd-1"]["ROCR_VISIBLE_DEVICES"] == "0,1,2"
        assert "CUDA_VISIBLE_DEVICES" not in ran["amd-1"]
        assert not {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} & set(ran["train-0001"])
        for partition, other in (("metal", "gpu:mi300x:1"), ("amd", "neuron:trainium2:1")):
            refused = head.on(f"sbatch -p {partition} --gres={other} --wrap true 2>&1", check=False)
            assert "Requested node configuration is not available" in refused
