from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import gobuild, process
from rackwright.provision.tools.automation import automation_command, make_workspace
from rackwright.provision.tools.environment import pulumi_environment
from rackwright.provision.tools.find import (
    PulumiTool,
    built_shelf,
    find_pulumi,
    host_shelf,
    is_supported,
    version_of,
)
from rackwright.provision.tools.folder import Shelf, tools_dir
from rackwright.provision.tools.install import install_pulumi

PINNED = gobuild.pinned_version()
GO = """#!/bin/sh
echo "$@" >> "$FAKE_GO/calls"
case "$1" in
  version) echo "go version go1.99.0 linux/amd64"; exit 0 ;;
  mod) echo "go: downloading something"; echo "{\\"Dir\\": \\"$FAKE_GO/sdk\\"}"; exit 0 ;;
esac
while [ "$1" != "-o" ]; do shift; done
if [ -n "$FAKE_GO_HANGS" ]; then echo $$ > "$FAKE_GO/hanging"; exec sleep 600; fi
if [ -n "$FAKE_GO_FAILS" ]; then echo "some/package"; echo "x.go:1: no such thing"; exit 1; fi
if [ "$3" = "." ]; then cat main.go > "$2"; else cat "$FAKE_GO/pulumi" > "$2"; fi
chmod +x "$2"
"""
INSTALL = """
import sys
from rackwright.provision.tools.install import install_pulumi
tool = install_pulumi(progress=lambda line: print(line, flush=True))
print("RESULT", tool.version, tool.origin)
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def fake_pulumi(path: Path, answer: str, code: int = 0) -> Path:
    return script(path, f"#!/bin/sh\necho '{answer}'\nexit {code}\n")


@dataclass(frozen=True)
class Machine:
    """A machine on which nothing is reachable and only what a test puts there is installed."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / "path"

    @property
    def cli(self) -> Shelf:
        return built_shelf()

    @property
    def host(self) -> Shelf:
        return host_shelf()

    def add_go(self) -> None:
        sdk = self.root / "go" / "sdk"
        source = "package main\n" + "".join(old for old, _new in gobuild._HOST_PATCHES)
        host = sdk / "python/cmd/pulumi-language-python/main.go"
        script(host, source)
        script(sdk / "python/cmd/pulumi-language-python-exec", "exec\n")
        script(sdk / "python/dist/pulumi-resource-pulumi-python", "dynamic\n")
        fake_pulumi(self.root / "go" / "pulumi", f"v{PINNED}")
        script(self.path / "go", GO)

    def go_builds(self) -> list[str]:
        calls = (self.root / "go" / "calls").read_text().splitlines()
        return [call.rsplit(" ", 1)[-1] for call in calls if call.startswith("build ")]

    def start_install(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", INSTALL],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    made.path.mkdir()
    for name in ("cat", "chmod", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (made.path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(made.path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.setenv("FAKE_GO", str(tmp_path / "go"))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens: refused at once
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return made


def quiet(_line: str) -> None:
    return None


class TestVersions:
    @pytest.mark.parametrize("version", ["3.250.0", "3.259.0", "3.300.1-alpha.1", "v3.999.0"])
    def test_supported(self, version: str) -> None:
        assert is_supported(version)

    @pytest.mark.parametrize(
        "version", ["3.249.9", "2.300.0", "4.0.0", "", "3.259", "new", "3.x.1"]
    )
    def test_unsupported(self, version: str) -> None:
        assert not is_supported(version)

    def test_answer_is_parsed(self, tmp_path: Path) -> None:
        assert version_of(fake_pulumi(tmp_path / "pulumi", "v3.260.1")) == "3.260.1"
        dev = fake_pulumi(tmp_path / "dev", "v3.260.1-dev.0+dirty")
        assert version_of(dev) == "3.260.1-dev.0+dirty"

    @pytest.mark.parametrize(("answer", "code"), [("", 0), ("hello", 0), ("v3.260.1", 1)])
    def test_no_answer(self, tmp_path: Path, answer: str, code: int) -> None:
        assert version_of(fake_pulumi(tmp_path / "pulumi", answer, code)) is None

    def test_not_executable(self, tmp_path: Path) -> None:
        (tmp_path / "pulumi").write_text("")
        assert version_of(tmp_path / "pulumi") is None
        assert version_of(tmp_path / "missing") is None

    def test_pin_is_supported(self) -> None:
        assert is_supported(PINNED)
        assert gobuild.required_go().startswith("1.")


class TestToolsDir:
    def test_explicit(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path))
        assert tools_dir() == tmp_path

    def test_cache_of_the_user(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("RACKWRIGHT_TOOLS_DIR", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        assert tools_dir() == tmp_path / "cache/rackwright/tools"
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert tools_dir() == tmp_path / ".cache/rackwright/tools"


class TestFind:
    def test_nothing(self, machine: Machine) -> None:
        assert find_pulumi() is None

    def test_on_path_with_its_language_host(self, machine: Machine) -> None:
        path = fake_pulumi(machine.path / "pulumi", "v3.261.0")
        assert find_pulumi() == PulumiTool(path, "3.261.0", "PATH", None)
        host = script(machine.path / "pulumi-language-python", "")
        assert find_pulumi() == PulumiTool(path, "3.261.0", "PATH", host)

    @pytest.mark.parametrize("answer", ["v3.249.0", "v4.0.0", ""])
    def test_unsupported_is_passed_over(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch, answer: str
    ) -> None:
        fake_pulumi(machine.path / "pulumi", answer)
        assert find_pulumi() is None
        later = fake_pulumi(machine.root / "later" / "pulumi", "v3.255.0")
        monkeypatch.setenv("PATH", f"{machine.path}{os.pathsep}{later.parent}")
        found = find_pulumi()
        assert found is not None
        assert found.path == later

    def test_home_of_pulumi_comes_after_path(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PULUMI_HOME", str(machine.root / "ph"))
        at_home = fake_pulumi(machine.root / "ph/bin/pulumi", "v3.262.0")
        assert find_pulumi() == PulumiTool(at_home, "3.262.0", "vendor", None)
        on_path = fake_pulumi(machine.path / "pulumi", "v3.261.0")
        assert find_pulumi() == PulumiTool(on_path, "3.261.0", "PATH", None)

    def test_default_home_of_pulumi(self, machine: Machine) -> None:
        at_home = fake_pulumi(machine.root / "home/.pulumi/bin/pulumi", "v3.262.0")
        assert find_pulumi() == PulumiTool(at_home, "3.262.0", "vendor", None)

    def test_does_not_import_pulumi(self, machine: Machine) -> None:
        program = (
            "import sys; from rackwright.provision.tools.find import find_pulumi; find_pulumi(); "
            "sys.exit('pulumi' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", '{"schema": "other"}', '{"schema": "rackwright.tools/v2"}']
    )
    def test_damaged_manifest_is_no_installation(self, machine: Machine, text: str) -> None:
        fake_pulumi(machine.cli.bin / "pulumi", f"v{PINNED}")
        (machine.cli.folder / "manifest.json").write_text(text)
        assert find_pulumi() is None


class TestInstall:
    def test_present_is_kept(self, machine: Machine) -> None:
        fake_pulumi(machine.path / "pulumi", "v3.261.0")
        script(machine.path / "pulumi-language-python", "")
        said: list[str] = []
        assert install_pulumi(progress=said.append) == find_pulumi()
        assert said == []
        assert not (machine.root / "tools").exists()

    def test_builds_where_no_archive_is_given(self, machine: Machine) -> None:
        machine.add_go()
        said: list[str] = []
        tool = install_pulumi(progress=said.append)
        cli, host = machine.cli.bin / "pulumi", machine.host.bin / "pulumi-language-python"
        assert tool == PulumiTool(cli, PINNED, "built", host)
        assert find_pulumi() == PulumiTool(cli, PINNED, "tools", host)
        assert said[0].startswith("building the Pulumi CLI")
        assert host.read_text().count("pluginCommand(req)") == 1
        assert "req.Program" not in host.read_text()
        assert {path.name for path in machine.cli.bin.iterdir()} == {"pulumi"}
        assert {path.name for path in machine.host.bin.iterdir()} == {
            "pulumi-language-python",
            "pulumi-language-python-exec",
            "pulumi-resource-pulumi-python",
        }
        assert not list((machine.root / "tools").glob(".staging*"))
        assert list((machine.root / "home").glob("*")) == []

        again: list[str] = []
        assert install_pulumi(progress=again.append).origin == "tools"
        assert again == []

    def test_manifest_records_checksums(self, machine: Machine) -> None:
        machine.add_go()
        install_pulumi(progress=quiet)
        document = json.loads((machine.cli.folder / "manifest.json").read_text())
        assert document["schema"] == "rackwright.tools/v2"
        assert document["key"] == machine.cli.key
        assert document["compiler"] == "go1.99.0 linux/amd64"
        assert document["version"] == PINNED
        assert len(document["files"]["pulumi"]["sha256"]) == 64
        assert machine.cli.damaged() == ()

    def test_damage_of_the_same_size_is_repaired(self, machine: Machine) -> None:
        machine.add_go()
        install_pulumi(progress=quiet)
        path = machine.cli.bin / "pulumi"
        content = path.read_text()
        path.write_text(content.replace("echo", "eCho"))
        assert machine.cli.damaged() == ("pulumi",)
        assert install_pulumi(progress=quiet).origin == "built"
        assert path.read_text() == content

    def test_host_alone_is_added_to_a_cli_on_path(self, machine: Machine) -> None:
        machine.add_go()
        path = fake_pulumi(machine.path / "pulumi", "v3.261.0")
        tool = install_pulumi(progress=quiet)
        host = machine.host.bin / "pulumi-language-python"
        assert tool == PulumiTool(path, "3.261.0", "PATH", host)
        assert machine.go_builds() == ["."]
        assert not machine.cli.folder.exists()

    def test_cli_on_path_suffices_without_go(self, machine: Machine) -> None:
        path = fake_pulumi(machine.path / "pulumi", "v3.261.0")
        said: list[str] = []
        assert install_pulumi(progress=said.append) == PulumiTool(path, "3.261.0", "PATH", None)
        assert any("'go' is not on PATH" in line for line in said)

    def test_without_go_it_says_what_was_tried(self, machine: Machine) -> None:
        with pytest.raises(ExternalToolError) as caught:
            install_pulumi(progress=quiet)
        assert "'go' is not on PATH" in caught.value.summary
        assert f"install Go {gobuild.required_go()} or newer" in (caught.value.hint or "")
        assert find_pulumi() is None

    def test_go_that_is_too_old_says_why(self, machine: Machine) -> None:
        machine.add_go()
        text = "#!/bin/sh\necho 'go: go.mod requires go >= 1.25.11 (running go 1.22.0)'; exit 1\n"
        script(machine.path / "go", text)
        with pytest.raises(ExternalToolError, match=r"go\.mod requires go >= 1\.25\.11"):
            install_pulumi(progress=quiet)

    def test_failed_build_shows_the_last_line(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine.add_go()
        monkeypatch.setenv("FAKE_GO_FAILS", "1")
        with pytest.raises(ExternalToolError, match=r"'go build' failed: x\.go:1: no such thing"):
            install_pulumi(progress=quiet)
        assert find_pulumi() is None
        assert not list((machine.root / "tools").glob(".staging*"))

    def test_build_of_another_version_is_refused(self, machine: Machine) -> None:
        machine.add_go()
        fake_pulumi(machine.root / "go" / "pulumi", "v3.1.0")
        with pytest.raises(ExternalToolError, match=r"answers version '3\.1\.0' instead of"):
            install_pulumi(progress=quiet)
        assert find_pulumi() is None

    def test_foreign_source_of_the_host_is_refused(self, machine: Machine) -> None:
        machine.add_go()
        script(machine.root / "go/sdk/python/cmd/pulumi-language-python/main.go", "package main\n")
        said: list[str] = []
        tool = install_pulumi(progress=said.append)
        assert tool.language_python is None
        assert any("is not the one that was pinned" in line for line in said)

    def test_folder_that_cannot_be_made(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (machine.root / "file").write_text("")
        monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(machine.root / "file" / "tools"))
        with pytest.raises(ExternalToolError, match="cannot be written"):
            install_pulumi(progress=quiet)

    def test_killed_build_leaves_nothing_that_looks_finished(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine.add_go()
        monkeypatch.setenv("FAKE_GO_HANGS", "1")
        with machine.start_install() as run:
            assert run.stdout is not None
            for line in run.stdout:
                if line.startswith("building the Pulumi CLI"):
                    break
            hanging = machine.root / "go" / "hanging"
            wait_until(lambda: hanging.exists() and hanging.read_text().endswith("\n"))
            os.kill(run.pid, signal.SIGKILL)
            os.kill(int(hanging.read_text()), signal.SIGKILL)
        assert list((machine.root / "tools").glob(".staging*"))
        assert find_pulumi() is None

        monkeypatch.delenv("FAKE_GO_HANGS")
        assert install_pulumi(progress=quiet).version == PINNED
        assert not list((machine.root / "tools").glob(".staging*"))

    def test_kill_before_the_manifest_is_no_installation(self, machine: Machine) -> None:
        machine.add_go()
        install_pulumi(progress=quiet)
        (machine.cli.folder / "manifest.json").unlink()
        assert find_pulumi() is None
        assert install_pulumi(progress=quiet).origin == "built"

    def test_two_at_once_build_once(self, machine: Machine) -> None:
        machine.add_go()
        (machine.root / "tools").mkdir()
        with (machine.root / "tools" / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            runs = [machine.start_install(), machine.start_install()]
            for run in runs:
                assert run.stdout is not None
                assert run.stdout.readline() == "waiting for another installation\n"
            fcntl.flock(lock, fcntl.LOCK_UN)
            outputs = [run.communicate()[0] for run in runs]
        assert [run.returncode for run in runs] == [0, 0]
        results = sorted(output.splitlines()[-1] for output in outputs)
        assert results == [f"RESULT {PINNED} built", f"RESULT {PINNED} tools"]
        assert machine.go_builds() == ["github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", "."]


class TestProcess:
    def test_time_limit_ends_the_whole_group(self, tmp_path: Path) -> None:
        command = ["/bin/sh", "-c", "echo started; sleep 600 & wait"]
        done = process.run(command, cwd=tmp_path, environment=os.environ, timeout_s=0.5)
        assert done.code is None
        assert done.tail == ("started",)

    def test_output_and_code(self, tmp_path: Path) -> None:
        command = ["/bin/sh", "-c", "echo one; echo two >&2; exit 3"]
        done = process.run(command, cwd=tmp_path, environment=os.environ)
        assert (done.code, done.reason) == (3, "two")
        silent = process.run(["/bin/sh", "-c", "exit 4"], cwd=tmp_path, environment=os.environ)
        assert silent.reason == "exit code 4"


class TestEnvironment:
    def test_path_begins_with_cli_host_and_interpreter(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        python = str(Path(sys.executable).parent)
        monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", python, "/a"]))
        tool = PulumiTool(Path("/a/pulumi"), "3.259.0", "PATH", Path("/b/pulumi-language-python"))
        environment = pulumi_environment(tool)
        assert environment["PATH"].split(os.pathsep) == ["/a", "/b", python, "/usr/bin"]
        assert environment["PULUMI_PYTHON_CMD"] == sys.executable
        assert environment["PULUMI_SKIP_UPDATE_CHECK"] == "true"

    def test_without_language_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        tool = PulumiTool(Path("/a/pulumi"), "3.259.0", "PATH", None)
        expected = ["/a", str(Path(sys.executable).parent)]
        assert pulumi_environment(tool)["PATH"].split(os.pathsep) == expected


class TestAutomation:
    def test_runs_exactly_the_tool(self, tmp_path: Path) -> None:
        path = script(tmp_path / "pulumi", '#!/bin/sh\necho "ran $@"\n')
        command = automation_command(PulumiTool(path, "3.259.0", "PATH", None))
        assert str(command.version) == "3.259.0"
        done = command.run(["whoami"], cwd=str(tmp_path), additional_env={})
        assert done.stdout == "ran --non-interactive whoami"

    def test_failure_is_the_api_s_own_error(self, tmp_path: Path) -> None:
        from pulumi.automation import CommandError

        path = fake_pulumi(tmp_path / "pulumi", "no", 1)
        command = automation_command(PulumiTool(path, "3.259.0", "PATH", None))
        with pytest.raises(CommandError):
            command.run(["whoami"], cwd=str(tmp_path), additional_env={})

    @pytest.mark.parametrize(
        ("held", "file", "seen"),
        [
            ("", None, "unset"),
            ("a team's", None, "a team's"),
            ("a team's", "/its/own", "unset"),
            ("", "/its/own", "unset"),
        ],
    )
    def test_a_passphrase_that_is_empty_or_not_its_own_is_not_handed_on(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        held: str,
        file: str | None,
        seen: str,
    ) -> None:
        monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", held)
        path = script(tmp_path / "pulumi", '#!/bin/sh\necho "${PULUMI_CONFIG_PASSPHRASE-unset}"\n')
        command = automation_command(PulumiTool(path, "3.259.0", "PATH", None))
        given = {} if file is None else {"PULUMI_CONFIG_PASSPHRASE_FILE": file}
        done = command.run(["whoami"], cwd=str(tmp_path), additional_env=given)
        assert done.stdout == seen

    def test_values_of_secret_outputs_are_not_asked_for(self, tmp_path: Path) -> None:
        told = '{"vpc_id": "vpc-1", "key": "[secret]"}'
        path = script(tmp_path / "pulumi", f"#!/bin/sh\necho \"$@\" >> calls\necho '{told}'\n")
        workspace = make_workspace(
            PulumiTool(path, "3.259.0", "PATH", None), work_dir=str(tmp_path)
        )
        outputs = workspace.stack_outputs("life-cloud")
        assert {name: (one.value, one.secret) for name, one in outputs.items()} == {
            "vpc_id": ("vpc-1", False),
            "key": ("[secret]", True),
        }
        calls = (tmp_path / "calls").read_text("utf-8").splitlines()
        assert calls == ["--non-interactive stack output --json --stack life-cloud"]


def wait_until(reached: Callable[[], bool]) -> None:
    import time

    for _attempt in range(600):
        if reached():
            return
        time.sleep(0.05)
    raise AssertionError("not reached within 30 s")


PROGRAM = """
import pulumi

class Root(pulumi.ComponentResource):
    def __init__(self):
        super().__init__("demo:index:Root", "root", {"spec": {"racks": 8}})
        self.register_outputs({})

Root()
pulumi.export("answer", 42)
"""
PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def no_root(args, report):
    if args.resource_type == "demo:index:Root":
        report(f"{args.props['spec']['racks']} racks are too many")

rule = ResourceValidationPolicy("racks", "few racks", no_root, EnforcementLevel.MANDATORY)
PolicyPack("demo", [rule])
"""


@pytest.mark.e2e
class TestRealTools:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
        tool = find_pulumi()
        assert tool is not None, "run 'rackwright tools install' first"
        assert tool.language_python is not None
        folder = tmp_path / "project"
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text("name: trivial\nruntime: python\n")
        (folder / "__main__.py").write_text(PROGRAM)
        (tmp_path / "state").mkdir()
        environment = {
            **os.environ,
            **pulumi_environment(tool),
            "PULUMI_HOME": str(tmp_path / "home"),
            "PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
        }

        def pulumi(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                ["pulumi", "--non-interactive", *arguments],
                executable=tool.path,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        assert pulumi("stack", "init", "dev").returncode == 0
        return pulumi

    def test_answers_its_version(
        self, project: Callable[..., subprocess.CompletedProcess[str]]
    ) -> None:
        tool = find_pulumi()
        assert tool is not None
        assert project("version").stdout.strip() == f"v{tool.version}"

    def test_plain_preview_of_a_python_project(
        self, project: Callable[..., subprocess.CompletedProcess[str]]
    ) -> None:
        done = project("preview")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "demo:index:Root" in done.stdout
        assert "2 to create" in done.stdout

    def test_python_policy_pack_in_a_folder(
        self, project: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
    ) -> None:
        pack = tmp_path / "pack"
        pack.mkdir()
        (pack / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.0.1\n")
        (pack / "__main__.py").write_text(PACK)
        done = project("preview", "--policy-pack", str(pack))
        assert done.returncode != 0
        assert "8.0 racks are too many" in done.stdout, done.stdout + done.stderr
