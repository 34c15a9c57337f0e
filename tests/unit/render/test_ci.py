"""CI files: valid by the forges' own schemas, linted, and with no input inside a script."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_team import SOME_SOURCE
from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.ci import ci_files, write_ci

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
TIP = "refs/remotes/origin/${{ github.event.pull_request.base.ref }}"
"""The branch as it is when the job runs: what is revoked since does not hold any more."""
PINNED = re.compile(r"actions/(cache|checkout|upload-artifact|download-artifact)@[0-9a-f]{40}")


def run(*command: object) -> str:
    """What a linter says when it is content."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("github")
    write_ci("github", folder, "site/blueprint.yaml", SOME_SOURCE)
    return folder


@pytest.fixture(scope="module")
def gitlab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gitlab")
    write_ci("gitlab", folder, "site/blueprint.yaml", SOME_SOURCE)
    return folder


def scripts(document: Any) -> list[tuple[str, str]]:
    """Every shell script in a workflow or an action, with its name."""
    if isinstance(document, dict):
        found = [s for value in document.values() for s in scripts(value)]
        script = document.get("run")
        if isinstance(script, str):
            found.append((str(document.get("name")), script))
        return found
    if isinstance(document, list):
        return [s for value in document for s in scripts(value)]
    return []


def yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.y*ml") if path.is_file())


def test_yamllint(github: Path, gitlab: Path) -> None:
    run(BIN / "yamllint", "--strict", "-c", ROOT / ".yamllint", github, gitlab)


def test_the_forges_schemas(github: Path, gitlab: Path) -> None:
    check = BIN / "check-jsonschema"
    workflows = sorted((github / ".github/workflows").iterdir())
    assert len(workflows) == 4
    run(check, "--builtin-schema", "vendor.github-workflows", *workflows)
    run(check, "--builtin-schema", "custom.github-workflows-require-timeout", *workflows)
    actions = sorted((github / ".github/actions").glob("*/action.yml"))
    assert len(actions) == 2
    run(check, "--builtin-schema", "vendor.github-actions", *actions)
    pipeline = gitlab / "rackwright.gitlab-ci.yml"
    run(check, "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", pipeline)


def test_the_security_linter_finds_nothing(github: Path) -> None:
    run(BIN / "zizmor", "--offline", github)


def test_shellcheck(github: Path, tmp_path: Path) -> None:
    found = [s for path in yaml_files(github) for s in scripts(yaml.safe_load(path.read_text()))]
    assert len(found) >= 12
    for number, (_, script) in enumerate(found):
        (tmp_path / f"{number}.sh").write_text(f"#!/usr/bin/env bash\n{script}")
    run(BIN / "shellcheck", "--severity=style", *sorted(tmp_path.glob("*.sh")))


def test_no_expression_is_inside_a_script(github: Path) -> None:
    found = [s for path in yaml_files(github) for s in scripts(yaml.safe_load(path.read_text()))]
    assert len(found) >= 12
    assert [name for name, script in found if "${{" in script] == []


def test_actions_of_others_are_pinned(github: Path) -> None:
    used = set()
    for path in yaml_files(github):
        for name in re.findall(r"uses: (\S+)", path.read_text()):
            assert name.startswith("./.github/actions/") or PINNED.fullmatch(name), name
            used.add(name)
    assert any(name.startswith("./") for name in used)


def test_jobs_have_no_more_rights_than_they_name(github: Path) -> None:
    paths = sorted((github / ".github/workflows").iterdir())
    workflows = [yaml.safe_load(path.read_text()) for path in paths]
    assert [workflow["permissions"] for workflow in workflows] == [{}] * 4
    for workflow in workflows:
        assert all("contents" in job["permissions"] for job in workflow["jobs"].values())


def test_only_an_approved_environment_may_write(github: Path) -> None:
    for name in ("apply", "configure"):
        text = (github / f".github/workflows/rackwright-{name}.yml").read_text()
        jobs = yaml.safe_load(text)["jobs"]
        writers = [
            job
            for job in jobs.values()
            if any(
                "rackwright up" in step.get("run", "")
                or "rackwright configure --base-ref" in step.get("run", "")
                for step in job["steps"]
            )
        ]
        assert [job.get("environment") for job in writers] == ["production"]
        assert all("needs" in job for job in writers)


def test_hosts_are_configured_by_rackwright_alone(github: Path, gitlab: Path) -> None:
    """A playbook that is called directly is judged by nothing, and quarantines nobody."""
    texts = [path.read_text() for path in (*yaml_files(github), *yaml_files(gitlab))]
    assert "rackwright configure " in "".join(texts)
    assert "ansible-playbook" not in "".join(texts)
    workflow = yaml.safe_load((github / ".github/workflows/rackwright-configure.yml").read_text())
    for job in workflow["jobs"].values():
        assert "./.github/actions/rackwright-setup" in [step.get("uses") for step in job["steps"]]
        assert "rackwright configure " in job["steps"][-1]["run"]


def test_no_base_is_named_so_that_a_tag_can_shadow_it(github: Path, gitlab: Path) -> None:
    """Every base is a commit's id or the full name of a ref."""
    configure = (github / ".github/workflows/rackwright-configure.yml").read_text()
    named = yaml.safe_load(configure)["env"]["BASE_REF"]
    assert named == "refs/remotes/origin/${{ github.event.repository.default_branch }}"
    jobs = (gitlab / "rackwright.gitlab-ci.yml").read_text()
    assert '--base-ref=refs/remotes/origin/$CI_DEFAULT_BRANCH"' in jobs
    for path in (*yaml_files(github), *yaml_files(gitlab)):
        text = path.read_text()
        found = re.findall(r"\S*origin/\S+", text)
        assert all("refs/remotes/origin/" in name for name in found), f"{path.name}: {found}"
        given = set(re.findall(r"--base-ref=(\S+)", text))
        assert given <= {
            '"$BASE_REF"',
            '$BASE_REF")',
            '"$base"',
            'refs/remotes/origin/$CI_DEFAULT_BRANCH")',
        }, f"{path.name}: {given}"


def test_a_change_is_previewed_with_the_waivers_of_its_base(github: Path, gitlab: Path) -> None:
    workflow = yaml.safe_load((github / ".github/workflows/rackwright-pr.yml").read_text())
    _, checkout, *_, preview = workflow["jobs"]["preview"]["steps"]
    assert checkout["with"]["fetch-depth"] == 0
    assert preview["working-directory"] == checkout["with"]["path"]
    assert workflow["env"]["BASE_REF"] == TIP
    assert '--base-ref="$BASE_REF"' in preview["run"]
    jobs = (gitlab / "rackwright.gitlab-ci.yml").read_text()
    assert jobs.count('--base-ref="$base"') == 2
    assert jobs.count('"refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"') == 2
    assert jobs.count("[.rackwright-base, script]") == 2
    assert "DIFF_BASE_SHA" not in jobs  # the merge base: what is revoked since would hold


def test_no_pack_of_a_change_runs_where_secrets_are(github: Path, gitlab: Path) -> None:
    """In GitLab the variables of a project are in every job; elsewhere, in those that preview."""
    workflow = yaml.safe_load((github / ".github/workflows/rackwright-pr.yml").read_text())
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if "secrets." in str(step.get("env")):
                assert " --isolated " in step["run"]
    jobs = (gitlab / "rackwright.gitlab-ci.yml").read_text()
    calls = [line for line in jobs.splitlines() if '"$base' in line and "rackwright " in line]
    assert len(calls) == 3
    assert all(" --isolated " in line for line in calls)


def test_a_merge_queue_is_judged_by_what_goes_before_it(github: Path) -> None:
    workflow = yaml.safe_load((github / ".github/workflows/rackwright-pr.yml").read_text())
    assert set(workflow[True]) == {"pull_request", "merge_group"}
    *_, check = workflow["jobs"]["check"]["steps"]
    given = check["with"]["base-ref"]
    assert given == "${{ github.event.merge_group.base_sha || env.BASE_REF }}"
    assert "${{ github.event.pull_request.number || github.ref }}" in str(workflow["concurrency"])


def test_the_blueprint_is_named_once(github: Path) -> None:
    paths = sorted((github / ".github/workflows").iterdir())
    assert [path.read_text().count("site/blueprint.yaml") for path in paths] == [1] * 4


@pytest.mark.parametrize(
    "blueprint", ["../x.yaml", "/x.yaml", "-x", "a b", "a\nb", "${{ x }}", "", "a/", "x;y"]
)
def test_a_path_that_is_none_is_refused(blueprint: str) -> None:
    with pytest.raises(UsageError, match="is no path that CI files can name"):
        ci_files("github", blueprint, SOME_SOURCE)


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text("mine")
    source = ("--install-from", f"git+https://git.example/rackwright@{'0' * 40}")
    assert main(["ci", "init", str(tmp_path), "--forge", "github", *source]) == 2
    assert "exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [".pre-commit-config.yaml"]
    assert main(["ci", "init", str(tmp_path / "new"), "--forge", "gitlab", *source]) == 0
    assert "rackwright.gitlab-ci.yml" in capsys.readouterr().out


def test_the_files_of_a_second_forge_are_written_beside_those_of_the_first(tmp_path: Path) -> None:
    """Both have the same hooks."""
    source = ("--install-from", f"git+https://git.example/rackwright@{'0' * 40}")
    assert main(["ci", "init", str(tmp_path), "--forge", "github", *source]) == 0
    assert main(["ci", "init", str(tmp_path), "--forge", "gitlab", *source]) == 0
    assert (tmp_path / "rackwright.gitlab-ci.yml").is_file()
    (tmp_path / ".pre-commit-config.yaml").unlink()
    (tmp_path / ".pre-commit-config.yaml").symlink_to("elsewhere")
    (tmp_path / "rackwright.gitlab-ci.yml").unlink()
    assert main(["ci", "init", str(tmp_path), "--forge", "gitlab", *source]) == 2


def test_no_module_or_report_of_the_change_is_used(tmp_path: Path) -> None:
    """A 'venv.py' beside the blueprint, or a committed 'reports/delta.md', is the change's own."""
    for forge in ("github", "gitlab"):
        files = ci_files(forge, "blueprint.yaml", SOME_SOURCE)
        assert any(" -I -m venv " in text for text in files.values())
        for name, text in files.items():
            started = re.findall(r'(?:python3|python"|"\$PYTHON") (-\w+)', text)
            assert set(started) <= {"-I"}, name
            if name.suffix in {".yml", ".yaml"} and "reports/delta.md" in text:
                assert text.index("rm -rf -- reports") < text.index("reports/delta.md")


@pytest.mark.parametrize(
    "blueprint", ["blueprint.yaml", "atlas.yml", "site", "site/blueprint.yaml", "a.b/c/atlas"]
)
def test_the_pattern_of_the_hook_matches_its_own_blueprint(blueprint: str) -> None:
    files = ci_files("github", blueprint, SOME_SOURCE)
    text = next(text for path, text in files.items() if path.name == ".pre-commit-config.yaml")
    hook, _ = yaml.safe_load(text)["repos"][0]["hooks"]
    assert hook["entry"].endswith(f" -- {blueprint}")
    assert re.search(hook["files"], blueprint)
    beside = blueprint.rpartition("/")[0]
    assert re.search(hook["files"], f"{beside}/policies/waivers.yaml".lstrip("/"))
    assert re.search(hook["files"], "rackwright.yaml")
    assert re.search(hook["files"], "TODO.CSV")
    assert not re.search(hook["files"], "docs/notes.md")
    assert not re.search(hook["files"], "axb/c/atlas")


def test_hooks_for_pre_commit_judge_a_blueprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["rackwright-check", "rackwright-policy-test"]
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    monkeypatch.chdir(tmp_path)
    assert main(["policy", "new", "power/ACME-001", "Racks stay below our own limit"]) == 0
    for hook in hooks:
        assert (hook["language"], hook["pass_filenames"]) == ("python", False)
        program, *words = shlex.split(hook["entry"]) + list(hook["args"])
        assert program == "rackwright"
        assert main(words) == 0
    assert re.search(hooks[0]["files"], "site/blueprint.yaml")
    assert re.search(hooks[0]["files"], "site/TODO.CSV")


def test_change_is_checked_by_the_settings_of_its_base(github: Path) -> None:
    """Actions are those at the top of the workspace, and nothing there is of the change."""
    workflow = yaml.safe_load((github / ".github/workflows/rackwright-pr.yml").read_text())
    assert list(workflow["jobs"]) == ["check", "preview"]
    for job in workflow["jobs"].values():
        base, change, *steps = job["steps"]
        assert base["with"]["ref"] == "${{ github.event.merge_group.base_sha || env.BASE_BRANCH }}"
        assert "path" not in base["with"]
        where = change["with"]["path"]
        assert "ref" not in change["with"]
        judged = [
            s.get("working-directory", s.get("with", {}).get("working-directory")) for s in steps
        ]
        assert judged == [None, where]
        assert not any(step.get("uses", "").startswith(f"./{where}") for step in steps)
