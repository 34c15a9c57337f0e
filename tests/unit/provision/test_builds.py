"""What is built outside the tree, from an empty home folder, with a compiler that records its calls.

Each program is built by the code that builds it for people, and what the compiler was told is
compared word by word: a real build takes minutes, so mostly a cache answers in its place.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from bench.peers import opa
from rackwright.errors import ExternalToolError
from rackwright.provision.tools import aws_provider, gobuild, provider_source
from rackwright.provision.tools import go as go_module
from rackwright.provision.tools import recipe as recipe_module
from rackwright.provision.tools.aws_provider import find_aws_provider, install_aws_provider
from rackwright.provision.tools.find import find_pulumi
from rackwright.provision.tools.install import install_pulumi

GO = f"""#!{sys.executable} -IS
import json, os, sys
words, root = sys.argv[1:], os.environ["RECORD"]
with open(root + "/calls", "a") as calls:
    settings = {{name: os.environ.get(name) for name in ("GOWORK", "GOFLAGS")}}
    here = {{"go": os.path.basename(sys.argv[0]), "cwd": os.getcwd(), "files": sorted(os.listdir())}}
    calls.write(json.dumps({{"words": words, "settings": settings, **here}}) + "\\n")
if words[0] == "version":
    print(f"go version go{{os.environ['GO_VERSION']}} linux/amd64")
elif words[0] == "mod":
    print(json.dumps({{"Dir": root + "/sdk"}}))
elif "GO_FAILS" in os.environ:
    sys.exit("x.go:1: no such thing")
else:
    output = words[words.index("-o") + 1]
    with open(output, "w") as file:
        file.write("#!/bin/sh\\necho v{gobuild.pinned_version()}\\n")
    os.chmod(output, 0o755)
"""
VERSION = gobuild.pinned_version()
PULUMI = "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
SDK = "github.com/pulumi/pulumi/sdk/v3"
PINS = ["go.mod", "go.sum", "tools.go"]
HOST = ["go.mod", "go.sum", "main.go", "run_plugin.go", "tools.go"]
PLUGIN = ["go.mod", "go.sum", "internal", "main.go", "tokens.go"]
FLAGS = ["-v", "-mod=readonly", "-buildvcs=false", "-ldflags"]


@dataclass(frozen=True)
class Machine:
    """A machine with an empty home folder, compilers that record, and nothing else."""

    root: Path

    def calls(self) -> list[tuple[str, str, list[str], list[str]]]:
        """Compiler, module, its files and words of each call but those for the version."""
        record = self.root / "calls"
        calls = []
        for line in record.read_text().splitlines() if record.exists() else []:
            call = json.loads(line)
            assert call["settings"] == {"GOWORK": "off", "GOFLAGS": ""}
            words = [re.sub(r"^/.*/\.staging-[^/]+/", "", word) for word in call["words"]]
            if words != ["version"]:
                calls.append((call["go"], Path(call["cwd"]).name, call["files"], words))
        return calls

    def builds(self) -> list[str]:
        return [words[-1] for _go, _module, _files, words in self.calls() if words[0] == "build"]


def quiet(_line: str) -> None:
    return None


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    path = tmp_path / "path" / "go"
    path.parent.mkdir()
    path.write_text(GO)
    path.chmod(0o755)
    sdk = tmp_path / "sdk/python"
    host = sdk / "cmd/pulumi-language-python/main.go"
    host.parent.mkdir(parents=True)
    host.write_text("package main\n" + "".join(old for old, _new in gobuild._HOST_PATCHES))
    (sdk / "cmd/pulumi-language-python-exec").write_text("exec\n")
    (sdk / "dist").mkdir()
    (sdk / "dist/pulumi-resource-pulumi-python").write_text("dynamic\n")
    (tmp_path / "home").mkdir()
    for name in ("RACKWRIGHT_TOOLS_DIR", "XDG_CACHE_HOME", "PULUMI_HOME", "GO_FAILS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("RECORD", str(tmp_path))
    monkeypatch.setenv("GO_VERSION", "1.99.0")
    monkeypatch.setattr(provider_source, "copy_cut", lambda _from, to: (to / "internal").mkdir())
    return Machine(tmp_path)


def test_opa_is_built_in_an_empty_home(machine: Machine) -> None:
    """``variables=None`` crashed here; what had been built long before stood in a cache."""
    built = opa.program(quiet)
    assert built.is_relative_to(machine.root / "home/.cache/rackwright/bench")
    assert os.access(built, os.X_OK)
    ((go, _module, files, words),) = machine.calls()
    assert (go, files) == ("go", ["go.mod", "go.sum", "opa.go"])
    output = words[words.index("-o") + 1]
    expected = ["build", *FLAGS, "-s -w", "-o", output, "github.com/open-policy-agent/opa"]
    assert words == expected


def test_pulumi_is_built_in_an_empty_home(machine: Machine) -> None:
    tool = install_pulumi(progress=quiet)
    assert tool.origin == "built"
    tools = machine.root / "home/.cache/rackwright/tools"
    assert tool.path.is_relative_to(tools)
    assert tool.language_python is not None
    assert tool.language_python.is_relative_to(tools)
    version = f"{PULUMI}=v{VERSION}"
    cli = ["-o", "pulumi-built/pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"]
    host = ["-o", "pulumi-language-python-built/pulumi-language-python", "."]
    assert machine.calls() == [
        ("go", "cli", PINS, ["build", *FLAGS, f"-s -w {version}", *cli]),
        ("go", "language-python", sorted({*HOST} - {"main.go"}), ["mod", "download", "-json", SDK]),
        ("go", "cli", PINS, ["mod", "download", "-json", SDK]),
        ("go", "language-python", HOST, ["build", *FLAGS, f"-s -w {PULUMI}=v3.70.0", *host]),
    ]


def test_the_aws_plugin_is_built_in_an_empty_home(machine: Machine) -> None:
    built = install_aws_provider(progress=quiet)
    assert built.is_relative_to(machine.root / "home/.cache/rackwright/tools")
    version = "v1.60.1-0.20260602190131-5f2286d6d836"
    source = ["mod", "download", "-json", f"github.com/hashicorp/terraform-provider-aws@{version}"]
    output = ["-o", "pulumi-resource-aws-built/pulumi-resource-aws", "."]
    flags = "-s -w -X main.version=7.51.1"
    assert machine.calls() == [
        ("go", "aws-provider-source", ["go.mod", "go.sum"], source),
        ("go", "aws-provider", PLUGIN, ["build", *FLAGS, flags, *output]),
    ]


@dataclass(frozen=True)
class Build:
    """One of the builds: how it is asked for, and where its module files are named."""

    install: Callable[[], object]
    packages: tuple[str, ...]
    owner: ModuleType
    pins: str
    module: str = ""

    def copy_pins(self, into: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A copy of the module's folder that is used from now on."""
        shutil.copytree(getattr(self.owner, self.pins), into)
        monkeypatch.setattr(self.owner, self.pins, into)
        return into / self.module


def pulumi() -> object:
    return install_pulumi(progress=quiet)


PULUMI_CLI = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
BUILDS = {
    "pulumi": Build(pulumi, (PULUMI_CLI, "."), gobuild, "_PINS", "cli"),
    "aws-provider": Build(
        lambda: install_aws_provider(progress=quiet), (".",), aws_provider, "_PINS", "aws-provider"
    ),
    "opa": Build(lambda: opa.program(quiet), ("github.com/open-policy-agent/opa",), opa, "PINS"),
}


@pytest.fixture(params=BUILDS)
def build(request: pytest.FixtureRequest) -> Build:
    return BUILDS[request.param]


def test_nothing_changed_builds_nothing(machine: Machine, build: Build) -> None:
    build.install()
    assert machine.builds() == [*build.packages]
    build.install()
    assert machine.builds() == [*build.packages]


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_a_changed_pin_builds_anew_and_the_other_stays(
    machine: Machine, build: Build, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.install()
    with monkeypatch.context() as changed:
        pins = build.copy_pins(tmp_path / "pins", changed)
        with (pins / name).open("a") as file:
            file.write("// changed\n")
        build.install()
        assert machine.builds() == [*build.packages] * 2
        build.install()
        assert machine.builds() == [*build.packages] * 2
    # Another checkout, with what it had: both are kept, so taking turns builds nothing.
    build.install()
    assert machine.builds() == [*build.packages] * 2


def change(module: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a copy of a module's source, with a line more, in its place."""
    source = Path(str(module.__file__))
    (folder / source.name).write_text(source.read_text() + "# changed\n")
    monkeypatch.setattr(module, "__file__", str(folder / source.name))


def test_changed_code_of_a_recipe_builds_anew(
    machine: Machine, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.install()
    change(build.owner, tmp_path, monkeypatch)
    build.install()
    assert machine.builds() == [*build.packages] * 2


@pytest.mark.parametrize("module", [go_module, recipe_module])
def test_changed_code_of_every_build_builds_anew(
    machine: Machine, module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {recipe().key for recipe in (gobuild.cli, gobuild.language_host)}
    change(module, tmp_path, monkeypatch)
    after = {recipe().key for recipe in (gobuild.cli, gobuild.language_host)}
    assert len(before | after) == 4


def test_replacement_of_a_host_part_is_only_in_its_key(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pulumi(progress=quiet)
    pins = BUILDS["pulumi"].copy_pins(tmp_path / "pins", monkeypatch).parent
    with (pins / "language-python/run_plugin.go").open("a") as file:
        file.write("// changed\n")
    install_pulumi(progress=quiet)
    assert machine.builds() == [PULUMI_CLI, ".", "."]


def test_another_compiler_builds_anew(
    machine: Machine, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.install()
    monkeypatch.setenv("GO_VERSION", "1.20.4")
    build.install()
    assert machine.builds() == [*build.packages] * 2
    build.install()
    assert machine.builds() == [*build.packages] * 2


def test_without_a_compiler_what_is_there_is_found(machine: Machine, build: Build) -> None:
    first = build.install()
    for path in (machine.root / "path").iterdir():
        path.unlink()
    assert str(build.install()) == str(first).replace("'built'", "'tools'")
    assert machine.builds() == [*build.packages]


def test_existing_build_is_kept_if_another_compiler_fails(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = install_pulumi(progress=quiet)
    monkeypatch.setenv("GO_VERSION", "1.20.0")
    monkeypatch.setenv("GO_FAILS", "1")
    said: list[str] = []
    assert install_pulumi(progress=said.append).path == first.path
    kept = "  the one that go1.99.0 linux/amd64 built is kept: 'go build' failed: x.go:1: no such thing"
    assert said.count(kept) == 2  # the CLI and its language host
    assert first.path.exists()


def test_tools_of_an_older_release_are_neither_used_nor_changed(machine: Machine) -> None:
    tools = machine.root / "home/.cache/rackwright/tools"
    (tools / "bin").mkdir(parents=True)
    files = {}
    for name in ("pulumi", "pulumi-language-python"):
        (tools / "bin" / name).write_text(f"#!/bin/sh\necho v{VERSION}\n")
        (tools / "bin" / name).chmod(0o755)
        size = (tools / "bin" / name).stat().st_size
        files[name] = {"sha256": "0" * 64, "size": size}
    manifest = {"pulumi": VERSION, "installed_by": "built", "files": files}
    written = json.dumps({"schema": "rackwright.tools/v1", **manifest})
    (tools / "manifest.json").write_text(written)
    assert find_pulumi() is None
    install_pulumi(progress=quiet)
    assert len(machine.builds()) == 2
    assert (tools / "manifest.json").read_text() == written
    assert sorted(path.name for path in (tools / "bin").iterdir()) == sorted(files)


def test_a_cli_of_another_key_is_not_found_by_path(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that Rackwright starts has the tools' folders on its PATH, and starts Rackwright."""
    tool = install_pulumi(progress=quiet)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tool.path.parent), os.environ["PATH"]]))
    with (BUILDS["pulumi"].copy_pins(tmp_path / "pins", monkeypatch) / "go.sum").open("a") as file:
        file.write("// changed\n")
    assert find_pulumi() is None


def test_a_shelf_goes_when_nobody_looked_for_it_in_90_days(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = install_aws_provider(progress=quiet)
    manifest = first.parent.parent / "manifest.json"
    now = manifest.stat().st_mtime
    days = 24 * 3600
    for age, stays in ((89, True), (91, False)):
        os.utime(manifest, (now - age * days, now - age * days))
        with monkeypatch.context() as changed:
            pins = BUILDS["aws-provider"].copy_pins(tmp_path / f"pins-{age}", changed)
            with (pins / "go.sum").open("a") as file:
                file.write(f"// changed {age}\n")
            other = install_aws_provider(progress=quiet)
            assert other.exists()
        assert manifest.exists() == stays
    assert len([*first.parents[2].glob("pulumi-resource-aws-*")]) == 2


def test_to_look_for_a_program_counts_as_use(machine: Machine) -> None:
    first = install_aws_provider(progress=quiet)
    manifest = first.parent.parent / "manifest.json"
    os.utime(manifest, (0, 0))
    assert find_aws_provider() == first
    assert manifest.stat().st_mtime > 0


@pytest.mark.parametrize("name", BUILDS)
def test_a_machine_without_a_compiler_is_told_what_to_install(machine: Machine, name: str) -> None:
    for path in (machine.root / "path").iterdir():
        path.unlink()
    with pytest.raises(ExternalToolError) as caught:
        BUILDS[name].install()
    assert "Go" in (caught.value.hint or "")
    assert machine.builds() == []
