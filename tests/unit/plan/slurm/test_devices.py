"""Device files of accelerators, as their drivers name them."""

from __future__ import annotations

import pytest

from rackwright.plan.slurm.devices import device_files, device_list, device_pattern
from rackwright.plan.slurm.gres import Gres
from rackwright.plan.slurm.nodes import NodeSet


def hosts(gres: Gres | None, known: Gres | None = None) -> NodeSet:
    return NodeSet(
        group="gpu", site="hall", path=(), entry="node", is_cloud=False, count=1, unit_hosts=1,
        cpus=8, known_cpus=8, memory=1, known_memory=1, gres=gres, known_gres=known or gres,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gres", "listed"),
    [
        (Gres("gpu", "h100", 8, "nvidia"), "/dev/nvidia[0-7]"),
        (Gres("gpu", "h100", 1, "nvidia"), "/dev/nvidia0"),
        (Gres("neuron", "trn2", 16, "aws"), "/dev/neuron[0-15]"),
        (Gres("gpu", "gaudi3", 8, "intel"), "/dev/accel/accel[0-7]"),
        (Gres("gpu", "mi250x", 4, "amd"), "/dev/dri/renderD[128-131]"),
        (
            Gres("gpu", "mi300x", 8, "amd"),
            "/dev/dri/renderD[128,136,144,152,160,168,176,184]",
        ),
        (Gres("gpu", "mi300x", 64, "amd"), "/dev/dri/renderD[128-191]"),
    ],
)
def test_files_are_named_as_drivers_name_them(gres: Gres, listed: str) -> None:
    """/dev/dri/renderD* had to be eight, and the kernel makes 64 on eight MI300X."""
    nodes = hosts(gres)
    assert device_list(nodes, range(gres.count)) == listed
    assert len(set(device_files(nodes))) == gres.count


def test_part_of_the_accelerators_is_listed() -> None:
    assert device_list(hosts(Gres("gpu", "h100", 8, "nvidia")), range(4, 8)) == "/dev/nvidia[4-7]"


def test_counted_devices_report_a_surplus_or_list_the_files() -> None:
    assert device_pattern(hosts(None)) == "/dev/nvidia[0-9]*"
    assert device_pattern(hosts(Gres("neuron", "trn2", 16, "aws"))) == "/dev/neuron[0-9]*"
    known = Gres("gpu", "mi300x", 8, "amd")
    files = device_pattern(hosts(Gres("gpu", "", 8, "amd"), known))
    assert isinstance(files, list)
    assert files[1] == "/dev/dri/renderD136"


def test_instances_have_no_files_of_their_number() -> None:
    assert device_files(hosts(Gres("gpu", "1g.10gb", 56, "nvidia"))) == ()
