"""The command line: results on stdout, everything else on stderr, the promised exit codes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.cli import VERBS, main
from rackwright.policy.packs.loader import builtin_pack, load_pack
from rackwright.render.blueprints import find_template, write_blueprint

TEN_MISTAKES = """\
apiVersion: rackwright/v2
name: Atlas
ownr: me
sites:
  - name: a
    provider: onpremise
  - name: sjc1
    provider: onprem
    power:
      continuous_derate: 0.8
      power_factor: 1.5
      sources: [{name: ups-a, kind: usp}]
    halls: []
    node_groups:
      - {name: dgx, role: compute, type: dgx-h100, count: 32, per_rack: 4, power_cap: 9 kw}
    fabric: []
"""


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    return tmp_path / "blueprint.yaml"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr()
    assert all(f"\n  {verb}" in shown.out for verb in VERBS)
    assert shown.err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert f"rackwright {verb}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["chekc"], "did you mean 'check'?"),
        (["check"], "'blueprint.yaml' cannot be read"),
        (["replace"], "missing\n"),
        (["check", "x.yaml", "--formt", "json"], "there is no option '--formt'"),
        (["check", "x.yaml", "--json", "-v"], "has no effect"),
        (["check", "x.yaml", "--only", "PWR001"], "did you mean 'PWR-001'?"),
        (["check", "x.yaml", "--output", "docx=x"], "is not FORMAT=FILE"),
        (["check", "nowhere.yaml"], "'nowhere.yaml' cannot be read"),
        (["explain", "pwr001"], "did you mean 'PWR-001'?"),
        (["init", "x", "--template", "hybrid"], "did you mean 'hybrid-h100'?"),
        (["init", "x", "--template", "hybrid-h100", "--set", "nme=x"], "does not ask for 'nme'"),
        (["init", "x"], "--template"),
        ([], ""),
    ],
)
def test_bad_usage_is_exit_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert text in shown.err
    assert "Traceback" not in shown.err


def test_ten_mistakes_are_ten_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(TEN_MISTAKES)
    assert main(["check", str(path)]) == 2
    shown = capsys.readouterr()
    errors = [line for line in shown.err.splitlines() if line.startswith(f"{path}:")]
    assert [line.removeprefix(f"{path}:").partition(" ")[0] for line in errors] == [
        "1:13:",
        "2:7:",
        "3:1:",
        "6:15:",
        "10:26:",
        "11:21:",
        "12:37:",
        "15:9:",
        "15:87:",
        "16:5:",
    ]
    for hint in ("'owner'", "'onprem'", "'ups'", "'kW'", "'fabrics'"):
        assert f"did you mean {hint}?" in shown.err, hint
    assert "'racks' is missing" in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err


def test_check_passes_and_a_fifth_node_is_refused(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(blueprint)]) == 0
    assert ": ok for run, on " in capsys.readouterr().out
    layer = blueprint.with_name("five-per-rack.yaml")
    assert main(["check", str(blueprint), "--layer", str(layer)]) == 5
    shown = capsys.readouterr().out
    assert "power with cooling mode 'air' is 51 kW; the limit is 45 kW: 6 kW (13 %) over" in shown
    assert f"{blueprint}:" in shown
    assert "(-v shows causes and fixes)" in shown
    assert main(["check", str(blueprint), "--layer", str(layer), "-v"]) == 5
    assert "because 5 × dgx-h100 at 10.2 kW" in capsys.readouterr().out


def test_check_as_json_and_to_files(
    blueprint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.txt"
    assert main(["check", str(blueprint), "--json", "--output", f"text={report}"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "rackwright.check/v2"
    assert document["exit_code"] == 0
    assert ": ok for run, on " in report.read_text()


def test_check_of_one_policy(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(blueprint), "--only", "PWR-003", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {result["policy"] for result in document["results"]} == {"PWR-003"}


def test_a_policy_that_raises_is_exit_1(
    blueprint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pack" / "own"
    folder.mkdir(parents=True)
    (folder / "acme001_bad.md").write_text("# x")
    (folder / "acme001_bad.examples.yaml").write_text("[]")
    (folder / "acme001_bad.py").write_text(
        "from typing import ClassVar\n"
        "from rackwright.policy.api import Policy, Severity\n"
        "class Bad(Policy):\n"
        "    id: ClassVar[str] = 'ACME-001'\n"
        "    title: ClassVar[str] = 'bad'\n"
        "    severity: ClassVar[Severity] = Severity.LOW\n"
        "    since: ClassVar[str] = '0.1'\n"
        "    family: ClassVar[str] = 'own'\n"
        "    def check(self, plan):\n"
        "        yield 1 / 0\n"
    )
    assert main(["check", str(blueprint), "--pack", str(tmp_path / "pack")]) == 1
    shown = capsys.readouterr()
    assert "ACME-001 crash" in shown.out
    assert "ZeroDivisionError" in shown.out
    assert "Traceback" not in shown.err


def test_explain_shows_text_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pwr-005"]) == 0
    shown = capsys.readouterr().out
    assert "# PWR-005" in shown
    assert "Parameter fail_percent: default 20, at least 0, at most 100." in shown
    assert main(["explain", "exit-codes"]) == 0
    assert "  5  a mandatory policy failed" in capsys.readouterr().out


def test_defaults_of_parameters_are_written_as_a_blueprint_has_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They were Python: ``(PluginNeeds(plugin='1.21.1', …),)``."""
    for policy in load_pack(builtin_pack()):
        assert main(["explain", policy.id]) == 0
    shown = capsys.readouterr().out
    assert "installer_needs: default [{nccl: '2.19', installer: '1.29'}]" in shown
    assert "longest_interval: default 300, " in shown
    lines = [line for line in shown.splitlines() if line.startswith("Parameter ")]
    assert len(lines) > 50
    python = re.compile(r"\w\(\w+=|<[A-Z]|None|True|False")
    assert [line for line in lines if python.search(line.split(". ")[0])] == []


def test_policy_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["policies"]
    ids = {policy["id"] for policy in listed}
    assert {f"PWR-{n:03d}" for n in range(1, 13)} <= ids
    assert {f"RACK-{n:03d}" for n in range(1, 9)} <= ids
    assert {f"COOL-{n:03d}" for n in range(1, 11)} <= ids
    assert {f"CAT-{n:03d}" for n in range(1, 5)} <= ids


def test_init_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "init",
        str(tmp_path / "x"),
        "--template",
        "hybrid-h100",
        "--example",
        "--set",
        "name=zeus",
    ]
    assert main(arguments) == 0
    assert "name: zeus" in (tmp_path / "x" / "blueprint.yaml").read_text()
    capsys.readouterr()
    assert main(arguments) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--help"], ["check", str(builtin_pack() / "fixtures" / "air.yaml"), "--json"]]
)
def test_a_full_disk_is_said_and_is_no_fault_of_ours(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rackwright", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr == "error: the output cannot be written: no space left on device\n"


def test_init_says_what_comes_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "our hall"
    assert main(["init", str(folder), "--template", "hybrid-h100", "--example"]) == 0
    said = capsys.readouterr()
    command = next(line for line in said.err.splitlines() if line.startswith("next: "))
    assert str(folder / "blueprint.yaml") in said.out.splitlines()
    assert main(shlex.split(command.removeprefix("next: rackwright "))) == 0
