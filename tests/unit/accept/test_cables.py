"""``verify --cables`` judges every switch by its cables and the rates of their links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rackwright.accept.cables import judge_switches
from rackwright.accept.compare import Acceptance, ItemOutcome
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.plan.fabric.ibsim import network
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"


def plan_and_dump() -> tuple[Plan, str]:
    plan = load_plan(FIXTURES / "fabric.yaml").plan
    (layout,) = (
        one.layout for site in plan.onprem for one in site.fabrics if one.fabric.role == "compute"
    )
    assert layout is not None
    return plan, re.sub(r'(?m)^(\[\d+\].*"\[\d+\])', r"\1 # lid 1 4xNDR", network(layout).text)


def judged(text: str, plan: Plan, folder: Path) -> Acceptance:
    path = folder / "ibnetdiscover.txt"
    path.write_text(text)
    return Acceptance(judge_switches(plan, [path]))


def test_switches_of_a_perfect_fabric_pass(tmp_path: Path) -> None:
    plan, text = plan_and_dump()
    acceptance = judged(text, plan, tmp_path)
    assert acceptance.exit_code == ExitCode.CLEAN
    assert {host.name for host in acceptance.hosts} >= {"compute-leaf-1", "compute-spine-1"}


def test_slow_link_between_switches_fails_both_of_them(tmp_path: Path) -> None:
    plan, text = plan_and_dump()
    record = re.search(r'(?m)^Switch.*"compute-spine-1"', text)
    assert record is not None
    spine = record.end()
    slow = text[:spine] + re.sub(r"4xNDR", "1xSDR", text[spine:], count=1)
    acceptance = judged(slow, plan, tmp_path)
    failing = {host.name for host in acceptance.hosts if host.outcome is ItemOutcome.FAIL}
    assert len(failing) == 2
    assert "compute-spine-1" in failing
    (item,) = next(host.items for host in acceptance.hosts if host.name == "compute-spine-1")
    assert "the link runs at 1xSDR (2.5 Gbps)" in str(item.reason)


def test_links_without_a_rate_are_unknown(tmp_path: Path) -> None:
    plan, text = plan_and_dump()
    acceptance = judged(text.replace(" # lid 1 4xNDR", ""), plan, tmp_path)
    assert acceptance.exit_code == ExitCode.UNKNOWN


def test_dump_of_another_fabric_is_refused(tmp_path: Path) -> None:
    plan, _ = plan_and_dump()
    with pytest.raises(UsageError, match="no name of a device"):
        judged('Switch\t1 "S-1"\t# "x"\n[1]\t"S-2"[1]\nSwitch\t1 "S-2"\t# "y"\n', plan, tmp_path)
