"""``diff`` announces the effect of each change in the year of a cluster on AWS."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from diff_factories import a_cloud, updates_of
from rackwright.diff.actions import Action

GROUP = "sites.cloud.node_groups.train"
SCHEDULER: dict[str, Any] = {
    "kind": "slurm",
    "version": "25.05",
    "controllers": [{"host": "head-1"}],
    "configless": True,
    "topology": {"plugin": "flat"},
    "partitions": [{"name": "gpu", "groups": ["train"]}],
}
RESERVED = {"kind": "reservation", "id": "cr-0123456789abcdef0"}
SPOT = {"kind": "spot", "max_price": "20 USD/h"}


def year(*, count: Any = 4, capacity: Any = None, spot: bool = False, **site: Any) -> Any:
    """The cluster at one moment of its year: site and scheduler."""
    cloud = a_cloud()
    cloud["node_groups"][0] |= {
        "count": count,
        "name_digits": 1,
        "capacity": capacity or {"kind": "on-demand"},
    }
    for name, value in site.items():
        cloud[name] = {**cloud.get(name, {}), **value} if isinstance(value, dict) else value
    scheduler = copy.deepcopy(SCHEDULER)
    if spot:
        scheduler["partitions"][0] |= {"spot": True}
    return cloud, scheduler


def foretold(before: Any, after: Any) -> dict[str, tuple[Action, str]]:
    """Action and reason of each changed field."""
    (site, scheduler), (later, slurm) = before, after

    def change(data: Any) -> None:
        data["sites"][0] = later
        data["scheduler"] = slurm

    found = updates_of(change, site, scheduler=scheduler)
    return {path: (update.action, update.reason) for path, update in found.items()}


ELASTIC = {"min": 0, "max": 8}


@pytest.mark.parametrize(
    ("before", "after", "path", "action", "words"),
    [
        (year(), year(count=12), f"{GROUP}.count", Action.IN_PLACE, "ends with 10"),
        (year(count=12), year(), f"{GROUP}.count", Action.DRAIN, "replace --surplus"),
        (year(count=ELASTIC), year(count={"min": 0, "max": 12}), f"{GROUP}.count.max",
         Action.IN_PLACE, "jobs go on"),
        (year(count=ELASTIC), year(count={"min": 0, "max": 4}), f"{GROUP}.count.max",
         Action.DRAIN, "power them down"),
        (year(count=ELASTIC), year(count={"min": 2, "max": 8}), f"{GROUP}.count.min",
         Action.DRAIN, "Auto Scaling group"),
        (year(capacity=RESERVED), year(), f"{GROUP}.capacity.kind", Action.REPLACE, "for life"),
        (year(count=ELASTIC), year(count=ELASTIC, capacity=SPOT, spot=True),
         f"{GROUP}.capacity.kind", Action.REPLACE, "for life"),
        (year(count=ELASTIC, capacity=SPOT, spot=True),
         year(count=ELASTIC, capacity={**SPOT, "max_price": "25 USD/h"}, spot=True),
         f"{GROUP}.capacity.max_price", Action.IN_PLACE, "from then on"),
        (year(network={"cluster_subnets": ["10.20.0.0/26"]}),
         year(network={"cluster_subnets": ["10.20.0.0/26", "10.20.64.0/18"]}),
         "sites.cloud.network.cluster_subnets", Action.IN_PLACE, "launched in each"),
        (year(network={"cluster_subnets": ["10.20.0.0/26"]}),
         year(network={"cluster_subnets": ["10.20.0.0/17"]}),
         "sites.cloud.subnet private-a", Action.REFUSED, "data"),
        (year(), year(account="111122223333"), "sites.cloud.account", Action.IN_PLACE,
         "refused"),
        (year(), year(network={"flow_logs": {"keep": "90 d"}}), "sites.cloud.network.flow_logs",
         Action.IN_PLACE, "recorded"),
    ],
)  # fmt: skip
def test_diff_says_what_a_change_of_the_year_does(
    before: Any, after: Any, path: str, action: Action, words: str
) -> None:
    found = foretold(before, after)
    assert path in found, sorted(found)
    assert found[path][0] is action
    assert words in found[path][1]


def test_a_group_that_grows_over_a_power_of_ten_renames_no_host() -> None:
    """A1: 4 to 12 nodes renamed every host, and Slurm ended their jobs."""
    found = foretold(year(), year(count=12))
    assert not [path for path in found if "hosts" in path]


def test_another_type_rolls_and_says_by_which_command() -> None:
    before, after = year(), year()
    after[0]["node_groups"][0]["type"] = "p5en.48xlarge"
    action, reason = foretold(before, after)[f"{GROUP}.type"]
    assert action is Action.ROLLING
    assert "replace --outdated" in reason
    assert "launches first" in reason
