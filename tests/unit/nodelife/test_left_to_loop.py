"""Health checks of a hall leave faults that nodes share to the repair loop: programs of 64 nodes, one Slurm, one loop."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from node_life import open_journal
from node_support import load_health
from rackwright.catalog.fault_signals import faults_left_to_loop
from rackwright.catalog.fault_table import builtin_faults
from rackwright.model.names import expand_hostlist
from rackwright.nodelife.repair.access import SlurmHere
from rackwright.nodelife.repair.actuator import Progress
from rackwright.nodelife.repair.budgets import RepairLimits
from rackwright.nodelife.repair.controller import RepairController
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.repair.slurm_actuator import SlurmActuator
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.repair.watching import events_of_slurm, take_up_updates
from rackwright.nodelife.signs.plan_parts import part_map, partitions_of
from rackwright.nodelife.signs.shared import PartMap, SharedPart
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import health_programs
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.resources import bundled

TABLE = builtin_faults()
INTERVAL_S = 300.0
"""Seconds between two checks of a node."""


class OneSlurm(SlurmHere):
    """Nodes as ``scontrol`` of Slurm 22.05 shows and updates them."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.nodes = {name: {"State": "IDLE", "Reason": "", "Comment": ""} for name in names}

    def line(self, name: str) -> str:
        node = self.nodes[name]
        why = f" Reason={node['Reason']} [root@2026-11-27T09:00:00]" if node["Reason"] else ""
        told = f" Comment={node['Comment']}" if node["Comment"] else ""
        return f"NodeName={name} Arch=x86_64 State={node['State']} ThreadsPerCore=2 ExtSensorsTemp=n/s{why}{told}"

    def _ask(self, *words: str, unknown: bool = False) -> str:
        program, *arguments = words
        if program == "squeue" or "reboot" in arguments:
            return ""
        if "show" in arguments:
            return "\n".join(self.line(name) for name in expand_hostlist(arguments[-1])) + "\n"
        values = dict(one.split("=", 1) for one in arguments if "=" in one)
        for name in expand_hostlist(values.pop("NodeName")):
            node = self.nodes[name]
            node |= values
            if values.get("State") == "DRAIN":
                node["State"] = "IDLE+DRAIN"
            elif values.get("State") == "RESUME":
                node |= {"State": "IDLE", "Reason": ""}
        return ""


class Hall:
    """Nodes with their health checks, and the loop."""

    def __init__(self, plan: Plan, health: Any, folder: Path) -> None:
        self.health = health
        self.folder = folder
        parts = part_map(plan).parts
        self.names = sorted({node for nodes in parts.values() for node in nodes})
        self.parts = PartMap({**parts, SharedPart("file-system", "/home"): frozenset(self.names)})
        self.slurm = OneSlurm(self.names)
        self.ports = dict.fromkeys(self.names, 8)
        self.silent: set[str] = set()  # nodes for which /home does not answer
        self.now = 1000.0
        self.health.time = SimpleNamespace(monotonic=lambda: self.now)
        self.connection = open_journal()
        self.controller = RepairController(
            TABLE, Journal(self.connection), SlurmActuator(self.slurm, self), self,
            RepairLimits(most_nodes=100.0, nodes_per_hour=1000, storm_nodes=1000, probation_s=0.0),
            partitions_of(plan), self.parts, wall=lambda: 0.0,
        )  # fmt: skip

    def run(self, node: str, script: str) -> tuple[int, str]:
        """Do what an action asks for on a node at once: it is given new ports."""
        if script.startswith("if test -e"):
            self.ports[node] = 8
            return 0, "0\ndone"
        return 0, ""

    measures = False

    def validate(self, node: str, key: str) -> Progress:
        passed = self.check(node, "--print") == 0
        return Progress(done=True, passed=passed, text=str(passed))

    def check(self, node: str, *arguments: str) -> int:
        def run(program: str, *words: str) -> tuple[int, str]:
            assert program == "scontrol"
            return 0, self.slurm._ask(program, *words)

        def ports(_: object) -> Iterator[str]:
            if self.ports[node] < 8:
                yield f"{self.ports[node]} of 8 InfiniBand ports of 400 Gbps [port-down]"

        self.health.run = run
        self.health.ask_file_system = lambda path: None if node in self.silent else os.statvfs("/")
        self.health.ALL, self.health.QUICK = (ports, self.health.check_answers), ()
        place = self.folder / node
        settings: dict[str, Any] = {
            "node": node, "shared": faults_left_to_loop(TABLE), "verdict": f"{place}.verdict",
            "mounts": [{"path": "/home"}], "free": [],
        }  # fmt: skip
        place.with_suffix(".json").write_text(json.dumps(settings))
        with contextlib.redirect_stdout(io.StringIO()):
            code: int = self.health.main(["--settings", f"{place}.json", *arguments])
        return code

    def checks(self) -> None:
        for name in self.names:
            self.check(name)

    def loop(self) -> None:
        seen = self.slurm.update(self.names, ())
        self.controller.run_pass(list(events_of_slurm(TABLE, seen.after)), self.now)
        if updates := take_up_updates(TABLE, seen.after):
            self.slurm.update(self.names, updates)

    def wait(self, seconds: float, *, loop: bool) -> None:
        """Let time pass, with a check every five minutes and, if it runs, a pass of the loop every two minutes."""
        end, checked = self.now + seconds, self.now
        while self.now < end:
            self.now += 120.0
            if self.now - checked >= INTERVAL_S:
                checked = self.now
                self.checks()
            if loop:
                self.loop()

    @property
    def drained(self) -> list[str]:
        return [name for name in self.names if "DRAIN" in self.slurm.nodes[name]["State"]]


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = bundled("templates") / "blueprints/onprem-h100/template-test.yaml"
    answers = yaml.safe_load(place.read_text())["cases"]["two-units"]
    folder = tmp_path_factory.mktemp("hall") / "site"
    return write_blueprint(find_template("onprem-h100"), folder, answers)[0]


@pytest.fixture(scope="module")
def plan(blueprint: Path) -> Plan:
    return load_plan(blueprint).plan


@pytest.fixture
def hall(plan: Plan, tmp_path: Path) -> Hall:
    return Hall(plan, load_health(), tmp_path)


def a_leaf(hall: Hall) -> tuple[str, frozenset[str]]:
    part = next(part for part in hall.parts.parts if part.kind == "leaf")
    return part.title, hall.parts.parts[part]


def test_leaf_that_is_down_is_named_and_drains_no_node(hall: Hall) -> None:
    """32 nodes drained themselves one by one while the loop named their leaf."""
    title, below = a_leaf(hall)
    assert (title, len(below)) == ("leaf one of compute-leaf-[01-08] (n01 U7 to n01 U14)", 32)
    hall.checks()
    for name in below:
        hall.ports[name] = 7
    hall.wait(1500.0, loop=True)
    assert [shared.part.title for shared in hall.controller.shared] == [title]
    assert hall.drained == []
    assert all(hall.check(name, "--prolog") == 0 for name in below), "jobs are not refused either"
    for name in below:
        hall.ports[name] = 8
    hall.wait(1200.0, loop=True)
    assert hall.controller.shared == ()
    assert hall.drained == []
    assert {node["Comment"] for node in hall.slurm.nodes.values()} == {""}


def test_port_of_one_node_is_repaired_by_the_loop(hall: Hall) -> None:
    hall.checks()
    (lonely,) = hall.names[7:8]
    hall.ports[lonely] = 7
    hall.wait(900.0, loop=True)
    assert hall.drained == [lonely]
    assert re.match("rackwright: repair port-down", hall.slurm.nodes[lonely]["Reason"])
    assert hall.check(lonely, "--prolog") == 1
    assert hall.check(lonely) == 1, "nothing is left to the loop by a node that is out of service"


def test_node_drains_itself_where_no_loop_takes_its_fault_up(hall: Hall) -> None:
    _, below = a_leaf(hall)
    hall.checks()
    for name in below:
        hall.ports[name] = 7
    hall.wait(900.0, loop=False)
    assert hall.drained == []
    hall.wait(600.0, loop=False)
    assert hall.drained == sorted(below)


def test_loop_that_ends_lets_nodes_drain_themselves_only_if_the_fault_is_new(hall: Hall) -> None:
    """A fault that the loop has answered stays with the loop: its answer does not expire."""
    _, below = a_leaf(hall)
    hall.checks()
    for name in below:
        hall.ports[name] = 7
    hall.wait(600.0, loop=True)
    hall.wait(1800.0, loop=False)
    assert hall.drained == []


def test_comment_of_an_operator_is_kept_and_the_node_drains_itself(hall: Hall) -> None:
    first = hall.names[0]
    hall.slurm.nodes[first]["Comment"] = "lent to physics"
    hall.ports[first] = 7
    assert hall.check(first) == 1
    assert hall.drained == [first]
    assert hall.slurm.nodes[first]["Comment"] == "lent to physics"


def test_comment_from_before_a_boot_is_withdrawn(hall: Hall) -> None:
    """A loop would have drained the node again for a port that was repaired."""
    first = hall.names[0]
    hall.ports[first] = 7
    hall.check(first)
    assert hall.slurm.nodes[first]["Comment"].startswith("node health: 7 of 8")
    (hall.folder / f"{first}.verdict").unlink()
    hall.ports[first] = 8
    assert hall.check(first) == 0
    assert hall.slurm.nodes[first]["Comment"] == ""


def test_comment_is_withdrawn_after_a_drain_without_a_loop(hall: Hall) -> None:
    """A loop that began later would have drained the repaired node for it."""
    first = hall.names[0]
    hall.check(first)
    hall.ports[first] = 7
    hall.check(first)
    hall.now += 901.0
    hall.check(first)
    assert hall.drained == [first]
    hall.ports[first] = 8
    hall.check(first)
    assert hall.slurm.nodes[first]["Comment"] == ""


def test_fault_beside_one_that_nodes_share_drains_the_node(hall: Hall) -> None:
    health = hall.health
    assert health.may_be_shared({"shared": ["port-down"]}, ["7 of 8 ports [port-down]"])
    assert not health.may_be_shared({"shared": ["port-down"]}, ["7 of 8 ports [port-down]", "/x is not mounted"])  # fmt: skip
    assert not health.may_be_shared({"shared": ["port-down"]}, [])


def test_faults_are_left_to_a_loop_only_where_the_blueprint_has_one(
    blueprint: Path, plan: Plan, tmp_path: Path
) -> None:
    (tmp_path / "layer.yaml").write_text("operations: {repair: {most_nodes: 5 %}}\n")
    assert "health_check_shared" not in health_programs(plan)
    with_loop = load_plan(blueprint, [tmp_path / "layer.yaml"]).plan
    shared = health_programs(with_loop)["health_check_shared"]
    assert shared == ["gpu-hot", "nvlink5-signal", "port-down", "port-flaps", "port-overrun"]


def test_file_server_that_is_down_is_named_and_its_nodes_come_back_by_themselves(
    hall: Hall,
) -> None:
    """Each node that mounts it was drained, and stayed so until an operator had resumed it."""
    hall.checks()
    hall.silent = set(hall.names)
    hall.wait(1500.0, loop=True)
    (shared,) = hall.controller.shared
    assert shared.part.title == "file-system /home"
    assert hall.drained == hall.names, "a job that starts on it would hang"
    assert {node["Reason"] for node in hall.slurm.nodes.values()} == {
        "node health: /home does not answer [file-system-silent]"
    }, "the loop has not touched them"
    hall.silent = set()
    hall.wait(1200.0, loop=True)
    assert (hall.controller.shared, hall.drained) == ((), [])
    states = {record.state for record in hall.controller.journal.nodes.values()}
    assert states == {RepairState.HEALTHY}


def test_node_whose_file_system_answers_again_is_not_repaired(hall: Hall) -> None:
    hall.checks()
    hall.silent = {hall.names[3]}
    hall.now += INTERVAL_S
    hall.checks()
    hall.loop()
    assert hall.drained == [hall.names[3]]
    hall.silent = set()
    hall.checks()
    hall.wait(900.0, loop=True)
    assert hall.drained == []
    assert not hall.controller.journal.actions(hall.names[3])


def test_node_that_alone_does_not_reach_a_file_system_is_repaired(hall: Hall) -> None:
    hall.checks()
    hall.silent = {hall.names[3]}
    hall.wait(1500.0, loop=True)
    assert hall.drained == [hall.names[3]]
    assert "rackwright: repair file-system-silent" in hall.slurm.nodes[hall.names[3]]["Reason"]


def test_node_drained_for_more_than_a_file_system_waits_for_an_operator(hall: Hall) -> None:
    hall.checks()
    (name, *_) = hall.names
    hall.silent, hall.ports[name] = {name}, 7
    hall.check(name)
    hall.silent, hall.ports[name] = set(), 8
    hall.check(name)
    assert hall.drained == [name]
