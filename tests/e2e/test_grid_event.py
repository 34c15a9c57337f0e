"""A demand-response event of a real OpenADR server: limits are sent, kept to, and given back.

The server is openleadr's; hosts are this machine, each with a driver that remembers its limit, reached by real Ansible.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from openadr_machine import environment
from rackwright.policy.packs.loader import builtin_pack
from rackwright_lab.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

SHARE = 0.8
SECONDS = 120.0
CONTRACT_W, RACKS_W, PUE = 1_100_000, 696_080, 1.35
BATCH = 12
"""Nodes with jobs that give way; the others have protected ones."""
DRIVER = """#!/bin/sh
file={folder}/$RACKWRIGHT_HOST
[ -e $file ] || echo 700.00 > $file
case $1 in
  --power-limit=*) echo "${{1#--power-limit=}}.00" > $file; echo "$RACKWRIGHT_HOST" >> {folder}.touched;;
  *) for n in 1 2 3 4 5 6 7 8; do cat $file; done;;
esac
"""


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    """A folder with a blueprint, the answers of its Slurm, and an inventory of hosts with drivers."""
    document = yaml.safe_load((builtin_pack() / "fixtures/slurm.yaml").read_text())
    document["operations"] = {
        "power_classes": [
            {"name": "batch", "partitions": ["gpu"]},
            {"name": "serve", "qos": ["urgent"], "protected": True},
        ]
    }
    (tmp_path / "blueprint.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    jobs = [
        {
            "job_id": 1,
            "job_state": ["RUNNING"],
            "partition": "gpu",
            "qos": "",
            "nodes": f"dgx-[01-{BATCH}]",
        },
        {
            "job_id": 2,
            "job_state": ["RUNNING"],
            "partition": "gpu",
            "qos": "urgent",
            "nodes": f"dgx-[{BATCH + 1}-64]",
        },
    ]
    (tmp_path / "nodes.json").write_text('{"nodes": []}')
    (tmp_path / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    (tmp_path / "cards").mkdir()
    folder = tmp_path / "bin"
    folder.mkdir()
    programs = {"nvidia-smi": DRIVER.format(folder=tmp_path / "cards")}
    names = [f"dgx-{number:02d}" for number in range(1, 65)]
    programs |= {f"sh-{n}": f'#!/bin/sh\nRACKWRIGHT_HOST={n} exec /bin/sh "$@"\n' for n in names}
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)
    hosts = {
        name: {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": sys.executable,
            "ansible_shell_executable": str(folder / f"sh-{name}"),
        }
        for name in names
    }
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    return tmp_path


@contextlib.contextmanager
def running(*command: str, log: Path, **changes: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **changes})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def listens(port: int) -> bool:
    """Return True if a server answers at the port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def watts(hall: Path) -> float:
    """Power of the site by its drivers, as the plan counts it."""
    # A driver that is being asked has emptied its file, and writes it again.
    limits = [float(path.read_text() or 700) for path in (hall / "cards").iterdir()]
    return (RACKS_W - sum((700 - limit) * 8 for limit in limits)) * PUE


def test_an_event_lowers_the_site_and_ends(hall: Path) -> None:
    python = str(environment())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = [
        python,
        str(Path(__file__).parents[1] / "openadr_machine.py"),
        str(port),
        str(SHARE),
        str(SECONDS),
    ]
    words = [
        *(python, "-m", "rackwright", "power", str(hall / "blueprint.yaml"), "--send", "--once"),
        *("--openadr", f"http://127.0.0.1:{port}/OpenADR2/Simple/2.0b", "--ven", "hall"),
        *("--inventory", str(hall / "hosts.json"), "--answers", f"sjc1={hall}", "--forks", "4"),
    ]
    path = f"{hall}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    with running(*server, log=hall / "server.log"):
        assert wait_for(lambda: listens(port), 300, 0.2), (hall / "server.log").read_text()
        with running(*words, log=hall / "node.log", PATH=path, HOME=str(hall)) as node:
            least, below = watts(hall), None
            began = time.monotonic()
            while node.poll() is None:
                assert time.monotonic() - began < 600, (hall / "node.log").read_text()
                least = min(least, watts(hall))
                if below is None and least <= SHARE * CONTRACT_W:
                    below = time.monotonic() - began
                time.sleep(0.5)
            told = (hall / "node.log").read_text()
            assert node.returncode == 0, told
    assert "answers optIn" in (hall / "server.log").read_text()
    assert below is not None, told
    print(
        f"below {SHARE:.0%} of the contract {below:.0f} s after the start of the node; least {least / 1e3:.0f} kW"
    )
    touched = set((hall / "cards.touched").read_text().split())
    assert touched == {f"dgx-{n:02d}" for n in range(1, BATCH + 1)}, "protected jobs are untouched"
    assert watts(hall) == pytest.approx(RACKS_W * PUE), "everything is back"
