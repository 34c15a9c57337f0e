"""Time that data takes between sites."""

from __future__ import annotations

import pytest
import yaml

from rackwright.plan.federation.checks import LARGEST_LOCAL, job_ids
from rackwright.plan.federation.wan import copies, copy_seconds
from rackwright.plan.load import load_data
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = builtin_pack() / "fixtures/federation.yaml"


def test_a_tebibyte_over_100_gbps_takes_88_seconds() -> None:
    assert copy_seconds(1024, 100) == pytest.approx(87.96, abs=0.01)


def test_data_comes_from_the_site_with_the_widest_line() -> None:
    document = yaml.safe_load(FIXTURE.read_text("utf-8"))
    document["interconnects"][2]["bandwidth"] = "400 Gbps"
    (copy,) = copies(load_data(document).plan)
    assert (copy.site, copy.source) == ("gamma", "beta")
    assert copy.seconds == pytest.approx(copy_seconds(20 * 1024, 400))


def test_data_without_a_line_is_unknown() -> None:
    document = yaml.safe_load(FIXTURE.read_text("utf-8"))
    document["interconnects"] = document["interconnects"][:1]
    (copy,) = copies(load_data(document).plan)
    assert (copy.source, copy.seconds) == (None, None)
    assert "interconnect between 'alpha' and 'gamma'" in copy.missing[0]


def test_job_ids_of_slurm_fit() -> None:
    assert job_ids({}) == job_ids({"MaxJobId": LARGEST_LOCAL, "FirstJobId": "1"})
