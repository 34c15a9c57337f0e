"""Commands and files of documents: read from fenced blocks, run in a folder, compared with what is shown.

A block of ``console`` has commands behind ``$ `` and what they print below them. ``# exit code N`` behind
a command says that it ends with N; else it ends with 0. ``…`` stands for any text in a line, and for any
lines where it stands alone. Blanks count as one. A block with ``title="NAME"`` is the file NAME; with
``after="LINE"`` or ``before="LINE"`` it is inserted below or above the first line of that file which is LINE.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r'^```(\w+)(?: title="([^"\n]+)")?(?: (after|before)=(["\'])([^\n]+?)\4)?\n(.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_EXIT_CODE = re.compile(r" +# exit code (\d+)$")
_REMARK = re.compile(r" {2,}# .*$")
ANYTHING = "…"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that the reader writes.

    Attributes:
        name: its path in the folder.
        text: what is in it, or what is inserted.
        side: ``after`` or ``before``, where the text is inserted; empty for a whole file.
        line: the line beside which it is inserted, without the blanks around it.
    """

    name: str
    text: str
    side: str = ""
    line: str = ""

    def write(self, folder: Path) -> None:
        """Write the file, or insert the text.

        Raises:
            AssertionError: the file has no such line.
        """
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not self.side:
            path.write_text(self.text, encoding="utf-8")
            return
        lines = path.read_text("utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.strip() == self.line]
        assert places, f"'{self.name}' has no line '{self.line}'"
        lines.insert(places[0] + (self.side == "after"), self.text)
        path.write_text("".join(lines), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class ShownCommand:
    """A command with what it prints.

    Attributes:
        line: of the shell.
        exit_code: that it ends with.
        shown: lines of its output, as the document has them.
    """

    line: str
    exit_code: int
    shown: tuple[str, ...]


def steps(text: str) -> Iterator[WrittenFile | ShownCommand]:
    """What a reader of the document ``text`` does, in order."""
    for language, name, side, _, line, body in _FENCE.findall(text):
        if name:
            yield WrittenFile(name, body, side, line)
        elif language == "console":
            yield from _commands(body)


def _commands(body: str) -> Iterator[ShownCommand]:
    for part in re.split(r"^\$ ", body.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        line, *shown = part.splitlines()
        code = _EXIT_CODE.search(line)
        words = _REMARK.sub("", line[: code.start()] if code else line)
        yield ShownCommand(words, int(code[1]) if code else 0, tuple(shown))


def follow(text: str, folder: Path, run: Callable[[str], tuple[int, str]]) -> int:
    """Do what the document ``text`` says in ``folder``; the number of commands that were run.

    Args:
        text: the document.
        folder: where its files are written.
        run: runs a line there; the exit code, and what it prints.

    Raises:
        AssertionError: a command ends otherwise, or prints something else, than the document says.
    """
    count = 0
    for step in steps(text):
        if isinstance(step, WrittenFile):
            step.write(folder)
            continue
        code, printed = run(step.line)
        assert code == step.exit_code, f"$ {step.line}\nended with {code}\n{printed}"
        missing = first_difference(step.shown, printed)
        assert missing is None, f"$ {step.line}\nno line like: {missing}\n{printed}"
        count += 1
    return count


def in_a_shell(line: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of a line that bash runs in ``folder``, and what it prints."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def reader_environment(home: Path) -> dict[str, str]:
    """Variables of a reader with an empty home folder, who has git and this Rackwright."""
    person = {"NAME": "Reader", "EMAIL": "reader@example.com"}
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "COLUMNS": "160",
        **{
            f"GIT_{who}_{word}": is_
            for who in ("AUTHOR", "COMMITTER")
            for word, is_ in person.items()
        },
    }


def first_difference(shown: tuple[str, ...], printed: str) -> str | None:
    """The first line of ``shown`` that ``printed`` does not have where it should; None where all are there."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    place, anywhere = 0, not shown
    for line in shown:
        if line.strip() == ANYTHING:
            anywhere = True
            continue
        parts = [" ".join(part.split()) for part in line.split(ANYTHING)]
        pattern = " ?.* ?".join(map(re.escape, parts))
        while place < len(lines) and not re.fullmatch(pattern, lines[place]):
            if not anywhere:
                return line
            place += 1
        if place == len(lines):
            return line
        place, anywhere = place + 1, False
    return None if anywhere or place == len(lines) else f"the end, but {lines[place]!r} follows"
