"""Rendering of a template in a separate process.

The process has no access to programs or settings of the user, and limits of memory and time. It gets texts that were read
before, and renders them in the bounded environment of ``templating``.
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

from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.templates.contents import TemplateContentError, text_of
from rackwright.templates.questions import MANIFEST, SUFFIX, Answer, AnswerError, Manifest
from rackwright.templating import refuse_unbounded

TEST_FILE = "template-test.yaml"
"""File with the test cases of a template, which is not copied to clusters."""
READ_ME = "README.md"
"""Documentation of a template, which is not copied; ``README.md.j2`` becomes that of a cluster."""
TIMEOUT = 120
"""Timeout of a rendering, in s."""
SECONDS = 20
"""Maximum CPU time of a rendering, in s."""

_LEFT_OUT = frozenset({MANIFEST, TEST_FILE, READ_ME})


@dataclass(frozen=True, slots=True)
class Rendered:
    """Result of a rendering.

    Attributes:
        files: texts by name.
        answers: typed answers to all questions whose condition is true, including defaults.
    """

    files: Mapping[str, str]
    answers: Mapping[str, Answer]


def render_template(
    files: Mapping[str, bytes],
    manifest: Manifest,
    answers: Mapping[str, Answer],
    offered: Mapping[str, str],
) -> Rendered:
    """Render a template; files that render to nothing are omitted.

    Args:
        files: contents by name.
        manifest: manifest of the template.
        answers: answers to its questions; other questions have their defaults.
        offered: additional values that the template may use.

    Raises:
        TemplateContentError: a file cannot be rendered within bounds, or two make the same one.
        TemplateError: a file has a construct that is not allowed.
        AnswerError: an answer is refused.
        UsageError: an answer is missing.
    """
    sources: dict[str, str] = {}
    made = set()
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
    task = {
        "sources": sources,
        "questions": {
            name: one.model_dump(mode="json", exclude_none=True)
            for name, one in manifest.questions.items()
        },
        "answers": dict(answers),
        "offered": unasked,
        "seconds": SECONDS,
    }
    done = _render(json.dumps(task))
    return Rendered(dict(done.files), dict(done.answers))


@lru_cache(maxsize=64)
def _render(task: str) -> Rendered:
    """Return the output of the process for a task, which is deterministic and therefore cached.

    Raises:
        TemplateContentError: the template cannot be rendered.
        AnswerError: an answer is refused.
        UsageError: a question without a default has no answer.
    """
    with tempfile.TemporaryDirectory(prefix="rackwright-template-") as folder:
        said = _start(Path(folder), task)
    if "refused" in said:
        text, hint, question = str(said["refused"]), said["hint"], said["question"]
        raise AnswerError(question, text, hint=hint) if question else UsageError(text, hint=hint)
    if "failed" in said:
        reason = visible(str(said["failed"]))
        raise TemplateContentError(f"the template cannot be rendered: {reason}")
    return Rendered(said["files"], said["answers"])


def _start(folder: Path, task: str) -> dict[str, Any]:
    """Run the process and return its output."""
    environment = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PATH": str(folder / "no-programs"),
        "TMPDIR": str(folder),
    }
    # The working folder contains files of the template's author: a relative entry would import them.
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if path := [entry for entry in given if Path(entry).is_absolute()]:
        environment["PYTHONPATH"] = os.pathsep.join(path)
    command = [sys.executable, "-P", "-m", "rackwright.templates.render_process"]
    try:
        done = subprocess.run(
            command,
            input=task.encode(),
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"it took longer than {TIMEOUT} s"}
    try:
        said = json.loads(done.stdout)
    except ValueError:
        reason = "it needs more memory or time than a template may"
        return {"failed": reason if done.returncode < 0 else _last_line(done.stderr) or reason}
    return said if isinstance(said, dict) else {"failed": "it said nothing"}


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
