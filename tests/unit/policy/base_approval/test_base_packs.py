"""A change that edits a team's pack is judged by the pack of its base, and by its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from ci_team import git
from policy_team import FILE, Team
from rackwright.cli import main

MILDER = "the pack is edited in this change; its rules judge as the change has them, and as 'main'"


def milder(text: str) -> str:
    return text.replace("= 1.0", "= 4000.0")


def test_a_rule_that_the_change_makes_milder_judges_as_it_was(team: Team) -> None:
    team.branch()
    assert team.notices(team.check()[1]) == {}
    team.edit(milder)
    assert team.check(base=None)[0] == 0
    code, report = team.check()
    assert code == 5
    assert team.notices(report)["policies"].startswith(MILDER)
    (result,) = [one for one in report["results"] if one["policy"] == "ACME-001"]
    assert result["limit"] == 1.0
    team.commit()
    assert main(["diff", "main...HEAD", str(FILE)]) == 5
    git(team.top, "branch", "--force", "main")
    assert team.check()[0] == 0


def test_a_rule_that_the_change_makes_stricter_judges_as_it_is(team: Team) -> None:
    team.edit(milder)
    team.branch()
    assert team.check()[0] == 0
    team.edit(lambda text: text.replace("= 4000.0", "= 2.0"))
    code, report = team.check()
    assert code == 5
    (result,) = [one for one in report["results"] if one["policy"] == "ACME-001"]
    assert result["limit"] == 2.0


def test_a_rule_that_the_change_deletes_judges_still(team: Team) -> None:
    main(["policy", "new", "own/ACME-002", "Another", "--pack", "policies"])
    team.branch()
    for path in (team.top / "policies/own").glob("acme001*"):
        path.unlink()
    assert team.check()[0] == 5
    sarif = team.top.parent / "report.sarif"
    code, report = team.check("--all", f"--output=sarif={sarif}")
    assert '"ACME-001"' in sarif.read_text()
    assert code == 5
    assert [one["outcome"] for one in report["results"] if one["policy"] == "ACME-001"] == ["fail"]


def test_a_rule_with_a_new_id_is_checked_as_the_base_has_it_too(team: Team) -> None:
    team.branch()
    for path in (team.top / "policies/own").glob("acme001*"):
        path.rename(path.with_name(path.name.replace("001", "009")))
    team.edit(lambda text: milder(text).replace('"ACME-001",', '"ACME-009",'))
    code, report = team.check("--all")
    assert code == 5
    outcomes = {one["policy"]: one["outcome"] for one in report["results"]}
    assert (outcomes["ACME-001"], outcomes["ACME-009"]) == ("fail", "pass")


def test_enforcement_that_the_change_takes_from_a_rule_holds(team: Team) -> None:
    team.branch()
    team.edit(
        lambda text: text.replace(
            "    since=", "    enforcement=Enforcement.ADVISORY,\n    since="
        ).replace("import Finding", "import Enforcement, Finding")
    )
    assert team.check(base=None)[0] == 0
    assert team.check()[0] == 5


def test_a_link_in_the_place_of_a_pack_leads_nowhere(team: Team, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(team.top / "policies", elsewhere)
    team.branch()
    shutil.rmtree(team.top / "policies")
    (rule,) = (elsewhere / "own").glob("*.py")
    rule.write_text(milder(rule.read_text()))
    (team.top / "policies").symlink_to(elsewhere)
    (team.top / "rackwright.yaml").write_text("packs: []\n")
    code, report = team.check()
    assert code == 5
    assert "is not listed in this change" in team.notices(report)["policies"]


def test_isolated_the_base_s_rules_judge_and_none_of_the_change_s_run(
    team: Team, tmp_path: Path
) -> None:
    team.branch()
    ran = tmp_path / "ran"
    team.edit(lambda text: f"{milder(text)}\n\nopen({str(ran)!r}, 'w').close()\n")
    code, report = team.check("--isolated")
    assert code == 5
    assert not ran.exists()
    assert "its rules judge as 'main' has them" in team.notices(report)["policies"]


def test_isolated_a_setting_of_a_team_s_rule_is_one(team: Team) -> None:
    team.write(policies={"ACME-001": {"parameters": {"highest_altitude": 4000.0}}})
    team.branch()
    code, report = team.check("--isolated")
    assert (code, team.notices(report)) == (0, {})


def test_the_base_s_pack_that_is_named_as_well_is_one_pack(team: Team, tmp_path: Path) -> None:
    team.branch()
    beside = tmp_path / "base"
    git(team.top, "worktree", "add", "--quiet", str(beside), "main")
    code, report = team.check("--isolated", f"--pack={beside}/policies")
    assert (code, team.notices(report)) == (5, {})


def test_a_pack_that_is_pinned_otherwise_is_told(team: Team, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (team.top / "policies").rename(shared)
    pin = "packs: [{path: ../shared, digest: DIGEST}]\n"

    def write_pin() -> None:
        from rackwright.team.digest import folder_digest

        (team.top / "rackwright.yaml").write_text(pin.replace("DIGEST", folder_digest(shared)))

    write_pin()
    team.branch()
    assert team.check()[0] == 5
    (rule,) = (shared / "own").glob("*.py")
    rule.write_text(milder(rule.read_text()))
    write_pin()
    told = team.notices(team.check()[1])["../shared"]
    assert told.startswith(
        "the pack is another one in this change; that of 'main' does not judge: "
    )


def test_a_pack_of_the_base_that_holds_a_link_judges_nothing_and_is_told(team: Team) -> None:
    (team.top / "policies" / "more").symlink_to("/etc")
    team.branch()
    (team.top / "rackwright.yaml").unlink()
    told = team.notices(team.check("--all")[1])["policies"]
    assert "they do not: 'policies/more' at" in told
    assert "is not a regular file" in told
