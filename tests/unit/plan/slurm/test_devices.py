"""Device files of accelerators, as their drivers name them."""

from __future__ import annotations

import pytest

from rackwright.plan.slurm.devices import device_files, device_list, pattern_variable
from rackwright.plan.slurm.nodes import Gres


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
    assert device_list(gres) == listed
    assert len(set(device_files(gres))) == gres.count


def test_part_of_the_accelerators_is_listed() -> None:
    assert device_list(Gres("gpu", "h100", 8, "nvidia"), range(4, 8)) == "/dev/nvidia[4-7]"


def test_what_is_counted_tells_one_too_many_or_lists_the_files() -> None:
    assert pattern_variable(None) == "/dev/nvidia[0-9]*"
    assert pattern_variable(Gres("neuron", "trn2", 16, "aws")) == "/dev/neuron[0-9]*"
    files = pattern_variable(Gres("gpu", "mi300x", 8, "amd"))
    assert isinstance(files, list)
    assert files[1] == "/dev/dri/renderD136"
