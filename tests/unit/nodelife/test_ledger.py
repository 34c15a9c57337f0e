"""Parts are followed from slot to slot; what is damaged, locked or newer is said, and nothing is lost."""

from __future__ import annotations

import gzip
import json
import math
import random
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError, StateError, UsageError
from rackwright.nodelife import store
from rackwright.nodelife.ledger import Ledger, PartSeen, StoredRate, open_ledger, parts_of_facts
from rackwright.nodelife.ledger_figures import lemon_score, lemons, spare_needs
from rackwright.nodelife.return_packet import write_packet
from rackwright.nodelife.service import Incident
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "atlas.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with open_ledger(path) as made:
        yield made


def gpus(*serials: str) -> dict[str, list[PartSeen] | None]:
    return {"gpu": [PartSeen("gpu", f"s{n}", one, "H100") for n, one in enumerate(serials) if one]}


def test_first_sight_of_a_node_is_no_change(ledger: Ledger) -> None:
    assert ledger.see("n1", gpus("a", "b"), 10) == []
    assert ledger.see("n1", gpus("a", "b"), 20) == []
    assert ledger.serials("n1", "gpu") == {"s0": "a", "s1": "b"}


def test_swap_move_and_loss_are_seen(ledger: Ledger) -> None:
    ledger.see("n1", gpus("a", "b"), 10)
    ledger.see("n2", gpus("c", "d"), 10)
    (swap,) = ledger.see("n1", gpus("e", "b"), 20)
    assert str(swap) == "n1: GPU in s0 is e; it was a"
    (moved,) = ledger.see("n2", gpus("c", "a"), 30)
    assert str(moved) == "n2: GPU in s1 is a, which was in n1 s0; it was d"
    (gone,) = ledger.see("n2", gpus("c"), 40)
    assert str(gone) == "n2: GPU in s1 is gone: a"
    assert [(s.node, s.slot, s.since, s.until) for s in ledger.stays(serial="a")] == [
        ("n1", "s0", 10, 20),
        ("n2", "s1", 30, 40),
    ]
    assert [entry.text for entry in ledger.entries(serial="a")] == [str(moved), str(gone)]


def test_part_that_is_seen_elsewhere_first_leaves_its_old_slot(ledger: Ledger) -> None:
    ledger.see("n1", gpus("a"), 10)
    ledger.see("n2", gpus("b"), 10)
    ledger.see("n2", gpus("a"), 20)  # n1 has not been asked since
    assert ledger.serials("n1", "gpu") == {}
    assert ledger.see("n1", gpus("b"), 30)[0].came_from == "n2 s0"


def test_exchange_of_two_slots_is_two_moves(ledger: Ledger) -> None:
    ledger.see("n1", gpus("a", "b"), 10)
    assert len(ledger.see("n1", gpus("b", "a"), 20)) == 2
    assert ledger.serials("n1", "gpu") == {"s0": "b", "s1": "a"}


def test_kind_of_which_a_host_cannot_tell_stays(ledger: Ledger) -> None:
    ledger.see("n1", gpus("a"), 10)
    assert ledger.see("n1", {"gpu": None, "dimm": []}, 20) == []
    assert ledger.serials("n1", "gpu") == {"s0": "a"}


def test_clock_that_jumps_back_makes_no_stay_of_negative_length(ledger: Ledger) -> None:
    ledger.see("n1", gpus("a"), 1000)
    ledger.see("n1", gpus("b"), 5)
    ledger.close_incident("n1", 1)
    ledger.open_incident("n1", "x", 1000)
    ledger.close_incident("n1", 5)
    assert all(stay.until is None or stay.until >= stay.since for stay in ledger.stays())
    assert ledger.incidents() == [Incident(1000, "n1", "x", 1000)]


def test_drawn_moves_keep_every_part_in_one_place(ledger: Ledger) -> None:
    draw = random.Random(25431)
    places = [(f"n{n}", slot) for n in range(4) for slot in range(4)]
    where = {place: f"p{number}" for number, place in enumerate(places)}
    for at in range(60):
        one, other = draw.sample(places, 2)
        where[one], where[other] = where[other], where[one]
        for node in draw.sample(["n0", "n1", "n2", "n3"], 4):
            ledger.see(node, gpus(*(where[node, slot] for slot in range(4))), at)
        seen = {(s.node, s.slot): s.serial for s in ledger.stays() if s.until is None}
        assert seen == {(node, f"s{slot}"): serial for (node, slot), serial in where.items()}


def test_one_open_incident_a_node_keeps_its_cause(ledger: Ledger) -> None:
    assert ledger.open_incident("n1", "Xid", 1)
    assert not ledger.open_incident("n1", "heat", 2)
    ledger.close_incident("n1", 3)
    assert ledger.open_incident("n1", "heat", 4)
    assert ledger.incidents() == [Incident(1, "n1", "Xid", 3), Incident(4, "n1", "heat")]


def rate(value: float, model: str = "H100") -> StoredRate:
    return StoredRate("gpu", "a", model, "gemm bf16", 8192, value, "TFLOP/s", 745.0, "floor")


def test_last_suite_of_a_node_counts(ledger: Ledger) -> None:
    ledger.record_suite("n1", "h1", "fail", 1, "slow", [rate(700)], 1)
    ledger.record_suite("n1", "h1", "pass", 48, "", [rate(770), rate(771)], 2)
    ledger.record_suite("n2", "h2", "pass", 48, "", [rate(5)], 2)
    assert ledger.suites()["n1"].outcome == "pass"
    assert ledger.hall_rates("h1") == {("H100", "gemm bf16", 8192): {"n1": [770.0, 771.0]}}


def test_ledger_of_a_newer_version_is_left_alone(path: Path, ledger: Ledger) -> None:
    ledger.connection.execute("UPDATE parts SET version = 99 WHERE name = 'ledger'")
    before = path.read_bytes()
    with pytest.raises(StateError, match="version 99 of its ledger"), open_ledger(path):
        pass
    assert path.read_bytes() == before


def test_ledger_that_is_cut_is_said_and_kept(path: Path) -> None:
    with open_ledger(path) as made:
        for number in range(300):
            made.see(f"n{number}", gpus("a" * 60 + str(number)), 1)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(StateError, match="damaged"), open_ledger(path) as cut:
        cut.see("n1", gpus("z"), 2)
    assert path.read_bytes() == data[: len(data) // 2]


def test_ledger_that_another_process_holds_is_said(path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(store, "BUSY_S", 0.1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ExternalToolError, match="held by another process"), open_ledger(path):
        pass
    holder.execute("ROLLBACK")
    holder.close()
    with open_ledger(path) as after:
        assert after.see("n1", gpus("a"), 1) == []


def test_facts_of_a_host_become_parts() -> None:
    told = {"parts": {"gpu": [{"slot": "1b", "serial": "a", "model": "H100"}, {"slot": "2", "serial": ""}, 7],
                      "dimm": None, "psu": "x"}}  # fmt: skip
    assert parts_of_facts(told) == {
        "gpu": [PartSeen("gpu", "1b", "a", "H100")],
        "dimm": None,
        "psu": None,
    }
    assert parts_of_facts({"parts": None}) == parts_of_facts({}) == {}


def test_lemon_score_is_the_tail_of_poisson() -> None:
    assert lemon_score(0, 5) == 0
    exact = 1 - sum(math.exp(-0.5) * 0.5**k / math.factorial(k) for k in range(4))
    assert lemon_score(4, 0.5) == pytest.approx(-math.log10(exact))
    assert lemon_score(60, 0.01) > 100
    assert lemon_score(1, 0) == math.inf


def test_lemons_are_found_and_a_fleet_of_equals_has_none() -> None:
    draw = random.Random(88554)
    nodes = [f"n{number}" for number in range(2048)]
    # 30 days at 3.79 failures of 1,000 nodes in a day, the rate of the reference's 405B run.
    chance = [
        Incident(day, node, "x") for day in range(30) for node in nodes if draw.random() < 3.79e-3
    ]
    assert lemons(chance, nodes, 0) == []
    bad = [Incident(day, "n77", "x") for day in range(0, 30, 5)]
    found = lemons([*chance, *bad], nodes, 0)
    assert [one.node for one in found] == ["n77"]
    shared = [Incident(1, node, "leaf l1") for node in nodes[:400] for _ in range(9)]
    assert [one.node for one in lemons([*chance, *bad, *shared], nodes, 0, {"leaf l1"})] == ["n77"]
    assert lemons([], [], 0) == []


def test_spares_follow_the_rates_of_the_plan_and_of_the_ledger(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("reliability: {node_failures_per_1000_days: 5, repair_time: 48 h}\n")
    plan = load_plan(builtin_pack() / "fixtures/slurm.yaml", [layer]).plan
    (need,) = (one for one in spare_needs(plan, [], 0, 10 * 86400.0) if one.group == "dgx")
    # 64 × 0.005 × 2 days = 0.64 hosts in repair on average; P(X ≤ 3) = 0.996.
    assert (need.hosts, need.by_plan, need.observed, need.by_ledger) == (64, 3, 0.0, 0)
    often = [Incident(n * 8640.0, "dgx-01", "x") for n in range(64)]
    (need,) = (one for one in spare_needs(plan, often, 0, 10 * 86400.0) if one.group == "dgx")
    assert need.observed == pytest.approx(100.0)
    assert need.by_ledger is not None
    assert need.by_ledger > 3
    (need,) = (one for one in spare_needs(plan, [], 0, 1.0) if one.group == "dgx")
    assert (need.observed, need.by_ledger) == (None, None)


SECRETS = """BMC_PASSWORD=hunter2 url https://root:hunter2@10.0.0.1/redfish
"token": "hunter2", --password hunter2 -x
X-Auth-Token: hunter2
-----BEGIN OPENSSH PRIVATE KEY-----
hunter2
-----END OPENSSH PRIVATE KEY-----
AKIAABCDEFGHIJKLMNOP eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.hunter2
Xid 79 of 0000:1b:00.0
"""


def test_packet_has_the_history_and_no_secret(ledger: Ledger, tmp_path: Path) -> None:
    ledger.see("n1", gpus("1650", "b"), 10)
    ledger.write("fault", "n1", "Xid 79", 15, kind="gpu", serial="1650")
    ledger.write("action", "n1", "cold cycle", 16)
    ledger.write("fault", "n1", "other GPU", 17, kind="gpu", serial="b")
    ledger.see("n1", gpus("c", "b"), 20)
    ledger.write("note", "n1", "later", 25)
    report, sel = tmp_path / "nvidia-bug-report.log.gz", tmp_path / "sel.txt"
    report.write_bytes(gzip.compress(SECRETS.encode()))
    sel.write_text("1 | Uncorrectable ECC\n")
    out = tmp_path / "packet.tar.gz"
    contents = write_packet(ledger, "1650", out, [report, sel], 1000)
    assert contents["files"][1]["secrets_removed"] >= 7
    with tarfile.open(out) as archive:
        texts = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    assert set(texts) == {
        "1650/contents.json", "1650/ledger.json", "1650/attached/nvidia-bug-report.log.gz", "1650/attached/sel.txt",
    }  # fmt: skip
    told = gzip.decompress(texts["1650/attached/nvidia-bug-report.log.gz"]).decode()
    assert "hunter2" not in told
    assert "Xid 79 of 0000:1b:00.0" in told
    document = json.loads(texts["1650/ledger.json"])
    assert document["places"][0]["slot"] == "s0"
    assert [entry["text"] for entry in document["entries"]][:2] == ["Xid 79", "cold cycle"]
    assert "later" not in json.dumps(document), "it was no longer there"
    assert "other GPU" not in json.dumps(document)
    with pytest.raises(UsageError, match="exists already"):
        write_packet(ledger, "1650", out, [], 1000)


def test_packet_refuses_what_it_cannot_clean(ledger: Ledger, tmp_path: Path) -> None:
    ledger.see("n1", gpus("1650"), 10)
    core = tmp_path / "core"
    core.write_bytes(b"\0\1\2")
    with pytest.raises(UsageError, match="is no text"):
        write_packet(ledger, "1650", tmp_path / "x.tar.gz", [core], 0)
    with pytest.raises(UsageError, match="knows no part"):
        write_packet(ledger, "0000", tmp_path / "x.tar.gz", [], 0)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"x" * 1000)[:20])
    with pytest.raises(UsageError, match="cannot be read"):
        write_packet(ledger, "1650", tmp_path / "x.tar.gz", [cut], 0)
    assert not (tmp_path / "x.tar.gz").exists()
