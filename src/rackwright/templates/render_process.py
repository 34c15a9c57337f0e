"""The process that a template is rendered in: reads a task from stdin, says on stdout how it ended."""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

ANSWERS = ".rackwright-answers.json"
"""The file that copier writes the answers to, beside what the template makes."""

_MEMORY = 1024**3
_LARGEST_FILE = 16 * 1024**2
_INVALID = re.compile(
    r"(?:Validation error|Invalid choice) for (?:question )?'(\w+)': (.*)", re.DOTALL
)
_REQUIRED = re.compile(r'Question "(\w+)" is required')


def main() -> int:
    """Render; 0 whether it went well or was refused."""
    task: dict[str, Any] = json.load(sys.stdin)
    from copier import Settings, run_copy  # before the bounds, which are for the template

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    seconds = time.process_time_ns() // 10**9 + int(task["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    # What copier itself writes of the answers, which it has typed.
    answers = Path(task["template"], f"{ANSWERS}.j2")
    answers.write_text("{{ _copier_answers | to_json }}", encoding="utf-8")
    said: dict[str, Any] = {"made": True}
    try:
        run_copy(
            task["template"],
            task["target"],
            data=json.loads(task["data"]),
            settings=Settings(),
            defaults=True,
            overwrite=True,
            quiet=True,
            unsafe=False,
        )
    except MemoryError:
        said = {"failed": "it needs more memory than a template may"}
    except Exception as error:  # noqa: BLE001 - whatever copier says is told to the user
        said = _failure(error)
    json.dump(said, sys.stdout)
    return 0


def _failure(error: Exception) -> dict[str, str]:
    text = str(error) or type(error).__name__
    if found := _INVALID.fullmatch(text):
        return {"question": found[1], "failed": found[2]}
    if found := _REQUIRED.fullmatch(text):
        return {"needed": found[1], "failed": text}
    return {"failed": text}


if __name__ == "__main__":
    sys.exit(main())
