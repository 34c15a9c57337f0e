"""The role skypilot on hosts of the lab, and SkyPilot of PyPI that launches a job of two nodes there.

No host reaches the internet, and neither does the user's machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from string import Template

import pytest
import yaml

from lab_snapshots import SLURM, configured_machines
from lab_support import LAB_MARKS, Machines, Refused, rackwright, some_machines
from rackwright_lab.lab import HostSpec
from skypilot_client import UV, Client, client_of, namespace_of, processes_of, runtime_wheels

pytestmark = LAB_MARKS
WHEELS = "/shared/skypilot"
FOLDER = "/usr/local/lib/rackwright-skypilot"
STAND_IN = """#!/bin/sh
echo "uv 0.0.1 $UV_FIND_LINKS $UV_NO_INDEX $*"
"""


def stand_in_wheel(release: str) -> bytes:
    """Return a wheel of uv with a program that prints its settings and words; the same for each call."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        inside = zipfile.ZipInfo(f"uv-{release}.data/scripts/uv")
        wheel.writestr(inside, STAND_IN.replace("0.0.1", release))
    return content.getvalue()


def digest_of(wheel: bytes) -> str:
    return f"sha256:{hashlib.sha256(wheel).hexdigest()}"


OFFLINE = {
    "skypilot_wheels": WHEELS,
    "skypilot_uv_version": "0.0.1",
    "skypilot_uv_checksums": [digest_of(stand_in_wheel("0.0.1"))],
}
REFUSED: Refused = {
    "relative": ("skypilot", {**OFFLINE, "skypilot_wheels": "wheels"}, "both are absolute paths"),
    "unpinned": ("skypilot", {"skypilot_wheels": WHEELS}, "a release like 0.9.8 and sha256:"),
    "other-digest": (
        "skypilot",
        {**OFFLINE, "skypilot_uv_version": "0.0.2"},
        f"the wheel of uv 0.0.2 in '{WHEELS}' has sha256:",
    ),
    "empty": (
        "skypilot",
        {**OFFLINE, "skypilot_wheels": "/srv"},
        "has no wheel of uv, pip, setuptools, wheel, python_hostlist",
    ),
    "no-python": (
        "skypilot",
        {**OFFLINE, "skypilot_python": "/opt/python3.10"},
        "has no /opt/python3.10",
    ),
}


def write_wheels(folder: Path) -> None:
    """Write wheels by name, those of uv with a program."""
    folder.mkdir()
    for name in ("pip", "setuptools", "wheel", "python_hostlist"):
        (folder / f"{name}-1.0-py3-none-any.whl").touch()
    for release in ("0.0.1", "0.0.2"):
        path = folder / f"uv-{release}-py3-none-manylinux_2_17_x86_64.whl"
        path.write_bytes(stand_in_wheel(release))


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with some_machines(
        tmp_path_factory.mktemp("role"), "skyr", "10.213.38.0/24", [HostSpec("node")]
    ) as made:
        write_wheels(made.host("node").shared / "skypilot")
        yield made


def test_hosts_with_wheels_that_are_not_there_are_refused(machines: Machines) -> None:
    machines.check_refusals("node", REFUSED)


def test_a_host_with_internet_access_gets_rsync_alone(machines: Machines) -> None:
    asked = machines.play_roles(
        "skypilot", variables={"skypilot_wheels": ""}, arguments=["--check", "--diff"]
    )
    assert (asked.code, asked.changed) == (0, 1), asked.output
    assert machines.on("node", "command -v rsync", check=False) == ""
    assert machines.play_roles("skypilot", variables={"skypilot_wheels": ""}).changed == 1
    assert machines.on("node", f"rsync --version | head -1; ls {FOLDER}", check=False).startswith(
        "rsync "
    )
    assert machines.play_roles("skypilot", variables={"skypilot_wheels": ""}).changed == 0


def test_a_host_without_internet_access_gets_uv_of_the_wheels(machines: Machines) -> None:
    asked = machines.play_roles("skypilot", variables=OFFLINE, arguments=["--check", "--diff"])
    assert (asked.code, asked.changed) == (0, 4), asked.output
    assert "UV_NO_INDEX=1" in asked.output
    made = machines.play_roles("skypilot", variables=OFFLINE)
    assert (made.code, made.changed) == (0, 4), made.output
    again = machines.play_roles("skypilot", variables=OFFLINE)
    assert (again.code, again.changed) == (0, 0), again.output
    # The Python that SkyPilot asks for is that of the host; the pinned uv has the settings.
    printed = machines.on("node", f"{FOLDER}/uv venv --seed '/tmp/a b' --python 3.10")
    assert printed == f"uv 0.0.1 {WHEELS} 1 venv --seed /tmp/a b --python /usr/bin/python3"
    machines.on(
        "node",
        f"mkdir -p /root/.sky_clusters/one; {FOLDER}/task-prolog; HOME=/none {FOLDER}/task-prolog",
    )
    assert machines.on("node", "readlink /root/.sky_clusters/one/.local/bin/uv") == f"{FOLDER}/uv"


def test_a_uv_that_does_not_run_is_told(machines: Machines) -> None:
    machines.on("node", f"echo '#!/bin/false' > {FOLDER}/uv-program")
    told = machines.play_roles("skypilot", variables=OFFLINE, arguments=["--tags", "verify"])
    assert f"{FOLDER}/uv of node does not run" in told.words, told.output
    assert machines.play_roles("skypilot", variables=OFFLINE).changed == 1, "it is installed again"


SHARED_HOMES = "mkdir -p /shared/home; mount --bind /shared/home /home"
"""Homes as from a file server: a folder that hosts of the lab share."""
USER = "groupadd -g 20000 research && useradd -m -u 20001 -g research -s /bin/bash ada"
TASK = {
    "name": "both",
    "num_nodes": 2,
    "resources": {"cpus": 2, "memory": 2},
    "run": 'echo "rank $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES on $(hostname)"',
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Two nodes and a head, configured for SkyPilot from the blueprint, with homes that they share."""
    folder = tmp_path_factory.mktemp("skypilot")
    with configured_machines(folder, "sky", "10.213.39.0/24", SLURM) as made:
        hosts = [host.name for host in made.lab.hosts()]
        for name in hosts:
            made.on(name, f"{SHARED_HOMES}; {USER}")
        made.on(
            "head-1", "sacctmgr -i add account research; sacctmgr -i add user ada account=research"
        )
        shared = made.host("head-1").shared / "skypilot"
        shared.mkdir()
        for wheel in runtime_wheels().iterdir():
            (shared / wheel.name).write_bytes(wheel.read_bytes())
        (uv,) = shared.glob(f"uv-{UV}-*.whl")
        pinned = {"version": UV, "checksums": [digest_of(uv.read_bytes())]}
        skypilot = json.dumps({"wheels": WHEELS, "uv": pinned})
        path = folder / "blueprint.yaml"
        text = path.read_text()
        assert text.count("scheduler:\n") == 1
        path.write_text(text.replace("scheduler:\n", f"scheduler:\n  skypilot: {skypilot}\n"))
        yield made


@pytest.fixture
def client(cluster: Machines, tmp_path: Path) -> Iterator[Client]:
    """The machine of ada, with the files that are rendered and a key that the cluster knows."""
    with client_of(cluster.lab, tmp_path / "client") as made:
        made("mkdir", "-p", "-m", "700", "/root/.ssh")
        made("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/root/.ssh/id_ed25519")
        key = made("cat", "/root/.ssh/id_ed25519.pub").strip()
        cluster.on("head-1", "install -d -o ada -g research -m 700 /home/ada/.ssh; "
                   f"echo '{key}' | install -o ada -m 600 /dev/stdin /home/ada/.ssh/authorized_keys")  # fmt: skip
        yield made


@pytest.mark.soak(
    reason="SkyPilot and its runtime are installed, which takes minutes the first time"
)
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="wheels of the hosts' Python are made by Python 3.11"
)
def test_sky_launch_of_two_nodes_without_internet(cluster: Machines, client: Client) -> None:
    cluster.rackwright("configure")
    generated = cluster.folder / "generated"
    rackwright("render", cluster.folder / "blueprint.yaml", "--output", generated)
    ssh_config = Template((generated / "skypilot/slurm-config").read_text())
    client.put(".slurm/config", ssh_config.substitute(USER="ada"))
    config = (generated / "skypilot/config.yaml").read_text()
    client.put(".sky/config.yaml", config)
    (name,) = yaml.safe_load(config)["slurm"]["allowed_clusters"]
    client.put("task.yaml", yaml.safe_dump(TASK))
    for host in ("gpu-1", "gpu-2", "head-1"):
        assert "default" not in cluster.on(host, "ip route"), "no way to the internet"

    checked = client("sky", "check", "slurm")
    assert "Slurm: enabled" in checked, checked
    launched = client(
        "sky", "launch", "--yes", "--infra", f"slurm/{name}", "--cluster", "two", "/root/task.yaml"
    )
    print(launched)
    for rank, node in enumerate(("gpu-1", "gpu-2")):
        assert f"rank {rank} of 2 on {node}" in launched, launched
    assert cluster.on("head-1", "squeue --noheader --user ada --format '%D %T'") == "2 RUNNING"
    client("sky", "down", "--yes", "two")
    assert cluster.on("head-1", "squeue --noheader --user ada --states running,pending") == ""
    assert cluster.on("head-1", "ls /home/ada/.sky_clusters") == "", "nothing is left in the home"
    assert len(processes_of(namespace_of(client.pid))) > 1, (
        "the API server, which ends with the machine"
    )
