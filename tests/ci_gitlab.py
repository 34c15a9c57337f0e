"""Reads a pipeline of GitLab as it does, as far as ours need it, and runs the lines of its jobs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml


class _Reference(list[str]):
    """The path of another value."""


class _Loader(yaml.SafeLoader):
    pass


def _reference(loader: _Loader, node: yaml.SequenceNode) -> _Reference:
    return _Reference(loader.construct_sequence(node))


_Loader.add_constructor("!reference", _reference)


class Pipeline:
    """A file of GitLab's CI."""

    def __init__(self, text: str) -> None:
        self._document: dict[str, Any] = yaml.load(text, Loader=_Loader)

    def job(self, name: str) -> dict[str, Any]:
        """A job, with what it extends, and with references resolved in its scripts."""
        job: dict[str, Any] = self._document[name]
        if "extends" in job:
            job = _merged(self.job(job["extends"]), job)
        for key in ("before_script", "script"):
            if key in job:
                job = {**job, key: self._lines(job[key])}
        return job

    def variables(self, name: str, given: Mapping[str, str]) -> dict[str, str]:
        """Variables of a job: the file's, then the job's, then ``given``, which a project has set."""
        written = {**self._document.get("variables", {}), **self.job(name).get("variables", {})}
        known = {**written, **given}
        for key, text in written.items():
            if key not in given and text.startswith("$"):
                known[key] = known.get(text[1:], "")
        return known

    def run(
        self, name: str, folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a job from its first line to its last."""
        job = self.job(name)
        lines = [*job["before_script"], *job["script"]]
        return run_script(lines, folder, self.variables(name, environment))

    def _lines(self, given: Sequence[Any]) -> list[str]:
        lines: list[str] = []
        for line in given:
            if isinstance(line, _Reference):
                name, key = line
                lines += self.job(name)[key]
            else:
                lines.append(line)
        return lines


def run_script(
    lines: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run lines in one shell, as a runner of GitLab does."""
    script = "\n".join(["set -eo pipefail", *lines])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged, everything else is replaced."""
    both = {
        key: _merged(below[key], above[key])
        for key in below.keys() & above.keys()
        if isinstance(below[key], Mapping) and isinstance(above[key], Mapping)
    }
    return {**below, **above, **both}
