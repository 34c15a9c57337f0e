"""Policy sets and profiles: what is mandatory for whom, and what is only announced."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from policy_factories import a_measure, a_policy, report_of
from rackwright.errors import SpecErrors
from rackwright.model.cluster import Blueprint, PolicySetting
from rackwright.plan.base import Subject
from rackwright.plan.load import load_data
from rackwright.policy.api import Enforcement, Policy, Profile
from rackwright.policy.check import check_blueprint, check_plan
from rackwright.policy.engine import Report, fingerprint
from rackwright.policy.packs.loader import builtin_pack, load_pack
from rackwright.policy.policy_sets import (
    RELEASED,
    SETS,
    STRICTEST,
    Regime,
    Standing,
    is_preview,
    regime_for,
    released_words,
    standing,
    standing_with,
)
from rackwright.report.json import to_document
from rackwright.report.text import render_text

FIXTURES = builtin_pack() / "fixtures"
SETS_AS_RELEASED = Path(__file__).parents[2] / "golden" / "policy-sets.json"
BUILTIN = load_pack(builtin_pack())
MANDATORY, ADVISORY = Enforcement.MANDATORY, Enforcement.ADVISORY
PHYSICAL = ("PWR-001", "PWR-002", "PWR-004", "RACK-003", "RACK-004", "COOL-003")


def a_rule(
    since: str = "0.1",
    profile: Profile = Profile.PILOT,
    enforcement: Enforcement = MANDATORY,
    **changes: Any,
) -> Policy:
    made = a_policy(a_measure(3.0, **changes), enforcement=enforcement)
    cls: Any = type(made)
    cls.since, cls.profile = since, profile
    return made


@pytest.mark.parametrize("own", Profile)
@pytest.mark.parametrize("asked", Profile)
def test_a_rule_is_mandatory_from_its_profile_on(own: Profile, asked: Profile) -> None:
    order = ["lab", "pilot", "production"]
    expected = MANDATORY if order.index(asked) >= order.index(own) else ADVISORY
    assert standing(a_rule(profile=own), Regime(asked, RELEASED)) == Standing(expected)


@pytest.mark.parametrize("profile", Profile)
def test_no_profile_makes_an_advisory_rule_mandatory(profile: Profile) -> None:
    rule = a_rule(enforcement=ADVISORY, profile=Profile.LAB)
    assert standing(rule, Regime(profile)).enforcement is ADVISORY


@pytest.mark.parametrize(
    ("asked", "profile", "expected"),
    [
        ("0.3", Profile.PRODUCTION, ADVISORY),
        ("0.4", Profile.PRODUCTION, MANDATORY),
        ("0.4", Profile.PILOT, ADVISORY),
    ],
)
@pytest.mark.parametrize("policy_id", ["PWR-007", "COOL-008", "RACK-007", "RACK-008"])
def test_advisory_rules_that_predict_damage_block_from_set_04_on(
    policy_id: str, asked: str, profile: Profile, expected: Enforcement
) -> None:
    (rule,) = [policy for policy in BUILTIN if policy.id == policy_id]
    assert standing(rule, Regime(profile, asked)) == Standing(expected)


@pytest.mark.parametrize(
    ("since", "asked", "expected"),
    [
        ("0.1", "0.1", Standing(MANDATORY)),
        ("0.2", "0.1", Standing(ADVISORY, preview=True)),
        ("0.2", "0.2", Standing(MANDATORY)),
        ("0.1", "0.2", Standing(MANDATORY)),
        ("7.3", "0.1", Standing(MANDATORY)),  # a team's own numbering
    ],
)
def test_a_newer_rule_is_a_preview(since: str, asked: str, expected: Standing) -> None:
    assert standing(a_rule(since), Regime(policy_set=asked)) == expected


def test_a_setting_has_the_last_word() -> None:
    settings = {"TST-001": PolicySetting(enforcement="mandatory")}
    lab = Regime(Profile.LAB, "0.1")
    assert standing_with(a_rule("0.2"), settings, lab) == Standing(MANDATORY)
    parameters_only = {"TST-001": PolicySetting()}
    assert standing_with(a_rule("0.2"), parameters_only, lab).preview


def test_a_preview_warns_and_says_so() -> None:
    report = report_of(a_rule("0.2"), regime=Regime(policy_set="0.1"))
    (result,) = report.results
    assert (result.preview, result.blocks, report.exit_code) == (True, False, 0)
    text = render_text(report, verbose=True)
    assert text.startswith("TST-001 high, preview until set 0.2  ")
    assert "newer than the blueprint's policy set" in text
    assert to_document(report)["results"][0]["preview"] is True
    assert report_of(a_rule("0.2"), regime=STRICTEST).exit_code == 5


def test_a_preview_that_raises_is_still_an_error() -> None:
    made = a_policy(check=lambda: 3)
    cls: Any = type(made)
    cls.since = "0.2"
    report = report_of(made, regime=Regime(policy_set="0.1"))
    assert report.exit_code == 1


def test_a_report_names_profile_and_set() -> None:
    report = report_of(a_rule(), regime=Regime(Profile.LAB, "0.1"))
    document = to_document(report)
    assert (document["profile"], document["policy_set"]) == ("lab", "0.1")
    assert "profile lab" in render_text(report)


def test_a_silent_blueprint_is_judged_by_production_and_the_released_set() -> None:
    assert regime_for(None, None) == Regime(Profile.PRODUCTION, RELEASED)
    assert regime_for("lab", "0.2") == Regime(Profile.LAB, "0.2")


def check(tmp_path: Path, text: str) -> Report:
    layer = tmp_path / "layer.yaml"
    layer.write_text(text)
    return check_blueprint(FIXTURES / "air.yaml", layers=(layer,))


def test_an_unknown_set_is_an_error_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        check(tmp_path, 'profile: lab\npolicy_set: "0.9"\npolicies: {PWR-01: {}}\n')
    first, second = sorted(caught.value.errors, key=lambda e: e.location.line if e.location else 0)
    assert str(first.location).endswith("layer.yaml:2:13")
    assert "there is no policy set '0.9'" in str(first)
    assert "0.1, 0.2" in (first.hint or "")
    assert "PWR-01" in str(second)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0.2", "write 'policy_set: \"0.2\"'"),
        ('"newest"', "only digits and"),
        ('"0.1\\n"', "only digits and"),
    ],
)
def test_a_set_is_a_quoted_version(tmp_path: Path, value: str, said: str) -> None:
    with pytest.raises(SpecErrors, match=re.escape(said)):
        check(tmp_path, f"policy_set: {value}\n")


def test_a_profile_is_one_of_three(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match="production"):
        check(tmp_path, "profile: prod\n")


LOWERED = "policies: {{COOL-005: {{enforcement: {0}}}}}\n"


def test_lowering_needs_a_reason_only_below_what_the_profile_gives(tmp_path: Path) -> None:
    lowered = LOWERED.format("advisory")
    with pytest.raises(SpecErrors, match="say why in 'reason'"):
        check(tmp_path, lowered)
    check(tmp_path, f"profile: lab\n{lowered}")
    with pytest.raises(SpecErrors, match="weaker than the policy's own 'advisory'"):
        check(tmp_path, f"profile: lab\n{LOWERED.format('disabled')}")


@pytest.mark.parametrize("reason", [".", "n/a", "- - - - - - - -", "aaaaaaaaaaaaaaaaaaaa", "ok", "ＯＫ",
                                     "批", "あああ", "ㅇㅋ", "ーーーー", "a\u0300\u0301\u0302"])  # fmt: skip
def test_a_reason_says_something(tmp_path: Path, reason: str) -> None:
    lowered = "policies: {COOL-005: {enforcement: advisory, reason: '%s'}}\n"
    with pytest.raises(SpecErrors, match=re.escape(f"say why in 'reason'; '{reason}' does not")):
        check(tmp_path, lowered % reason)
    check(tmp_path, lowered % "later")
    check(tmp_path, lowered % "规则不适用于这里")


@pytest.mark.parametrize("reason", ["已批准", "同意", "テスト中", "ﾃｽﾄ", "승인", "ጥገና", "ठीक है", "ซ่อม", "صيانة", "אושר",
                                     "одобрено", "έγκριση", "修理中 T-1"])  # fmt: skip
def test_a_reason_in_another_script_is_accepted(tmp_path: Path, reason: str) -> None:
    lowered = "policies: {COOL-005: {enforcement: advisory, reason: '%s'}}\n"
    assert check(tmp_path, lowered % reason).lowered[0].reason == reason
    decomposed = unicodedata.normalize("NFD", reason)
    assert check(tmp_path, lowered % decomposed).lowered[0].reason == decomposed


def test_profiles_change_enforcement_and_nothing_else(tmp_path: Path) -> None:
    reports = {
        name: check(tmp_path, f"profile: {name}\n") for name in ("lab", "pilot", "production")
    }
    found = {
        name: {(r.policy, r.subject.name, r.what, r.outcome) for r in report.results}
        for name, report in reports.items()
    }
    assert found["lab"] == found["pilot"] == found["production"]
    held = {
        name: {r.policy for r in report.results if r.enforcement is MANDATORY}
        for name, report in reports.items()
    }
    assert held["lab"] < held["pilot"] < held["production"]
    assert set(PHYSICAL) & {r.policy for r in reports["lab"].results} <= held["lab"]


def test_the_same_regime_on_the_wire(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text('profile: lab\npolicy_set: "0.2"\n')
    from rackwright.reading.loader import load_tree, validate

    spec = validate(load_tree(FIXTURES / "air.yaml", layers=(layer,)), Blueprint).value
    checked = check_blueprint(FIXTURES / "air.yaml", layers=(layer,))
    told = check_plan(load_data(json.loads(spec.model_dump_json())))
    assert told.regime == checked.regime == Regime(Profile.LAB, "0.2")
    assert [r.fingerprint for r in told.results] == [r.fingerprint for r in checked.results]


def test_a_released_set_keeps_its_rules_for_ever() -> None:
    """The file has each set as it was released: a new rule goes into a later set, never in here.

    It holds as well what each rule does to a blueprint that names the set, and it is written by
    hand, when a set is released.
    """
    released = json.loads(SETS_AS_RELEASED.read_text())
    assert list(released) == list(SETS[: SETS.index(RELEASED) + 1])
    now = {
        named: {
            rule.id: f"mandatory from {rule.profile} on"
            if standing(rule, Regime(Profile.PRODUCTION, named)).enforcement is MANDATORY
            else str(rule.enforcement)
            for rule in sorted(BUILTIN, key=lambda rule: rule.id)
            if not is_preview(rule, named)
        }
        for named in released
    }
    assert now == released
    assert [len(rules) for rules in released.values()] == [43, 88, 110, 154]


@pytest.mark.parametrize(
    ("asked", "refused"), [("0.2", set()), ("0.3", set()), ("0.4", {"SCH-012"})]
)
def test_base_blocks_of_half_a_domain_are_accepted_up_to_set_03(
    tmp_path: Path, asked: str, refused: set[str]
) -> None:
    """SCH-003 accepted each base size that divides a domain when sets 0.2 and 0.3 were released."""
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        f"policy_set: '{asked}'\n"
        "scheduler:\n"
        "  kind: slurm\n"
        "  version: '25.05'\n"
        "  controllers: [{host: slurm-1, address: 10.0.0.1}]\n"
        "  topology: {plugin: block, block_sizes: [9, 18]}\n"
        "  nodes: [{groups: [nvl72], memory: 900 GiB}]\n"
        "  partitions: [{name: gpu, groups: [nvl72], default: true}]\n"
    )
    report = check_blueprint(FIXTURES / "liquid.yaml", layers=(layer,))
    blocking = {result.policy for result in report.results if result.blocks}
    assert blocking & {"SCH-003", "SCH-012"} == refused


def test_the_readme_counts_the_rules_of_the_newest_released_set() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    rules = [rule for rule in BUILTIN if not is_preview(rule, RELEASED)]
    assert re.findall(r"(\d+) rules", readme) == [str(len(rules))]


def test_an_upgrade_judges_a_named_set_by_the_same_rules(tmp_path: Path) -> None:
    """What a later set adds is a preview to a blueprint that names an older one."""
    report = check(tmp_path, 'policy_set: "0.1"\n')
    held = {r.policy for r in report.results if not r.preview}
    assert held <= set(json.loads(SETS_AS_RELEASED.read_text())["0.1"])
    assert not any(r.blocks for r in report.results if r.preview)
    silent = check(tmp_path, "profile: production\n")
    assert silent.regime == Regime(Profile.PRODUCTION, RELEASED)


@pytest.mark.parametrize("policy", BUILTIN, ids=lambda policy: policy.id)
def test_a_built_in_rule_belongs_to_a_set(policy: type[Policy]) -> None:
    assert policy.since in SETS


@pytest.mark.parametrize("name", PHYSICAL)
def test_physics_is_mandatory_in_a_lab(name: str) -> None:
    (policy,) = [policy for policy in BUILTIN if policy.id == name]
    assert standing(policy, Regime(Profile.LAB, RELEASED)) == Standing(MANDATORY)
    assert not is_preview(policy, RELEASED)


@pytest.mark.parametrize(
    ("policy", "now", "released"),
    [
        (
            "PWR-003",
            "power supplies left in each node after losing A (dgx-h100 is degraded)",
            "living power supplies of each node after losing A (dgx-h100 is degraded)",
        ),
        (
            "COOL-015",
            "lower bound of the time without heat rejection after a dip of the utility's voltage",
            "time in which nothing takes the heat of the water at least after a dip of the utility's voltage,",
        ),
        (
            "COOL-017",
            "heat into the air, one crah lost, with return air of 40.0 °C, rated at 36 °C,",
            "heat in the air that all but one crah carry with air of 40.0 °C, rated at 36 °C,",
        ),
        (
            "COOL-017",
            "heat into the air, one crah lost, with return air of 40.0 °C,",
            "heat in the air that all but one crah carry with air of 40.0 °C",
        ),
        (
            "COOL-017",
            "heat into the air, one crah lost,",
            "heat in the air that all but one crah carry",
        ),
        (
            "PWR-015",
            "load implied by the busiest line of the tap-off box of 2 racks after losing A",
            "load that the busiest line of the tap-off box of 2 racks implies after losing A",
        ),
        (
            "PWR-021",
            "lowest fault current at the end of the circuit, against a breaker that trips at once at 5 times its rating,",
            "least current of a fault at the end of the circuit, where 5 times its rating opens the breaker at once,",
        ),
        ("AWS-024", "share of b paid for and never launched", "share of b that is paid for and never launched"),
        ("PWR-001", "drawn load", "drawn load"),
    ],
)  # fmt: skip
def test_reworded_measure_keeps_baselines_and_waivers(policy: str, now: str, released: str) -> None:
    at = Subject("sjc1 racks c[01-08]", ("sites", 0))
    assert released_words(policy, now) == released
    assert released_words(policy, released) == released
    assert fingerprint(policy, at, now) == fingerprint(policy, at, released)
