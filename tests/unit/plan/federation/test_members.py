"""Clusters of a federation: each site's own plan, files and variables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors, UsageError
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import LoadedPlan, load_data, load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.generated import generate

FIXTURE = builtin_pack() / "fixtures/federation.yaml"


@pytest.fixture(scope="module")
def loaded() -> LoadedPlan:
    return load_plan(FIXTURE)


def document(**changes: Any) -> dict[str, Any]:
    """The fixture as data, with other sections."""
    return {**yaml.safe_load(FIXTURE.read_text("utf-8")), **changes}


def options(text: str) -> dict[str, str]:
    """The options of a ``slurm.conf``, but its nodes and partitions."""
    return dict(re.findall(r"^(\w+)=(\S+)$", text, re.MULTILINE))


def test_each_site_is_a_cluster_of_its_own(loaded: LoadedPlan) -> None:
    plan = loaded.plan
    assert plan.slurm is None, "there is not the one cluster"
    assert [slurm.name for slurm in plan.clusters] == ["globe-alpha", "globe-beta", "globe-gamma"]
    hosts = [nodes.hostlist for slurm in plan.clusters for nodes in slurm.nodes]
    assert hosts == ["alpha-gpu-[1-4]", "beta-gpu-[1-4]", "gamma-gpu-[1-4]"]
    controllers = [slurm.state.controllers for slurm in plan.clusters]
    assert controllers == [("alpha-head-1",), ("beta-head-1",), ("gamma-head-1",)]
    assert [slurm.problems for slurm in plan.clusters] == [(), (), ()]


def test_clusters_share_both_databases_and_differ_in_name(loaded: LoadedPlan) -> None:
    files = generate(loaded.plan)
    confs = [
        options(files[f"slurm/globe-{site}/slurm.conf"]) for site in ("alpha", "beta", "gamma")
    ]
    assert [conf["ClusterName"] for conf in confs] == ["globe-alpha", "globe-beta", "globe-gamma"]
    assert {conf["AccountingStorageHost"] for conf in confs} == {"10.41.0.2"}
    assert {conf["AccountingStorageBackupHost"] for conf in confs} == {"10.42.0.2"}
    assert {conf["FederationParameters"] for conf in confs} == {"fed_display"}


def test_a_blueprint_without_federation_says_nothing_of_one() -> None:
    files = generate(load_plan(builtin_pack() / "fixtures/slurm.yaml").plan)
    assert "Federation" not in files["slurm/slurm.conf"]


def test_words_follow_from_accelerators_data_prices_and_carbon() -> None:
    sites = [
        {"site": "alpha", "price": "2 USD/h", "carbon": "400 g/kWh", "features": ["pcie"]},
        {"site": "beta", "price": "3 USD/h", "carbon": "40 g/kWh"},
        {"site": "gamma", "price": "2 USD/h", "carbon": "90 g/kWh"},
    ]
    made = document()
    made["federation"]["sites"] = sites
    words = [
        one.plan.membership.features for one in load_data(made).plan.members if one.plan.membership
    ]
    assert words == [
        ("h100", "pcie", "cheapest", "data-corpus"),
        ("h100", "cleanest", "data-corpus"),
        ("h200", "cheapest"),
    ]


def test_no_site_is_the_cheapest_while_a_price_is_unknown() -> None:
    made = document()
    made["federation"]["sites"][0]["price"] = "1 USD/h"
    members = load_data(made).plan.members
    assert all(
        "cheapest" not in one.plan.membership.features for one in members if one.plan.membership
    )


def test_the_database_has_a_primary_and_a_replica(loaded: LoadedPlan) -> None:
    found = {
        site: build_inventory(loaded.cluster_at(site).plan) for site in ("alpha", "beta", "gamma")
    }
    groups = {site: made["slurm_database"] for site, made in found.items()}
    assert [group["hosts"] for group in groups.values()] == [["alpha-head-1"], ["beta-head-1"], []]
    parts = {site: group["vars"].get("slurm_database_part") for site, group in groups.items()}
    assert parts == {"alpha": "primary", "beta": "replica", "gamma": None}
    pair = [
        {"host": "alpha-head-1", "address": "10.41.0.2"},
        {"host": "beta-head-1", "address": "10.42.0.2"},
    ]
    assert groups["alpha"]["vars"]["slurm_database_pair"] == pair
    assert groups["beta"]["vars"]["slurm_database_pair"] == pair
    assert groups["beta"]["vars"]["slurm_database_host"] == "alpha-head-1"


def test_a_controller_joins_the_federation(loaded: LoadedPlan) -> None:
    made = build_inventory(loaded.cluster_at("gamma").plan)
    own = made["_meta"]["hostvars"]["gamma-head-1"]
    assert own["slurm_controller_cluster"] == "globe-gamma"
    assert own["slurm_controller_federation"] == {
        "name": "globe",
        "state": "active",
        "features": ["h200"],
    }
    assert set(made["_meta"]["hostvars"]) == {
        "gamma-head-1",
        *(f"gamma-gpu-{n}" for n in range(1, 5)),
    }


def test_a_command_for_one_cluster_asks_which(loaded: LoadedPlan) -> None:
    with pytest.raises(UsageError, match="federates 3 clusters"):
        loaded.cluster_at(None)
    with pytest.raises(UsageError, match="no cluster at 'gama'"):
        loaded.cluster_at("gama")
    alone = load_plan(builtin_pack() / "fixtures/slurm.yaml")
    assert alone.cluster_at(None) is alone
    with pytest.raises(UsageError, match="has none"):
        alone.cluster_at("sjc1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sites": [{"site": "alpha"}]}, "at least 2 needed"),
        ({"sites": [{"site": "alpha"}, {"site": "beta"}, {"site": "delta"}]}, "no site: 'delta'"),
        (
            {"sites": [{"site": s, "cluster": "same"} for s in ("alpha", "beta", "gamma")]},
            "cluster of the federation 'same'",
        ),
        (
            {
                "sites": [
                    {"site": "alpha", "cluster": "globe-beta"},
                    {"site": "beta"},
                    {"site": "gamma"},
                ]
            },
            "both have the cluster 'globe-beta'",
        ),
        ({"database": {"site": "alpha", "host": "alpha-haed-1"}}, "did you mean 'alpha-head-1'"),
        ({"database": {"site": "alpha", "replica": {"site": "alpha"}}}, "choose another site"),
        ({"database": {"site": "delta"}}, "not a site of the federation: choose one of"),
    ],
)
def test_a_federation_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    made = document()
    made["federation"] |= change
    with pytest.raises(SpecErrors) as caught:
        load_data(made)
    texts = [f"{error.summary} {error.hint or ''}" for error in caught.value.errors]
    assert any(message in text for text in texts), texts


def test_a_site_without_a_controller_is_refused() -> None:
    made = document()
    made["scheduler"]["controllers"].pop()
    with pytest.raises(SpecErrors) as caught:
        load_data(made)
    assert "none of 'scheduler.controllers' is a host of 'gamma'" in str(caught.value.errors[0])


def test_a_problem_of_a_cluster_names_its_place_in_the_blueprint() -> None:
    made = document()
    made["scheduler"]["partitions"].insert(
        0, {"name": "only-beta", "groups": ["beta-gpu"], "max_time": "1:00:00"}
    )
    gamma = load_data(made).plan.members[2].plan.slurm
    assert gamma is not None
    assert [entry.path for entry in gamma.partitions] == [("scheduler", "partitions", 1)]


def test_flows_between_sites_have_addresses_ports_and_reasons(
    loaded: LoadedPlan, tmp_path: Path
) -> None:
    lines = generate(loaded.plan)["federation/flows.csv"].splitlines()[2:]
    assert "gamma,10.43.0.0/24,alpha,10.41.0.2,6819,tcp,slurmdbd" in lines
    assert "beta,10.42.0.0/24,alpha,10.41.0.2,3306,tcp,MariaDB" in lines
    assert not [line for line in lines if line.startswith("gamma") and ",3306," in line]


def test_skypilot_has_each_cluster_that_takes_jobs() -> None:
    made = document()
    made["federation"]["sites"][1]["state"] = "leave"
    files = generate(load_data(made).plan)
    config = yaml.safe_load(files["skypilot/config.yaml"])["slurm"]
    assert config["allowed_clusters"] == ["globe-alpha", "globe-gamma"]
    assert config["cluster_configs"]["globe-gamma"] == {"gpu_partition_map": {"H200": ["gpu"]}}
    blocks = files["skypilot/slurm-config"]
    assert "Host globe-gamma\n    HostName 10.43.0.2\n    User ${USER}\n" in blocks


def test_two_clusters_may_have_groups_of_one_name() -> None:
    """Sites built alike need no names of their own for node groups and controllers."""
    text = FIXTURE.read_text("utf-8")
    for site in ("alpha", "beta", "gamma"):
        text = text.replace(f"{site}-gpu", "gpu").replace(f"{site}-head", "head")
    made = yaml.safe_load(text)
    made["scheduler"]["controllers"] = [{"host": "head-1"}]
    made["scheduler"]["partitions"][0]["groups"] = ["gpu"]
    plan = load_data(made).plan
    assert [slurm.nodes[0].hostlist for slurm in plan.clusters] == ["gpu-[1-4]"] * 3
    assert [slurm.problems for slurm in plan.clusters] == [(), (), ()]
    files = generate(plan)
    assert options(files["slurm/globe-gamma/slurm.conf"])["AccountingStorageHost"] == "10.41.0.2"
