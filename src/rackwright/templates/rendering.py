"""Rendering of a template by copier, in a process of its own.

The process has no program in its reach, no settings of the user, bounds of memory, time and size of
files, and a copy of the template that was read before: copier asks questions of nobody, runs nothing
and finds no git.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError, UsageError
from rackwright.harmless import visible
from rackwright.templates.contents import TemplateContentError, read_folder, text_of
from rackwright.templates.questions import MANIFEST, SUFFIX, Answer, Manifest
from rackwright.templates.render_process import ANSWERS
from rackwright.templating import refuse_unbounded

TEST_FILE = "template-test.yaml"
"""Of a template: answers to test it with; it does not go into a cluster."""
READ_ME = "README.md"
"""Of a template: for those who look at it; ``README.md.j2`` makes one of a cluster."""
TIMEOUT = 120
"""Seconds after which a rendering is given up."""
SECONDS = 20
"""Most seconds of a processor that a template may take."""

_LEFT_OUT = frozenset({MANIFEST, TEST_FILE, READ_ME})


@dataclass(frozen=True, slots=True)
class Rendered:
    """What copier made.

    Attributes:
        files: texts by name.
        answers: of every question, typed, with defaults.
    """

    files: Mapping[str, str]
    answers: Mapping[str, Answer]


def render_template(
    files: Mapping[str, bytes],
    manifest: Manifest,
    answers: Mapping[str, Answer],
    offered: Mapping[str, str],
) -> Rendered:
    """What a template gives.

    Args:
        files: of the template.
        manifest: read from them.
        answers: to its questions; those that are not answered have their default.
        offered: values that a template may use and does not ask for.

    Raises:
        TemplateContentError: a file cannot be rendered within bounds, or two make the same one.
        TemplateError: a file has a construct that is not allowed.
        UsageError: an answer is refused.
    """
    sources: dict[str, str] = {}
    made = {ANSWERS}
    for name, content in files.items():
        if name in _LEFT_OUT:
            continue
        text = text_of(content, name)
        if name.endswith(SUFFIX):
            refuse_unbounded(text, name)
        target = name.removesuffix(SUFFIX)
        if target in made:
            raise TemplateContentError(f"more than one file of the template makes '{target}'")
        made.add(target)
        sources[name] = text
    unasked = {key: text for key, text in offered.items() if key not in manifest.questions}
    done = _render(
        json.dumps(sources, sort_keys=True),
        json.dumps(manifest.for_copier()),
        json.dumps({**unasked, **answers}, sort_keys=True),
    )
    answered = {key: value for key, value in done.answers.items() if key in manifest.questions}
    return Rendered(dict(done.files), answered)


@lru_cache(maxsize=64)
def _render(sources: str, manifest: str, data: str) -> Rendered:
    """A rendering; the same texts give the same one.

    Raises:
        RackwrightError: the template cannot be rendered.
        UsageError: a question without a default has no answer.
    """  # noqa: DOC501 - _refusal() makes the RackwrightError
    with tempfile.TemporaryDirectory(prefix="rackwright-template-") as made:
        folder = Path(made)
        template, target = folder / "template", folder / "target"
        for name, text in (*json.loads(sources).items(), (MANIFEST, manifest)):
            path = template / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        said = _start(
            folder,
            {"template": str(template), "target": str(target), "data": data, "seconds": SECONDS},
        )
        if needed := said.get("needed"):
            about = json.loads(manifest)[needed]["help"]
            raise UsageError(
                f"the template needs an answer to '{needed}'", hint=f"--set {needed}=…  {about}"
            )
        if "failed" in said:
            raise _refusal(str(said["failed"]), str(said.get("question", "")))
        found = {name: text_of(content, name) for name, content in read_folder(target).items()}
    return Rendered(found, json.loads(found.pop(ANSWERS)))


def _start(folder: Path, task: Mapping[str, str | int]) -> dict[str, Any]:
    """What the process says at its end."""
    environment = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PATH": str(folder / "no-programs"),
        "TMPDIR": str(folder),
    }
    # The folder that it starts in holds what the template's author wrote.
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if path := [entry for entry in given if Path(entry).is_absolute()]:
        environment["PYTHONPATH"] = os.pathsep.join(path)
    command = [sys.executable, "-P", "-m", "rackwright.templates.render_process"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(task).encode(),
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"it takes longer than {TIMEOUT} s"}
    try:
        said = json.loads(done.stdout)
    except ValueError:
        reason = "it needs more memory or time than a template may"
        return {"failed": reason if done.returncode < 0 else _last_line(done.stderr) or reason}
    return said if isinstance(said, dict) else {"failed": "it said nothing"}


def _refusal(reason: str, question: str) -> RackwrightError:
    if question:
        return UsageError(f"the answer to '{visible(question)}' is refused: {visible(reason)}")
    return TemplateContentError(f"the template cannot be rendered: {visible(reason)}")


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
