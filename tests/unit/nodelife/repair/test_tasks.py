"""Tasks for hands: rack, unit, part, serial number and cable of what the journal waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from node_life import TABLE, FakeCluster, controller, fault, open_journal
from rackwright.nodelife.ledger import Ledger
from rackwright.nodelife.repair.tasks import hand_task, same_slot, shared_tasks, watched_tasks
from rackwright.nodelife.signs.detect import FaultEvent
from rackwright.nodelife.signs.shared import PartMap, SharedPart
from rackwright.nodelife.worklist import worklist
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.sheets import sheets

TREE = Path(__file__).parents[3] / "golden/slurm/tree/layer.yaml"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(builtin_pack() / "fixtures/slurm.yaml", (TREE,)).plan


class Serials(Ledger):
    """A ledger that knows one GPU."""

    def __init__(self) -> None:
        pass

    def serials(self, node: str, kind: str) -> dict[str, str]:
        return {"00000000:9B:00.0": "1650"} if (node, kind) == ("dgx-06", "gpu") else {}


def cable_of(plan: Plan, node: str) -> tuple[str, str]:
    """Return port and label of the first cable of a node, as the sheet has them."""
    row = next(row for row in list(sheets(plan))[1].rows if row[7] == node)
    return str(row[8]), str(row[9])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("0000:9b:00", "00000000:9B:00.0", True), ("9b:00.0", "0000:9b:00", True), ("0009:01:00", "00000009:01:00.0", True),
     ("0008:01:00", "0009:01:00", False), ("0000:9b:00", "0000:9c:00", False), ("GPU3", "GPU3", True), ("GPU3", "GPU4", False)],
)  # fmt: skip
def test_pci_addresses_of_one_slot_are_known_in_each_form(one: str, other: str, same: bool) -> None:
    assert same_slot(one, other) is same


def test_gpu_that_goes_back_has_its_serial_number_and_place(plan: Plan) -> None:
    """The kernel writes an address in another form than nvidia-smi: no serial was found."""
    loop = controller(FakeCluster(["dgx-06", "b"]), open_journal())
    events = [("dgx-06", fault("gpu-inforom-corrupt", device="0000:9b:00"))]
    for number in range(6):
        loop.run_pass(events, 10.0 + number)
    task = hand_task(loop.journal, TABLE, Serials(), loop.journal.node("dgx-06"))
    assert task is not None
    (item,) = worklist(plan, [task])
    assert (item.task.part, item.task.serial, item.rack) == ("gpu", "1650", "c02")
    assert item.unit is not None


def test_port_that_is_down_has_its_cable_with_both_ends(plan: Plan) -> None:
    port, label = cable_of(plan, "dgx-06")
    loop = controller(FakeCluster(["dgx-06", "b"]), open_journal())
    events = [("dgx-06", fault("port-down", device=f"{port}/1"))]
    for number in range(8):
        loop.run_pass(events, 10.0 + 60 * number)
    task = hand_task(loop.journal, TABLE, Serials(), loop.journal.node("dgx-06"))
    assert task is not None
    (item,) = worklist(plan, [task])
    assert (item.task.part, item.cable) == ("cable", label)
    assert " / " in label


def test_optic_that_is_hot_has_its_cable(plan: Plan) -> None:
    port, label = cable_of(plan, "dgx-06")
    loop = controller(FakeCluster(["dgx-06", "b"]), open_journal())
    loop.run_pass([("dgx-06", FaultEvent("optic-bad", f"{port}/1", 5.0, "hot"))], 10.0)
    (item,) = worklist(plan, watched_tasks(loop.journal, TABLE, 20.0))
    assert item.cable == label


def test_shared_leaf_is_one_task_with_the_place_of_the_switch(plan: Plan) -> None:
    """Its name in the journal ends with the place, and no switch had that name."""
    switch = next(str(row[12]) for row in list(sheets(plan))[1].rows if row[7] == "dgx-06")
    nodes = [f"dgx-{number:02d}" for number in range(1, 9)]
    others = [f"dgx-{number:02d}" for number in range(9, 41)]
    leaf = SharedPart("leaf", switch, "n01 U40")
    parts = PartMap({leaf: frozenset(nodes), SharedPart("hall", "h"): frozenset(nodes + others)})
    loop = controller(FakeCluster(nodes + others), open_journal(), parts=parts)
    loop.run_pass([(node, fault("port-down")) for node in nodes], 10.0)
    (task,) = shared_tasks(loop.journal)
    assert (task.node, task.part) == (switch, "leaf")
    (item,) = worklist(plan, [task])
    assert item.rack
    assert item.unit is not None
