"""The same twenty rules over the same 12,500 nodes here, in OPA and in pulumi-policy's form.

All three must refuse the same things, in a clean cluster and in one that breaks every rule; that
is what is asserted. Times and memory are printed, as medians and as ratios.

What can be compared, and what cannot:

- Each is a whole process, from its start to its last verdict. Rackwright reads the blueprint's
  YAML, expands it, judges, computes a fix for each failure and reports with places in the file.
  The peers get the expanded plan as JSON, all arithmetic done, and only compare and name what
  fails: neither the expansion nor the JSON's writing is in their time.
- OPA reads its JSON and its rules in its time. The requests to pulumi-policy's pack are made
  before its clock starts; it answers one for each rack (with the nodes in it), source, row, hall
  and site over gRPC, as Pulumi asks, and the asking is in its time but not in its memory.
- Rackwright judges racks that are equal as one; the peers judge each. That is most of the
  difference, and it is the design rather than the speed of an evaluator. So both are measured
  once more with one rack for each kind of equal ones, which they could not have found themselves.
  OPA is then done before Rackwright is; what Rackwright spends on judging alone, in a process
  that has the expanded plan, is printed beside it.
- The cluster is regular, as built ones are: 157 kinds of racks among 3,125. One in which no two
  racks are equal would leave Rackwright nothing to gain from that.
- It takes about eight minutes of a processor, nearly all of them in pulumi-policy.
- A number that is unknown is a verdict of its own here, and no failure in the peers' rules.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.peers import opa
from bench.peers.export import export
from bench.peers.measure import (
    Failures,
    Run,
    median,
    run_pulumi_policy,
    run_to_end,
    to_requests,
)
from bench.peers.variants import broken, clean
from bench.test_scale import Plain
from rackwright.model.names import expand_hostlist
from rackwright.plan.load import load_plan
from rackwright.policy.check import check_plan

pytestmark = pytest.mark.bench

RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))
RULES = (
    "PWR-001 PWR-002 PWR-003 PWR-004 PWR-005 PWR-006 PWR-008 PWR-009 PWR-010 "
    "RACK-001 RACK-002 RACK-003 RACK-004 RACK-005 RACK-006 RACK-007 RACK-008 "
    "COOL-001 COOL-002 COOL-006"
)
REGO = Path(__file__).parent / "peers" / "rules.rego"
RACKS = re.compile(r"(?P<site>\S+) racks? (?P<racks>\S+)(?P<rest>.*)")


@pytest.fixture(scope="module")
def agent() -> Path:
    if shutil.which("go") is None:
        pytest.skip("Go is not on PATH, and OPA is built from its Go module")
    return opa.program(lambda line: print(line, flush=True))


def each_rack(subject: str, *, first: bool = False) -> list[str]:
    """The subject for every rack that it names, or for the first of them."""
    match = RACKS.fullmatch(subject)
    if match is None:
        return [subject]
    racks = expand_hostlist(match["racks"])
    return [f"{match['site']} rack {rack}{match['rest']}" for rack in racks[: 1 if first else None]]


def failures_of(report: Mapping[str, Any], *, first: bool = False) -> Failures:
    """What Rackwright's report refuses, rack by rack."""
    return frozenset(
        (result["policy"], subject)
        for result in report["results"]
        if result["outcome"] == "fail"
        for subject in each_rack(result["subject"], first=first)
    )


def refused(answer: Any) -> Failures:
    """What OPA's answer refuses."""
    (result,) = answer["result"]
    (expression,) = result["expressions"]
    return frozenset((found["policy"], found["subject"]) for found in expression["value"])


def check(blueprint: Path) -> list[object]:
    chosen = [word for rule in RULES.split() for word in ("--only", rule)]
    return [sys.executable, "-m", "rackwright", "check", blueprint, "--json", *chosen]


def ask(agent: Path, plan: Path) -> list[object]:
    arguments = ["--data", REGO, "--input", plan, "--format", "json", "data.rackwright.deny"]
    return [agent, "eval", *arguments]


def judging(blueprint: Path) -> float:
    """Median seconds of a processor for judging alone, once the blueprint is expanded."""
    loaded = load_plan(blueprint)
    taken = []
    for _ in range(RUNS):
        started = time.process_time()
        check_plan(loaded, only=RULES.split())
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def show(name: str, runs: list[Run], base: list[Run]) -> None:
    """One line: medians, and how many times those of ``base`` they are."""

    def times(attribute: Callable[[Run], float]) -> float:
        return median(runs, attribute) / median(base, attribute)

    print(
        f"  {name:<32} {median(runs, lambda r: r.wall_s):7.2f} s, "
        f"{median(runs, lambda r: r.busy_s):7.2f} s of a processor, "
        f"{median(runs, lambda r: r.peak_mib):5.0f} MiB: "
        f"{times(lambda r: r.wall_s):5.1f}, {times(lambda r: r.busy_s):5.1f} and "
        f"{times(lambda r: r.peak_mib):4.1f} times Rackwright's"
    )


@pytest.mark.parametrize("variant", [clean, broken], ids=["clean", "broken"])
def test_twenty_rules_against_peers(
    agent: Path, tmp_path: Path, variant: Callable[[], dict[str, Any]]
) -> None:
    blueprint, report = tmp_path / "cluster.yaml", tmp_path / "cost.json"
    blueprint.write_text(yaml.dump(variant(), Dumper=Plain, sort_keys=False, allow_unicode=True))
    plan, kinds = tmp_path / "plan.json", tmp_path / "kinds.json"
    whole, one_each = export(blueprint), export(blueprint, every_rack=False)
    assert sum(len(rack["nodes"]) for rack in whole["racks"]) == 12_500
    plan.write_text(json.dumps(whole))
    kinds.write_text(json.dumps(one_each))
    whole_requests, kind_requests = to_requests(whole), to_requests(one_each)

    seen: list[Mapping[str, Any]] = []

    def read(answer: Mapping[str, Any]) -> Failures:
        seen.append(answer)
        return failures_of(answer)

    tools: dict[str, Callable[[], Run]] = {
        "Rackwright": lambda: run_to_end(check(blueprint), report, read, {0, 5, 6}),
        f"OPA {opa.version()}": lambda: run_to_end(ask(agent, plan), report, refused, {0}),
        "pulumi-policy": lambda: run_pulumi_policy(whole_requests, report),
        "OPA, one rack of a kind": lambda: run_to_end(ask(agent, kinds), report, refused, {0}),
        "pulumi-policy, one rack of a kind": lambda: run_pulumi_policy(kind_requests, report),
    }
    tools["Rackwright"]()  # the first one compiles
    runs: dict[str, list[Run]] = {name: [] for name in tools}
    for _ in range(RUNS):
        for name, tool in tools.items():
            runs[name].append(tool())

    ours = failures_of(seen[0])
    print(
        f"\n20 rules × 12,500 nodes, {variant.__name__}: {len(ours)} subjects fail, "
        f"{plan.stat().st_size / 2**20:.1f} MiB of JSON, medians of {RUNS} runs:"
    )
    for name, made in runs.items():
        show(name, made, runs["Rackwright"])
    print(f"  of Rackwright's, judging alone: {judging(blueprint):.2f} s of a processor")

    judged = {
        result["policy"] for result in seen[0]["results"] if result["outcome"] != "not_applicable"
    }
    assert judged == set(RULES.split())
    assert {policy for policy, _ in ours} == (judged if variant is broken else set())
    of_kinds = failures_of(seen[0], first=True)
    for name, made in runs.items():
        expected = of_kinds if name.endswith("of a kind") else ours
        for run in made:
            assert run.failures == expected, name
