"""What a Slurm cluster in the lab survives: the loss of a controller, the reboot of a host."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.lab import lab as labs
from rackwright.lab.host import Host, switch_off
from rackwright.lab.lab import HostSpec, Lab
from rackwright.lab.system import run, wait_for
from rackwright.render.blueprints import find_template, write_blueprint

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]
HOSTS = [HostSpec("gpu-1", 8), HostSpec("head-1"), HostSpec("head-2")]
CHANGES = {
    'count: 4, racks: "c[01-02]"': 'count: 1, racks: "c[01-02]"',
    "type: cpu-2u, count: 1, racks: n01, per_rack: 1, start_unit: 20 U": (
        "type: cpu-2u, count: 2, racks: n01, per_rack: 2, start_unit: 20 U"
    ),
    "      - {name: login, role: login, type: cpu-2u, count: 1, racks: n01, per_rack: 1,"
    " start_unit: 24 U}\n": "",
    "    - {host: head-1}\n  accounting: {host: head-1}\n": (
        "    - {host: head-1}\n    - {host: head-2}\n  folders: {state: /shared/slurmctld}\n"
    ),
    "extra: {SlurmdParameters": "extra: {SlurmctldTimeout: 10, SlurmdParameters",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("failover")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKWRIGHT_STATE", str(folder))
        write_blueprint(find_template("lab"), folder, {})
        blueprint = folder / "blueprint.yaml"
        text = blueprint.read_text()
        for old, new in CHANGES.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        blueprint.write_text(text)
        made = labs.open_lab("fail", "10.213.9.0/24")
        try:
            labs.up(made, HOSTS, print)
            configure(blueprint)
            yield made
        finally:
            labs.down(made)


def configure(blueprint: Path) -> None:
    command = [sys.executable, "-m", "rackwright", "configure", str(blueprint), "--lab", "fail"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def the(lab: Lab, name: str) -> Host:
    (host,) = [host for host in lab.hosts() if host.name == name]
    return host


def on(lab: Lab, name: str, command: str, *, check: bool = True) -> str:
    return run(*lab.ssh(the(lab, name)), command, check=check, timeout_s=60).strip()


def state_of(lab: Lab, job: str) -> str:
    """The state of a job, as whichever controller answers knows it."""
    told = on(lab, "head-2", f"scontrol --oneliner show job {job}", check=False)
    return next((word[9:] for word in told.split() if word.startswith("JobState=")), "")


def test_a_host_that_reboots_comes_back_by_itself(lab: Lab) -> None:
    before = on(lab, "gpu-1", "cat /proc/sys/kernel/random/boot_id")
    on(lab, "gpu-1", "systemctl reboot", check=False)

    def is_back() -> bool:
        boot = on(lab, "gpu-1", "cat /proc/sys/kernel/random/boot_id", check=False)
        return bool(boot) and boot != before

    assert wait_for(is_back, 60, 0.5)
    assert wait_for(lambda: on(lab, "head-1", "sinfo -h -o %T") == "idle", 90, 1.0)
    assert on(lab, "head-1", "srun --gres=gpu:8 printenv CUDA_VISIBLE_DEVICES") == "0,1,2,3,4,5,6,7"


def test_the_backup_takes_over_and_the_job_ends_well(lab: Lab) -> None:
    submitted = on(lab, "head-1", "sbatch --parsable --gres=gpu:2 --wrap 'sleep 25'")
    assert wait_for(lambda: state_of(lab, submitted) == "RUNNING", 30, 1.0)
    switch_off(the(lab, "head-1"))

    def backup_leads() -> bool:
        return "backup) at head-2 is UP" in on(lab, "head-2", "scontrol ping", check=False)

    assert wait_for(backup_leads, 60, 1.0)
    assert wait_for(lambda: state_of(lab, submitted) == "COMPLETED", 120, 1.0)
    another = on(lab, "head-2", "sbatch --parsable --wrap true")
    assert wait_for(lambda: state_of(lab, another) == "COMPLETED", 60, 1.0), "it schedules, too"
