"""The wheel, built from the sdist and installed in a clean environment elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("policies", "stacks", "templates", "inventory")
pytestmark = pytest.mark.e2e


def run(*command: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `python -m build` makes from the sdist it made."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


@dataclass
class Environments:
    """Environments that hold nothing but the wheel and the extras that were asked for."""

    folder: Path
    wheel: Path

    def with_extra(self, extra: str) -> Path:
        """The bin folder of the environment with ``extra``, which is made for it or goes on from a smaller one."""
        folder = self.folder / GOES_ON_FROM.get(extra, extra or "none")
        if not folder.exists():
            venv.create(folder)
        # Compiled is what is imported: all that the SDKs of clouds bring would take a minute.
        quick = ("--quiet", "--no-compile")
        pip = (sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", *quick)
        run(*pip, f"{self.wheel}[{extra}]" if extra else self.wheel, cwd=self.folder)
        return folder / "bin"


GOES_ON_FROM = {"configure": "none", "all": "local"}
"""Environments that an extra is added to: neither brings what the other one's first command lacks.

``local`` comes first, which has to bring ``aws`` by itself, and ``all`` then brings what is left.
"""


@pytest.fixture(scope="module")
def environments(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environments:
    return Environments(tmp_path_factory.mktemp("elsewhere"), wheel)


@pytest.fixture(scope="module")
def installed(environments: Environments) -> Path:
    """An environment with every extra."""
    return environments.with_extra("all")


def stop_embedded_aws(bin_: Path, state: Path) -> None:
    stop = "from rackwright_lab.embedded_aws import control; import pathlib, sys; "
    stop += "control.stop(pathlib.Path(sys.argv[1]))"
    run(bin_ / "python", "-c", stop, state / "local/embedded-aws", cwd=state.parent)


def tracked(folder: str) -> set[str]:
    listed = run("git", "ls-files", "--", folder, cwd=ROOT)
    return set(listed.split())


def test_the_wheel_holds_every_content_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in FOLDERS:
        missing = {f for f in tracked(folder) if f"rackwright/_bundled/{f}" not in names}
        assert not missing, folder
    prefix = "ansible_collections/rackwright/cluster/"
    assert not {f for f in tracked("roles") if prefix + f not in names}
    sources = "src/ansible_collections/rackwright/cluster/"
    link = f"{sources}roles"  # in a wheel, the roles themselves
    assert {prefix + f.removeprefix(sources) for f in tracked(sources) - {link}} <= names
    assert "rackwright/py.typed" in names


FIRST = {
    "": ("check hybrid/blueprint.yaml", 0, " 0 failed, "),
    "aws": ("status hybrid/blueprint.yaml --target aws", 3, "nothing is provisioned"),
    "configure": (
        "configure lab/blueprint.yaml --check --limit login-1",
        4,
        "login-1 failed: Gathering",
    ),
    "local": ("preview hybrid/blueprint.yaml --target local", 0, "to create"),
}
"""The first command that an extra is installed for, how it ends and what it says.

Stacks are asked for in a folder, and no host has the name of the template's.
"""

BRINGS = {"local": {"aws"}}
"""Extras that others bring along."""


@pytest.mark.parametrize("extra", FIRST)
def test_each_extra_brings_what_its_first_command_needs(
    extra: str, environments: Environments, tmp_path: Path
) -> None:
    bin_ = environments.with_extra(extra)
    for folder, template in (("hybrid", "hybrid-h100"), ("lab", "lab")):
        run(bin_ / "rackwright", "init", folder, "--template", template, "--example", cwd=tmp_path)
    (tmp_path / "stacks").mkdir()
    env = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "RACKWRIGHT_STATE": str(tmp_path / "state"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/stacks",
        "PULUMI_CONFIG_PASSPHRASE": "a passphrase",
    }

    def ends(needs: str) -> tuple[int, str]:
        words, *_ = FIRST[needs]
        done = subprocess.run(
            [bin_ / "rackwright", *words.split()],
            cwd=tmp_path,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    _, code, said = FIRST[extra]
    try:
        ended, shown = ends(extra)
        assert (ended, said in shown, "not installed" in shown) == (code, True, False), shown
        for other in {"aws", "configure"} - {extra} - BRINGS.get(extra, set()):
            ended, shown = ends(other)
            assert ended == 4, shown
            assert f"pip install 'rackwright[{other}] @ file://" in shown
    finally:
        if extra == "local":
            stop_embedded_aws(bin_, tmp_path / "state")


def test_ansible_finds_roles_and_plugin_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Without any setting, by their names in the collection."""
    (tmp_path / "ansible.cfg").touch()
    env = {"PATH": f"{installed}:{os.environ['PATH']}", "ANSIBLE_CONFIG": "ansible.cfg"}
    roles = [f"rackwright.cluster.{path.name}" for path in (ROOT / "roles").glob("*/")]
    assert "rackwright.cluster.base" in roles
    play = {"name": "Every role", "hosts": "all", "roles": sorted(roles)}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    check = ("--syntax-check", "-i", "localhost,", "play.yml")
    run(installed / "ansible-playbook", *check, cwd=tmp_path, env=env)
    blueprint = ROOT / "policies/fixtures/slurm.yaml"
    options = {"plugin": "rackwright.cluster.blueprint", "blueprint": str(blueprint)}
    (tmp_path / "atlas.rackwright.yml").write_text(yaml.safe_dump(options))
    listing = (installed / "ansible-inventory", "-i", "atlas.rackwright.yml", "--list")
    listed = json.loads(run(*listing, cwd=tmp_path, env=env))
    assert listed["_meta"]["hostvars"]["dgx-01"]["rackwright_rack"] == "c01"


def test_configure_and_its_roles_are_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    said = run(installed / "rackwright", "configure", "--help", cwd=tmp_path)
    assert "--max-failures" in said
    code = "from rackwright.resources import bundled; print(bundled('roles'))"
    roles = Path(run(installed / "python", "-c", code, cwd=tmp_path).strip())
    assert roles.parts[-4:] == ("ansible_collections", "rackwright", "cluster", "roles")
    assert (roles / "base/tasks/main.yml").is_file()
    assert installed.parent in roles.parents
