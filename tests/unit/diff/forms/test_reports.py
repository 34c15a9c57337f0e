"""The forms of a comparison, as whole files; ``UPDATE_GOLDEN=1`` writes them anew."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from diff_factories import a_cloud, changed, updates_of
from factories import some_nodes
from policy_factories import a_measure, a_policy, report_of
from rackwright.diff.budgets import budget_changes
from rackwright.diff.compare import Comparison, updates
from rackwright.diff.costs import Cost, CostChange
from rackwright.diff.findings import sort_findings
from rackwright.diff.forms import wording
from rackwright.diff.forms.json import SCHEMA, render_json
from rackwright.diff.forms.markdown import render_comment, render_markdown
from rackwright.diff.forms.text import render_text
from rackwright.diff.generated import FileChanges, compare_files
from rackwright.diff.hardware import compare_hosts, compare_products
from rackwright.diff.results import pair
from rackwright.diff.revisions import Revision
from rackwright.exit_codes import ExitCode
from rackwright.plan.base import Subject
from rackwright.plan.model import Plan
from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.engine import Report
from rackwright.policy.exception_report import BaselineState, Permission

GOLDEN = Path(__file__).parents[3] / "golden" / "diff"
BASE = Revision(Path("/repo"), "main", "a" * 40)
HEAD = Revision(Path("/repo"), "topic", "b" * 40)


def at(name: str) -> Subject:
    return Subject(name, ("sites", 0))


def nodes_conf(plan: Plan) -> dict[str, str]:
    """Stands for a generator: one line a node group."""
    groups = [group for site in plan.onprem for group in site.spec.node_groups]
    lines = [f"NodeName={group.name} Count={group.count}" for group in groups]
    return {"lab/slurm.conf": "\n".join(["ClusterName=demo", *lines, ""])}


def one_node_more() -> Comparison:
    """A node is added to a full rack: one budget breaks, one is mended, money is spent."""

    def report(rack: float, feed: float, contract: float, mended: float) -> Any:
        return report_of(
            a_policy(a_measure(9, 8, at=at("lab old"), unit="U", what="height"), policy_id="OLD-1"),
            a_policy(
                a_measure(rack, 45e3, at=at("lab rack c01"), what="power", fix="keep 4 nodes"),
                policy_id="RACK-002",
            ),
            a_policy(
                *(a_measure(feed, 90, at=at(f"lab rack c01 feed {name}"), unit="%", what="share")
                  for name in "ABC"),
                policy_id="PWR-009",
                enforcement=Enforcement.ADVISORY,
            ),
            a_policy(
                a_measure(contract, 550e3, at=at("lab contract"), what="power"),
                a_measure(mended, 100, at=at("lab hall-1"), unit="CFM", what="airflow"),
                policy_id="PWR-006",
            ),
        )  # fmt: skip

    before, after = changed(
        lambda data: data["sites"][0]["node_groups"].append(
            some_nodes("extra", count=1, per_rack=1)
        )
    )
    old, new = report(40.8e3, 70.0, 400e3, 120), report(51e3, 93.4, 413e3, 90)
    pairs = pair(old, new)
    cost = Cost(Decimal("101.5"), Decimal(889_140), complete=True)
    return Comparison(
        blueprint="demo",
        base=BASE,
        head=HEAD,
        before=old,
        after=new,
        budgets=budget_changes(pairs),
        findings=sort_findings(pairs),
        costs=(
            CostChange("lab", cost, Cost(Decimal("102.85"), Decimal(900_966), complete=True)),
            CostChange("cloud", None, Cost(Decimal("1.5"), Decimal(13_140), complete=False)),
        ),
        products=compare_products(before.plan, after.plan),
        hosts=compare_hosts(before.plan, after.plan),
        files=compare_files(before.plan, after.plan, [nodes_conf]),
        updates=updates(before, after),
        unlayered=(Path("team/layer.yaml"),),
    )


def nothing() -> Comparison:
    """The file is reordered only."""
    report = report_of(a_policy(a_measure(1.0)))
    empty = sort_findings(())
    return Comparison(
        "demo", BASE, HEAD, report, report, (), empty, (), (), (), FileChanges(()), ()
    )


def storage_replaced() -> Comparison:
    """Every policy passes, but a file system would be made anew."""
    found = updates_of(lambda d: d["sites"][0]["file_systems"][0].update(efa=False), a_cloud())
    return replace(nothing(), updates=tuple(found.values()))


def tolerated(report: Report) -> Report:
    """``report`` as a baseline that records its failures leaves it."""
    known = {Outcome.FAIL: BaselineState.UNCHANGED}
    results = (replace(r, baseline_state=known.get(r.outcome)) for r in report.results)
    return replace(report, results=tuple(results))


def compared(
    before: Report, after: Report, change: Callable[[Report], Report] = tolerated
) -> Comparison:
    """Two reports, of which ``change`` permits what fails."""
    before, after = change(before), change(after)
    pairs = pair(before, after)
    return replace(
        nothing(),
        before=before,
        after=after,
        budgets=budget_changes(pairs),
        findings=sort_findings(pairs),
    )


def power(
    value: float | None,
    limit: float = 45e3,
    enforcement: Enforcement = Enforcement.MANDATORY,
) -> Report:
    """The power of a rack, in a blueprint with nothing else."""
    measure = a_measure(value, limit, at=at("lab rack c01"), what="power")
    report: Report = report_of(a_policy(measure, policy_id="RACK-002", enforcement=enforcement))
    return report


def limit_cut() -> Comparison:
    """A rack of 46 kW that the baseline records is to be cooled with 5 kW instead of 45 kW."""
    return compared(power(46e3), power(46e3, 5e3))


SCENARIOS = {
    "limit-cut": limit_cut,
    "one-node-more": one_node_more,
    "nothing": nothing,
    "storage-replaced": storage_replaced,
}
FORMS: Any = {
    "txt": render_text,
    "md": render_markdown,
    "comment.md": render_comment,
    "json": render_json,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_whole_files(scenario: str, form: str) -> None:
    text = FORMS[form](SCENARIOS[scenario]())
    file = GOLDEN / f"{scenario}.{form}"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_exit_codes() -> None:
    assert one_node_more().exit_code is ExitCode.VIOLATION
    assert nothing().exit_code is ExitCode.CLEAN
    assert storage_replaced().exit_code is ExitCode.VIOLATION
    assert replace(nothing(), after=None).exit_code is ExitCode.CLEAN
    crashed = report_of(a_policy(check=lambda: 1 / 0))
    assert replace(storage_replaced(), after=crashed).exit_code is ExitCode.CRASH
    unknown = report_of(a_policy(a_measure(None)))
    assert replace(nothing(), after=unknown).exit_code is ExitCode.UNKNOWN


def test_new_or_worse_result_is_refused_despite_the_baseline() -> None:
    for before, after in (
        (power(46e3), power(46e3, 5e3)),
        (power(46e3), power(47e3)),
        (power(44e3), power(46e3)),
    ):
        comparison = compared(before, after)
        assert comparison.after is not None
        assert comparison.after.exit_code is ExitCode.CLEAN
        assert comparison.exit_code is ExitCode.VIOLATION
        assert wording.headline(comparison) == "1 tolerated finding is new or worse"
    for before, after in (
        (power(46e3), power(46e3)),
        (power(46e3), power(45.5e3)),
        (power(46e3), power(46e3, 45.5e3)),
        (power(46e3), power(44e3)),
    ):
        assert compared(before, after).exit_code is ExitCode.CLEAN


def test_an_advisory_finding_that_is_new_or_worse_does_not_block() -> None:
    for old, limit in ((46e3, 5e3), (44e3, 45e3)):
        before = power(old, enforcement=Enforcement.ADVISORY)
        after = power(46e3, limit, Enforcement.ADVISORY)
        comparison = compared(before, after, lambda report: report)
        assert comparison.findings.any
        assert comparison.exit_code is ExitCode.CLEAN
        assert wording.headline(comparison) == "passes"


def test_a_recorded_value_that_becomes_unknown_blocks_as_unknown() -> None:
    assert compared(power(46e3), power(None)).exit_code is ExitCode.UNKNOWN


def test_a_crash_weighs_more_than_what_is_worse() -> None:
    crashed = report_of(a_policy(check=lambda: 1 / 0))
    assert replace(limit_cut(), after=crashed).exit_code is ExitCode.CRASH


def test_waived_result_is_neither_new_nor_worse() -> None:
    permission = Permission("W", "me", "T-1", "reason", date(2026, 12, 1), "47 kW", "45 kW")

    def waived(report: Report) -> Report:
        results = (
            replace(r, outcome=Outcome.WAIVED, waiver=permission)
            if r.outcome is Outcome.FAIL
            else r
            for r in report.results
        )
        return replace(report, results=tuple(results))

    for before in (power(44e3), power(46e3)):
        assert compared(before, power(46.5e3), waived).exit_code is ExitCode.CLEAN


def test_only_an_empty_comparison_says_so() -> None:
    assert nothing().is_empty
    assert "nothing changes" in render_text(nothing())
    for change in ("budgets", "costs", "products", "hosts", "files", "updates"):
        part = getattr(one_node_more(), change)
        assert part not in ((), FileChanges(()))
        assert not replace(nothing(), **{change: part}).is_empty
    assert not replace(nothing(), findings=one_node_more().findings).is_empty


def test_findings_as_before_are_counted_but_do_not_crowd_out_the_news() -> None:
    comparison = one_node_more()
    assert [result.policy for result in comparison.unchanged] == ["OLD-1"]
    short, whole = (render_text(comparison, verbose=verbose) for verbose in (False, True))
    assert "as before: 1 finding, 1 blocking (--verbose names them)" in short
    assert "OLD-1" not in short
    assert "OLD-1 lab old" in whole
    assert "OLD-1" in render_comment(comparison).partition("Findings as before")[2]
    assert "OLD-1" not in render_markdown(comparison)
    assert replace(comparison, after=None).unchanged == ()


def test_json_is_versioned_and_holds_every_budget() -> None:
    document = json.loads(render_json(one_node_more()))
    assert document["schema"] == SCHEMA == "rackwright.diff/v1"
    assert len(document["budgets"]) == 6
    assert document["budgets"][0]["headroom"] == -6000
    assert document["exit_code"] == 5
    assert document["base"] == {
        "revision": "main",
        "commit": "a" * 40,
        "exit_code": 5,
        "counts": document["base"]["counts"],
    }


HOSTILE = "x | `y` @team <b>&\x1b[31m\n### z"


def hostile() -> Comparison:
    """Names and values of a pull request that wants to look like something else."""
    comparison = one_node_more()
    found = updates_of(lambda data: data.update(owner=HOSTILE))
    budget = replace(comparison.budgets[0], subject=HOSTILE)
    old, new = (changed(lambda _: None)[0].plan for _ in range(2))
    texts = iter(["", f"```\n</details>\n{HOSTILE}"])
    files = compare_files(old, new, [lambda _: {"x/f": next(texts)}])
    return replace(
        comparison,
        blueprint=HOSTILE,
        base=replace(BASE, label=HOSTILE),
        budgets=(budget,),
        updates=tuple(found.values()),
        files=files,
    )


def test_text_of_a_pull_request_is_no_markup() -> None:
    text = render_comment(hostile())
    assert "\x1b" not in text
    assert "@team" not in text.splitlines()[1]
    rows = [line for line in text.splitlines() if line.startswith("| x ")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 7
    assert "<b>" not in rows[0]
    assert "@team" not in rows[0]
    fence = next(line for line in text.splitlines() if line.endswith("`diff"))
    assert fence.startswith("````")
    assert "\x1b" not in render_text(hostile())
    assert render_text(hostile(), colour=True).count("\x1b[31m") >= 1


@pytest.mark.parametrize("render", [render_comment, render_markdown])
@pytest.mark.parametrize("largest", [400, 700, 1000, 1300])
def test_a_comment_stays_within_its_bytes_and_keeps_the_verdict(render: Any, largest: int) -> None:
    text = render(one_node_more(), largest=largest)
    assert len(text.encode()) <= largest
    assert "2 blocking findings (1 new)" in text
    assert "did not fit" in text
    assert text.count("<details>") == text.count("</details>")


def test_a_comment_with_room_loses_nothing() -> None:
    assert "did not fit" not in render_comment(one_node_more())
    with pytest.raises(ValueError, match="cannot hold the verdict"):
        render_comment(one_node_more(), largest=50)


def test_text_is_shortened_unless_asked_otherwise() -> None:
    comparison = one_node_more()
    many = tuple(
        replace(comparison.budgets[0], subject=f"lab rack c{n:03}", after=46e3 + n)
        for n in range(50)
    )
    short, whole = (
        render_text(replace(comparison, budgets=many), verbose=verbose) for verbose in (False, True)
    )
    assert "and 10 more with more headroom" in short
    assert "rack c049" not in short
    assert "rack c049" in whole
