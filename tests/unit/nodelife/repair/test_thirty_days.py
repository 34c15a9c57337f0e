"""Days of 16,384 GPUs by published rates, taken through the loop: false drains, parts that fail, lemon nodes.

Six days in the gate, thirty in soak. A drain is false where the node had no fault of its own: one of a program,
of the path, of an optic, or of a part that it shares with others.

Rates: Llama 3 (arXiv 2407.21783, table 5): 419 unexpected interruptions of 16,384 GPUs in 54 days, of which
148 GPU, 72 HBM, 35 network, 32 host maintenance, 19 GPU SRAM, 17 GPU system processor, 7 silent, 6 NIC and
others. Program errors (Xid 13, 31, 43, 45) come ten times as often, on any node: they must drain none.
"""

from __future__ import annotations

import heapq
import os
import random
import secrets
from collections import Counter
from dataclasses import dataclass, field

import pytest

from node_life import FakeCluster, controller, fault, open_journal
from rackwright.nodelife.repair.budgets import RepairLimits
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.repair.tasks import finish_by_hand
from rackwright.nodelife.signs.shared import PartMap, SharedPart

NODES = [f"n{number:04d}" for number in range(2048)]
DAY = 86_400.0
RATES = {
    "gpu-off-bus": 74, "gpu-context-timeout": 74, "gpu-memory-uncontained": 36, "gpu-ecc-double-bit": 36,
    "port-down": 20, "nic-stuck": 21, "host-hung": 32, "gpu-ecc-escape": 19, "gpu-firmware-silent": 17,
    "silent-corruption": 7, "memory-uncorrectable": 9, "nvme-failing": 8, "gpu-hot": 6,
}  # fmt: skip
"""Interruptions within 54 days that are faults of a node."""
HARMLESS = (
    "gpu-page-fault",
    "gpu-exception",
    "gpu-channels-removed",
    "path-congested",
    "optic-bad",
)
FAILURES = (("leaf", "port-down"), ("spine", "port-flaps"), ("loop", "gpu-hot"), ("pdu", "host-hung"),
            ("rack", "host-hung"), ("firmware", "gpu-firmware-silent"), ("leaf", "port-flaps"), ("loop", "gpu-hot"),
            ("spine", "port-overrun"), ("pdu", "host-hung"))  # fmt: skip
"""Part that fails every three days, and the fault that its nodes show."""
PASS_S = 300.0


def hall() -> PartMap:
    parts: dict[SharedPart, set[str]] = {}
    for number, node in enumerate(NODES):
        for kind, size in (("rack", 8), ("leaf", 32), ("loop", 256), ("spine", 512)):
            parts.setdefault(SharedPart(kind, f"{kind}-{number // size}"), set()).add(node)
        parts.setdefault(SharedPart("pdu", f"row-{number // 16}/A"), set()).add(node)
        parts.setdefault(
            SharedPart("firmware", "set-2" if number % 4 == 0 else "set-1"), set()
        ).add(node)
    return PartMap({part: frozenset(nodes) for part, nodes in parts.items()})


@dataclass
class Story:
    """Faults as time, node and id; faults of a node alone; the part of each failure; lemon nodes."""

    faults: list[tuple[float, str, str]] = field(default_factory=list)
    own: set[tuple[str, str]] = field(default_factory=set)
    failures: dict[int, SharedPart] = field(default_factory=dict)
    lemons: list[str] = field(default_factory=list)


def write_story(random_: random.Random, parts: PartMap, days: int) -> Story:
    story = Story(lemons=random_.sample(NODES, 4))
    for name, count in RATES.items():
        for _ in range(round(count * days / 54)):
            node = random_.choice(story.lemons if random_.random() < 0.05 else NODES)
            story.faults.append((random_.uniform(0, days * DAY), node, name))
            story.own.add((node, name))
    for lemon in story.lemons:
        story.own.add((lemon, "gpu-context-timeout"))
        story.faults += [
            (random_.uniform(0, days * DAY), lemon, "gpu-context-timeout")
            for _ in range(max(3, days // 6))
        ]
    story.faults += [
        (random_.uniform(0, days * DAY), random_.choice(NODES), random_.choice(HARMLESS))
        for _ in range(4190 * days // 30)
    ]
    for number, (kind, name) in enumerate(FAILURES[: days // 3]):
        choice = sorted(one for one in parts.parts if one.kind == kind and one.name != "set-1")
        part = story.failures[number] = random_.choice(choice)
        members = sorted(parts.parts[part])
        spread = 3600.0 if kind == "firmware" else 120.0
        for node in random_.sample(members, max(3, int(0.8 * len(members)))):
            story.faults.append((begin_of(number) + random_.uniform(0, spread), node, name))
    story.faults.sort()
    return story


def begin_of(failure: int) -> float:
    return (3 * failure + 1.5) * DAY


@dataclass
class Result:
    """Outcome of a story.

    Attributes:
        false: drains of nodes without a fault of their own.
        named: failures of which the part was named.
        storms: passes in which so many nodes had news that nothing was drained.
    """

    drains: int
    false: list[str]
    named: int
    of: int
    lemons: int
    most_out: int
    storms: int
    breaches: list[str]


def live(seed: int, days: int) -> Result:
    """Take a story through the loop, with hands that swap parts after eight hours."""
    random_, parts = random.Random(seed), hall()
    story = write_story(random_, parts, days)
    cluster = FakeCluster(NODES)
    limits = RepairLimits(most_nodes=5.0, nodes_per_hour=10, storm_nodes=20)
    loop = controller(cluster, open_journal(), limits, parts)
    left = list(story.faults)
    heapq.heapify(left)
    named: dict[int, set[str]] = {}
    hands: dict[str, float] = {}
    now, storms = 0.0, 0
    while now < (days + 1) * DAY:
        now += PASS_S
        events = []
        while left and left[0][0] <= now:
            at, node, name = heapq.heappop(left)
            events.append((node, fault(name, at)))
        busy = loop.journal.in_states(set(RepairState) - {RepairState.HEALTHY})
        moving = any(
            one.state is not RepairState.PROBATION and not one.waits.startswith("by hand")
            for one in busy
        )
        if not events and (not busy or (not moving and int(now) % 7200)):
            continue
        loop.run_pass(events, now)
        storms += any(line.startswith("storm") for line in loop.told)
        for shared in loop.shared:
            for index in story.failures:
                if 0 <= now - begin_of(index) < DAY:
                    named.setdefault(index, set()).add(f"{shared.part.kind} {shared.part.name}")
        for one in loop.journal.in_states([RepairState.REPAIRING, RepairState.RMA]):
            if now - hands.setdefault(one.node, now) > 8 * 3600:
                finish_by_hand(loop.journal, one.node, "swapped", now)
                cluster.nodes[one.node].power = True
                del hands[one.node]
    actions = loop.journal.actions(last=100_000)
    drains = [(one.node, one.argument.split()[2]) for one in actions if one.kind == "drain"]
    repairs = Counter(one.node for one in actions if one.kind == "repair")
    worst = {node for node, _ in repairs.most_common(len(story.lemons))}
    right = sum(
        f"{part.kind} {part.name}" in named.get(index, set())
        for index, part in story.failures.items()
    )
    false = sorted(f"{node}: {name}" for node, name in drains if (node, name) not in story.own)
    lemons = len(worst & set(story.lemons))
    made = Result(len(drains), false, right, len(story.failures), lemons, cluster.most_out, storms, cluster.breaches)  # fmt: skip
    print(f"\nseed {seed}, {days} days, {len(story.faults)} faults: {made}")
    return made


def test_six_days_of_a_large_hall() -> None:
    result = live(88554, 6)
    assert result.drains > 0
    assert result.false == []
    assert result.breaches == []
    assert result.named == result.of == 2
    assert result.most_out <= 102


@pytest.mark.soak(reason="five times thirty days take minutes, and four seeds are drawn")
@pytest.mark.timeout(3600)
def test_thirty_days_of_a_large_hall() -> None:
    first = int(os.environ.get("RACKWRIGHT_SEED") or secrets.randbelow(1_000_000))
    print(f"RACKWRIGHT_SEED={first}")
    results = [live(seed, 30) for seed in (88554, first, first + 1, first + 2, first + 3)]
    assert [one.false for one in results] == [[]] * 5
    assert [one.breaches for one in results] == [[]] * 5
    assert sum(one.named for one in results) >= 0.9 * sum(one.of for one in results)
    assert sum(one.lemons for one in results) >= 15
    assert max(one.most_out for one in results) <= 102
