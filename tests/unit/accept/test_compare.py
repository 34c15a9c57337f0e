"""Every item that is expected fails on a host that lacks it, and is unknown where nobody tells."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rackwright.accept.compare import (
    REACHABLE,
    Acceptance,
    HostAcceptance,
    ItemOutcome,
    ItemResult,
    compare,
    compare_item,
    drain_reason,
    to_drain,
)
from rackwright.accept.expected import (
    NOT_IN_A_LAB,
    Comparing,
    Expectation,
    HostExpectations,
    expect,
)
from rackwright.exit_codes import ExitCode
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
GOLDEN = Path(__file__).parents[2] / "golden" / "slurm" / "tree" / "layer.yaml"
PLANS = [
    load_plan(FIXTURES / "operated.yaml").plan,  # software and file systems
    load_plan(FIXTURES / "slurm.yaml", (GOLDEN,)).plan,
]
HOSTS = [host for plan in PLANS for host in expect(plan)]
KINDS = {tuple(item.item for item in host.items): host for host in HOSTS}
"""One host of each kind."""

NODE = next(host for host in HOSTS if host.node == "dgx-01")

CASES = [
    pytest.param(host, item, id=f"{host.name}-{item.item}".replace(" ", "-"))
    for host in KINDS.values()
    for item in host.items
    if item.expected is not None
]


def sound_facts(host: HostExpectations) -> dict[str, Any]:
    """What the collector finds on a host that is as it is meant."""
    facts: dict[str, Any] = {"mounts": {}, "services": {}, "versions": {}, "slurm": {}}
    facts |= {t: {"rates_gbps": [], "inactive": 0} for t in ("infiniband", "ethernet")}
    for item in host.items:
        value: Any
        match item.rule:
            case Comparing.WORD:
                value = [f"NVIDIA {str(item.expected).upper()} 80GB HBM3"] * 8
            case Comparing.AT_LEAST:
                value = item.least
            case Comparing.SCHEDULABLE:
                value = "IDLE"
            case Comparing.EQUAL | Comparing.VERSION | Comparing.RELEASE:
                value = item.expected
            case Comparing.PORTS:
                facts[item.key[0]]["rates_gbps"] += [item.rate_gbps] * int(item.expected or 0)
                continue
        into = facts
        for part in item.key[:-1]:
            into = into.setdefault(part, {})
        into[item.key[-1]] = value
    return facts


def broken(item: Expectation, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with just that item wrong."""
    facts = copy.deepcopy(facts)
    into = facts
    for part in item.key[:-1]:
        into = into[part]
    last = item.key[-1]
    match item.rule:
        case Comparing.WORD:
            into[last][-1] = "NVIDIA A10G"
        case Comparing.AT_LEAST:
            into[last] -= 1
        case Comparing.SCHEDULABLE:
            into[last] = "IDLE+DRAIN"
        case Comparing.PORTS:
            into[last]["rates_gbps"].remove(item.rate_gbps)
            into[last]["rates_gbps"].append(item.rate_gbps / 2 if item.rate_gbps else 0)
        case Comparing.VERSION | Comparing.RELEASE:
            into[last] = f"{item.expected}1"
        case _ if isinstance(into[last], int):
            into[last] -= 1
        case _ if item.kind == "mount":
            into[last] = None
        case _:
            into[last] = "failed"
    return facts


def result(host: HostExpectations, item: Expectation, facts: Mapping[str, Any]) -> ItemResult:
    (judged,) = compare([host], {host.name: facts}, {}).hosts
    (found,) = [one for one in judged.items if one.item == item.item]
    return found


def test_there_is_every_kind_of_item() -> None:
    kinds = {item.kind for host in KINDS.values() for item in host.items}
    assert kinds >= {
        "accelerators", "accelerator model", "processors", "memory", "ports", "mount", "version",
        "service", "Slurm state", "Slurm accelerators", "EFA devices",
    }  # fmt: skip
    assert {item.rule for host in KINDS.values() for item in host.items} == set(Comparing)


@pytest.mark.parametrize("host", [pytest.param(h, id=h.name) for h in KINDS.values()])
def test_a_host_as_it_is_meant_passes(host: HostExpectations) -> None:
    (judged,) = compare([host], {host.name: sound_facts(host)}, {}).hosts
    wrong = [item for item in judged.items if item.outcome is ItemOutcome.FAIL]
    assert wrong == []
    assert {i.item for i in judged.items if i.outcome is ItemOutcome.UNKNOWN} == {
        item.item for item in host.items if item.expected is None
    }


@pytest.mark.parametrize(("host", "item"), CASES)
def test_each_item_fails_on_a_broken_host(host: HostExpectations, item: Expectation) -> None:
    found = result(host, item, broken(item, sound_facts(host)))
    assert found.outcome is ItemOutcome.FAIL, found
    assert found.reason


@pytest.mark.parametrize(("host", "item"), CASES)
def test_each_item_is_unknown_where_the_host_does_not_tell(
    host: HostExpectations, item: Expectation
) -> None:
    facts = sound_facts(host)
    facts[item.key[0]] = None
    facts["problems"] = {item.key[0]: "the file is gone"}
    found = result(host, item, facts)
    assert found.outcome is ItemOutcome.UNKNOWN
    assert found.reason == "the file is gone"


GARBAGE: tuple[Any, ...] = ("", "eight", [], {}, [None], {"rates_gbps": "x"}, True, -1)


@pytest.mark.parametrize(("host", "item"), CASES)
def test_nonsense_never_passes(host: HostExpectations, item: Expectation) -> None:
    for garbage in GARBAGE:
        facts = sound_facts(host)
        into = facts
        for part in item.key[:-1]:
            into = into[part]
        into[item.key[-1]] = garbage
        assert result(host, item, facts).outcome is not ItemOutcome.PASS, garbage


def test_an_expectation_without_a_number_is_unknown() -> None:
    item = Expectation("processors", "processors", ("cpus",), Comparing.EQUAL, None)
    found = compare_item(item, {"cpus": 8})
    assert found.outcome is ItemOutcome.UNKNOWN
    assert found.found == "8"


@pytest.mark.parametrize(
    ("state", "passes"),
    [
        ("IDLE", True),
        ("MIXED", True),
        ("ALLOCATED", True),
        ("IDLE+CLOUD", True),
        ("IDLE*", False),
        ("DOWN", False),
        ("DOWN*", False),
        ("IDLE+DRAIN", False),
        ("MIXED+DRAIN", False),
        ("IDLE+MAINTENANCE+DRAIN", False),
        ("IDLE+NOT_RESPONDING", False),
        ("IDLE+POWERED_DOWN", False),
        ("IDLE+REBOOT_REQUESTED", False),
        ("UNKNOWN", False),
        ("FUTURE", False),
        ("", False),
    ],
)
def test_states_in_which_a_node_gets_jobs(state: str, passes: bool) -> None:
    item = Expectation("Slurm state", "Slurm state", ("slurm", "state"), Comparing.SCHEDULABLE, "x")
    found = compare_item(item, {"slurm": {"state": state}})
    assert (found.outcome is ItemOutcome.PASS) is passes


@pytest.mark.parametrize(
    ("rule", "expected", "found", "passes"),
    [
        (Comparing.VERSION, "570.133.20", "570.133.20", True),
        (Comparing.VERSION, "570.133.20", "570.133.20-1", True),
        (Comparing.VERSION, "2.30.4-1", "2.30.4-1+cuda12.9", True),
        (Comparing.VERSION, "570.133.2", "570.133.20", False),
        (Comparing.VERSION, "570.133", "570.133.20", False),
        (Comparing.VERSION, "570.133.20", "570", False),
        (Comparing.RELEASE, "22.05", "22.05.8", True),
        (Comparing.RELEASE, "22.05", "22.050", False),
        (Comparing.RELEASE, "22.05", "23.02.1", False),
    ],
)
def test_versions(rule: Comparing, expected: str, found: str, passes: bool) -> None:
    item = Expectation("version x", "version", ("versions", "x"), rule, expected)
    outcome = compare_item(item, {"versions": {"x": found}}).outcome
    assert outcome is (ItemOutcome.PASS if passes else ItemOutcome.FAIL)


@pytest.mark.parametrize(
    ("word", "name", "passes"),
    [
        ("h100", "NVIDIA H100 80GB HBM3", True),
        ("a100", "NVIDIA A100-SXM4-80GB", True),
        ("rtxpro6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", True),
        ("b200", "NVIDIA GB200", False),
        ("h100", "NVIDIA H200", False),
        ("l4", "NVIDIA L40S", False),
    ],
)
def test_names_of_accelerators(word: str, name: str, passes: bool) -> None:
    item = Expectation("model", "accelerator model", ("accelerator_models",), Comparing.WORD, word)
    outcome = compare_item(item, {"accelerator_models": [name]}).outcome
    assert outcome is (ItemOutcome.PASS if passes else ItemOutcome.FAIL)


def test_a_host_that_does_not_answer_fails_and_the_rest_is_unknown() -> None:
    (judged,) = compare([NODE], {}, {"dgx-01": "no route"}).hosts
    assert judged.outcome is ItemOutcome.FAIL
    assert [item.reason for item in judged.failures] == ["no route"]
    assert {item.outcome for item in judged.items[1:]} == {ItemOutcome.UNKNOWN}
    assert judged.items[0].item == REACHABLE


def accepted(*outcomes: ItemOutcome, node: str | None = "n", item: str = "x") -> Acceptance:
    items = tuple(ItemResult(item, o, "1", "2", None, "1 of 2 x") for o in outcomes)
    return Acceptance((HostAcceptance("n", node, items),))


def test_exit_codes() -> None:
    assert accepted(ItemOutcome.PASS).exit_code is ExitCode.CLEAN
    assert accepted(ItemOutcome.PASS, ItemOutcome.UNKNOWN).exit_code is ExitCode.UNKNOWN
    assert accepted(ItemOutcome.UNKNOWN, ItemOutcome.FAIL).exit_code is ExitCode.VIOLATION
    assert accepted().exit_code is ExitCode.UNKNOWN, "a host without items proves nothing"
    assert Acceptance(()).exit_code is ExitCode.UNKNOWN


def test_only_failing_nodes_are_drained() -> None:
    assert to_drain(accepted(ItemOutcome.FAIL)) == {"n": "rackwright verify: 1 of 2 x"}
    assert to_drain(accepted(ItemOutcome.UNKNOWN)) == {}
    assert to_drain(accepted(ItemOutcome.FAIL, node=None)) == {}, "no node of Slurm"
    assert to_drain(accepted(ItemOutcome.FAIL, item="Slurm state")) == {}, "it gets no jobs already"


def test_a_reason_is_one_short_line_that_slurm_takes() -> None:
    item = ItemResult(
        "x", ItemOutcome.FAIL, "1", "2", None, "a=b {{ c }} \"c\" 'd'\n\x1b[31mé" + "x" * 400
    )
    text = drain_reason(HostAcceptance("n", "n", (item,)))
    assert len(text) <= 200
    assert not set(text) & set("={}\"'\n\x1bé")


def test_a_lab_is_not_judged_by_what_it_cannot_have() -> None:
    kept = {item.kind for host in expect(PLANS[1], lab=True) for item in host.items}
    assert not kept & NOT_IN_A_LAB
    assert {"accelerators", "service", "Slurm state"} <= kept
