"""What a large cluster takes of a machine, as far as that is the same on every machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bench.test_check import LIMIT_MIB, cluster, measure, write

pytestmark = pytest.mark.e2e


def test_a_check_of_12500_nodes_stays_within_a_gibibyte(tmp_path: Path) -> None:
    path = write(tmp_path, 3125)
    _, peak, code, output = measure("-m", "rackwright", "check", path, "--json")
    assert code in {0, 5, 6}
    judged = {result["subject"] for result in json.loads(output)["results"]}
    assert len(judged) > 157, "every row is judged"
    assert peak < LIMIT_MIB


def test_two_losses_of_12500_nodes_are_checked(tmp_path: Path) -> None:
    """Each of 472 sources is maintained; the site is not planned again for any of them."""
    path = tmp_path / "blueprint.yaml"
    policies = {"PWR-034": {"parameters": {"required": True}}}
    path.write_text(yaml.safe_dump({**cluster(3125), "policies": policies}))
    _, peak, _, output = measure("-m", "rackwright", "check", path, "--json", "--only=PWR-034")
    judged = {result["subject"] for result in json.loads(output)["results"]}
    assert sum("source ups-" in subject for subject in judged) == 471
    assert peak < LIMIT_MIB


def test_the_peak_of_a_process_is_not_that_of_who_measures_it() -> None:
    held = bytearray(400 * 2**20)
    _, peak, code, _ = measure("-c", "pass")
    assert (len(held), code) == (400 * 2**20, 0)
    assert peak < 200
