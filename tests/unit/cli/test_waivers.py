"""Waivers on the command line: a pull request from the violation to the approved waiver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rackwright.cli import main
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.reading.loader import load
from rackwright.render.blueprints import find_template, write_blueprint

TODAY = ("--today", "2026-12-01")
DENSITY = {
    "--policy": "RACK-002",
    "--match": "rack=c[01-08]",
    "--up-to": "51 kW",
    "--reason": "burn-in until the liquid racks arrive",
    "--owner": "dc-power@example.com",
    "--ticket": "DC-1432",
    "--expires": "2026-12-08",
}


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    return tmp_path / "blueprint.yaml"


@pytest.fixture
def waivers(blueprint: Path) -> Path:
    return blueprint.parent / "policies" / "waivers.yaml"


def add(blueprint: Path, **changes: str | None) -> int:
    options = DENSITY | {f"--{key.replace('_', '-')}": value for key, value in changes.items()}
    given = [part for pair in options.items() if pair[1] is not None for part in pair]
    return main(["waivers", "add", str(blueprint), *map(str, given), *TODAY])


def check(
    blueprint: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, dict[str, Any]]:
    """The exit code and the report on five nodes in every rack, on the density only."""
    layer = blueprint.parent / "five-per-rack.yaml"
    capsys.readouterr()
    arguments = ["check", str(blueprint), "--layer", str(layer), "--only", "RACK-002", "--json"]
    code = main([*arguments, *(options if "--today" in options else (*options, *TODAY))])
    return code, json.loads(capsys.readouterr().out)


def kinds(report: dict[str, Any]) -> list[str]:
    found = [notice["kind"] for notice in report["hygiene"]["notices"]]
    assert found.count("example_file") == 1  # the template marks its values
    return [kind for kind in found if kind != "example_file"]


def test_a_waiver_that_is_added_covers_the_failure(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(blueprint, capsys)[0] == 5
    assert add(blueprint) == 0
    code, report = check(blueprint, capsys)
    assert code == 0
    (result,) = (r for r in report["results"] if r["outcome"] == "waived")
    assert result["value"] == 51_000
    assert result["waiver"] == {
        "id": "W-2026-001",
        "owner": "dc-power@example.com",
        "ticket": "DC-1432",
        "reason": "burn-in until the liquid racks arrive",
        "expires": "2026-12-08",
        "up_to": "51 kW",
        "limit": "45 kW",
    }
    assert kinds(report) == ["expiring"]


@pytest.mark.parametrize(
    ("day", "code", "found"),
    [("2026-12-08", 0, ["expiring"]), ("2026-12-09", 5, ["expired"])],
)
def test_waiver_applies_through_its_last_day(
    day: str, code: int, found: list[str], blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    ended, report = check(blueprint, capsys, "--today", day)
    assert (ended, kinds(report)) == (code, found)


def test_beyond_its_bound_it_does_not_hold(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint, up_to="50.9 kW")
    code, report = check(blueprint, capsys)
    assert code == 5
    assert "covers up to 50.9 kW only" in report["results"][0]["message"]


def test_a_limit_that_is_cut_is_not_waived(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    blueprint.write_text(
        blueprint.read_text().replace("power_limit: 45 kW", "power_limit: 5 kW"), encoding="utf-8"
    )
    code, report = check(blueprint, capsys)
    assert code == 5
    message = next(r["message"] for r in report["results"] if r["blocks"])
    assert "at a limit of 45 kW only; the limit moved from 45 kW to 5 kW" in message


def test_the_limit_of_a_new_waiver_can_be_named(blueprint: Path, waivers: Path) -> None:
    assert add(blueprint, limit="44 kW") == 0
    assert load(waivers, WaiverFile).value.waivers[0].limit == "44 kW"


def test_an_audit_judges_without_waivers(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    code, report = check(blueprint, capsys, "--no-waivers")
    assert code == 5
    assert report["counts"]["waived"] == 0


def test_strict_waivers_end_with_7(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(blueprint)
    add(blueprint, match="rack=d01")
    assert check(blueprint, capsys)[0] == 0
    code, report = check(blueprint, capsys, "--strict-waivers")
    assert code == report["exit_code"] == 7
    assert kinds(report) == ["expiring", "unused"]
    assert main(["check", str(blueprint), "--strict-waivers", "--exit-zero", *TODAY]) == 0


def test_waived_findings_are_shown_on_request(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    layer = blueprint.parent / "five-per-rack.yaml"
    arguments = ["check", str(blueprint), "--layer", str(layer), "--only", "RACK-002", *TODAY]
    capsys.readouterr()
    assert main(arguments) == 0
    assert "RACK-002 waived" not in capsys.readouterr().out
    assert main([*arguments, "--show-waived"]) == 0
    shown = capsys.readouterr().out
    assert "RACK-002 waived" in shown
    assert "waived up to 51 kW at a limit of 45 kW by W-2026-001" in shown
    assert (
        "waivers on 2026-12-01: 1 waived, 1 expiring, 0 expired, 0 unused, 0 over bound, "
        "0 proposed, 0 self approved\n"
    ) in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-waivers", "--strict-waivers"], "no effect with '--no-waivers'"),
        (["--no-waivers", "--waivers", "x.yaml"], "no effect with '--no-waivers'"),
        (["--no-baseline", "--baseline", "x.json"], "no effect with '--no-baseline'"),
        (["--waivers", "nowhere.yaml"], "there is no file 'nowhere.yaml'"),
        (["--baseline", "nowhere.json"], "there is no file 'nowhere.json'"),
        (["--today", "tomorrow"], "'tomorrow' is not a day"),
        (["--base-ref", "--all"], "--base-ref needs a value"),
        (["--base-ref=--all"], "cannot be the name of a revision"),
    ],
)
def test_meaningless_arguments_are_bad_usage(
    options: list[str], said: str, blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "init", "-q", str(blueprint.parent)], check=True)
    assert main(["check", str(blueprint), *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["waivers: [{expires: never}]", "waivers: yes", "", "waivers: [", "- id: x"]
)
def test_a_file_that_cannot_be_read_is_an_error(
    text: str, blueprint: Path, waivers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers.parent.mkdir()
    waivers.write_text(text)
    assert main(["check", str(blueprint), *TODAY]) == 2
    assert "waivers.yaml" in capsys.readouterr().err


# --- a pull request ----------------------------------------------------------------------------


def commit(folder: Path) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    for words in (["add", "."], [*identity, "commit", "-q", "--allow-empty", "-m", "change"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


@pytest.fixture
def repository(blueprint: Path) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "main", str(blueprint.parent)], check=True)
    commit(blueprint.parent)
    return blueprint.parent


def branch(repository: Path) -> None:
    subprocess.run(["git", "-C", str(repository), "checkout", "-q", "-b", "topic"], check=True)


def test_a_pull_request_cannot_approve_itself(
    repository: Path, blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branch(repository)
    add(blueprint)
    commit(repository)
    code, report = check(blueprint, capsys, "--base-ref", "main")
    assert code == 5
    assert kinds(report) == ["proposed"]
    assert check(blueprint, capsys)[0] == 0


def test_waiver_of_the_base_covers(
    repository: Path, blueprint: Path, waivers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    commit(repository)
    branch(repository)
    code, report = check(blueprint, capsys, "--base-ref", "main")
    assert code == 0
    assert report["hygiene"]["sources"][0] == "main:policies/waivers.yaml"

    waivers.write_text(waivers.read_text().replace("51 kW", "60 kW"))
    code, report = check(blueprint, capsys, "--base-ref", "main")
    assert code == 0
    assert "self_approved" in kinds(report)
    assert check(blueprint, capsys, "--base-ref", "main", "--strict-waivers")[0] == 7

    waivers.unlink()
    assert check(blueprint, capsys, "--base-ref", "main")[0] == 5


def test_a_named_file_has_to_be_in_the_repository(
    repository: Path,
    blueprint: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "waivers.yaml"
    outside.write_text("waivers: []\n")
    options = ["--waivers", str(outside), "--base-ref", "main"]
    assert main(["check", str(blueprint), *options]) == 2
    assert "so 'main' cannot approve it" in capsys.readouterr().err


# --- list, check, add, prune ---------------------------------------------------------------------


def test_the_list_tells_who_until_when_and_why(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["waivers", "list", str(blueprint), *TODAY]) == 0
    assert capsys.readouterr().out == "there are no waivers\n"
    add(blueprint)
    capsys.readouterr()
    assert main(["waivers", "list", str(blueprint), *TODAY]) == 0
    assert capsys.readouterr().out == (
        "W-2026-001  RACK-002  2026-12-08 (7 days left)  rack=c[01-08]  up to 51 kW at a limit of 45 kW\n"
        "  dc-power@example.com, DC-1432: burn-in until the liquid racks arrive\n"
    )
    assert main(["waivers", "list", str(blueprint), "--json", "--today", "2026-12-10"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["waivers"]
    assert (row["id"], row["days_left"]) == ("W-2026-001", -2)


def test_check_ends_with_7_when_something_is_wrong(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    layer = ["--layer", str(blueprint.parent / "five-per-rack.yaml")]
    assert main(["waivers", "check", str(blueprint), *layer, *TODAY]) == 0
    capsys.readouterr()
    assert main(["waivers", "check", str(blueprint), *TODAY, "--json"]) == 7
    document = json.loads(capsys.readouterr().out)
    assert document["counts"]["unused"] == 1
    assert main(["waivers", "check", str(blueprint), *TODAY]) == 7
    assert "W-2026-001 unused: RACK-002 does not fail there" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policy": "RACK-02"}, "--policy"),
        ({"policy": "RACK-999"}, "there is no policy 'RACK-999'"),
        ({"policy": "RACK-004"}, "'RACK-004' admits no waivers"),
        ({"match": "c01"}, "is not WORD=NAME"),
        ({"match": "rack=*"}, "--match: it matches everything"),
        ({"up_to": "a lot"}, "--up-to"),
        ({"reason": "because"}, "--reason: a reason has at least 15 characters"),
        ({"expires": "2026-12-09"}, "between today and 7 days"),
        ({"expires": "2026-11-30"}, "between today and 7 days"),
        ({"expires": "soon"}, "--expires: 'soon' is not a day"),
        ({"owner": None}, "--owner"),
        ({"policy": None, "match": None, "from": "0" * 16}, "no finding has the fingerprint"),
        ({"from": "0" * 16}, "leave out '--policy' and '--match'"),
        ({"match": None}, "the finding to waive is not set"),
        ({"policy": None}, "the finding to waive is not set"),
    ],
)
def test_a_waiver_that_would_never_hold_is_not_added(
    changes: dict[str, str | None],
    said: str,
    blueprint: Path,
    waivers: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert add(blueprint, **changes) == 2
    assert said in capsys.readouterr().err
    assert not waivers.exists()


WRITTEN = """\
# The waivers of the platform team.
waivers:
    # Burn-in.
    - id: W-1
      policy: RACK-002
      match: {rack: "c[01-08]"}   # all of them
      up_to: 51 kW
      reason: burn-in until the liquid racks arrive
      owner: dc-power@example.com
      ticket: DC-1432
      expires: 2026-11-30
    # Stays.
    - id: W-2
      policy: RACK-002
      match: {rack: "c01"}
      up_to: 51 kW
      reason: burn-in until the liquid racks arrive
      owner: dc-power@example.com
      ticket: DC-1432
      expires: 2026-12-03
# The end.
"""


def test_adding_and_pruning_keep_the_rest_as_it_is(
    blueprint: Path, waivers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers.parent.mkdir()
    waivers.write_text(WRITTEN)
    assert add(blueprint, id="W-3", reason='say "no": # later', ticket="12") == 0
    assert waivers.read_text().startswith(WRITTEN)
    assert [w.id for w in load(waivers, WaiverFile).value.waivers] == ["W-1", "W-2", "W-3"]
    assert load(waivers, WaiverFile).value.waivers[2].reason == 'say "no": # later'

    assert main(["waivers", "prune", str(blueprint), *TODAY, "--dry-run"]) == 0
    assert "would be removed" in capsys.readouterr().out
    assert waivers.read_text().startswith(WRITTEN)
    assert main(["waivers", "prune", str(blueprint), *TODAY]) == 0
    text = waivers.read_text()
    assert [w.id for w in load(waivers, WaiverFile).value.waivers] == ["W-2", "W-3"]
    assert "# Burn-in." not in text
    assert "# Stays." in text
    assert "# The waivers of the platform team." in text

    assert main(["waivers", "prune", str(blueprint), *TODAY, "--unused"]) == 0
    assert load(waivers, WaiverFile).value.waivers == ()
    assert "# The waivers of the platform team." in waivers.read_text()
    assert main(["waivers", "prune", str(blueprint), *TODAY]) == 0
    assert "nothing to remove" in capsys.readouterr().out
    assert add(blueprint) == 0
    assert [w.id for w in load(waivers, WaiverFile).value.waivers] == ["W-2026-001"]


def test_an_id_is_not_given_twice(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(blueprint, id="W-1") == 0
    assert add(blueprint, id="W-1") == 2
    assert "'W-1' is given twice" in capsys.readouterr().err


def test_a_file_in_an_unusual_form_is_left_alone(
    blueprint: Path, waivers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(blueprint)
    flow = json.dumps(
        {"waivers": [w.model_dump(mode="json") for w in load(waivers, WaiverFile).value.waivers]}
    )
    waivers.write_text(flow)
    assert add(blueprint) == 2
    assert "by hand" in capsys.readouterr().err
    assert waivers.read_text() == flow


def test_a_finding_is_waived_by_its_fingerprint(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = str(blueprint.parent / "five-per-rack.yaml")
    _, report = check(blueprint, capsys)
    (failed,) = (r for r in report["results"] if r["outcome"] == "fail")
    named = {"policy": None, "match": None, "up_to": None, "from": failed["fingerprint"]}
    assert add(blueprint, **named, layer=layer) == 0
    assert capsys.readouterr().err == ""
    code, report = check(blueprint, capsys)
    assert code == 0
    (result,) = (r for r in report["results"] if r["outcome"] == "waived")
    assert result["fingerprint"] == failed["fingerprint"]
    assert (result["waiver"]["up_to"], result["waiver"]["limit"]) == ("51 kW", "45 kW")


def test_passing_result_needs_no_waiver(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = check(blueprint, capsys)
    failed = next(r for r in report["results"] if r["outcome"] == "fail")
    passing = {"policy": None, "match": None, "from": failed["fingerprint"]}
    assert add(blueprint, **passing) == 2, "without the layer, the same racks pass"
    assert "nothing to waive" in capsys.readouterr().err


def test_a_match_that_matches_nothing_says_so(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add(blueprint, match="rack=zz9") == 0
    said = capsys.readouterr().err
    assert "note: 'rack=zz9' matches nothing that RACK-002 judges here" in said
    assert "racks c[01-08]" in said
