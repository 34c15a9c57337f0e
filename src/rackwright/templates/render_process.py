"""Process that renders a template: reads a task from stdin, writes texts or an error to stdout."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from rackwright.errors import RackwrightError, UsageError
from rackwright.templates.answering import Answering
from rackwright.templates.questions import SUFFIX, AnswerError, Question
from rackwright.templating import render_text

_MEMORY = 1024**3


def main() -> int:
    """Render; return 0 also for a rejected template, whose error is in the output."""
    task: dict[str, Any] = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    seconds = time.process_time_ns() // 10**9 + int(task["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        said = _render(task)
    except MemoryError:
        said = {"failed": "it needs more memory than a template may"}
    except UsageError as error:
        question = error.question if isinstance(error, AnswerError) else None
        said = {"refused": error.summary, "hint": error.hint, "question": question}
    except RackwrightError as error:
        said = {"failed": error.summary}
    json.dump(said, sys.stdout)
    return 0


def _render(task: dict[str, Any]) -> dict[str, Any]:
    questions = {name: Question.model_validate(one) for name, one in task["questions"].items()}
    answering = Answering(questions, task["answers"], task["offered"])
    answering.take_all()
    files = {}
    for name, text in task["sources"].items():
        if not name.endswith(SUFFIX):
            files[name] = text
        elif (made := render_text(text, name, answering.values)).strip():
            files[name.removesuffix(SUFFIX)] = (
                made  # an empty file is omitted: its content depends on other answers
            )
    return {"files": files, "answers": answering.answers}


if __name__ == "__main__":
    sys.exit(main())
