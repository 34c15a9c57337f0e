"""A release: wheel, sdist, what is in them (SBOM), and of what they were built (provenance).

python .ci/release/release.py build DIST [--source URL] [--builder URI]
python .ci/release/release.py verify DIST
python .ci/release/release.py sbom DIST

The statement of provenance is not signed: it says what was built of what, and that this still fits.
Who signs it says who built it; see .ci/release/README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rackwright import __version__

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("templates/ci/lock/build.txt", "templates/ci/lock/requirements.txt")
EXTRAS = ("aws", "configure")
BUILD_TYPE = "urn:rackwright:build:hatchling:v1"
LOCAL = "urn:rackwright:builder:unsigned-local"
"""Nobody's word but that of who ran the script."""
SBOM, PROVENANCE, NOTE = "sbom.cdx.json", "provenance.json", "RELEASE.md"


def build(dist: Path, source: str | None, builder: str) -> None:
    """Write everything into ``dist``, which must be empty; the checkout must be what git has."""
    if changed := _git("status", "--porcelain"):
        sys.exit(f"the checkout is not what its commit has:\n{changed}")
    dist.mkdir(parents=True, exist_ok=True)
    if any(dist.iterdir()):
        sys.exit(f"'{dist}' is not empty")
    # What depends on the time depends on the commit's instead.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct")}
    with tempfile.TemporaryDirectory() as folder:
        python = _backend(Path(folder))
        command = [str(python), "-I", "-m", "hatchling", "build", "-d", str(dist.resolve())]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr, env=environment)
    (wheel,) = dist.glob("*.whl")
    _write(dist / SBOM, sbom(wheel, environment))
    files = sorted(path for path in dist.iterdir() if path.is_file())
    _write(dist / PROVENANCE, statement(files, _git("rev-parse", "HEAD"), source, builder))
    (dist / NOTE).write_text(_note(wheel), encoding="utf-8")


def _backend(folder: Path) -> Path:
    """The interpreter of an environment with the locked build backend, each file by its digest."""
    blocks = dict(_blocks("requirements.txt")) | dict(_blocks("build.txt"))
    names = {"packaging", *dict(_blocks("build.txt"))}
    (folder / "build.txt").write_text("".join(blocks[name] for name in sorted(names)))
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    words = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", "build.txt"]
    pip = [str(python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *words], cwd=folder, check=True)
    return python


def _blocks(name: str) -> list[tuple[str, str]]:
    """The entries of a lock by name, each with its digests."""
    text = (ROOT / "templates/ci/lock" / name).read_text(encoding="utf-8")
    found = re.findall(r"^(([a-z0-9-]+)==.*\n(?: .*\n)*)", text, re.MULTILINE)
    return [(key, block) for block, key in found]


def sbom(wheel: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The package, as ``wheel`` where there is one, and what CI installs beside it: CycloneDX."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", LOCKS[1]]
    words = [
        "--pyproject",
        "pyproject.toml",
        "--output-reproducible",
        "--sv",
        "1.6",
        "--of",
        "JSON",
    ]
    done = subprocess.run(
        [*command, *words], cwd=ROOT, check=True, capture_output=True, text=True, env=environment
    )
    document: dict[str, Any] = json.loads(done.stdout)
    root = document["metadata"]["component"]
    root["version"] = __version__
    if wheel is not None:
        root["hashes"] = [{"alg": "SHA-256", "content": _digest(wheel)}]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    direct = {canonicalize_name(Requirement(line).name) for line in lines}
    for entry in document["dependencies"]:
        if entry["ref"] == root["bom-ref"]:
            named = [c["bom-ref"] for c in document["components"] if c["name"] in direct]
            entry["dependsOn"] = sorted(named)
    return document


def statement(files: list[Path], commit: str, source: str | None, builder: str) -> dict[str, Any]:
    """What ``files`` were built of: an in-toto statement with SLSA provenance, unsigned."""
    locks = [{"name": name, "digest": {"sha256": _digest(ROOT / name)}} for name in LOCKS]
    checkout: dict[str, Any] = {"name": "source", "digest": {"gitCommit": commit}}
    if source:
        checkout["uri"] = f"git+{source}@{commit}"
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": _digest(path)}} for path in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"commit": commit},
                "internalParameters": {
                    "python": platform.python_version(),
                    "sourceDateEpoch": _git("log", "-1", "--format=%ct", commit),
                },
                "resolvedDependencies": [checkout, *locks],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }


def verify(dist: Path) -> list[str]:
    """What does not fit the statement in ``dist``: its files, and the locks of its commit."""
    document = json.loads((dist / PROVENANCE).read_text(encoding="utf-8"))
    wrong = []
    subjects = {entry["name"]: entry["digest"]["sha256"] for entry in document["subject"]}
    present = {path.name for path in dist.iterdir()} - {PROVENANCE, NOTE}
    wrong += [f"'{name}' is not in the statement" for name in sorted(present - subjects.keys())]
    for name, digest in sorted(subjects.items()):
        if name not in present:
            wrong.append(f"'{name}' is missing")
        elif _digest(dist / name) != digest:
            wrong.append(f"'{name}' is not what was built")
    checkout, *locks = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit = checkout["digest"]["gitCommit"]
    for lock in locks:
        command = ["git", "cat-file", "blob", f"{commit}:{lock['name']}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            wrong.append(f"the commit {commit} has no '{lock['name']}', or is not here")
        elif hashlib.sha256(done.stdout).hexdigest() != lock["digest"]["sha256"]:
            wrong.append(f"'{lock['name']}' is not that of the commit {commit}")
    return wrong


def _note(wheel: Path) -> str:
    """The text that goes with a release."""
    text = (ROOT / ".ci/release/RELEASE.md.in").read_text(encoding="utf-8")
    values = {"WHEEL": wheel.name, "DIGEST": _digest(wheel), "COMMIT": _git("rev-parse", "HEAD")}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _write(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(*words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Build a release, or verify one.")
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("build", "verify", "sbom"):
        action = actions.add_parser(name)
        action.add_argument("dist", type=Path)
        if name == "build":
            action.add_argument("--source", help="https address of the repository")
            action.add_argument("--builder", default=LOCAL, help="URI of what builds, if it signs")
    arguments = parser.parse_args()
    if arguments.action == "sbom":
        arguments.dist.mkdir(parents=True, exist_ok=True)
        _write(arguments.dist / SBOM, sbom(None, os.environ))
        return
    if arguments.action == "build":
        build(arguments.dist, arguments.source, arguments.builder)
    wrong = verify(arguments.dist)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"{arguments.dist}: as its statement says; the statement itself is not signed")


if __name__ == "__main__":
    main()
