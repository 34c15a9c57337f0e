"""Text of others is shown, by whatever verb, and never obeyed by what reads a job's log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from log_readers import obeyed, obeyed_by_github, obeyed_by_others
from rackwright.cli import VERBS, main
from rackwright.errors import ExternalToolError
from rackwright.render.blueprints import find_template, write_blueprint

LEGACY = "##[stop-commands]token"
EVIL = f"a {LEGACY} b\n::stop-commands::token\n  ::error::x\x1b]0;x\x07\r\x9b31m\u202egnp.exe"
FOLDED = "\x1b[0Ksection_start:1:x[collapsed=true]\r\x1b[0Kdone"

Shown = pytest.CaptureFixture[str]
RunAsVerb = Callable[[Callable[[], object]], int]


@pytest.fixture
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    return tmp_path / "blueprint.yaml"


@pytest.fixture
def as_verb(monkeypatch: pytest.MonkeyPatch) -> RunAsVerb:
    """Runs a function as the body of a verb."""

    def run(body: Callable[[], object]) -> int:
        module = ModuleType("verb_of_a_test")
        module.configure = lambda parser, verb: None  # type: ignore[attr-defined]
        module.run = lambda arguments: int(body() is not None)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(VERBS, "test", (module.__name__, "what a test does"))
        return main(["test"])

    return run


def everything(capsys: Shown) -> str:
    """What was written on both streams."""
    shown = capsys.readouterr()
    assert shown.out + shown.err
    return shown.out + shown.err


def test_the_name_of_a_blueprint_s_group(blueprint: Path, capsys: Shown) -> None:
    text = blueprint.read_text()
    evil = json.dumps(f"{LEGACY}\x1b[2J")
    blueprint.write_text(text.replace("name: c[01-08]", f"name: {evil}", 1) + f"\n{evil}: 1\n")
    assert main(["check", str(blueprint)]) == 2
    shown = everything(capsys)
    assert "stop-commands" in shown
    assert obeyed(shown) == []


@pytest.mark.parametrize("words", [["check"], ["diff", "a..b"], ["waivers", "list"], ["cost"]])
def test_the_name_of_a_file(words: list[str], tmp_path: Path, capsys: Shown) -> None:
    main([*words, str(tmp_path / f"{LEGACY}\n::error::x\x1b[0m.yaml")])
    assert obeyed(everything(capsys)) == []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "gitlab", "github", "md"])
def test_the_name_of_a_file_that_is_no_text(form: str, blueprint: Path, capsys: Shown) -> None:
    name = os.fsdecode(b"\xff.yaml")
    blueprint.rename(name)
    words = ["check", name, "--layer", "five-per-rack.yaml", "--format", form]
    assert main([*words, "--output", f"{form}=a"]) == 5
    assert obeyed_by_others(everything(capsys)) == []
    assert Path("a").read_text()


def test_a_word_of_the_command_line(capsys: Shown) -> None:
    assert main([EVIL]) == 2
    assert obeyed(everything(capsys)) == []


@pytest.mark.parametrize("words", [["waivers", "list"], ["waivers", "check"], ["check", "-v"]])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_reason_of_a_waiver(
    words: list[str], form: list[str], blueprint: Path, capsys: Shown
) -> None:
    layer = ["--layer", "five-per-rack.yaml"] if words[-1] != "list" else []
    why = f"burn-in until the liquid racks arrive {LEGACY}"
    add = ["waivers", "add", str(blueprint), "--policy", "RACK-002", "--match", "rack=c[01-08]"]
    add += ["--up-to", "51 kW", "--reason", why, "--owner", "##[group]x@example.com"]
    add += ["--ticket", "DC-1", "--expires", "2026-12-08", "--today", "2026-12-01"]
    assert main([*add, "--layer", "five-per-rack.yaml"]) == 0
    assert obeyed(everything(capsys)) == []
    rest = [] if form and words == ["check", "-v"] else words[1:]
    main([words[0], *rest, str(blueprint), *layer, *form, "--today", "2026-12-01"])
    shown = everything(capsys)
    assert "stop-commands" in shown or words == ["waivers", "check"]
    assert obeyed(shown) == []
    if form:
        document = json.loads(shown)
        if words == ["waivers", "list"]:
            assert document["waivers"][0]["reason"] == why


PACK = """
from typing import ClassVar
from rackwright.api import Finding, Policy, Severity, Subject
class Bad(Policy):
    id: ClassVar[str] = "ACME-001"
    title: ClassVar[str] = "bad {text}"
    severity: ClassVar[Severity] = Severity.HIGH
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "own"
    def check(self, plan):
        yield Finding(Subject({text!r}, ("name",)), False, {text!r}, {text!r})
"""


def a_pack(folder: Path, text: str) -> Path:
    """A team's pack whose one policy says ``text``."""
    own = folder / "pack" / "own"
    own.mkdir(parents=True)
    (own / "acme001_bad.md").write_text(f"# ACME-001\n\n{text}\n")
    (own / "acme001_bad.examples.yaml").write_text("[]")
    (own / "acme001_bad.py").write_text(
        PACK.replace("{text!r}", repr(text)).replace("{text}", LEGACY)
    )
    return folder / "pack"


@pytest.mark.parametrize(
    "form",
    [
        [],
        ["--color=always"],
        ["--json"],
        *(["--format", form] for form in ("sarif", "junit", "gitlab", "md")),
    ],
)
def test_the_message_of_a_team_s_pack(
    form: list[str], blueprint: Path, tmp_path: Path, capsys: Shown
) -> None:
    pack = a_pack(tmp_path, EVIL)
    main(["check", str(blueprint), "--pack", str(pack), *form])
    shown = everything(capsys)
    assert "ACME-001" in shown
    assert "stop-commands" in shown
    for code in ("\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[0m"):
        shown = shown.replace(code, "") if "--color=always" in form else shown
    assert obeyed(shown) == []


def test_a_suggested_patch(blueprint: Path, capsys: Shown) -> None:
    """What is shown of it is harmless; in a file it is to the letter, or it would not apply."""
    text = blueprint.read_text()
    assert "per_rack: 4}" in text
    evil = f"per_rack: 5}}  # {LEGACY} \u202e"
    blueprint.write_text(text.replace("per_rack: 4}", evil))
    words = ["check", str(blueprint), "--only", "RACK-002"]
    main([*words, "--format", "patch", "--output", "patch=suggested.patch"])
    shown = everything(capsys)
    assert "stop-commands" in shown
    assert obeyed(shown) == []
    assert LEGACY in Path("suggested.patch").read_text()


def test_annotations_of_a_team_s_pack_are_ours_alone(
    blueprint: Path, tmp_path: Path, capsys: Shown
) -> None:
    pack = a_pack(tmp_path, EVIL)
    main(["check", str(blueprint), "--pack", str(pack), "--output", "github=-"])
    shown = everything(capsys)
    commands = obeyed_by_github(shown)
    assert commands
    assert set(commands) <= {"error", "warning", "notice"}
    assert len(commands) == shown.count("\n::")
    assert "ACME-001" in shown
    assert "##[" not in shown


def test_the_words_of_a_team_s_pack(tmp_path: Path, capsys: Shown) -> None:
    pack = a_pack(tmp_path, EVIL + FOLDED)
    main(["explain", "ACME-001", "--pack", str(pack)])
    shown = everything(capsys)
    assert "section_start" in shown
    assert obeyed(shown) == []
    main(["policy", "list", "--pack", str(pack)])
    assert obeyed(everything(capsys)) == []


def test_a_command_on_a_host_of_the_lab(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Shown
) -> None:
    say = tmp_path / "say.py"
    say.write_text(f"import sys\nprint({EVIL!r})\nsys.stderr.write({FOLDED!r})\nsys.exit(3)\n")
    host = SimpleNamespace(name="head-1")
    lab = SimpleNamespace(hosts=lambda: [host], ssh=lambda _host: [sys.executable])
    monkeypatch.setattr("rackwright_lab.lab.open_lab", lambda *_words: lab)
    assert main(["lab", "ssh", "head-1", str(say)]) == 3
    shown = capsys.readouterr()
    assert "stop-commands" in shown.out
    assert "section_start" in shown.err
    assert obeyed(shown.out + shown.err) == []


def test_a_failure_of_ansible(as_verb: RunAsVerb, capsys: Shown) -> None:
    from rackwright.ansible_runs.display import screen_for
    from rackwright.ansible_runs.events import Tally
    from rackwright.ansible_runs.observer import Lines, Watch
    from rackwright.ansible_runs.state import Live

    data = {
        "host": "gpu1",
        "role": "base",
        "task": "x",
        "res": {"msg": f"{LEGACY}\n{EVIL}{FOLDED}"},
    }
    event = {"event": "runner_on_failed", "event_data": data}

    def body() -> None:
        tally = Tally()
        Lines(lambda line: print(f"  {line}", file=sys.stderr)).take(event, tally.take(event))
        with Watch(
            Live(frozenset({"gpu1"}), lambda _: frozenset()), screen_for(sys.stderr, {})
        ) as it:
            it.take(event, None)
        print(f"gpu1 failed: {tally.hosts['gpu1'].failure}")

    assert as_verb(body) == 0
    shown = everything(capsys)
    assert shown.count("stop-commands") >= 3
    assert obeyed(shown) == []


def test_a_diagnostic_of_pulumi(as_verb: RunAsVerb, capsys: Shown) -> None:
    from rackwright.provision.progress import StackProgress

    event = SimpleNamespace(
        resource_pre_event=None,
        res_outputs_event=None,
        res_op_failed_event=None,
        diagnostic_event=SimpleNamespace(
            severity="error", message=f"no such bucket\n{EVIL}{FOLDED}"
        ),
    )

    def body() -> None:
        progress = StackProgress("aws-storage")
        progress(event)  # type: ignore[arg-type]
        raise ExternalToolError(f"'up' failed: {progress.errors[0]}", hint=EVIL)

    assert as_verb(body) == 4
    shown = everything(capsys)
    assert shown.count("stop-commands") >= 4
    assert obeyed(shown) == []


def test_an_error_nobody_expected(as_verb: RunAsVerb, capsys: Shown) -> None:
    def body() -> None:
        raise RuntimeError(EVIL)

    assert as_verb(body) == 1
    assert obeyed(everything(capsys)) == []


def test_parts_of_a_line(as_verb: RunAsVerb, capsys: Shown) -> None:
    def body() -> None:
        for part in ("#", "#", "[stop-", "commands]x\n", " ", ":", ":error", "::x", "\n"):
            sys.stdout.write(part)
            sys.stderr.writelines([part])
        print("##", "[error]", sep="")

    assert as_verb(body) == 0
    assert obeyed(everything(capsys)) == []


def test_both_streams_in_one_file(tmp_path: Path) -> None:
    """A line that is cut, because a buffer was full, is not gone on with by the other stream's."""
    log = tmp_path / "log"
    code = (
        "import sys\nfrom rackwright.streams import guard\nguard()\n"
        "sys.stdout.write('x' * 8188 + '::error::y')\n"
        "sys.stderr.write('a line\\n')\n"
        "sys.stdout.write('::error::z\\n')\n"
    )
    with log.open("w") as file:
        environment = {**os.environ, "PYTHONUNBUFFERED": ""}
        command = [sys.executable, "-c", code]
        subprocess.run(command, stdout=file, stderr=file, check=True, env=environment)
    assert log.read_text().count("error::") == 2
    assert obeyed(log.read_text()) == []


def test_a_traceback(tmp_path: Path) -> None:
    name = str(tmp_path / f"{LEGACY}\n::error::x.yaml")
    command = [sys.executable, "-m", "rackwright", "check", name, "--debug"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert obeyed(done.stderr) == []


def test_harmless_text_is_unchanged(as_verb: RunAsVerb, capsys: Shown) -> None:
    text = "a :: b\turn:x::y ## [x] #[y] — × 🙂 👨\u200d👩 ⚠\ufe0f a\u00a0b\n1: 2\n: x\r\n"

    def body() -> None:
        sys.stdout.write(text)

    assert as_verb(body) == 0
    assert capsys.readouterr().out == text


def test_streams_are_the_caller_s_again_after_a_verb(blueprint: Path) -> None:
    before = sys.stdout, sys.stderr
    assert main(["check", str(blueprint)]) == 0
    assert (sys.stdout, sys.stderr) == before
