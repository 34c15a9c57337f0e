"""A release of this commit: what its statement and its list of components say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.e2e


def release(checkout: Path, *words: object) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, checkout / ".ci/release/release.py", *words]
    return subprocess.run(
        [str(word) for word in script],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this repository."""
    folder = tmp_path_factory.mktemp("checkout") / "rackwright"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that was built of it."""
    dist = tmp_path_factory.mktemp("release")
    done = release(checkout, "build", dist, "--source", "https://git.example/rackwright")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the statement itself is not signed" in done.stdout
    return dist


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_the_statement_names_what_was_built_of_what(checkout: Path, built: Path) -> None:
    document = read(built / "provenance.json")
    names = [subject["name"] for subject in document["subject"]]
    assert [re.sub(r"-\d.*?(?=-py3|\.tar)", "", name) for name in names] == [
        "rackwright-py3-none-any.whl",
        "rackwright.tar.gz",
        "sbom.cdx.json",
    ]
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=checkout, text=True).strip()
    predicate = document["predicate"]
    source, *locks = predicate["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": head}
    assert source["uri"] == f"git+https://git.example/rackwright@{head}"
    assert [Path(lock["name"]).name for lock in locks] == ["build.txt", "requirements.txt"]
    assert predicate["runDetails"]["builder"]["id"].endswith(":unsigned-local")
    assert str(ROOT) not in (built / "provenance.json").read_text()


def test_the_list_of_components_is_what_ci_installs(built: Path) -> None:
    document = read(built / "sbom.cdx.json")
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    lock = (ROOT / "templates/ci/lock/requirements.txt").read_text()
    locked = sorted(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    components = document["components"]
    assert sorted((entry["name"], entry["version"]) for entry in components) == locked
    digests = {
        digest["content"]
        for entry in components
        for reference in entry["externalReferences"]
        for digest in reference["hashes"]
    }
    assert digests == set(re.findall(r"--hash=sha256:([0-9a-f]{64})", lock))
    root = document["metadata"]["component"]
    (wheel,) = (s for s in read(built / "provenance.json")["subject"] if s["name"].endswith("whl"))
    assert root["hashes"] == [{"alg": "SHA-256", "content": wheel["digest"]["sha256"]}]
    (direct,) = (e["dependsOn"] for e in document["dependencies"] if e["ref"] == root["bom-ref"])
    names = {entry["name"] for entry in components if entry["bom-ref"] in direct}
    assert {"pydantic", "pulumi", "ansible-core"} <= names
    assert "six" not in names


def test_later_change_of_a_release_is_found(built: Path, checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    assert release(checkout, "verify", copy).returncode == 0
    (wheel,) = copy.glob("*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"more")
    (copy / "sbom.cdx.json").unlink()
    (copy / "another.whl").touch()
    document = read(copy / "provenance.json")
    locks = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    locks[1]["digest"]["sha256"] = "0" * 64
    (copy / "provenance.json").write_text(json.dumps(document))
    done = release(checkout, "verify", copy)
    assert done.returncode == 1
    assert re.findall(r"^'(\S+)' (.*?)(?: [0-9a-f]{40})?$", done.stderr, re.MULTILINE) == [
        ("another.whl", "is not in the statement"),
        (wheel.name, "is not what was built"),
        ("sbom.cdx.json", "is missing"),
        ("templates/ci/lock/build.txt", "is not that of the commit"),
    ]


def test_the_note_says_how_to_install_it(built: Path) -> None:
    """By the source that ``ci init`` takes."""
    note = (built / "RELEASE.md").read_text()
    assert "@" not in note
    assert "It is **not signed**" in note
    (given,) = re.findall(r"--install-from (\S+)", note)
    parse = "import sys; from rackwright.team.ci_source import parse_source as p; p(sys.argv[1])"
    subprocess.run([sys.executable, "-c", parse, given], check=True)


def test_a_changed_checkout_is_not_released(checkout: Path, built: Path, tmp_path: Path) -> None:
    (checkout / "notes.txt").write_text("not committed")
    try:
        done = release(checkout, "build", tmp_path / "dist")
    finally:
        (checkout / "notes.txt").unlink()
    assert done.returncode == 1
    assert "the checkout is not what its commit has" in done.stderr
    assert not (tmp_path / "dist").exists()
