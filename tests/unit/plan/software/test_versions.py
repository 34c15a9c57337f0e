"""Software: what a site's nodes need, which bill covers it, how versions compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import SpecErrors
from rackwright.model.operations import Operations
from rackwright.plan.audit.catalogue_digest import catalogue_digest
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.software.versions import (
    SiteSoftware,
    at_least,
    bill_of,
    numbers,
    site_software,
)
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"


def planned(name: str, tmp_path: Path | None = None, text: str = "") -> Plan:
    layers: tuple[Path, ...] = ()
    if tmp_path is not None:
        layers = (tmp_path / "layer.yaml",)
        layers[0].write_text(text)
    return load_plan(FIXTURES / f"{name}.yaml", layers).plan


def needs(site: SiteSoftware) -> set[str]:
    flags = ("gpu", "nvswitch", "imex", "ofed", "efa", "lustre_client", "lustre_server",
             "lustre_rdma")  # fmt: skip
    return {flag for flag in flags if getattr(site, flag)}


def test_a_site_needs_what_its_nodes_are_made_of() -> None:
    (air,) = site_software(planned("air"))
    assert needs(air) == {"gpu", "nvswitch", "ofed"}
    (nvl72,) = site_software(planned("liquid"))
    assert needs(nvl72) == {"gpu", "imex", "ofed"}
    metal, cloud = site_software(planned("operated"))
    assert needs(metal) == {
        "gpu", "nvswitch", "ofed", "lustre_client", "lustre_server", "lustre_rdma",
    }  # fmt: skip
    assert needs(cloud) == {"gpu", "nvswitch", "efa", "lustre_client"}


@pytest.mark.parametrize(
    ("instance", "efa", "expected"),
    [
        ("p5.4xlarge", True, {"gpu", "efa"}),
        ("p5.48xlarge", False, {"gpu", "nvswitch"}),
        ("p6e-gb200.36xlarge", True, {"gpu", "imex", "efa"}),
        ("trn2.48xlarge", True, set()),
        ("c7i.8xlarge", False, set()),
    ],
)
def test_an_instance_type_decides(
    tmp_path: Path, instance: str, efa: bool, expected: set[str]
) -> None:
    layer = f"""
sites:
  - name: use1
    node_groups: [{{name: train, type: {instance}, efa: {str(efa).lower()}}}]
"""
    (site,) = site_software(planned("aws", tmp_path, layer))
    assert needs(site) - {"lustre_client"} == expected


def test_a_bill_covers_its_sites() -> None:
    bills = [{"name": "a", "sites": ["x"]}, {"name": "b", "sites": ["y", "z"]}]
    made = Operations.model_validate({"software": bills})
    bill, path = bill_of(made, "z")
    assert (bill and bill.name, path) == ("b", ("operations", "software", 1))
    assert bill_of(made, "other") == (None, ("operations", "software"))
    assert bill_of(None, "x")[0] is None
    assert bill_of(Operations.model_validate({"software": [{"name": "a"}]}), "any")[0] is not None


@pytest.mark.parametrize(
    ("software", "said"),
    [
        ([{"name": "a"}, {"name": "b", "sites": ["air"]}], "must name its 'sites'"),
        ([{"name": "a", "sites": ["x"]}, {"name": "a", "sites": ["y"]}], "'a' is named twice"),
        ([{"name": "a", "sites": ["x"]}, {"name": "b", "sites": ["x"]}], "'x' is named twice"),
    ],
)
def test_two_bills_never_cover_one_site(software: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Operations.model_validate({"software": software})


def test_a_bill_names_sites_that_exist(tmp_path: Path) -> None:
    layer = "operations: {software: [{name: metal, sites: [nowhere]}]}\n"
    with pytest.raises(SpecErrors, match="'metal' names no site: 'nowhere'"):
        planned("air", tmp_path, layer)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("595.112.07", (595, 112, 7)),
        ("2.4.0amzn5.0", (2, 4)),
        ("2.30.4-1", (2, 30, 4)),
        ("1.22", (1, 22)),
        ("0", ()),
    ],
)
def test_a_version_begins_with_numbers(version: str, expected: tuple[int, ...]) -> None:
    assert numbers(version) == expected


@given(st.lists(st.integers(0, 999), min_size=1, max_size=4), st.integers(0, 3))
def test_versions_compare_as_numbers(parts: list[int], index: int) -> None:
    text = ".".join(map(str, parts))
    assert at_least(text, text)
    assert at_least(f"{text}.0", text)
    assert at_least(text, f"{text}.0")
    larger = list(parts)
    larger[index % len(parts)] += 1
    newer = ".".join(map(str, larger))
    assert at_least(newer, text)
    assert not at_least(text, newer)


def test_a_digest_is_of_what_is_used(tmp_path: Path) -> None:
    plain = catalogue_digest(planned("air"))
    assert plain == catalogue_digest(planned("air", tmp_path, "owner: somebody\n"))
    assert plain == catalogue_digest(
        planned("air", tmp_path, "sites: [{name: sjc1, node_groups: [{name: dgx, count: 31}]}]\n")
    )
    assert plain != catalogue_digest(planned("liquid"))


def test_a_changed_number_changes_the_digest() -> None:
    from rackwright.catalog.loader import load_catalogue
    from rackwright.plan.load import plan_tree
    from rackwright.reading.loader import load_tree

    tree = load_tree(FIXTURES / "air.yaml")
    catalogue = load_catalogue()
    fact = {"value": "10.3 kW", "source": "guide-h100"}
    digests = [
        catalogue_digest(plan_tree(tree, catalogue.patched(patch)).plan)
        for patch in ({}, {"dgx-h100": {"max_power": fact}}, {"dgx-b200": {"max_power": fact}})
    ]
    assert digests[0] == digests[2] != digests[1]
