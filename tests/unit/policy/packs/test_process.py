"""The rules of a team run apart: a pack yields values, and has no hand in what becomes of them."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

import pytest

from policy_team import FILE, Team
from rackwright.cli import main
from rackwright.errors import PolicyLoadError
from rackwright.plan.base import Contributor, Subject
from rackwright.plan.missing import Missing, ProductField, fields_of
from rackwright.policy.api import Finding, Measure, Suggestion
from rackwright.policy.packs.exchange import decode, encode
from rackwright.policy.packs.process import PackProcess, team_rules
from rackwright.policy.result_validation import RuleFailedError

ENGINE = """
import rackwright.policy.engine as engine
import rackwright.policy.api as api
engine.Result.blocks = property(lambda self: False)
engine.Report.exit_code = 0
api.Measure.outcome = property(lambda self: api.Outcome.PASS)
"""


def message(team: Team) -> str:
    """What the report says of the rule, which must be an error of it."""
    code, report = team.check(base=None)
    (result,) = [one for one in report["results"] if one["policy"] == "ACME-001"]
    assert (code, result["outcome"]) == (1, "error")
    text: str = result["message"]
    return text


def test_a_pack_that_patches_the_engine_patches_its_own_process(team: Team) -> None:
    code, before = team.check("--all", base=None)
    assert code == 5
    team.edit(lambda text: text.replace("@rule(", f"{ENGINE}\n\n@rule("))
    code, after = team.check("--all", base=None)
    assert code == 5
    assert after["results"] == before["results"]


def test_a_rule_of_a_team_knows_the_day_that_it_judges_for(team: Team) -> None:
    said = "raise ValueError(f'judged on {self.judged_on!r}')\n        "
    team.edit(lambda text: text.replace("for site in", f"{said}for site in", 1))
    code, report = team.check("--today=2027-02-03", base=None)
    (result,) = [one for one in report["results"] if one["policy"] == "ACME-001"]
    assert (code, result["outcome"]) == (1, "error")
    assert "judged on datetime.date(2027, 2, 3)" in result["message"]


def test_a_pack_has_no_hand_in_another_one(team: Team, tmp_path: Path) -> None:
    other = tmp_path / "other"
    main(["policy", "new", "own/EVIL-001", "Nothing", "--pack", str(other)])
    (rule,) = (other / "own").glob("*.py")
    patch = (
        "import gc\nfor one in gc.get_objects():\n"
        "    if isinstance(one, type) and getattr(one, 'id', '') == 'ACME-001':\n"
        "        one.check = lambda self, plan: iter(())\n"
    )
    rule.write_text(rule.read_text().replace("@rule(", f"{patch}\n\n@rule("))
    assert team.check(f"--pack={other}", base=None)[0] == 5


def test_a_rule_that_raises_is_told_with_its_line(team: Team) -> None:
    team.edit(
        lambda text: text.replace(
            "altitude = site", "raise OSError('no')\n            altitude = site"
        )
    )
    assert message(team).startswith("the policy failed in acme001_sites_lie_low.py:")
    assert message(team).endswith(": OSError: no")


@pytest.mark.parametrize(
    "deed", ["__import__('os')._exit(0)", "__import__('os').kill(__import__('os').getpid(), 9)"]
)
def test_a_pack_that_ends_its_process_passes_nothing(team: Team, deed: str) -> None:
    team.edit(lambda text: text.replace("altitude = site", f"{deed}\n            altitude = site"))
    assert message(team) == "the policy failed: its pack ended its process"


def test_a_pack_that_ends_while_it_is_loaded_is_refused(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    team.edit(lambda text: f"{text}\n\n__import__('os')._exit(0)\n")
    assert main(["check", str(FILE)]) == 1
    assert "ended its process while it was loaded" in capsys.readouterr().err


def test_answers_that_are_none_are_errors(team: Team) -> None:
    """What a pack writes where the answers go is taken for its own only, and checked."""
    forged = (
        "import json, os\n            for number in range(3, 20):\n"
        "                try:\n"
        "                    os.write(number, json.dumps({'answers': [{'yields': "
        "[{'measure': {'at': {'name': 'x', 'path': []}, 'value': float('nan'), 'limit': 1, "
        "'unit': 'm', 'what': 'x'}}]}]}).encode() + b'\\\\n')\n"
        "                except OSError:\n                    pass\n            altitude = site"
    )
    team.edit(lambda text: text.replace("altitude = site", forged.replace("\\\\n", "\\n")))
    assert message(team).startswith("the pack sent what is no result: ")


def test_output_of_a_rule_goes_to_stderr_without_control_characters(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "print('::set-output name=a::b\\\\x1b[2J', flush=True)\n            altitude = site"
    team.edit(lambda text: text.replace("altitude = site", said.replace("\\\\", "\\")))
    assert main(["check", "--only=ACME-001", str(FILE)]) == 5
    out, err = capsys.readouterr()
    assert "set-output" not in out
    assert "set-output" in err
    assert "\x1b" not in err
    assert "\n::set-output" not in f"\n{err}"


def test_a_rule_sees_no_token_of_the_job(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", "secret")
    seen = "raise OSError(' '.join(__import__('os').environ))\n            altitude = site"
    team.edit(lambda text: text.replace("altitude = site", seen))
    text = message(team)
    assert "PATH" in text
    assert "CI_JOB_TOKEN" not in text
    assert "PULUMI" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("name", ["environ", "mem", "maps"])
def test_a_rule_does_not_look_into_the_process_that_asks_it(team: Team, name: str) -> None:
    """It read the tokens of the job in /proc/PPID/environ."""
    path = f"'/proc/%d/{name}' % __import__('os').getppid()"
    seen = f"raise OSError(open({path}, 'rb').read(9))\n"
    team.edit(lambda text: text.replace("altitude = site", f"{seen}            altitude = site"))
    assert "Permission denied" in message(team)


def test_nothing_of_the_working_directory_is_imported(team: Team) -> None:
    (team.top / "pydantic.py").write_text("raise SystemExit('taken from the checkout')\n")
    assert team.check(base=None)[0] == 5


def test_parameters_are_refused_at_their_place(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    for parameters, said in (
        ({"highest_altitude": -1}, "highest_altitude: '-1' is not 0 or more"),
        ({"highest_altitude": "no"}, "highest_altitude: 'no' is not a number"),
        (
            {"highest_altitud": 10},
            "unknown key 'highest_altitud'\n  hint: did you mean 'highest_alt",
        ),
    ):
        team.write(policies={"ACME-001": {"parameters": parameters}})
        assert main(["check", str(FILE)]) == 2
        told = capsys.readouterr().err
        assert said in told, told
        assert "site/blueprint.yaml:" in told


def test_its_process_ends_with_it(team: Team) -> None:
    pack = PackProcess(team.top / "policies")
    pid = pack._process.pid
    os.kill(pid, 0)
    del pack
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_pack_is_loaded_anew_when_its_files_change(team: Team) -> None:
    folder = team.top / "policies"
    (before,) = team_rules(folder)
    assert team_rules(folder) == (before,)
    team.edit(lambda text: text.replace('"Sites lie low"', '"Sites lie lower"'))
    (after,) = team_rules(folder)
    assert (before.title, after.title) == ("Sites lie low", "Sites lie lower")


def test_a_pack_without_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyLoadError, match="holds no policy"):
        team_rules(tmp_path)
    with pytest.raises(PolicyLoadError, match="is not a folder"):
        team_rules(tmp_path / "nowhere")


AT = Subject("a", ("sites", 0, "altitude"))


@pytest.mark.parametrize(
    "item",
    [
        Measure(AT, 1.5, None, "m", "altitude", missing=("it",), advisory=True),
        Measure(AT, 1.0, 2.0, "m", "x", "at_least", (Contributor("c", 2, 0.5),), "fix"),
        Finding(AT, None, "unknown", missing=("a", "b"), what="w"),
        Finding(AT, ok=False, message="no", suggest=Suggestion(("sites", 0), "45 kW")),
        Finding(AT, ok=True, message="yes", suggest=Suggestion(("sites", 0), value=True)),
    ],
)
def test_results_pass_between_processes_unchanged(item: Measure | Finding) -> None:
    assert decode(encode(item)) == item


def test_the_fields_of_what_is_missing_arrive() -> None:
    fields = (("sites", 0, "altitude"), ProductField("dgx-h100", "weight"))
    sent = Finding(AT, None, "unknown", missing=(Missing("it", *fields), "that"))
    arrived = decode(json.loads(json.dumps(encode(sent))))
    assert [fields_of(text) for text in arrived.missing] == [fields, ()]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"measure": {}},
        {"finding": {"at": None, "ok": True, "message": "x"}},
        {"other": {}},
        {"measure": {}, "finding": {}},
        {"finding": {"at": {"name": "a", "path": []}, "ok": "perhaps", "message": "x"}},
        {"finding": {"at": {"name": "a", "path": []}, "ok": True, "message": ""}},
        {1: 2},
        {
            "finding": {
                "at": {"name": "a", "path": []},
                "ok": None,
                "message": "x",
                "missing": ["y"],
            }
        },
    ],
)
def test_what_is_no_result_is_refused(data: object) -> None:
    with pytest.raises(RuleFailedError, match="the pack sent what is no result"):
        decode(data)
