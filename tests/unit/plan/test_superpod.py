"""The bill of a DGX SuperPOD with DGX H100 (RA-11333-001 V11, tables 4 and 7), planned whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint

BLUEPRINT = Path(__file__).parents[3] / "docs" / "examples" / "superpod-dgx-h100.yaml"


@pytest.fixture(scope="module")
def site() -> SitePlan:
    (found,) = load_plan(BLUEPRINT).plan.onprem
    return found


def test_superpod_has_the_parts_of_its_bill(site: SitePlan) -> None:
    kinds: Counter[tuple[str, str]] = Counter()
    for racks in site.racks:
        for device in racks.kind.devices:
            kinds[device.kind, device.entry] += racks.count

    assert kinds == {
        ("node", "dgx-h100"): 127,
        ("node", "cpu-2u"): 4,
        ("node", "ufm-ndr"): 4,
        ("switch", "qm9700"): 48 + 16,
        ("switch", "sn4600c"): 8,
        ("switch", "sn2201"): 8,
        ("pdu", "raritan-px3-5878"): 96,
        ("pdu", "pdu-415v-32a"): 12,
    }
    assert (site.totals.racks, site.totals.accelerators) == (38, 1016)


def test_its_compute_fabric_has_the_published_cables(site: SitePlan) -> None:
    (compute,) = (layout for layout in site.layouts if layout.fabric.name == "compute")
    hosts = {"dgx", "ufm"}
    ends = Counter(wire.lower.split("-")[0] in hosts for wire in wires(compute))

    assert ends == {True: 1020, False: 1024}, "compute and UFM; spine to leaf"


def test_failures_of_the_superpod_are_known_and_unpublished_facts_unknown() -> None:
    results = check_blueprint(BLUEPRINT).results
    failed = {(r.policy, r.subject.name) for r in results if r.outcome is Outcome.FAIL}
    lacking = {r.subject.name for r in results if r.policy == "CAT-001" and r.missing}

    assert failed == {
        ("CAT-003", "pod1 dgx-h100"),
        ("NET-012", "pod1 fabric storage nodes ufm-storage"),
        (
            "NET-018",
            "pod1 fabric in-band nodes bcm",
        ),  # 'cpu-2u' stands for NVIDIA's server, and has 25 Gbps
        ("REL-003", "pod1 dgx"),
    }
    assert lacking == {"pod1 sn2201", "pod1 sn4600c"}
    assert {r.policy for r in results if r.outcome is Outcome.ERROR} == set()
