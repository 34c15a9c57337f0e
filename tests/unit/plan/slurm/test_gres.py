"""Instances of divided GPUs, and the GPUs that they take."""

from __future__ import annotations

import pytest

from rackwright.plan.slurm.gres import Gres, gpus_of_instances

GUIDE = [
    (80, "1g.10gb", 7), (80, "1g.20gb", 4), (80, "2g.20gb", 3), (80, "3g.40gb", 2), (80, "4g.40gb", 1), (80, "7g.80gb", 1),
    (40, "1g.5gb", 7), (40, "1g.10gb", 4), (40, "2g.10gb", 3), (40, "3g.20gb", 2), (40, "7g.40gb", 1),
    (141, "1g.18gb", 7), (141, "1g.35gb", 4), (141, "2g.35gb", 3), (141, "3g.71gb", 2), (94, "1g.12gb", 7), (94, "1g.24gb", 4),
    (24, "1g.6gb", 4), (24, "2g.12gb", 2), (24, "4g.24gb", 1),
]  # fmt: skip
"""Memory of a GPU, profile, and most of its instances on one GPU by NVIDIA's user guide of Multi-Instance GPU."""


def counted(**profiles: int) -> list[Gres]:
    return [
        Gres("gpu", name.replace("_", "."), count, "nvidia") for name, count in profiles.items()
    ]


@pytest.mark.parametrize(("memory", "profile", "most"), GUIDE)
def test_one_gpu_has_the_instances_of_the_guide(memory: float, profile: str, most: int) -> None:
    for count, gpus in ((1, 1), (most, 1), (most + 1, 2), (8 * most, 8), (8 * most + 1, 9)):
        assert gpus_of_instances([Gres("gpu", f"h100_{profile}", count, "nvidia")], memory) == gpus


def test_profiles_share_a_gpu() -> None:
    assert gpus_of_instances(counted(**{"4g_40gb": 1, "3g_40gb": 1}), 80) == 1
    assert gpus_of_instances(counted(**{"4g_40gb": 1, "2g_20gb": 1, "1g_10gb": 1}), 80) == 1
    assert gpus_of_instances(counted(**{"3g_40gb": 2, "1g_10gb": 1}), 80) == 2, "no memory is left"


def test_other_resources_and_absurd_numbers_take_no_time() -> None:
    assert (
        gpus_of_instances([Gres("mps", "", 400, "nvidia"), Gres("gpu", "h100", 8, "nvidia")], 80)
        == 0
    )
    assert gpus_of_instances(counted(**{"1g_10gb": 7 * 10**11}), 80) == 10**11
