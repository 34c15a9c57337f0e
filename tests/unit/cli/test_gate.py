"""Every command that says yes or no to a blueprint says what ``check`` says."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from first_set import name_first_set
from rackwright.cli import main
from rackwright.errors import ExternalToolError
from rackwright.policy.authoring.scaffold import new_policy
from rackwright.render.blueprints import find_template, write_blueprint

ENDS = datetime.now(UTC).date() + timedelta(days=3)
WAIVER = (
    "waivers:\n  - {id: W-1, policy: ACME-001, match: {site: sjc1}, owner: ada, ticket: T-1,\n"
    f"     up_to: 999 m, reason: the site was chosen long ago, expires: {ENDS}}}\n"
)
COMMANDS = {
    "check": ("check",),
    "preview": ("preview", "--target", "local"),
    "up": ("up", "--target", "local", "--yes"),
    "configure": ("configure", "--check"),
    "provision": ("provision", "--layer", "metal.yaml"),
}
METAL = f"""\
sites:
  - name: sjc1
    provisioning:
      bmc: {{user: root, password_file: {Path(__file__)}}}
      engine: {{url: "http://127.0.0.1:1"}}
      images: [{{name: ubuntu, url: "http://127.0.0.1:1/a.raw", checksum: "sha256:{"0" * 64}"}}]
      groups: [{{group: dgx, image: ubuntu}}]
"""


@pytest.fixture
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A blueprint that violates a mandatory rule of the team's own pack."""
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    new_policy(tmp_path / "policies", "own/ACME-001", "Sites lie low")
    (rule,) = (tmp_path / "policies" / "own").glob("*.py")
    rule.write_text(rule.read_text().replace("= 900.0", "= 1.0"))
    (tmp_path / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    (tmp_path / "metal.yaml").write_text(METAL)
    monkeypatch.chdir(tmp_path)
    return name_first_set(tmp_path / "blueprint.yaml")


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was begun behind the gate, which is where these tests end."""
    begun: list[str] = []

    def begin(name: str) -> Callable[..., object]:
        def behind(*_: object, **__: object) -> object:
            begun.append(name)
            raise ExternalToolError("behind the gate")

        return behind

    monkeypatch.setattr("rackwright.provision.targets.open_target", begin("target"))
    monkeypatch.setattr("rackwright.ansible_runs.files.prepare", begin("hosts"))
    monkeypatch.setattr("rackwright.metal.journal.open_journal", begin("machines"))
    return begun


def run(command: str, blueprint: Path, *options: str) -> int:
    verb, *rest = COMMANDS[command]
    return main([verb, str(blueprint), *rest, *options])


def passed(command: str) -> int:
    """The exit code of a command that the gate lets pass."""
    return 0 if command == "check" else 4


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_configure_ignored_the_packs_of_the_team(
    command: str, blueprint: Path, reached: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command, blueprint) == 5
    shown = capsys.readouterr()
    assert "ACME-001 medium" in shown.out + shown.err
    assert reached == []


@pytest.mark.parametrize("command", COMMANDS)
def test_configure_ignored_waivers(command: str, blueprint: Path, reached: list[str]) -> None:
    (blueprint.parent / "policies/waivers.yaml").write_text(WAIVER)
    assert run(command, blueprint) == passed(command)
    assert len(reached) == (command != "check")
    other = blueprint.parent / "none.yaml"
    other.write_text("waivers: []\n")
    assert run(command, blueprint, "--waivers", str(other)) == 5
    assert len(reached) == (command != "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_configure_ignored_the_baseline(command: str, blueprint: Path, reached: list[str]) -> None:
    assert main(["baseline", "create", str(blueprint)]) == 0
    assert run(command, blueprint) == passed(command)
    assert len(reached) == (command != "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_change_permits_itself_what_it_violates(
    command: str, blueprint: Path, reached: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = blueprint.parent
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=base")
    (folder / "policies/waivers.yaml").write_text(WAIVER)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=waiver")
    assert run(command, blueprint, "--base-ref", "HEAD~1") == 5
    shown = capsys.readouterr()
    assert "1 proposed" in shown.out + shown.err
    assert reached == []
    assert run(command, blueprint, "--base-ref", "HEAD") == passed(command)
    assert run(command, blueprint, "--base-ref", "nowhere") == 2


@pytest.mark.parametrize("verb", ["status", "down"])
def test_commands_without_a_check_take_no_gate(
    verb: str, blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option without an effect is an error; a broken pin keeps nobody from looking."""
    options = ("--target", "local", "--base-ref", "main")
    assert main([verb, str(blueprint), *options]) == 2
    assert "there is no option '--base-ref'" in capsys.readouterr().err


def test_a_pack_that_cannot_be_used_takes_the_old_verdict_away(blueprint: Path) -> None:
    """The comment of a request said 'passes' until somebody looked at the log."""
    comment = blueprint.parent / "comment.md"
    other = f"packs: [{{path: policies, digest: 'sha256:{'0' * 64}'}}]\n"
    (blueprint.parent / "rackwright.yaml").write_text(other)
    assert main(["check", str(blueprint), "--output", f"md={comment}"]) == 2
    assert "cannot be checked" in comment.read_text()
    assert "is not what it is pinned to" in comment.read_text()


def test_versions_that_do_not_fit_are_never_installed(
    tmp_path: Path,
    reached: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rule about them is newer than the first policy set, where it only warns."""
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    path = name_first_set(tmp_path / "blueprint.yaml")
    text, spared = path.read_text(), "  OPS-002: *containers\n"
    assert text.count(spared) == 1
    path.write_text(text.replace(spared, ""))
    layer = tmp_path / "versions.yaml"
    command = ["configure", str(tmp_path / "blueprint.yaml"), "--check", "--layer", str(layer)]
    bill = "operations: {{software: [{{name: all, driver: 595.112.07, fabric_manager: {}}}]}}"
    layer.write_text(bill.format("570.133.20"))
    assert main(command) == 5
    assert reached == []
    said = capsys.readouterr().err
    assert "error: OPS-002 " in said
    assert "595.112.07" in said
    assert "570.133.20" in said
    assert said.endswith("nothing was configured\n")

    layer.write_text(bill.format("595.112.07"))
    assert main(command) == 4
    assert reached == ["hosts"]
