"""Runs the steps of a composite action as GitHub's runner does, as far as ours need it."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


@dataclass
class Job:
    """A job on a runner.

    Attributes:
        context: what expressions see, like ``github.token``.
        log: what the steps have written.
        ran: names of the steps that were run.
    """

    repository: Path
    temporary: Path
    environment: dict[str, str]
    context: dict[str, str]
    log: str = ""
    ran: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temporary.mkdir(parents=True, exist_ok=True)

    @property
    def summary(self) -> str:
        """The summary of the job."""
        return _read(self.temporary / "summary")

    def action(self, file: Path, **inputs: str) -> tuple[int, dict[str, str]]:
        """Run an action; its exit code and its outputs."""
        document = yaml.safe_load(file.read_text())
        seen = dict(self.context)
        for name, given in document["inputs"].items():
            key = name.replace("-", "_")
            assert not (given.get("required") and key not in inputs), name
            value = inputs.pop(key, None)
            seen[f"inputs.{name}"] = (
                self._text(given.get("default", ""), seen) if value is None else value
            )
        assert not inputs, f"no such input: {inputs}"
        code = 0
        for step in document["runs"]["steps"]:
            if "if" in step and not self._holds(step["if"], seen):
                continue
            code = self._step(step, seen)
            if code:
                break
        outputs = document.get("outputs", {})
        return code, {name: self._text(out["value"], seen) for name, out in outputs.items()}

    def _step(self, step: dict[str, Any], seen: dict[str, str]) -> int:
        assert step["shell"] == "bash"
        self.ran.append(step["name"])
        files = {name: self.temporary / name for name in ("output", "path", "env")}
        for file in files.values():
            file.write_text("")
        script = self.temporary / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.repository / self._text(step.get("working-directory", "."), seen),
            env={
                **self.environment,
                "RUNNER_TEMP": str(self.temporary),
                "GITHUB_OUTPUT": str(files["output"]),
                "GITHUB_PATH": str(files["path"]),
                "GITHUB_ENV": str(files["env"]),
                "GITHUB_STEP_SUMMARY": str(self.temporary / "summary"),
                **{name: self._text(text, seen) for name, text in step.get("env", {}).items()},
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

    def _text(self, text: object, seen: dict[str, str]) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1], seen), str(text))

    def _value(self, expression: str, seen: dict[str, str]) -> str:
        """The value of a name, or of conditions as ``true`` and ``false``."""
        if "=" in expression:
            return "true" if self._holds(expression, seen) else "false"
        return seen.get(expression.strip(), "")

    def _holds(self, condition: str, seen: dict[str, str]) -> bool:
        """Whether comparisons joined by ``&&`` all hold; anything else is an error."""
        return all(self._compare(part.strip(), seen) for part in condition.split("&&"))

    def _compare(self, part: str, seen: dict[str, str]) -> bool:
        match = re.fullmatch(r"([\w.-]+) (==|!=) (?:'([^']*)'|([\w.-]+))", part)
        assert match, part
        right = match[3] if match[4] is None else seen.get(match[4], "")
        return (seen.get(match[1], "") == right) == (match[2] == "==")


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
