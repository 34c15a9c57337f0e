"""The composite action and the GitLab job, step by step, in a real repository, on a fake forge."""

from __future__ import annotations

import base64
import gzip
import json
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from ci_gitlab import Pipeline, run_script
from ci_runner import Job
from ci_team import (
    BLUEPRINT,
    SOME_SOURCE,
    bare_machine,
    commit,
    git,
    github_environment,
    need_nothing_else,
    of_index,
    write_ci_files,
)
from cli_support import run_here
from documented_commands import follow, in_a_shell, reader_environment
from forge_fake import Failure, FakeForge, a_forge
from planted import plant
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.ci import write_ci

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]
NOON = "2026-11-21T12:00:00Z"
LATER = "2026-11-21T13:00:00Z"


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    with a_forge() as made:
        yield made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A team's repository on the branch of a pull request; its base is the branch ``main``."""
    folder = tmp_path / "team"
    write_blueprint(find_template("hybrid-h100"), folder / "site", {})
    write_ci_files(folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=base")
    git(folder, "switch", "--quiet", "--create=change")
    git(folder, "remote", "add", "origin", str(folder))
    return folder


def one_more_per_rack(text: str) -> str:
    """One node more in each rack, which is full."""
    racks = 'racks: "c[01-08]", per_rack: '
    assert text.count(f"{racks}4") == 1
    return text.replace(f"{racks}4", f"{racks}5")


def with_policies(text: str, settings: Mapping[str, Any]) -> str:
    """With more settings of policies, which are the last part of the template."""
    assert text.rpartition("\n\n")[2].startswith("policies:\n")
    return f"{text.rstrip()}\n{indent(yaml.safe_dump(settings), '  ')}"


def reordered(text: str) -> str:
    """The same, with every mapping and the list of sites turned around.

    Other lists are left: racks are wired in the order that their sources and groups are listed.
    """

    def turned(item: Any, key: str = "") -> Any:
        if isinstance(item, dict):
            return {name: turned(item[name], name) for name in reversed(item)}
        if isinstance(item, list):
            return [turned(value) for value in (reversed(item) if key == "sites" else item)]
        return item

    return yaml.safe_dump(turned(yaml.safe_load(text)), sort_keys=False)


def broken_rules(repository: Path) -> list[str]:
    """What the blueprint of the change breaks, as it is judged by itself."""
    found = run_here(repository, "check", BLUEPRINT, "--json")
    assert found.code == 5, found.err
    return sorted({r["policy"] for r in json.loads(found.out)["results"] if r["blocks"]})


def a_job(repository: Path, forge: FakeForge, *, fork: bool = False) -> Job:
    """The job of a pull request."""
    temporary = repository.parent / f"runner-{len(list(repository.parent.iterdir()))}"
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = github_environment(
        repository.parent, path, forge, git(repository, "rev-parse", "HEAD")
    )
    context = {
        "github.event_name": "pull_request",
        "github.event.pull_request.head.repo.full_name": "mallory/r" if fork else "o/r",
        "github.event.pull_request.updated_at": NOON,
        "github.repository": "o/r",
        "github.token": forge.token,
    }
    return Job(repository, temporary, environment, context)


def check(job: Job, **inputs: str) -> tuple[int, dict[str, str]]:
    given = {"blueprint": BLUEPRINT, "base_ref": "main", "sarif": "upload"} | inputs
    return job.action(job.repository / ".github/actions/rackwright/action.yml", **given)


def gitlab(
    repository: Path, forge: FakeForge, **more: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """What became of the job of a merge request, and the job."""
    pipeline = Pipeline((repository / "rackwright.gitlab-ci.yml").read_text())
    job = pipeline.job("rackwright-check")
    given = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "BLUEPRINT": BLUEPRINT,
        "CI_API_V4_URL": f"{forge.address}/api/v4",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "o/r",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_PROJECT_ID": "o/r",
        "GITLAB_TOKEN": forge.token,
        "RACKWRIGHT_VALID_AT": NOON,
    } | more
    return run_script(job["script"], repository, given), job


def uploaded(forge: FakeForge) -> dict[str, Any]:
    """The last results that were handed in."""
    text = gzip.decompress(base64.b64decode(forge.uploads[-1]["sarif"]))
    found: dict[str, Any] = json.loads(text)["runs"][0]
    return found


def test_a_clean_change_passes(repository: Path, forge: FakeForge) -> None:
    commit(repository, lambda text: f"{text}# a word\n")
    job = a_job(repository, forge)
    code, outputs = check(job)
    assert (code, outputs["exit-code"], outputs["result"]) == (0, "0", "passed"), job.log
    assert job.ran == ["Compare", "Check", "Comment", "Upload", "Verdict"]
    (comment,) = forge.bodies
    assert comment.startswith("<!-- rackwright:pr:site-blueprint.yaml valid-at=2026-11-21T12:00:00")
    assert "### rackwright: atlas passes" in comment
    assert "([the run](https://forge.example/o/r/actions/runs/99))" in comment
    assert "atlas passes" in job.summary
    assert "::error" not in job.log
    assert forge.token not in job.log
    assert not [r for r in uploaded(forge)["results"] if r["level"] == "error"]
    assert json.loads(Path(outputs["json-file"]).read_text())["exit_code"] == 0


def test_one_node_more_in_a_full_rack_is_refused(repository: Path, forge: FakeForge) -> None:
    commit(repository, one_more_per_rack)
    job = a_job(repository, forge)
    code, outputs = check(job)
    assert (code, outputs["exit-code"], outputs["result"]) == (5, "5", "refused"), job.log
    (comment,) = forge.bodies
    assert " blocking finding" in comment.splitlines()[1]
    assert "| Before | After | Limit |" in comment
    assert "51 kW" in comment
    assert f"`{BLUEPRINT}:" in comment
    assert f"::error file={BLUEPRINT},line=" in job.log
    errors = [r for r in uploaded(forge)["results"] if r["level"] == "error"]
    assert errors
    assert {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in errors} == {
        BLUEPRINT
    }
    # Mended, the same comment says so.
    git(repository, "revert", "--no-edit", "HEAD")
    mended = a_job(repository, forge)
    assert check(mended, valid_at=LATER)[0] == 0
    assert len(forge.bodies) == 1
    assert "### rackwright: atlas passes" in forge.bodies[0]
    # A second run of the refused change comes too late.
    git(repository, "checkout", "--quiet", "HEAD~1")
    assert check(a_job(repository, forge))[0] == 5
    assert "### rackwright: atlas passes" in forge.bodies[0]


def test_a_change_that_destroys_data_is_refused_although_every_policy_passes(
    repository: Path, forge: FakeForge
) -> None:
    commit(repository, lambda text: text.replace("10.20.0.0/16", "10.60.0.0/16"))
    job = a_job(repository, forge)
    code, outputs = check(job)
    assert (code, outputs["exit-code"], outputs["result"]) == (5, "5", "refused"), job.log
    assert json.loads(Path(outputs["json-file"]).read_text())["exit_code"] == 0
    assert "it would destroy data" in job.log
    (comment,) = forge.bodies
    assert "### rackwright: the change to atlas is refused" in comment
    assert "**Refused**: `sites.cloud.network.cidr`" in comment
    accepted = a_job(repository, forge)
    fields = "sites.cloud.network.cidr\nsites.cloud.subnet private-a\n"
    code, _ = check(accepted, valid_at=LATER, accept=fields)
    assert code == 0, accepted.log
    assert "### rackwright: atlas passes" in forge.bodies[0]


def test_a_change_does_not_switch_off_the_rules_that_it_breaks(
    repository: Path, forge: FakeForge
) -> None:
    commit(repository, one_more_per_rack)
    rules = broken_rules(repository)
    off = {rule: {"enforcement": "disabled", "reason": "the rack holds five"} for rule in rules}
    commit(repository, lambda text: with_policies(text, off))
    assert run_here(repository, "check", BLUEPRINT).code == 0  # what the change says of itself
    job = a_job(repository, forge, fork=True)
    code, outputs = check(job)
    assert (code, outputs["result"]) == (5, "refused"), job.log
    (comment,) = forge.bodies
    for rule in rules:
        assert f"- lowered: **{rule}** 'disabled' in this change, because" in comment
        assert f"::warning file={BLUEPRINT}," in job.log
    done, _ = gitlab(repository, forge)
    assert done.returncode == 5, done.stdout + done.stderr
    # Once it is merged, it holds, and is told still.
    git(repository, "branch", "--force", "main")
    job = a_job(repository, forge)
    assert check(job, valid_at=LATER)[0] == 0, job.log
    assert "#### Lowered by the blueprint" in forge.bodies[0]
    assert "the rack holds five" in forge.bodies[0]


@pytest.mark.parametrize("inside", [False, True])
def test_a_planted_repository_is_not_the_base(
    repository: Path, forge: FakeForge, inside: bool
) -> None:
    """It holds what the change wants as long approved, and lies where git looks first."""
    commit(repository, one_more_per_rack)
    off = {
        rule: {"enforcement": "disabled", "reason": "the rack holds five"}
        for rule in broken_rules(repository)
    }
    commit(repository, lambda text: with_policies(text, off))
    plant(repository / "site")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=planted")
    where = {"working_directory": "site", "blueprint": "blueprint.yaml"} if inside else {}
    job = a_job(repository, forge, fork=True)
    code, outputs = check(job, **where)
    assert (code, outputs["result"]) == (5, "refused"), job.log
    assert "'disabled' in this change, because" in forge.bodies[0]
    if not inside:
        done, _ = gitlab(repository, forge)
        assert done.returncode == 5, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["tags", "heads"])
def test_a_ref_that_is_called_like_the_base_takes_the_verdict_away(
    repository: Path, forge: FakeForge, kind: str
) -> None:
    git(repository, "update-ref", "refs/remotes/origin/main", "main")
    commit(repository, one_more_per_rack)
    git(repository, "update-ref", f"refs/{kind}/origin/main", "HEAD")
    job = a_job(repository, forge)
    code, outputs = check(job, base_ref="origin/main")
    assert (code, outputs["result"]) == (2, "failed"), job.log
    assert f"it may mean 'refs/{kind}/origin/main' or 'refs/remotes/origin/main'" in job.log
    whole = a_job(repository, forge)
    code, outputs = check(whole, base_ref="refs/remotes/origin/main")
    assert (code, outputs["result"]) == (5, "refused"), whole.log


def test_a_new_order_is_no_finding_and_no_change(repository: Path, forge: FakeForge) -> None:
    commit(repository, reordered)
    job = a_job(repository, forge)
    code, _ = check(job)
    assert code == 0, job.log
    (comment,) = forge.bodies
    assert "### rackwright: atlas passes" in comment
    assert "| Before | After |" not in comment
    before = uploaded(forge)["results"]
    git(repository, "checkout", "--quiet", "main")
    assert check(a_job(repository, forge))[0] == 0
    prints = [
        sorted(r["partialFingerprints"]["rackwright/v1"] for r in results)
        for results in (before, uploaded(forge)["results"])
    ]
    assert prints[0] == prints[1]


def test_a_blueprint_that_cannot_be_read_takes_the_old_verdict_away(
    repository: Path, forge: FakeForge
) -> None:
    assert check(a_job(repository, forge))[0] == 0
    commit(repository, lambda text: text.replace("name: atlas", "nmae: atlas", 1))
    job = a_job(repository, forge)
    code, outputs = check(job, valid_at=LATER)
    assert (code, outputs["result"]) == (2, "failed"), job.log
    (comment,) = forge.bodies
    assert "cannot be checked" in comment
    lines = (repository / BLUEPRINT).read_text().splitlines()
    assert f"`{BLUEPRINT}:{lines.index('nmae: atlas') + 1}`" in comment
    assert len(forge.uploads) == 1  # an empty file would close every alert
    assert not Path(outputs["sarif-file"]).exists()


def _linked(repository: Path) -> None:
    """A smaller blueprint of the repository, under the name of the one that is meant."""
    other = repository / "other.yaml"
    document = yaml.safe_load((repository / BLUEPRINT).read_text())
    other.write_text(yaml.safe_dump({**document, "owner": "somebody@example.com"}))
    (repository / BLUEPRINT).unlink()
    (repository / BLUEPRINT).symlink_to("../other.yaml")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=linked")


@pytest.mark.parametrize("fork", [False, True])
def test_a_link_in_the_place_of_the_blueprint_takes_the_old_verdict_away(
    repository: Path, forge: FakeForge, fork: bool
) -> None:
    assert check(a_job(repository, forge))[0] == 0
    _linked(repository)
    job = a_job(repository, forge, fork=fork)
    code, outputs = check(job, valid_at=LATER)
    assert (code, outputs["exit-code"], outputs["result"]) == (2, "2", "failed"), job.log
    assert f"'{BLUEPRINT}' is a link" in job.log
    (comment,) = forge.bodies  # the same one
    assert comment.startswith("<!-- rackwright:pr:site-blueprint.yaml valid-at=2026-11-21T13:00:00")
    assert "cannot be checked" in comment


def test_a_linked_folder_is_no_way_around(repository: Path, forge: FakeForge) -> None:
    (repository / "site").rename(repository / "elsewhere")
    (repository / "site").symlink_to("elsewhere")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=linked")
    job = a_job(repository, forge)
    assert check(job)[0] == 2, job.log
    assert f"'{BLUEPRINT}' passes the link 'site'" in job.log
    assert forge.bodies[0].startswith("<!-- rackwright:pr:site-blueprint.yaml ")


LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a' * 16}\nsize 12345\n"


@pytest.mark.parametrize("base", [LFS_POINTER, "sites: [\n", "\x00\x01\x02", "- a\n- b\n"])
def test_a_base_that_cannot_be_read_is_never_a_pass(
    repository: Path, forge: FakeForge, base: str
) -> None:
    """What ``check`` says about the head does not tell what the change does."""
    good = (repository / BLUEPRINT).read_text()
    git(repository, "switch", "--quiet", "main")
    commit(repository, lambda _: base)
    git(repository, "switch", "--quiet", "-C", "change")
    commit(repository, lambda _: good)
    job = a_job(repository, forge)
    code, outputs = check(job)
    assert (code, outputs["exit-code"], outputs["result"]) == (2, "2", "failed"), job.log
    assert "the change cannot be compared with its base (2)" in job.log
    (comment,) = forge.bodies
    assert "### rackwright: atlas passes" not in comment
    assert gitlab(repository, forge)[0].returncode == 2
    assert "### rackwright: atlas passes" not in forge.bodies[-1]


def test_a_comparison_that_fails_is_the_verdict_although_every_policy_passes(
    repository: Path, forge: FakeForge
) -> None:
    """The commits have nothing in common: the base can be read, the change cannot be told."""
    git(repository, "checkout", "--quiet", "--orphan", "unrelated")
    git(repository, "commit", "--quiet", "--message=unrelated")
    job = a_job(repository, forge)
    code, outputs = check(job)
    assert (code, outputs["exit-code"], outputs["result"]) == (2, "2", "failed"), job.log
    assert json.loads(Path(outputs["json-file"]).read_text())["exit_code"] == 0
    (comment,) = forge.bodies
    assert "### rackwright: the change to atlas cannot be compared with its base" in comment
    assert "**Not compared**" in comment
    assert "no common ancestor" in comment
    done, _ = gitlab(repository, forge)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "cannot be compared with its base" in forge.bodies[-1]


def test_a_comparison_that_dies_is_the_verdict_and_is_told(
    repository: Path, forge: FakeForge
) -> None:
    """A ``diff`` that is killed writes nothing; ``check`` is the real one."""
    folder = repository.parent / "bin"
    folder.mkdir()
    (folder / "rackwright").write_text(
        f'#!/bin/sh\n[ "$1" != diff ] || exit 137\nexec {BIN}/rackwright "$@"\n'
    )
    (folder / "rackwright").chmod(0o755)
    job = a_job(repository, forge)
    job.environment["PATH"] = f"{folder}{os.pathsep}{job.environment['PATH']}"
    code, outputs = check(job)
    assert (code, outputs["result"]) == (137, "failed"), job.log
    assert "cannot be compared with its base" in forge.bodies[-1]
    assert "ended with 137" in forge.bodies[-1]
    done, _ = gitlab(repository, forge, PATH=job.environment["PATH"])
    assert done.returncode == 137, done.stdout + done.stderr
    assert "ended with 137" in forge.bodies[-1]


def test_a_blueprint_that_is_new_passes(repository: Path, forge: FakeForge) -> None:
    (repository / "more").mkdir()
    (repository / "more/blueprint.yaml").write_text((repository / BLUEPRINT).read_text())
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=another")
    job = a_job(repository, forge)
    code, _ = check(job, blueprint="more/blueprint.yaml")
    assert code == 0, job.log
    done, _ = gitlab(repository, forge, BLUEPRINT="more/blueprint.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_inputs_are_words_and_never_code(repository: Path, forge: FakeForge) -> None:
    name = "site/$(touch pwned)`touch pwned`;touch pwned.yaml"
    (repository / BLUEPRINT).rename(repository / name)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=moved")
    job = a_job(repository, forge)
    code, _ = check(job, blueprint=name, base_ref="main; touch pwned", layers="", packs="")
    assert code in {0, 2}, job.log
    assert not list(repository.rglob("pwned"))
    assert check(a_job(repository, forge), blueprint="--help")[0] == 2
    assert check(a_job(repository, forge), blueprint=BLUEPRINT, layers="--exit-zero")[0] == 2


def test_a_fork_runs_no_code_of_its_own_and_may_not_comment(
    repository: Path, forge: FakeForge
) -> None:
    pack = repository / "policies/own"
    pack.mkdir(parents=True)
    (pack / "acme001_bad.py").write_text("open('pwned', 'w')\nraise SystemExit(0)\n")
    (repository / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=pack")
    job = a_job(repository, forge, fork=True)
    forge.token = "another"
    code, _ = check(job)
    assert code == 0, job.log
    assert not list(repository.rglob("pwned"))
    assert "the comment could not be written" in job.log
    assert forge.bodies == []
    named = a_job(repository, forge, fork=True)
    assert check(named, packs="policies")[0] == 2
    assert "the pack 'policies' is of the repository that is judged" in named.log
    assert not list(repository.rglob("pwned"))
    inside = a_job(repository, forge)
    assert check(inside, comment="none", sarif="file")[0] != 0  # the pack is judged, and is broken


def test_the_verdict_stands_when_the_forge_fails(repository: Path, forge: FakeForge) -> None:
    commit(repository, one_more_per_rack)
    forge.failures = [Failure(422), Failure(422)]
    job = a_job(repository, forge)
    assert check(job)[0] == 5
    assert "the comment could not be written" in job.log
    assert "could not be uploaded" in job.log


@pytest.mark.parametrize(("change", "code"), [(one_more_per_rack, 5), (reordered, 0)])
def test_the_job_of_gitlab(
    repository: Path, forge: FakeForge, change: Callable[[str], str], code: int
) -> None:
    commit(repository, change)
    done, job = gitlab(repository, forge)
    assert done.returncode == code, done.stdout + done.stderr
    assert forge.token not in done.stdout + done.stderr
    (note,) = forge.bodies
    assert ("blocking finding" in note) == bool(code)
    reports = {path: repository / path for path in job["artifacts"]["reports"].values()}
    assert all(path.is_file() for path in reports.values())
    issues = json.loads(reports["reports/codequality.json"].read_text())
    assert bool({issue["severity"] for issue in issues} - {"info", "minor"}) == bool(code)


def test_what_the_target_branch_has_revoked_since_does_not_hold(
    repository: Path, forge: FakeForge
) -> None:
    commit(repository, one_more_per_rack)
    off = {
        rule: {"enforcement": "advisory", "reason": "the rack holds five"}
        for rule in broken_rules(repository)
    }
    git(repository, "switch", "--quiet", "main")
    commit(repository, lambda text: with_policies(text, off))
    git(repository, "switch", "--quiet", "change")
    git(repository, "rebase", "--quiet", "main")
    done, _ = gitlab(repository, forge)
    assert done.returncode == 0, done.stdout + done.stderr
    git(repository, "switch", "--quiet", "main")
    git(repository, "revert", "--no-edit", "HEAD")
    git(repository, "switch", "--quiet", "change")
    parted = git(repository, "merge-base", "main", "HEAD")  # where it was approved still
    done, _ = gitlab(repository, forge, CI_MERGE_REQUEST_DIFF_BASE_SHA=parted)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "'advisory' in this change" in forge.bodies[0]


def test_the_hooks(repository: Path) -> None:
    (repo,) = yaml.safe_load((repository / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = {hook["id"]: shlex.split(hook["entry"]) for hook in repo["hooks"]}
    words = hooks["rackwright-check"]
    done = subprocess.run([BIN / words[0], *words[1:]], cwd=repository, check=False)
    assert done.returncode == 0
    assert hooks["rackwright-policy-test"] == ["rackwright", "policy", "test", "policies"]


SETUP = ".github/actions/rackwright-setup/action.yml"


def test_the_setup_installs_in_an_environment_of_its_own(tmp_path: Path, forge: FakeForge) -> None:
    """What an index has in the place of the package that was meant is not installed."""
    machine = bare_machine(tmp_path)
    team = tmp_path / "team"
    write_ci_files(team, of_index(machine))
    need_nothing_else(team)
    job = Job(team, tmp_path / "runner", dict(machine), {})
    code, _ = job.action(team / SETUP, aws_role="x\nPATH=/evil")
    assert code == 2, job.log
    assert job.ran == ["Install", "Take the role"]
    assert "rackwright 0.1.0" in job.log
    assert job.environment["PATH"].startswith(str(job.temporary / "rackwright-venv/bin"))
    assert "PATH" not in job.log.rpartition("::error")[2]

    (wheel,) = Path(machine["PIP_FIND_LINKS"]).iterdir()
    with zipfile.ZipFile(wheel, "a") as changed:
        changed.writestr("more.py", "")
    other = Job(team, tmp_path / "other", dict(machine), {})
    code, _ = other.action(team / SETUP)
    assert code != 0
    assert "DO NOT MATCH THE HASHES" in other.log
    assert other.environment["PATH"] == machine["PATH"]


def test_the_setup_installs_a_commit(tmp_path: Path) -> None:
    """By the build backend of the requirements, for which it asks no index."""
    source = tmp_path / "package"
    source.mkdir()
    (source / "rackwright.py").write_text("def main():\n    print('rackwright 0.0.1')\n")
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    (source / "backend.py").write_text(BACKEND)
    git(source, "init", "--quiet")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=package")
    address = f"git+{source.as_uri()}@{git(source, 'rev-parse', 'HEAD')}"
    team = tmp_path / "team"
    write_ci_files(team)
    (team / SETUP).with_name("requirements.txt").write_text("")
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PYTHONPATH": ""}
    job = Job(team, tmp_path / "runner", environment, {})
    code, _ = job.action(team / SETUP, git=address, python=sys.executable)
    assert code == 0, job.log
    assert "rackwright 0.0.1" in job.log


def test_a_change_does_not_edit_the_action_that_judges_it(
    repository: Path, forge: FakeForge
) -> None:
    """It passes everything, and says so in the place of the one that its base has."""
    git(repository, "switch", "--quiet", "main")
    setup = (
        "runs: {using: composite, steps: [{name: Set up, shell: bash, run: 'true'}]}\ninputs: {}\n"
    )
    (repository / SETUP).write_text(setup)
    git(repository, "commit", "--quiet", "--all", "--message=what is installed is on the path")
    git(repository, "switch", "--quiet", "-C", "change")
    action = repository / ".github/actions/rackwright/action.yml"
    document = yaml.safe_load(action.read_text())
    document["runs"]["steps"] = [{"name": "Pass", "shell": "bash", "run": "exit 0"}]
    del document["outputs"]
    action.write_text(yaml.safe_dump(document))
    commit(repository, one_more_per_rack)
    work = repository.parent / "work"
    job = a_job(repository, forge)
    job.context |= {
        "github.sha": git(repository, "rev-parse", "HEAD"),
        "github.event.pull_request.base.ref": "main",
    }
    job = Job(work, job.temporary, job.environment, job.context, origin=repository)
    workflow = (repository / ".github/workflows/rackwright-pr.yml").read_text()
    assert job.workflow(workflow, "check") == 5, job.log
    assert job.ran == ["Set up", "Compare", "Check", "Comment", "Upload", "Verdict"]
    assert f"::error file={BLUEPRINT},line=" in job.log


BACKEND = """
import zipfile
from pathlib import Path
from textwrap import indent


def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "rackwright-0.0.1-py3-none-any.whl"
    info = "rackwright-0.0.1.dist-info"
    with zipfile.ZipFile(Path(folder, name), "w") as wheel:
        wheel.write("rackwright.py")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: rackwright\\nVersion: 0.0.1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nrackwright = rackwright:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""


def test_the_repository_of_the_tutorial_is_gated(tmp_path: Path, forge: FakeForge) -> None:
    """Its layers belong to the blueprint: without them every change of it was unknown, and refused."""
    folder = tmp_path / "team"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    environment = reader_environment(tmp_path / "home")
    text = (ROOT / "docs/tutorial-hall.md").read_text(encoding="utf-8")
    before, change, _ = text.partition("A team wants eight more servers")
    assert change
    follow(before, folder, lambda line: in_a_shell(line, folder, environment))
    write_ci("github", folder, "blueprint.yaml", SOME_SOURCE)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=gate")
    git(folder, "switch", "--quiet", "--create=change")
    git(folder, "remote", "add", "origin", str(folder))
    (repo,) = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())["repos"]
    words = next(shlex.split(h["entry"]) for h in repo["hooks"] if h["id"] == "rackwright-check")
    blueprint = folder / "blueprint.yaml"
    harmless = f"{blueprint.read_text(encoding='utf-8')}# a word\n"
    bad = harmless.replace("type: acme-8x, count: 16", "type: acme-8x, count: 24")
    assert bad != harmless
    for written, code, result in ((harmless, 0, "passed"), (bad, 5, "refused")):
        blueprint.write_text(written, encoding="utf-8")
        hook = subprocess.run(
            [BIN / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, check=False
        )
        assert hook.returncode == code, hook.stdout + hook.stderr
        git(folder, "commit", "--quiet", "--all", "--message=change")
        job = a_job(folder, forge)
        ended, outputs = check(job, blueprint="blueprint.yaml")
        assert (ended, outputs["result"]) == (code, result), job.log
    assert "blocking findings in atlas" in forge.bodies[-1]
    assert "137.4 kW" in forge.bodies[-1]
