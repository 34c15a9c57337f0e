"""Runs the jobs and actions of GitHub's workflows as its runner does, as far as ours need it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ci_expressions import Value, holds, interpolate

_SHELLS = {
    "bash": ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail"),
    None: ("bash", "-e"),
}
"""How a script is run; without a ``shell``, a pipe's failure is not seen."""


@dataclass
class Job:
    """A job on a runner.

    Attributes:
        repository: the folder that steps run in, with the repository checked out.
        temporary: the runner's own folder.
        context: what expressions see, like ``github.token``.
        origin: the repository that the forge has; ``github.sha`` of it is checked out.
        artefacts: the folder that the jobs of one run share.
        log: what the steps have written.
        ran: names of the steps that were run.
    """

    repository: Path
    temporary: Path
    environment: dict[str, str]
    context: dict[str, str]
    origin: Path | None = None
    artefacts: Path | None = None
    log: str = ""
    ran: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temporary.mkdir(parents=True, exist_ok=True)

    @property
    def summary(self) -> str:
        """The summary of the job."""
        return _read(self.temporary / "summary")

    def workflow(self, text: str, name: str) -> int | None:
        """Run the job ``name`` of a workflow; its exit code, or None when it is skipped."""
        document = yaml.safe_load(text)
        job = document["jobs"][name]
        seen: dict[str, Value] = dict(self.context)
        if "if" in job and not holds(job["if"], seen):
            return None
        for level in (document, job):
            given = _texts(level.get("env", {}), seen)
            self.environment |= given
            seen |= {f"env.{key}": value for key, value in given.items()}
        return self._run(job["steps"], seen)

    def action(self, file: Path, **inputs: str) -> tuple[int, dict[str, str]]:
        """Run an action; its exit code and its outputs."""
        document = yaml.safe_load(file.read_text())
        seen: dict[str, Value] = dict(self.context)
        for name, given in document["inputs"].items():
            key = name.replace("-", "_")
            assert not (given.get("required") and key not in inputs), name
            value = inputs.pop(key, None)
            default = interpolate(given.get("default", ""), seen)
            seen[f"inputs.{name}"] = default if value is None else value
        assert not inputs, f"no such input: {inputs}"
        self.environment["GITHUB_ACTION_PATH"] = str(file.parent)
        for step in document["runs"]["steps"]:
            assert "uses" in step or step["shell"] == "bash"
        code = self._run(document["runs"]["steps"], seen)
        outputs = document.get("outputs", {})
        return code, {name: interpolate(out["value"], seen) for name, out in outputs.items()}

    def _run(self, steps: list[dict[str, Any]], seen: dict[str, Value]) -> int:
        """Run steps until one fails, and after it those that say so; the first failure."""
        code = 0
        for step in steps:
            condition = str(step.get("if", "success()"))
            state = {"success()": code == 0, "failure()": code != 0}
            state |= {"always()": True, "cancelled()": False}
            skipped = code != 0 and not any(name in condition for name in state)
            if skipped or not holds(condition, {**seen, **state}):
                continue
            ended = self._uses(step, seen) if "uses" in step else self._step(step, seen)
            code = code or ended
        return code

    def _uses(self, step: dict[str, Any], seen: dict[str, Value]) -> int:
        """Run an action of the repository, or what GitHub's own ones do."""
        given = _texts(step.get("with", {}), seen)
        name = step["uses"].partition("@")[0]
        if name.startswith("./"):
            inputs = {key.replace("-", "_"): value for key, value in given.items()}
            return self.action(self.repository / name / "action.yml", **inputs)[0]
        if name == "actions/checkout":
            folder = self.repository / given.get("path", ".")
            commit = given.get("ref") or str(seen["github.sha"])
            self._check_out(folder, commit, int(given.get("fetch-depth", "1")))
            return 0
        if name == "actions/cache":
            return 0  # nothing is in it
        assert self.artefacts is not None
        kept, folder = self.artefacts / given["name"], self.repository / given["path"]
        if name == "actions/upload-artifact":
            shutil.copytree(folder, kept)
        else:
            assert name == "actions/download-artifact"
            shutil.copytree(kept, folder)
        return 0

    def _check_out(self, folder: Path, commit: str, depth: int) -> None:
        """Check out one commit or branch alone, or, with depth 0, beside every branch."""
        assert self.origin is not None
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        where = self.origin.as_uri()
        fetch = (
            (f"--depth={depth}", where, commit)
            if depth
            else (where, "+refs/heads/*:refs/remotes/origin/*")
        )
        wanted = "FETCH_HEAD" if depth else commit
        for words in (("init",), ("fetch", *fetch), ("checkout", "--detach", wanted)):
            command = ["git", words[0], "--quiet", *words[1:]]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)

    def _step(self, step: dict[str, Any], seen: dict[str, Value]) -> int:
        self.ran.append(step["name"])
        files = {name: self.temporary / name for name in ("output", "path", "env")}
        for file in files.values():
            file.write_text("")
        script = self.temporary / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            [*_SHELLS[step.get("shell")], str(script)],
            cwd=self.repository / interpolate(step.get("working-directory", "."), seen),
            env={
                **self.environment,
                "RUNNER_TEMP": str(self.temporary),
                "GITHUB_OUTPUT": str(files["output"]),
                "GITHUB_PATH": str(files["path"]),
                "GITHUB_ENV": str(files["env"]),
                "GITHUB_STEP_SUMMARY": str(self.temporary / "summary"),
                **_texts(step.get("env", {}), seen),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.log += done.stdout + done.stderr
        for line in _read(files["output"]).splitlines():
            name, _, value = line.partition("=")
            seen[f"steps.{step['id']}.outputs.{name}"] = value
        for folder in _read(files["path"]).splitlines():
            self.environment["PATH"] = f"{folder}{os.pathsep}{self.environment['PATH']}"
        for line in _read(files["env"]).splitlines():
            name, _, value = line.partition("=")
            self.environment[name] = value
        return done.returncode


def _texts(given: Mapping[str, object], seen: Mapping[str, Value]) -> dict[str, str]:
    return {name: interpolate(text, seen) for name, text in given.items()}


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
