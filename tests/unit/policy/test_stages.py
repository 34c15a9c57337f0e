"""Stages: what may be unknown until later, what never may, and who can lower a stage."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cli_support import run_here
from policy_factories import a_measure, a_policy, report_of
from pull_request import Pull, overdrawn
from rackwright.exit_codes import ExitCode
from rackwright.policy.api import Policy, Stage
from rackwright.policy.engine import Report
from rackwright.policy.packs.loader import builtin_pack, load_pack
from rackwright.policy.policy_sets import Regime
from rackwright.report.text import render_text, summary

BUILTIN = load_pack(builtin_pack())
SHORT = """apiVersion: rackwright/v1
name: atlas
derive: "1"
stage: concept
sites:
  - name: sjc1
    provider: onprem
    power: {continuous_derate: 80 %, power_factor: 0.95, contract: 1100 kW, utility: 1200 kW, feeds: [A, B, C],
            feed_path: [{kind: ups, modules: {count: 6, capacity: 100 kW, spare: 1}},
                        {kind: rpp, circuit: {voltage: 415 V, current: 800 A, phases: 3}}],
            pdu: pdu-415v-60a-24c19, circuit: {voltage: 415 V, current: 60 A, phases: 3}}
    halls: [{name: hall-1, air: {type: crah-spec-100kw, count: 9, inlet_temperature: 24 °C,
                                 temperature_rise: 14 K, ashrae_class: A2, containment: hot-aisle}}]
    racks: {power_limit: 45 kW}
    node_groups: [{name: dgx, role: compute, type: dgx-h200, count: 64}]
    fabric: {preset: rail-optimized, technology: infiniband, rate: 400 Gbps, oversubscription: 1}
"""
ANSWERS = """sites:
  - name: sjc1
    altitude: 30 m
    pue: 1.3
    halls: [{name: hall-1, floor: {concentrated: 700 kg, rolling: 700 kg, uniform: 1500 kg/m2}}]
    racks: {aisle_depth: 0.6 m}
"""


def a_rule(value: float | None, stage: Stage = Stage.BUILD) -> Policy:
    name = "TST-001" if stage is Stage.BUILD else "TST-002"
    policy = a_policy(a_measure(value, missing=() if value else ("load",)), policy_id=name)
    type(policy).stage = stage
    return policy


def at(stage: Stage, *policies: Policy) -> Report:
    return report_of(*policies, regime=Regime(stage=stage))


@pytest.mark.parametrize("rule", BUILTIN, ids=lambda rule: str(rule.id))
def test_every_rule_of_the_product_declares_its_stage(rule: type[Policy]) -> None:
    assert isinstance(vars(rule).get("stage"), Stage)


def test_every_stage_has_rules() -> None:
    assert {rule.stage for rule in BUILTIN} == set(Stage)


@pytest.mark.parametrize("stage", Stage)
def test_unknown_blocks_from_the_stage_of_its_rule_on(stage: Stage) -> None:
    report = at(stage, a_rule(None), a_rule(1.0, Stage.CONCEPT))
    blocks = stage in {Stage.BUILD, Stage.RUN}
    assert report.exit_code == (ExitCode.UNKNOWN if blocks else ExitCode.CLEAN)
    assert [one.later for one in report.results if one.policy == "TST-001"].count(True) == (
        0 if blocks else 1
    )


@pytest.mark.parametrize("stage", Stage)
def test_failure_blocks_at_every_stage(stage: Stage) -> None:
    assert at(stage, a_rule(3.0)).exit_code == ExitCode.VIOLATION


def test_crash_of_a_rule_of_a_later_stage_is_reported() -> None:
    policy = a_policy(check=lambda: 1 / 0)
    type(policy).stage = Stage.RUN
    assert at(Stage.CONCEPT, policy).exit_code == ExitCode.CRASH


def test_rule_that_a_blueprint_makes_mandatory_is_asked_at_once() -> None:
    from rackwright.model.cluster import PolicySetting

    settings = {"TST-001": PolicySetting(enforcement="mandatory")}
    regime = Regime(stage=Stage.CONCEPT)
    report = report_of(a_rule(None), settings=settings, regime=regime)
    assert report.exit_code == ExitCode.UNKNOWN


@pytest.mark.parametrize("stage", Stage)
def test_verdict_names_its_stage(stage: Stage) -> None:
    assert summary(at(stage, a_rule(1.0))).endswith(f": ok for {stage}")
    assert summary(at(stage, a_rule(3.0))).endswith(f": blocked for {stage}")


def test_questions_of_later_stages_are_one_line() -> None:
    text = render_text(at(Stage.CONCEPT, a_rule(None), a_rule(1.0)))
    assert "1 question of later stages: 'rackwright check --stage build' lists them" in text
    assert text.count("TST-001") == 0


def test_change_that_lowers_the_stage_is_checked_for_the_stage_of_its_base(pull: Pull) -> None:
    pull.open(overdrawn(), stage="build")
    before = pull.judge(rule="SEC-001")
    pull.write(overdrawn(), stage="concept")
    code, lowered = pull.report(rule="SEC-001")
    assert (before, code) == (ExitCode.UNKNOWN, ExitCode.UNKNOWN)
    assert "stage" in lowered
    assert pull.alone(rule="SEC-001") == ExitCode.CLEAN


def test_change_that_adds_an_early_stage_to_a_base_without_one_is_checked_for_run(
    pull: Pull,
) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(), stage="concept")
    assert pull.judge(rule="SEC-001") == ExitCode.UNKNOWN


def test_option_does_not_lower_the_stage_of_the_base(pull: Pull) -> None:
    pull.open(overdrawn(), stage="build")
    assert pull.judge("--stage=concept", rule="SEC-001") == ExitCode.UNKNOWN


def test_stage_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(SHORT.replace("stage: concept", "stage: concpet"))
    ended = run_here(tmp_path, "check", "b.yaml")
    ended.refused("b.yaml:4:8", "stage", "'concept'", "did you mean")


def test_fifteen_lines_give_a_concept_verdict_of_one_screen(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(SHORT)
    ended = run_here(tmp_path, "check", "b.yaml")
    assert ended.code == ExitCode.UNKNOWN
    assert len(ended.out.splitlines()) <= 40
    assert "sites.sjc1.racks.aisle_depth (b.yaml:14)  RACK-004" in ended.out
    assert "rack_groups" not in ended.out


def test_answers_to_the_questions_of_the_concept_make_it_ok(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(SHORT)
    (tmp_path / "answers.yaml").write_text(ANSWERS)
    ended = run_here(tmp_path, "check", "b.yaml", "--layer", "answers.yaml")
    assert ended.code == ExitCode.CLEAN, ended.out
    assert ": ok for concept" in ended.out.splitlines()[-1]
    assert len(ended.out.splitlines()) <= 40


def test_later_stages_ask_more(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(SHORT)
    asked = []
    for stage in Stage:
        out = run_here(tmp_path, "check", "b.yaml", "--stage", stage).out
        asked.append(next(int(line.split()[2]) for line in out.splitlines() if "blocks:" in line))
    assert asked == sorted(asked)
    assert asked[0] < 10 < asked[1] < asked[2]


def test_fact_of_three_power_sources_is_asked_once_in_the_words_of_the_short_form(
    tmp_path: Path,
) -> None:
    (tmp_path / "b.yaml").write_text(SHORT)
    out = run_here(tmp_path, "check", "b.yaml", "--stage", "design").out
    lines = [line for line in out.splitlines() if "recharge" in line]
    assert lines == ["    sites.sjc1.power.feed_path.ups.recharge (b.yaml:9)  PWR-013"]


@pytest.mark.parametrize(
    "command",
    [
        ("up", "--target", "local", "--yes"),
        ("preview", "--target", "local"),
        ("configure", "--check"),
    ],
)
def test_early_stage_is_not_deployed(tmp_path: Path, command: tuple[str, ...]) -> None:
    name = "slurm" if command[0] == "configure" else "aws"
    data = yaml.safe_load((builtin_pack() / f"fixtures/{name}.yaml").read_text())
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(data | {"stage": "design"}))
    ended = run_here(tmp_path, command[0], "b.yaml", *command[1:])
    ended.refused("at stage 'design': only 'build' and 'run' are deployed")
