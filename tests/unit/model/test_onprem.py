"""What a model of a bare-metal site refuses by itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from factories import (
    a_blueprint,
    a_hall,
    a_rack_group,
    a_row,
    a_site,
    a_source,
    some_feeds,
    some_nodes,
    three_lanes,
)
from known import known
from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import ASHRAE_ALLOWABLE, ASHRAE_RECOMMENDED, OnPremSite

LOOP = {
    "name": "tcs", "cdu": "cdu-spec-1mw", "count": 2, "fluid": "water", "temperature_rise": "10 K",
}  # fmt: skip


def in_rows(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"halls": [a_hall(rows=[a_row(*groups)])], **more}


def test_the_site_of_the_factory_is_good():
    site = OnPremSite.model_validate(a_site())
    assert site.halls[0].rows[0].rack_groups[0].feeds[2].source == "rpp-c"
    assert known(site.power.sources[1].modules).spare == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"halls": [a_hall(), a_hall()]}, "the hall 'hall-1' is named twice"),
        (
            {"halls": [a_hall(rows=[a_row(), a_row()])]},
            "the row of hall 'hall-1' 'row-1' is named twice",
        ),
        (in_rows(a_rack_group("c[01-02]"), a_rack_group("c02")), "the rack 'c02' is named twice"),
        (
            {"power": {"sources": [*three_lanes(), a_source("ups-a")]}},
            "the power source 'ups-a' is named twice",
        ),
        ({"loops": [LOOP, LOOP]}, "the cooling loop 'tcs' is named twice"),
        ({"node_groups": [some_nodes(), some_nodes()]}, "the node group 'dgx' is named twice"),
        (
            {"fabrics": [{"name": "ib", "role": "compute", "tiers": []}] * 2},
            "the fabric 'ib' is named twice",
        ),
        (in_rows(a_rack_group(feeds=some_feeds("AA"))), "the feed 'A' is named twice"),
        (
            in_rows(a_rack_group(cooling={"mode": "liquid"})),
            "cooling mode 'liquid' needs a 'loop'",
        ),
        (
            in_rows(a_rack_group(cooling={"mode": "rear-door"})),
            "cooling mode 'rear-door' needs a 'loop'",
        ),
        (
            in_rows(a_rack_group(cooling={"mode": "liquid-rear-door", "loop": "tcs"})),
            "cooling mode 'liquid-rear-door' needs a 'rear_door_loop'",
        ),
        (
            in_rows(a_rack_group(cooling={"mode": "liquid", "loop": "a", "rear_door_loop": "b"})),
            "'rear_door_loop' is of the cooling mode 'liquid-rear-door' only",
        ),
        (
            {
                "power": {
                    "sources": [a_source("u", modules={"count": 2, "capacity": "1 W", "spare": 2})]
                }
            },
            "2 spare of 2 modules leaves no capacity",
        ),
        ({"pue": 0.9}, "greater than or equal to 1"),
        ({"power": {"power_factor": 0}}, "greater than or equal to 0.1"),
        ({"power": {"power_factor": True}}, "should be a valid number"),
        ({"pue": 11}, "less than or equal to 10"),
        ({"node_groups": [some_nodes(count=True)]}, "should be a valid integer"),
        ({"node_groups": [{**some_nodes(), "count": "4"}]}, "should be a valid integer"),
        ({"power": {"power_factor": 1.1}}, "less than or equal to 1"),
        ({"power": {"oversubscription": 0.5}}, "greater than or equal to 1"),
        ({"power": {"continuous_derate": 0.8}}, "has no unit"),
        ({"node_groups": [some_nodes(count=0)]}, "greater than 0"),
        ({"node_groups": [some_nodes(per_rack=0)]}, "greater than 0"),
        ({"node_groups": [some_nodes(racks="c[2-1]")]}, "runs backwards"),
        (in_rows(a_rack_group(feeds=[{"name": "a", "source": "u"}])), "should match pattern"),
        (in_rows(a_rack_group(feeds=some_feeds("A", pdus=0))), "greater than 0"),
        (
            in_rows(
                a_rack_group(
                    feeds=some_feeds("A", circuit={"voltage": "0 V", "current": "1 A", "phases": 3})
                )
            ),
            "greater than or equal to 1",
        ),
        ({"altitude": "-10 m"}, "cannot be below 0 m"),
        ({"pue": float("nan")}, "finite number"),
        ({"racks": 5}, "Extra inputs are not permitted"),
    ],
)
def test_invalid_sites_are_refused(changes, message):
    with pytest.raises(ValidationError) as caught:
        OnPremSite.model_validate(a_site(**changes))
    assert message in str(caught.value)


def test_one_rack_name_may_be_in_one_hall_only():
    halls = [a_hall(), a_hall("hall-2")]
    with pytest.raises(ValidationError, match="the rack 'c01' is named twice"):
        OnPremSite.model_validate(a_site(halls=halls))


def test_two_sites_may_use_the_same_names_but_their_own():
    two = Blueprint.model_validate(a_blueprint(a_site(), a_site(name="other")))
    lab, other = two.site("lab"), two.site("other")
    assert isinstance(lab, OnPremSite)
    assert isinstance(other, OnPremSite)
    assert other.halls == lab.halls
    with pytest.raises(ValidationError, match="the site 'lab' is named twice"):
        Blueprint.model_validate(a_blueprint(a_site(), a_site()))


def test_a_blueprint_has_a_site_and_a_version():
    with pytest.raises(ValidationError, match="at least 1 item"):
        Blueprint.model_validate({**a_blueprint(), "sites": []})
    with pytest.raises(ValidationError, match="rackwright/v1"):
        Blueprint.model_validate(a_blueprint(apiVersion="v2"))


def test_a_blueprint_written_out_reads_back_the_same():
    blueprint = Blueprint.model_validate(a_blueprint())
    assert Blueprint.model_validate_json(blueprint.model_dump_json()) == blueprint


def test_recommended_inlets_lie_within_the_allowable_ones():
    assert set(ASHRAE_RECOMMENDED) == set(ASHRAE_ALLOWABLE)
    for name, (low, high) in ASHRAE_RECOMMENDED.items():
        allowed = ASHRAE_ALLOWABLE[name]
        assert allowed[0] <= low < high <= allowed[1]
    assert ASHRAE_RECOMMENDED["A2"] == (18, 27)
    assert ASHRAE_ALLOWABLE["A2"] == (10, 35)
    assert ASHRAE_ALLOWABLE["H1"] == (5, 25)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            in_rows(*(a_rack_group(f"c{n}") for n in range(2001))),
            "a site has at most 2,000 rack groups, not 2,001",
        ),
        (
            {"node_groups": [some_nodes(name=f"n{n}") for n in range(2001)]},
            "a site has at most 2,000 node groups and switch tiers, not 2,001",
        ),
        (in_rows(a_rack_group("c[000000-100000]")), "at most 100,000 racks, not 100,001"),
        (
            {"node_groups": [some_nodes(name=n, racks="c[1-900000]") for n in ("a", "b")]},
            "at most 1,000,000 racks named by its groups, not 1,800,000",
        ),
    ],
)
def test_a_site_larger_than_any_is_refused_before_its_names_are_made(changes, message):
    with pytest.raises(ValidationError) as caught:
        OnPremSite.model_validate(a_site(**changes))
    assert message in str(caught.value)
