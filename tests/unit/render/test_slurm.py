"""The files of Slurm clusters, compared whole with those in ``tests/golden/slurm``.

``UPDATE_GOLDEN=1`` writes them anew; the difference is then for people to read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import SpecErrors
from rackwright.model.names import expand_hostlist
from rackwright.model.slurm_conf_keys import FIELD_OF, GENERATED_KEYS, LISTS, STRUCTURE
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.plan.records.names import Range
from rackwright.plan.slurm.nodes import NoSchedulerError
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.slurm import FILES, HEADER, address_list, render_slurm
from rackwright.resources import bundled

GOLDEN = Path(__file__).parents[2] / "golden" / "slurm"
FIXTURES = builtin_pack() / "fixtures"
CASES = {"tree": "slurm", "hybrid": "slurm", "blocks": "liquid"}


def a_plan(case: str, tmp_path: Path | None = None, **scheduler: Any) -> Plan:
    layers = [GOLDEN / case / "layer.yaml"]
    if tmp_path is not None:
        layers.append(tmp_path / "more.yaml")
        layers[-1].write_text(yaml.safe_dump({"scheduler": scheduler}))
    return load_plan(FIXTURES / f"{CASES[case]}.yaml", layers).plan


@pytest.mark.parametrize("case", CASES)
def test_the_files_are_the_golden_ones(case: str) -> None:
    made = dict(render_slurm(a_plan(case)))
    folder = GOLDEN / case
    if os.environ.get("UPDATE_GOLDEN"):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")
    kept = {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir() if p.name in FILES}
    assert made == kept


@pytest.mark.parametrize("case", CASES)
def test_the_same_plan_gives_the_same_bytes(case: str) -> None:
    assert render_slurm(a_plan(case)) == render_slurm(a_plan(case))


@pytest.mark.parametrize("case", CASES)
def test_every_key_is_one_that_extra_refuses_adds_to_or_decides(case: str) -> None:
    plan = a_plan(case)
    text = render_slurm(plan)["slurm.conf"]
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    keys = {line.partition("=")[0] for line in lines} - {"NodeName", "PartitionName"}
    assert plan.blueprint.scheduler is not None
    assert keys - set(plan.blueprint.scheduler.extra) <= {*GENERATED_KEYS, *LISTS, *FIELD_OF}
    assert not GENERATED_KEYS & STRUCTURE
    assert not (GENERATED_KEYS | STRUCTURE) & (LISTS | set(FIELD_OF))


def test_every_generated_key_is_generated_by_some_case() -> None:
    text = "\n".join(render_slurm(a_plan(case))["slurm.conf"] for case in CASES)
    known = {*GENERATED_KEYS, *LISTS, *FIELD_OF}
    assert {key for key in known if f"\n{key}=" not in text} == set()


def test_no_file_has_a_key_twice() -> None:
    text = render_slurm(a_plan("tree"))["slurm.conf"]
    keys = [line.partition("=")[0] for line in text.splitlines() if "=" in line]
    several = {"SlurmctldHost", "NodeName", "PartitionName"}
    alone = [key for key in keys if key not in several]
    assert len(alone) == len(set(alone))


@pytest.mark.parametrize("case", CASES)
def test_every_file_says_where_it_comes_from(case: str) -> None:
    assert all(text.startswith(HEADER) for text in render_slurm(a_plan(case)).values())


def test_the_role_knows_every_file_that_it_may_have_to_remove() -> None:
    role = bundled("roles") / "slurm_config"
    known = yaml.safe_load((role / "vars/main.yml").read_text(encoding="utf-8"))
    assert known["slurm_config_names"] == list(FILES)
    assert f"is match('{HEADER} ')" in (role / "tasks/configure.yml").read_text(encoding="utf-8")


def test_topology_yaml_and_conf_hold_the_same_blocks() -> None:
    files = render_slurm(a_plan("blocks"))
    (block,) = [e for e in yaml.safe_load(files["topology.yaml"]) if "block" in e]
    of_yaml = {e["block"]: expand_hostlist(e["nodes"]) for e in block["block"]["blocks"]}
    of_conf = {}
    for line in files["topology.conf"].splitlines():
        words = dict(word.split("=") for word in line.split() if "=" in word)
        if "BlockName" in words:
            of_conf[words["BlockName"]] = expand_hostlist(words["Nodes"])
    assert of_yaml == of_conf
    assert [len(nodes) for nodes in of_yaml.values()] == [18] * len(of_yaml)


def test_an_unknown_number_is_an_error_that_names_it(tmp_path: Path) -> None:
    plan = a_plan("blocks", tmp_path, nodes=[])
    with pytest.raises(PlanError) as caught:
        render_slurm(plan)
    (problem,) = caught.value.problems
    assert problem.message == "the memory of gb200-nvl72 is unknown"
    assert problem.path[-1] == "type"


def test_without_a_scheduler_there_is_nothing_to_write() -> None:
    with pytest.raises(NoSchedulerError, match="the blueprint 'air' has no scheduler"):
        render_slurm(load_plan(FIXTURES / "air.yaml").plan)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"partitions": [{"name": "gpu", "groups": ["dxg"]}]},
            "there is no group of compute nodes 'dxg'",
        ),
        (
            {"partitions": [{"name": "gpu", "groups": ["head"]}]},
            "there is no group of compute nodes 'head'",
        ),
        ({"nodes": [{"groups": ["dgy"]}]}, "there is no group of compute nodes 'dgy'"),
        (
            {"topology": {"plugin": "tree", "switches": [{"name": "s1", "nodes": "dgx-[01-65]"}]}},
            "there is no compute node 'dgx-65'",
        ),
        (
            {"topology": {"plugin": "tree", "switches": [{"name": "s1", "nodes": "dgx-[01-63]"}]}},
            "1 of 64 hosts of 'dgx' are in no topology, 'dgx-64' first",
        ),
        (
            {"topology": {"plugin": "block"}},
            "dgx-h100 joins no hosts by NVLink, so 'dgx' has no blocks",
        ),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(
    said: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanError) as caught:
        render_slurm(a_plan("tree", tmp_path, **said))
    assert [p.message for p in caught.value.problems if message in p.message]


def problems_of(plan: Plan) -> list[str]:
    with pytest.raises(PlanError) as caught:
        render_slurm(plan)
    return [problem.message for problem in caught.value.problems]


def test_a_controller_that_two_sites_have_is_ambiguous(tmp_path: Path) -> None:
    both = {"controllers": [{"host": "head-1"}]}
    with pytest.raises(SpecErrors, match="several sites have a host 'head-1': sjc1, use1"):
        a_plan("hybrid", tmp_path, **both)
    one = a_plan(
        "hybrid",
        tmp_path,
        **both,
        sites=["sjc1"],
        partitions=[{"name": "cloud", "groups": ["dgx"]}],
    )
    assert "SlurmctldHost=head-1\n" in render_slurm(one)["slurm.conf"]
    assert "train" not in render_slurm(one)["slurm.conf"]


def test_one_name_for_nodes_of_two_sites_is_refused(tmp_path: Path) -> None:
    more = tmp_path / "twin.yaml"
    site = yaml.safe_load((GOLDEN / "hybrid" / "layer.yaml").read_text())["sites"][0]
    site["node_groups"][0]["name"] = "dgx"
    elsewhere = {"controllers": [{"host": "slurm-1", "address": "10.9.0.11"}]}
    more.write_text(yaml.safe_dump({"sites": [site], "scheduler": elsewhere}))
    plan = load_plan(FIXTURES / "slurm.yaml", [more]).plan
    assert "the sites 'sjc1' and 'use1' both have nodes 'dgx'" in problems_of(plan)


def test_the_name_of_a_cluster_is_short(tmp_path: Path) -> None:
    more = tmp_path / "name.yaml"
    more.write_text(f"name: {'a' * 41}\n")
    plan = load_plan(FIXTURES / "slurm.yaml", [more]).plan
    assert "is longer than the 40 characters" in problems_of(plan)[0]
    more.write_text(f"name: {'a' * 40}\n")
    assert render_slurm(load_plan(FIXTURES / "slurm.yaml", [more]).plan)


def test_every_default_topology_of_a_release_is_written_as_it_is_known_there(
    tmp_path: Path,
) -> None:
    flat = render_slurm(a_plan("tree", tmp_path, topology={"plugin": "flat"}))
    assert "TopologyPlugin" not in flat["slurm.conf"]
    assert "SwitchName" not in flat["topology.conf"]
    assert "topology.yaml" not in flat


def test_sites_on_aws_are_trees_beside_the_fabric(tmp_path: Path) -> None:
    text = render_slurm(
        a_plan("hybrid", tmp_path, partitions=[{"name": "cloud", "topology": "tree"}])
    )["topology.conf"]
    assert "SwitchName=use1-train Nodes=train-[01-16]\n" in text
    assert "SwitchName=use1-infer Nodes=infer-[1-4]\n" in text
    assert text.endswith("SwitchName=use1 Switches=use1-infer,use1-train\n")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["SchedulerParameters=nohold_on_prolog_fail"]),
        ({"requeue": False}, []),
        ({"prolog": None}, []),
        (
            {"extra": {"schedulerparameters": "bf_window=60"}},
            ["SchedulerParameters=nohold_on_prolog_fail,bf_window=60"],
        ),
    ],
)
def test_a_job_whose_prolog_fails_is_not_held(
    changes: dict[str, object], expected: list[str]
) -> None:
    plan = a_plan("tree")
    assert plan.blueprint.scheduler is not None
    short = [
        p.model_copy(update={"max_time": "12:00:00"}) for p in plan.blueprint.scheduler.partitions
    ]
    scheduler = plan.blueprint.scheduler.model_copy(
        update={"extra": {}, "partitions": tuple(short), **changes}
    )
    blueprint = plan.blueprint.model_copy(update={"scheduler": scheduler})
    text = render_slurm(replace(plan, blueprint=blueprint))["slurm.conf"]
    found = [line for line in text.splitlines() if line.lower().startswith("schedulerparam")]
    assert found == expected


NAMES = GOLDEN.parent / "names" / "layer.yaml"


def test_declared_addresses_are_those_of_nodes_controllers_and_database() -> None:
    layers = [GOLDEN / "tree" / "layer.yaml"]
    before = render_slurm(load_plan(FIXTURES / "slurm.yaml", layers).plan)
    after = render_slurm(load_plan(FIXTURES / "slurm.yaml", [*layers, NAMES]).plan)
    assert {name for name in after if after[name] != before[name]} == {"slurm.conf"}
    old, new = (set(files["slurm.conf"].splitlines()) for files in (before, after))
    assert {line.partition(" CPUs=")[0] for line in old - new} == {
        "SlurmctldHost=head-1",
        "SlurmctldHost=head-2",
        "AccountingStorageHost=head-1",
        "NodeName=dgx-[01-64]",
    }
    assert {line.partition(" CPUs=")[0] for line in new - old} == {
        "SlurmctldHost=head-1(10.20.0.10)",
        "SlurmctldHost=head-2(10.20.0.11)",
        "AccountingStorageHost=10.20.0.10",
        "NodeName=dgx-[01-64] NodeAddr=10.20.0.[232-255],10.20.1.[0-39]",
    }


def test_an_address_that_the_scheduler_gives_itself_comes_first(tmp_path: Path) -> None:
    own = [{"host": "head-1", "address": "head.example.com"}, {"host": "head-2"}]
    more = tmp_path / "more.yaml"
    more.write_text(yaml.safe_dump({"scheduler": {"controllers": own}}))
    text = render_slurm(load_plan(FIXTURES / "slurm.yaml", [NAMES, more]).plan)["slurm.conf"]
    assert "SlurmctldHost=head-1(head.example.com)\n" in text
    assert "SlurmctldHost=head-2(10.20.0.11)\n" in text


def addresses_in(text: str) -> list[str]:
    """What a list of addresses stands for, as Slurm reads it."""
    found = []
    for part in re.findall(r"[^,\[]+(?:\[[^]]*\])?", text):
        stem, _, bounds = part.lstrip(",").rstrip("]").partition("[")
        low, _, high = (bounds or "-").partition("-")
        found += [f"{stem}{n}" for n in range(int(low), int(high) + 1)] if bounds else [stem]
    return found


@given(
    first=st.integers(int(IPv4Address("10.20.0.0")), int(IPv4Address("10.20.2.0"))),
    count=st.integers(1, 1000),
)
def test_a_list_of_addresses_stands_for_each_in_order(first: int, count: int) -> None:
    one = Range(
        of="dgx",
        path=(),
        is_switches=False,
        count=count,
        each=1,
        suffix="",
        first=first,
        version=4,
    )
    wanted = [str(one.address(index)) for index in range(count)]
    assert addresses_in(address_list(one)) == wanted


@pytest.mark.skipif(shutil.which("scontrol") is None, reason="not installed: scontrol")
def test_slurm_reads_a_list_of_addresses_as_it_is_meant() -> None:
    plan = load_plan(FIXTURES / "slurm.yaml", [NAMES]).plan
    one = plan.names.own("sjc1", "dgx")
    assert one is not None
    done = subprocess.run(
        ["scontrol", "show", "hostnames", address_list(one)],
        env={**os.environ, "SLURM_CONF": str(GOLDEN / "tree" / "slurm.conf")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(one.address(index)) for index in range(64)]


@pytest.mark.skipif(shutil.which("scontrol") is None, reason="not installed: scontrol")
@pytest.mark.parametrize("case", CASES)
def test_slurm_knows_every_key_that_is_written(case: str, tmp_path: Path) -> None:
    text = (GOLDEN / case / "slurm.conf").read_text(encoding="utf-8")
    text = text.replace(" Topology=flat", "")  # of Slurm 25.05
    for wrong, known in (("", True), ("NoSuchKey=1\n", False)):
        (tmp_path / "slurm.conf").write_text(text + wrong)
        done = subprocess.run(
            ["scontrol", "show", "hostnames", "n[1-2]"],
            env={**os.environ, "SLURM_CONF": str(tmp_path / "slurm.conf")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ("unrecognized" not in done.stderr) is known, done.stderr
        assert (done.returncode == 0) is known, done.stderr


def line_of(plan: Plan, start: str) -> str:
    lines = render_slurm(plan)["slurm.conf"].splitlines()
    return next((line for line in lines if line.startswith(start)), "")


def test_the_priority_of_a_qos_counts_without_more(tmp_path: Path) -> None:
    """The weights of all factors are 0 in Slurm, so that what a QOS declared did nothing."""
    qos = [{"name": "high", "priority": 10}]
    plan = a_plan("tree", tmp_path, priority=None, qos=qos, partitions=NO_FACTOR)
    assert line_of(plan, "PriorityWeight") == "PriorityWeightQOS=10000"
    weighed = {"PriorityWeightAge": 5}
    by_hand = a_plan("tree", tmp_path, priority=None, extra=weighed, qos=qos)
    assert line_of(by_hand, "PriorityWeight") == "PriorityWeightAge=5"
    even = [{"name": name, "priority": 0} for name in ("normal", "urgent", "scavenger")]
    plain = a_plan("tree", tmp_path, priority=None, qos=even, partitions=NO_FACTOR)
    assert line_of(plain, "PriorityWeight") == ""


NO_FACTOR = [{"name": "gpu", "priority_factor": None}]


def test_the_factor_of_a_partition_counts_without_more(tmp_path: Path) -> None:
    even = [{"name": name, "priority": 0} for name in ("normal", "urgent", "scavenger")]
    plan = a_plan("tree", tmp_path, priority=None, qos=even)
    assert line_of(plan, "PriorityWeight") == "PriorityWeightPartition=1000"


def test_an_option_in_extra_stands_for_the_generated_one(tmp_path: Path) -> None:
    extra = {"SchedulerParameters": "defer,BF_WINDOW=60"}
    text = render_slurm(a_plan("tree", tmp_path, extra=extra))["slurm.conf"]
    found = [line for line in text.splitlines() if line.lower().startswith("schedulerparam")]
    assert found == ["SchedulerParameters=nohold_on_prolog_fail,defer,BF_WINDOW=60"]


def test_a_private_list_is_split_between_the_daemons(tmp_path: Path) -> None:
    plan = a_plan("tree", tmp_path, private_data=["accounts", "jobs", "nodes", "users"])
    assert line_of(plan, "PrivateData") == "PrivateData=jobs,nodes"
    assert line_of(a_plan("tree", tmp_path, private_data=["users"]), "PrivateData") == ""
