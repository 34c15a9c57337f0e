"""The collector on a host that is made of files: what it finds, and what it cannot find out."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

COLLECTOR = Path(__file__).parents[3] / "roles/acceptance/files/collect.py"
PROGRAMS = {
    "sminfo": "echo 'sminfo: sm lid 1 sm guid 0x1, activity count 3 priority 14 state 3 SMINFO_MASTER'",
    "nvidia-smi": """case "$*" in
-L) printf 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\\n';;
*) printf '570.133.20\\n570.133.20\\n';;
esac""",
    "ofed_info": "echo MLNX_OFED_LINUX-24.10-0.7.0.0:",
    "sinfo": "echo slurm 22.05.8",
    "systemctl": 'case "$*" in *munge*) echo ActiveState=active;; *) echo ActiveState=failed;; esac',
    # Slurm 22.05 takes 'node=gpu-1' for the name of a switch.
    "scontrol": """case "$*" in
*topology*node=*) echo 'scontrol: error: switch or node not found' >&2; exit 1;;
*topology*) printf 'SwitchName=core Level=1 Nodes=gpu-[1-2] Switches=leaf-1\\n'
            echo 'SwitchName=leaf-1 Level=0 LinkSpeed=1 Nodes=gpu-[1-2]'; exit;;
esac
"""
    "echo 'NodeName=gpu-1 CPUTot=224 Gres=gpu:h100:8(S:0-1) RealMemory=9 "
    "State=IDLE+DRAIN Reason=7 of 8 accelerators [root@2026-01-01T00:00:00]'",
}
FILES = {
    "dev/nvidia0": "",
    "dev/nvidia1": "",
    "dev/nvidiactl": "",
    "proc/cpuinfo": "processor\t: 0\nmodel\t: x\nprocessor\t: 1\n",
    "proc/meminfo": "MemTotal:       2097152 kB\nMemFree: 1 kB\n",
    "proc/self/mountinfo": "1 0 0:1 / / rw - overlay o rw\n"
    "2 1 0:2 / /my\\040data rw,noatime shared:1 - lustre 10.0.0.1@tcp:/x rw\n",
    "opt/amazon/efa_installed_packages": "# EFA installer version: 1.43.2\nx\n",
}
REQUEST: dict[str, Any] = {
    "devices": ["/dev/nvidia[0-9]*"],
    "mounts": ["/my data", "/scratch"],
    "services": ["munge", "slurmd"],
    "slurm_node": "gpu-1",
}

Make = Callable[..., dict[str, Any]]


def a_port(device: str, *, layer: str = "InfiniBand", rate: str = "400", state: str = "4: ACTIVE") -> Mapping[str, str]:  # fmt: skip
    port = f"sys/class/infiniband/{device}/ports/1"
    return {
        f"{port}/link_layer": layer,
        f"{port}/rate": f"{rate} Gb/sec (4X NDR)",
        f"{port}/state": state,
    }


def a_link(name: str, *, speed: str = "100000", state: str = "up", kind: str = "1") -> Mapping[str, str]:  # fmt: skip
    link = f"sys/class/net/{name}"
    return {
        f"{link}/type": kind,
        f"{link}/speed": speed,
        f"{link}/operstate": state,
        f"{link}/device/vendor": "0x15b3",
    }


@pytest.fixture
def host(tmp_path: Path) -> Make:
    """Facts of a host with more files, without some programs, asked something else."""

    def ask(
        files: Mapping[str, str | bytes | None] | None = None,
        programs: Mapping[str, str] = PROGRAMS,
        **request: Any,
    ) -> dict[str, Any]:
        root = tmp_path / "root"
        for path, text in {**FILES, **(files or {})}.items():
            if text is not None:
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text if isinstance(text, bytes) else text.encode())
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        for name, text in programs.items():
            (bin_folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (bin_folder / name).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-", json.dumps({**REQUEST, "root": str(root), **request})],
            input=COLLECTOR.read_text(),
            env={"PATH": f"{bin_folder}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return ask


def test_facts_of_a_host(host: Make) -> None:
    found = host(
        {
            **a_port("mlx5_0"),
            **a_port("mlx5_1", rate="200"),
            **a_port("mlx5_2", state="1: DOWN"),
            **a_port("mlx5_3", layer="Ethernet"),
            **a_link("eth0"),
            **a_link("eth1", state="down"),
            **a_link("ib0", kind="32"),
        }
    )
    assert found["schema"] == "rackwright.facts/v1"
    assert found["accelerators"] == 2
    assert found["accelerator_models"] == ["NVIDIA H100 80GB HBM3"] * 2
    assert found["cpus"] == 2
    assert found["memory_mib"] == 2048
    assert found["infiniband"] == {"rates_gbps": [200.0, 400.0], "inactive": 1}
    assert found["ethernet"] == {"rates_gbps": [100.0], "inactive": 1}
    assert found["mounts"] == {"/my data": "lustre", "/scratch": None}
    assert found["services"] == {"munge": "active", "slurmd": "failed"}
    assert found["slurm"] == {
        "state": "IDLE+DRAIN",
        "reason": "7 of 8 accelerators",
        "accelerators": 8,
        "topology": "leaf-1",
    }
    versions = found["versions"]
    assert versions["driver"] == "570.133.20"
    assert versions["ofed"] == "24.10-0.7.0.0"
    assert versions["slurm"] == "22.05.8"
    assert versions["efa_installer"] == "1.43.2"
    assert versions["kernel"] == os.uname().release


def test_the_driver_that_is_loaded_counts(host: Make) -> None:
    found = host({"sys/module/nvidia/version": "595.1\n"})
    assert found["versions"]["driver"] == "595.1"


def test_tests_of_nccl_that_were_built_have_the_version_of_their_folder(
    host: Make, tmp_path: Path
) -> None:
    link = tmp_path / "root/opt/nccl-tests/current"
    link.parent.mkdir(parents=True)
    link.symlink_to("/opt/nccl-tests/2.17.1")
    assert host({})["versions"]["nccl_tests"] == "2.17.1"


def test_unavailable_fact_is_none_with_a_reason(host: Make) -> None:
    failing = {**PROGRAMS, "nvidia-smi": "echo 'No devices were found'; exit 6",
               "scontrol": "echo 'Node gpu-9 not found' >&2; exit 1",
               "systemctl": "exit 1"}  # fmt: skip
    found = host({"proc/meminfo": "nothing\n"}, failing)
    for fact in ("accelerator_models", "memory_mib", "slurm"):
        assert found[fact] is None
        assert found["problems"][fact]
    assert "No devices were found" in found["problems"]["accelerator_models"]
    assert found["services"] == {"munge": None, "slurmd": None}
    assert found["versions"]["driver"] is None
    assert "no /opt/nccl-tests/current" in found["problems"]["versions.nccl_tests"]
    assert found["cpus"] == 2, "one that fails hides no other"


def test_a_missing_program_is_named() -> None:
    spec = importlib.util.spec_from_file_location("collect", COLLECTOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(module.Unreadable, match="no-such-program is not installed"):
        module.run("no-such-program", "-L")


def test_nothing_is_run_by_a_shell(host: Make, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    found = host(services=[f"munge; touch {mark}"], slurm_node=f"$(touch {mark})")
    assert found["slurm"]["accelerators"] == 8
    assert not mark.exists()


def test_a_login_node_is_not_asked_about_slurm_nodes(host: Make) -> None:
    assert host(slurm_node=None)["slurm"] is None


@pytest.mark.parametrize("request_text", ["", "{}", "[]", "not json", '{"devices": "x"}'])
def test_invalid_request_is_refused(request_text: str) -> None:
    done = subprocess.run(
        [sys.executable, str(COLLECTOR), request_text], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "path",
    [COLLECTOR, COLLECTOR.parents[2] / "health_check/files/node_health.py"],
    ids=lambda path: path.stem,
)
def test_any_python_from_3_6_on_understands_it(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 6))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= set(sys.stdlib_module_names)
    # Newer than 3.6, and not seen by the grammar.
    newer = ("capture_output", "text=True", "removeprefix", "removesuffix", "missing_ok")
    assert [word for word in newer if word in path.read_text()] == []


DIMMS = """cat <<'EOF'
# dmidecode 3.4
Handle 0x0010, DMI type 17, 92 bytes
Memory Device
\tSize: 64 GB
\tLocator: CPU0_DIMM_A1
\tSerial Number: 45E7A1B2
\tPart Number: HMCG94AGBRA  

Handle 0x0011, DMI type 17, 92 bytes
Memory Device
\tSize: No Module Installed
\tLocator: CPU0_DIMM_A2
\tSerial Number: NO DIMM
EOF"""  # noqa: W291 - as it is printed
BOARDS = """cat <<'EOF'
<?xml version="1.0" ?><nvidia_smi_log>
<gpu id="00000000:1B:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name><serial>1650223012345</serial><uuid>GPU-1</uuid></gpu>
<gpu id="00000000:2A:00.0"><product_name>NVIDIA RTX</product_name><serial>N/A</serial><uuid>GPU-2</uuid></gpu>
</nvidia_smi_log>
EOF"""


def test_parts_have_their_serial_numbers_or_a_reason(host: Make) -> None:
    card = b"\x82\x04\x00Card\x90\x11\x00PN\x03ABCSN\x08MT2233X1\x78"
    drive = "sys/class/nvme/nvme0"
    found = host(
        {
            "sys/class/dmi/id/product_serial": "NODE7",
            "sys/class/dmi/id/product_name": "DGX H100",
            "sys/class/dmi/id/board_serial": "To be filled by O.E.M.",
            "sys/class/dmi/id/board_name": "x",
            "sys/class/net/eth0/device/vpd": card,
            f"{drive}/model": "SAMSUNG MZWLO",
            f"{drive}/serial": "S7EW  ",
        },
        {**PROGRAMS, "dmidecode": DIMMS, "nvidia-smi": BOARDS, "ethtool": "exit 75"},
    )
    parts = found["parts"]
    assert parts["node"] == [{"slot": "chassis", "serial": "NODE7", "model": "DGX H100"}]
    assert [(gpu["slot"], gpu["serial"], gpu["uuid"]) for gpu in parts["gpu"]] == [
        ("00000000:1B:00.0", "1650223012345", "GPU-1"),
        ("00000000:2A:00.0", "GPU-2", "GPU-2"),
    ]
    assert parts["dimm"] == [{"slot": "CPU0_DIMM_A1", "serial": "45E7A1B2", "model": "HMCG94AGBRA"}]
    assert [(nic["serial"], nic["model"]) for nic in parts["nic"]] == [("MT2233X1", "ABC")]
    assert parts["nvme"] == [{"slot": "nvme0", "serial": "S7EW", "model": "SAMSUNG MZWLO"}]
    assert parts["optic"] == []


def test_kind_of_part_that_cannot_be_asked_for_is_unknown(host: Make) -> None:
    programs = {**PROGRAMS, "dmidecode": "echo '/dev/mem: Permission denied' >&2; exit 1"}
    found = host(programs=programs)
    assert found["parts"]["dimm"] is None
    assert "Permission denied" in found["problems"]["parts.dimm"]


def test_gpu_of_a_real_driver_has_its_serial_number(host: Make) -> None:
    """The recording is of an H100 with driver 580.159.04; serial number and UUID are replaced."""
    recorded = Path(__file__).parent / "recorded/nvidia-smi-query-h100.xml"
    found = host(programs={**PROGRAMS, "nvidia-smi": f"cat {recorded}"})
    assert found["parts"]["gpu"] == [
        {
            "slot": "00000000:00:06.0",
            "serial": "1650000000001",
            "model": "NVIDIA H100 80GB HBM3",
            "uuid": "GPU-00000000-0000-0000-0000-000000000001",
        }
    ]


@pytest.mark.parametrize(
    ("told", "state", "problem"),
    [
        ("echo 'sminfo: sm lid 1 sm guid 0x100001, activity count 33 priority 0 state 3 SMINFO_MASTER'", "SMINFO_MASTER", None),
        ("echo 'ibwarn: [7] _do_madrpc: recv failed: Connection timed out' >&2; exit 1", None, "sminfo ended with 1"),
        ("echo", None, "sminfo tells no state"),
    ],
)  # fmt: skip
def test_subnet_manager_of_whoever_runs_it_is_asked_for(
    host: Make, told: str, state: str | None, problem: str | None
) -> None:
    """A fabric of UFM or of managed switches was skipped without a word."""
    found = host(a_port("mlx5_0"), {**PROGRAMS, "sminfo": told})
    assert found["subnet_manager"] == state
    assert (problem or "") in found["problems"].get("subnet_manager", "")
    assert ("subnet_manager" in found["problems"]) == (problem is not None)


def test_host_without_infiniband_has_no_subnet_manager(host: Make) -> None:
    found = host(a_port("mlx5_0", layer="Ethernet"))
    assert found["subnet_manager"] is None
    assert "subnet_manager" not in found["problems"]
