"""Positions by class, and blueprints of layouts with the places of what was written."""

from __future__ import annotations

import pytest
import yaml

from design_factories import (
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_wish,
    some_positions,
    some_sources,
)
from factories import CATALOGUE
from rackwright.design.document import Builder, RackLayout
from rackwright.design.model import DesignDocument
from rackwright.errors import SpecErrors
from rackwright.model.names import compress_hostlist
from rackwright.policy.policy_sets import RELEASED
from rackwright.reading.loader import load_text

LOW = {"mode": "air", "power_limit": "25 kW"}


def builder_of(document: object) -> Builder:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    loaded = load_text(text, DesignDocument, name="wanted.yaml")
    return Builder(loaded.value, loaded.tree, CATALOGUE)


def test_equal_positions_of_several_rows_are_one_class() -> None:
    rows = [
        {
            "name": "r1",
            "rack_groups": [some_positions("c[01-02]"), some_positions("x1", cooling=LOW)],
        },
        {"name": "r2", "rack_groups": [some_positions("d[01-03]")]},
        {"name": "r3", "power_limit": "90 kW", "rack_groups": [some_positions("e1")]},
    ]
    builder = builder_of(a_document(a_facility(halls=[a_hall(rows=rows)])))
    assert [
        (compress_hostlist(name for _, name in one.positions), one.rows) for one in builder.classes
    ] == [
        ("c[01-02],d[01-03]", ("r1", "r2")),
        ("x1", ("r1",)),
        ("e1", ("r3",)),
    ]
    assert builder.positions == 7


def test_positions_of_switches_and_of_other_nodes_are_taken() -> None:
    facility = a_facility(
        halls=[a_hall(some_positions("c[01-06]"))],
        node_groups=[
            {
                "name": "head",
                "role": "head",
                "type": "cpu-2u",
                "count": 1,
                "racks": "c06",
                "per_rack": 1,
            }
        ],
        fabric={"preset": "fat-tree", "tiers": [{"name": "leaf", "racks": "c[04-05]"}]},
    )
    builder = builder_of(a_document(facility))
    assert [compress_hostlist(name for _, name in one.positions) for one in builder.classes] == [
        "c[01-03]"
    ]


def test_the_blueprint_has_the_racks_in_which_something_stands() -> None:
    document = a_document(
        a_facility(halls=[a_hall(some_positions("c[01-04]"), some_positions("d1", cooling=LOW))]),
        a_wish(group="gpu"),
    )
    builder = builder_of(document)
    (product,) = builder.document.wanted.products
    data = builder.blueprint(RackLayout(product, {(0, 4): 2, (0, 1): 1})).data
    (site,) = data["sites"]
    (row,) = site["halls"][0]["rows"]
    assert [group["racks"] for group in row["rack_groups"]] == ["c[01-03]"]
    assert row["rack_groups"][0]["feeds"] == some_positions()["feeds"]
    assert site["node_groups"] == [
        {
            "name": "gpu",
            "role": "compute",
            "type": "dgx-h100",
            "count": 8,
            "racks": "c[01-02]",
            "per_rack": 4,
        },
        {
            "name": "gpu-1",
            "role": "compute",
            "type": "dgx-h100",
            "count": 1,
            "racks": "c03",
            "per_rack": 1,
        },
    ]
    assert (data["derive"], data["policy_set"], data["profile"]) == ("1", RELEASED, "pilot")
    assert not {"kind", "wanted", "facility", "blueprint"} & data.keys()


def test_reference_to_a_node_group_names_all_of_its_groups() -> None:
    fabric = {
        "preset": "fat-tree",
        "groups": ["compute"],
        "attached": [{"group": "compute", "interfaces": 2}],
        "links": [{"name": "nodes", "length": "5 m"}, {"name": "own", "lower": "compute"}],
    }
    partitions = [{"name": "all", "groups": ["compute"]}]
    document = a_document(a_facility(fabric=fabric), scheduler={"partitions": partitions})
    builder = builder_of(document)
    (product,) = builder.document.wanted.products
    data = builder.blueprint(RackLayout(product, {(0, 4): 1, (0, 2): 1})).data
    assert data["scheduler"]["partitions"][0]["groups"] == ["compute", "compute-2"]
    assert data["sites"][0]["fabric"] == {
        "preset": "fat-tree",
        "groups": ["compute", "compute-2"],
        "attached": [
            {"group": "compute", "interfaces": 2},
            {"group": "compute-2", "interfaces": 2},
        ],
        "links": [
            {"name": "nodes", "length": "5 m"},
            {"name": "nodes-compute-2", "length": "5 m"},
            {"name": "own", "lower": "compute"},
            {"name": "own-compute-2", "lower": "compute-2"},
        ],
    }


def test_a_trial_leaves_out_sources_on_which_nothing_hangs() -> None:
    facility = a_facility(
        sources=[*some_sources(), *some_sources("xyz")[1:]],
        halls=[a_hall(some_positions("c01"), some_positions("d01", "xyz"))],
    )
    judge = a_judge(a_document(facility))
    (product,) = judge.builder.document.wanted.products
    trial = judge.builder.trial(RackLayout(product, {(0, 1): 1})).data
    names = [one["name"] for one in trial["sites"][0]["power"]["sources"]]
    assert names == ["utility", "ups-a", "rpp-a", "ups-b", "rpp-b", "ups-c", "rpp-c"]
    whole = judge.builder.blueprint(RackLayout(product, {(0, 1): 1})).data
    assert len(whole["sites"][0]["power"]["sources"]) == 13


def test_a_mistake_in_the_facility_is_told_where_it_is_written() -> None:
    positions = some_positions()
    positions["feeds"][1]["source"] = "rpp-x"
    judge = a_judge(a_document(a_facility(halls=[a_hall(positions)])))
    (product,) = judge.builder.document.wanted.products
    with pytest.raises(SpecErrors) as caught:
        judge.judge(RackLayout(product, {(0, 1): 1}))
    (error,) = caught.value.errors
    assert "'rpp-x', which does not exist" in error.summary
    assert error.location is not None
    text = yaml.safe_dump(
        a_document(a_facility(halls=[a_hall(positions)])), sort_keys=False, allow_unicode=True
    )
    assert "rpp-x" in text.splitlines()[error.location.line - 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wanted": {"accelerators": 8, "products": []}}, "at least 1"),
        ({"blueprint": {"sites": []}}, "'sites' of the blueprint is written by the design itself"),
        (
            {"wanted": {**a_wish(), "objective": "least-cost"}},
            "'accelerators: most' belongs to the objective 'most-accelerators'",
        ),
        ({"facility": a_facility(halls=[a_hall(rows=[])])}, "no hall has a rack position"),
        (
            {"facility": a_facility(halls=[a_hall(some_positions(), some_positions("c01"))])},
            "the rack position 'c01' is named twice",
        ),
        (
            {"facility": a_facility(halls=[a_hall(some_positions("c[000001-200000]"))])},
            "a site has at most 100,000 racks, not 200,000 positions",
        ),
        ({"wanted": {**a_wish(), "reserves": {}}}, "did you mean 'reserve'"),
    ],
)
def test_documents_that_say_nothing_sensible_are_refused(
    change: dict[str, object], words: str
) -> None:
    with pytest.raises(SpecErrors) as caught:
        builder_of({**a_document(), **change})
    assert words in str(caught.value)
