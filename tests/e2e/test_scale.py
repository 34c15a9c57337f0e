"""What a large cluster takes of a machine, as far as that is the same on every machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.test_check import LIMIT_MIB, measure, write

pytestmark = pytest.mark.e2e


def test_a_check_of_12500_nodes_stays_within_a_gibibyte(tmp_path: Path) -> None:
    path = write(tmp_path, 3125)
    _, peak, code, output = measure("-m", "rackwright", "check", path, "--json")
    assert code in {0, 5, 6}
    judged = {result["subject"] for result in json.loads(output)["results"]}
    assert len(judged) > 157, "every row is judged"
    assert peak < LIMIT_MIB
