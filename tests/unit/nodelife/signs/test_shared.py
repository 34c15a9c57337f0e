"""Parts that nodes with a fault share: the part is named, and chance is not."""

from __future__ import annotations

import random

from node_life import TABLE, FakeCluster, controller, fault, open_journal
from rackwright.nodelife.repair.states import State
from rackwright.nodelife.signs.shared import PartMap, SharedPart, name_shared

NODES = [f"n{number:04d}" for number in range(2048)]


def hall() -> PartMap:
    """Return 2,048 nodes: racks of 8, PDUs, leaves of 32, loops of 256, four feeds, spines of 512, firmware."""
    parts: dict[SharedPart, set[str]] = {}
    for number, node in enumerate(NODES):
        for kind, size in (("rack", 8), ("leaf", 32), ("loop", 256), ("spine", 512)):
            name = f"{kind}-{number // size}"
            parts.setdefault(SharedPart(kind, name, f"r{number // 32 * 4} U40" if kind == "leaf" else ""), set()).add(node)  # fmt: skip
        parts.setdefault(SharedPart("pdu", f"rack-{number // 8}/A{number % 2}"), set()).add(node)
        parts.setdefault(SharedPart("feed", f"feed-{number // 64 % 4}"), set()).add(node)
        parts.setdefault(SharedPart("firmware", f"set-{number % 5 == 0}"), set()).add(node)
    return PartMap({part: frozenset(nodes) for part, nodes in parts.items()})


HALL = hall()
CASES = (
    ("leaf", "port-down", 600.0), ("spine", "port-flaps", 600.0), ("loop", "gpu-hot", 1800.0),
    ("rack", "power-supply-lost", 600.0), ("pdu", "power-supply-lost", 600.0), ("feed", "power-supply-lost", 600.0),
    ("firmware", "gpu-firmware-silent", 86_400.0),
)  # fmt: skip


def test_failing_part_is_named_among_faults_of_other_nodes() -> None:
    random_ = random.Random(438930)
    named, tried = 0, 0
    for kind, fault_id, window in CASES:
        for _ in range(10):
            part = random_.choice(sorted(one for one in HALL.parts if one.kind == kind))
            members = sorted(HALL.parts[part])
            share = 0.7 if kind != "firmware" else 0.35
            hit = random_.sample(members, max(3, int(share * len(members))))
            noise = random_.sample(NODES, 6)
            events = [(node, TABLE.faults[fault_id], random_.uniform(0, window)) for node in hit]
            events += [(node, TABLE.faults[random_.choice(("gpu-hot", "port-flaps", "gpu-firmware-silent"))], random_.uniform(0, window)) for node in noise]  # fmt: skip
            found = name_shared(HALL, events, window)
            tried += 1
            named += bool(found) and found[0].part == part
    print(f"named {named} of {tried}")
    assert named >= 0.9 * tried


def test_chance_is_not_named() -> None:
    random_ = random.Random(771200)
    for _ in range(100):
        names = sorted(one for one in TABLE.faults if TABLE.faults[one].severity.leaves_service)
        events = [
            (random_.choice(NODES), TABLE.faults[random_.choice(names)], random_.uniform(0, 86_400))
            for _ in range(12)
        ]
        assert name_shared(HALL, events, 86_400.0) == ()


def test_nodes_of_a_shared_part_are_not_drained_one_by_one() -> None:
    cluster = FakeCluster(NODES[:256])
    parts = PartMap({part: nodes & set(NODES[:256]) for part, nodes in HALL.parts.items() if nodes & set(NODES[:256])})  # fmt: skip
    loop = controller(cluster, open_journal(), parts=parts)
    leaf = sorted(NODES[32:64])
    for number, node in enumerate(leaf):
        loop.run_pass([(node, fault("port-down"))], 10.0 + 3 * number)
    assert cluster.most_out == 0
    (shared,) = loop.shared
    assert str(shared) == "leaf leaf-1 (r4 U40): port-down on 32 of its 32 nodes"
    assert all(loop.journal.node(node).state is State.SUSPECT for node in leaf)
    assert loop.journal.node(leaf[0]).waits == "shared with others: leaf leaf-1 (r4 U40)"
    again = controller(cluster, loop.journal.connection, parts=parts)
    again.run_pass([], 200.0)
    assert again.shared, "a new process names it as well"
    loop = again
    loop.run_pass([], 1000.0)
    assert loop.shared == ()
    assert all(loop.journal.node(node).state is State.HEALTHY for node in leaf), (
        "they never left service"
    )
    assert cluster.most_out == 0


def test_too_few_nodes_name_nothing() -> None:
    events = [(node, TABLE.faults["port-down"], 1.0) for node in NODES[:2]]
    assert name_shared(HALL, events, 2.0) == ()
    events = [(node, TABLE.faults["port-down"], 1.0) for node in NODES[:32]]
    assert name_shared(HALL, events, 700.0) == (), "they are too long ago"
