"""The role host_tuning on a host of the lab, with files like those of the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, some_machines
from rackwright_lab.lab import HostSpec

pytestmark = LAB_MARKS
TUNED: Mapping[str, Any] = {
    "host_tuning_governor": "performance",
    "host_tuning_numa_balancing": False,
    "host_tuning_iommu": "passthrough",
    "host_tuning_acs": False,
    "host_tuning_peer_memory": "peermem",
}
HERE = (
    "--extra-vars",
    json.dumps(
        {
            "host_tuning_sys": "/root/sys",
            "host_tuning_proc": "/root/proc",
            "host_tuning_modules": "/root/modules",
        }
    ),
)
GOVERNOR = "/root/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
BRIDGE = "/root/sys/bus/pci/devices/0000:15:01.0"
SETPCI = """#!/bin/sh
# Stand-in: keeps the control word of Access Control Services.
case "$1" in --version) exit 0 ;; esac
case "$3" in *=*) echo "${3#*=}" > /root/acs ;; *) cat /root/acs ;; esac
"""
MODPROBE = """#!/bin/sh
# Stand-in: a module is a folder.
mkdir /root/modules/nvidia_peermem 2> /dev/null || { echo "Module already in kernel." >&2; exit 1; }
"""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("tuning")
    with some_machines(folder, "tunw", "10.213.105.0/24", [HostSpec("gpu-1")]) as made:
        for cpu in (0, 1):
            path = GOVERNOR.format(cpu)
            made.on("gpu-1", f"mkdir -p $(dirname {path}); echo powersave > {path}")
        made.on(
            "gpu-1", f"mkdir -p /root/proc/sys/kernel {BRIDGE} /root/modules /etc/default/grub.d"
        )
        made.on(
            "gpu-1",
            f"echo 1 > /root/proc/sys/kernel/numa_balancing; echo 0x060400 > {BRIDGE}/class",
        )
        made.on(
            "gpu-1",
            "echo 'quiet iommu=pt' > /root/proc/cmdline; echo 001f > /root/acs; apt-get update -q",
        )
        for name, text in (("setpci", SETPCI), ("modprobe", MODPROBE)):
            made.on(
                "gpu-1",
                f"cat > /usr/local/sbin/{name} <<'END'\n{text}END\nchmod 755 /usr/local/sbin/{name}",
            )
        yield made


def test_a_kernel_whose_command_line_nothing_sets_is_refused(machines: Machines) -> None:
    played = machines.play_roles("host_tuning", hosts={"gpu-1": TUNED}, arguments=HERE)
    assert "has neither update-grub nor grubby, by which iommu=pt" in played.failure("gpu-1"), (
        played.output
    )
    assert played.changed == 0
    machines.on(
        "gpu-1",
        "printf '#!/bin/sh\\necho >> /root/menus\\n' > /usr/sbin/update-grub; chmod 755 /usr/sbin/update-grub",
    )


def test_a_host_is_tuned_and_what_is_lost_is_told(machines: Machines) -> None:
    """Nothing tuned a host for transfers, and nothing looked."""
    foreseen = machines.play_roles(
        "host_tuning", hosts={"gpu-1": TUNED}, arguments=[*HERE, "--check", "--diff"]
    )
    assert foreseen.code == 0, foreseen.output
    made = machines.play_roles("host_tuning", hosts={"gpu-1": TUNED}, arguments=HERE)
    assert made.code == 0, made.output
    governors = " ".join(GOVERNOR.format(cpu) for cpu in (0, 1))
    found = machines.on("gpu-1", f"cat {governors} /root/proc/sys/kernel/numa_balancing /root/acs")
    assert found.split() == ["performance", "performance", "0", "0000"]
    assert machines.on("gpu-1", "tail -n 1 /etc/default/grub.d/91-rackwright-iommu.cfg") == (
        'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX iommu=pt"'
    )
    again = machines.play_roles("host_tuning", hosts={"gpu-1": TUNED}, arguments=HERE)
    assert (again.code, again.changed) == (0, 0), again.output
    again = machines.play_roles(
        "host_tuning", hosts={"gpu-1": TUNED}, arguments=[*HERE, "--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    machines.on(
        "gpu-1",
        f"echo powersave > {GOVERNOR.format(1)}; echo 1 > /root/proc/sys/kernel/numa_balancing",
    )
    machines.on(
        "gpu-1",
        "echo 001f > /root/acs; echo quiet > /root/proc/cmdline; rmdir /root/modules/nvidia_peermem",
    )
    broken = machines.play_roles(
        "host_tuning", hosts={"gpu-1": TUNED}, arguments=[*HERE, "--tags", "verify"]
    )
    said = " ".join(broken.failure("gpu-1").split())
    for text in (
        "the governor powersave instead of performance",
        "NUMA balancing 1 instead of 0",
        "ACS of the bridge 0000:15:01.0 on (001f)",
        "has booted without iommu=pt (quiet)",
        "has not loaded nvidia-peermem",
    ):
        assert text in said, broken.output


def test_dma_buf_needs_the_open_driver(machines: Machines) -> None:
    wanted = {"host_tuning_peer_memory": "dma-buf"}
    played = machines.play_roles("host_tuning", hosts={"gpu-1": wanted}, arguments=HERE)
    assert "which has no DMA-BUF; install the open one" in played.failure("gpu-1"), played.output
