"""The action, the component and the image that others name are made of what is tested."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from ci_gitlab import Pipeline
from cli_support import run_here
from published_ci import ACTION, COMPONENT, component_with, texts
from rackwright.render.ci import ci_files
from rackwright.team.ci_source import InstallSource
from suites import ROOT


@pytest.mark.parametrize("path", [ACTION, COMPONENT], ids=lambda path: path.name)
def test_file_is_as_it_is_made(path: Path) -> None:
    text = texts()[path]
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_action_has_the_steps_of_the_one_that_ci_init_writes() -> None:
    published = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    written = yaml.safe_load((ROOT / "templates/ci/github/action/action.yml").read_text("utf-8"))
    install, *steps = published["runs"]["steps"]
    assert steps == written["runs"]["steps"]
    assert published["outputs"] == written["outputs"]
    assert install["name"] == "Install"
    # No expression is text of the script: an input could be code.
    assert not [step["name"] for step in published["runs"]["steps"] if "${{" in step["run"]]
    differs = {
        name for name, entry in published["inputs"].items() if written["inputs"].get(name) != entry
    }
    assert differs == {"python", "base-ref"}
    assert published["inputs"]["base-ref"]["default"] == "${{ github.event.pull_request.base.sha }}"
    for lock in ("requirements", "build"):
        assert (ROOT / f"templates/ci/lock/{lock}.txt").is_file()


def test_component_checks_as_the_job_that_ci_init_writes() -> None:
    body = component_with(source="https://gitlab.example/g/rackwright.git@" + "0" * 40)
    job = Pipeline(body).job("rackwright-check")
    files = ci_files("gitlab", "blueprint.yaml", InstallSource("rackwright==0 --hash=x"))
    (text,) = (text for path, text in files.items() if path.name == "rackwright.gitlab-ci.yml")
    written = Pipeline(text).job("rackwright-check")
    for key in ("script", "artifacts", "rules", "stage"):
        assert job[key] == written[key]
    assert job["variables"]["BLUEPRINT"] == "blueprint.yaml"
    assert any("--require-hashes" in line for line in job["before_script"])


INSTRUCTION = re.compile(r"^(ARG|FROM|COPY|RUN|ENV|USER|WORKDIR|ENTRYPOINT|CMD) (.*)$", re.DOTALL)


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = []
    for part in re.split(r"\n(?=[A-Z]+ )", lines.replace("\\\n", " ").strip()):
        match = INSTRUCTION.match(part.strip())
        assert match, part
        found.append((match[1], " ".join(match[2].split())))
    return found


def test_image_installs_by_digest_what_is_there_and_runs_as_a_user() -> None:
    made = instructions()
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    for kind, words in made:
        if kind == "COPY" and not words.startswith("--from"):
            for source in words.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source.partition('/')[0]}" in ignored, source
    installs = [words for kind, words in made if kind == "RUN" and "pip install" in words]
    assert len(installs) == 3
    assert all("--require-hashes" in one for one in installs[:2])
    assert "--no-deps --no-build-isolation" in installs[2]
    last = max(n for n, (kind, _) in enumerate(made) if kind == "FROM")
    (user,) = (words for kind, words in made[last:] if kind == "USER")
    assert user == "65532"
    assert made[-2:] == [("ENTRYPOINT", '["rackwright"]'), ("CMD", '["--help"]')]
    # Everything that the wheel holds is copied.
    copied = {words.split()[0] for kind, words in made if kind == "COPY"}
    assert copied >= {"src", "policies", "stacks", "templates", "inventory", "roles"}


def test_schemas_of_a_team_are_listed_as_schemastore_lists_them(tmp_path: Path) -> None:
    run_here(tmp_path, "schema", "export", "--url", "https://x").refused("--url needs --output")
    run_here(tmp_path, "schema", "export", "--output", "s", "--url", "ftp://x").refused("https://")
    ended = run_here(tmp_path, "schema", "export", "--output", "s", "--url", "https://x.example/s/")
    assert ended.code == 0
    listed = json.loads((tmp_path / "s/catalog.json").read_text(encoding="utf-8"))
    assert set(listed) == {"$schema", "version", "schemas"}
    for entry in listed["schemas"]:
        assert set(entry) == {"name", "description", "fileMatch", "url"}
        address, _, file = entry["url"].rpartition("/")
        assert address == "https://x.example/s"
        assert (tmp_path / "s" / file).is_file()
