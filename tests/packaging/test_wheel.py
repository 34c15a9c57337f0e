"""The wheel, built from the sdist and installed in a clean environment elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment that holds nothing but the wheel."""
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(folder, with_pip=True)
    # Compiled is what is imported: all that the SDKs of clouds bring would take a minute.
    quick = ("--quiet", "--no-compile")
    run(
        folder / "bin/python",
        "-m",
        "pip",
        "install",
        *quick,
        f"{wheel}[configure,local]",
        cwd=folder,
    )
    return folder / "bin"


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


def test_the_wheel_runs_the_main_job_elsewhere(installed: Path, tmp_path: Path) -> None:
    env = {"PATH": f"{installed}:{os.environ['PATH']}", "RACKWRIGHT_STATE": str(tmp_path / "state")}
    rackwright = installed / "rackwright"
    run(rackwright, "init", tmp_path / "demo", "--template", "hybrid-h100", cwd=tmp_path, env=env)
    blueprint = tmp_path / "demo/blueprint.yaml"
    assert "0 failed" in run(rackwright, "check", blueprint, cwd=tmp_path, env=env)
    try:
        shown = run(rackwright, "preview", blueprint, "--target", "local", cwd=tmp_path, env=env)
        assert "to create" in shown
    finally:
        stop = "from rackwright.provision.embedded import control; import pathlib, sys; "
        stop += "control.stop(pathlib.Path(sys.argv[1]))"
        run(installed / "python", "-c", stop, tmp_path / "state/local/embedded-aws", cwd=tmp_path)


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
