"""A change does not approve itself: what its base says about policies holds until it is merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_team import git
from policy_team import FILE, Team
from rackwright.cli import main
from rackwright.policy.packs.loader import load_packs

HIGH = {"enforcement": "disabled", "reason": "the rule is wrong here"}


@pytest.mark.parametrize("enforcement", ["disabled", "advisory"])
def test_a_rule_that_the_change_lowers_judges_still(team: Team, enforcement: str) -> None:
    team.branch()
    assert team.check()[0] == 5
    team.write(policies={"ACME-001": {**HIGH, "enforcement": enforcement}})
    assert team.check(base=None)[0] == (3 if enforcement == "disabled" else 0)
    code, report = team.check()
    assert code == 5
    assert team.notices(report) == {
        "ACME-001": f"'{enforcement}' in this change, because 'the rule is wrong here'; 'main' "
        "decides: it stays 'mandatory' until the change is merged"
    }
    team.commit()
    git(team.top, "branch", "--force", "main")
    code, report = team.check()
    assert (code, team.notices(report)) == (3 if enforcement == "disabled" else 0, {})


def test_owner_of_a_lowered_value_is_named(team: Team) -> None:
    team.branch()
    team.write(owner="gpu-platform", policies={"ACME-001": HIGH})
    said = "because 'the rule is wrong here', for which '{}' answers; 'main' decides"
    assert said.format("gpu-platform") in team.notices(team.check()[1])["ACME-001"]
    team.write(owner="gpu-platform", policies={"ACME-001": {**HIGH, "owner": "ada"}})
    assert said.format("ada") in team.notices(team.check()[1])["ACME-001"]


def test_a_rule_that_the_change_raises_is_judged_so(team: Team) -> None:
    team.write(policies={"ACME-001": HIGH})
    team.branch()
    team.write()
    code, report = team.check()
    assert (code, team.notices(report)) == (5, {})


def test_a_raise_that_the_change_takes_back_holds(team: Team) -> None:
    (rule,) = (team.top / "policies" / "own").glob("*.py")
    text = rule.read_text()
    advisory = "    enforcement=Enforcement.ADVISORY,\n    since="
    text = text.replace("    since=", advisory).replace(
        "import Finding", "import Enforcement, Finding"
    )
    rule.write_text(text)
    team.write(policies={"ACME-001": {"enforcement": "mandatory"}})
    team.branch()
    team.write()
    assert team.check(base=None)[0] == 0
    code, report = team.check()
    assert code == 5
    assert (
        "'advisory' in this change, without a reason; 'main' decides"
        in team.notices(report)["ACME-001"]
    )


def test_parameters_are_those_of_the_base(team: Team) -> None:
    (rule,) = (team.top / "policies" / "own").glob("*.py")
    name = next(
        line.split(":")[0].strip() for line in rule.read_text().splitlines() if "= 1.0" in line
    )
    team.branch()
    team.write(policies={"ACME-001": {"parameters": {name: 4000.0}}})
    assert team.check(base=None)[0] == 0
    code, report = team.check()
    assert code == 5
    said = f"other parameters in this change, without a reason: '{name}'"
    assert team.notices(report)["ACME-001"].startswith(said)


def test_parameters_that_no_longer_fit_the_rule_stop_nothing(team: Team) -> None:
    """As after a parameter got another name, in the rule and in the blueprint at once."""
    team.write(policies={"ACME-001": {"parameters": {"before": 4000.0}}})
    team.branch()
    team.write()
    team.commit()
    assert team.check()[0] == 5
    assert main(["diff", "main...HEAD", str(FILE)]) == 5


def test_profile_and_set_are_no_way_around(team: Team) -> None:
    team.write(policy_set="0.2")
    team.branch()
    reasons = {"profile": {"reason": "nobody works on it yet", "owner": "ada"}}
    team.write(profile="lab", policy_set="0.1", reasons=reasons)
    code, report = team.check("--all")
    assert code == 5
    assert (report["profile"], report["policy_set"]) == ("production", "0.2")
    assert team.notices(report) == {
        "profile": "'lab' in this change, because 'nobody works on it yet', for which 'ada' "
        "answers; 'main' decides: it stays 'production' until the change is merged",
        "policy_set": "'0.1' in this change, without a reason; 'main' decides: it stays '0.2' "
        "until the change is merged",
    }
    later = {policy.id for policy in load_packs() if policy.since not in {"0.1", "0.2"}}
    assert {result["policy"] for result in report["results"] if result["preview"]} <= later


def test_a_layer_of_the_change_lowers_nothing(team: Team) -> None:
    team.branch()
    team.write("more.yaml", text={"policies": {"ACME-001": HIGH}})
    code, report = team.check("--layer=more.yaml")
    assert (code, list(team.notices(report))) == (5, ["ACME-001"])
    team.commit()
    git(team.top, "branch", "--force", "main")
    assert team.check("--layer=more.yaml")[0] == 3  # approved, through the same layer


def test_a_pack_that_the_change_drops_judges_still(team: Team) -> None:
    team.branch()
    (team.top / "rackwright.yaml").write_text("packs: []\n")
    code, report = team.check()
    assert code == 5
    assert "judge still, until the change is merged" in team.notices(report)["policies"]
    (team.top / "rackwright.yaml").unlink()
    assert team.check()[0] == 5
    (team.top / "policies").rename(team.top / "rules")
    code, report = team.check()
    assert code == 5
    assert "judge still, until the change is merged" in team.notices(report)["policies"]
    code, report = team.check("--isolated")
    assert code == 5
    assert "judge still, until the change is merged" in team.notices(report)["policies"]


def test_a_pack_is_dropped_with_its_settings(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the base says about a rule that is gone stops neither ``check`` nor ``diff``."""
    team.write(policies={"ACME-001": HIGH})
    team.branch()
    team.write()
    (team.top / "rackwright.yaml").unlink()
    (team.top / "policies").rename(team.top.parent / "elsewhere")
    team.commit()
    before = team.check("--all", base=None)[0]
    assert team.check("--all")[0] == before
    assert main(["diff", "main...HEAD", str(FILE)]) == before


def test_a_new_blueprint_is_told_what_it_lowers(team: Team) -> None:
    (team.top / FILE).unlink()
    team.branch()
    team.write(profile="lab", policies={"ACME-001": HIGH})
    code, report = team.check()
    assert code == 3
    assert set(team.notices(report)) == {"profile", "ACME-001"}
    assert "the blueprint is new" in team.notices(report)["ACME-001"]


@pytest.mark.parametrize(
    "text", ["- 1\n", "policies: [\n", "version https://git-lfs.github.com/spec/v1\nsize 3\n"]
)
def test_a_base_that_cannot_be_read_approves_nothing(
    team: Team, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (team.top / FILE).write_text(text)
    team.branch()
    team.write()
    assert main(["check", "--base-ref=main", str(FILE)]) == 2
    assert "main:site/blueprint.yaml" in capsys.readouterr().err


def test_every_form_tells_what_is_lowered(
    team: Team, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team.branch()
    team.write(policies={"ACME-001": HIGH})
    forms = ("text", "json", "sarif", "junit", "gitlab", "github", "md")
    outputs = [f"--output={form}={tmp_path}/report.{form}" for form in forms]
    assert main(["check", "--base-ref=main", *outputs, str(FILE)]) == 5
    capsys.readouterr()
    for form in forms:
        text = (tmp_path / f"report.{form}").read_text()
        assert "the rule is wrong here" in text, form
        assert "until the change is merged" in text, form
    assert "::warning file=site/blueprint.yaml,line=" in (tmp_path / "report.github").read_text()
    assert main(["check", "--base-ref=main", "--strict-waivers", "--only=PWR-001", str(FILE)]) != 7


def test_a_diff_judges_as_check_does(team: Team) -> None:
    team.branch()
    team.write(policies={"ACME-001": HIGH})
    team.commit()
    assert team.check("--all")[0] == 5
    assert main(["diff", "main...HEAD", str(FILE)]) == 5


def test_without_a_base_the_blueprint_tells_what_it_lowers(
    team: Team, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team.write(policies={"ACME-001": HIGH})
    main(["check", f"--output=md={tmp_path}/report.md", str(FILE)])
    text = capsys.readouterr().out
    line = "ACME-001  disabled, normally mandatory: the rule is wrong here"
    assert f"lowered by the blueprint:\n  {line}  (site/blueprint.yaml:" in text
    comment = (tmp_path / "report.md").read_text()
    assert "#### Lowered by the blueprint\n\n- ACME-001 disabled, normally" in comment
