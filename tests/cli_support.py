"""The command line, run in the process of the test."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

from rackwright.cli import main
from rackwright.reading.versions import git_command


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> None:
        """It was bad input, told in words that no terminal obeys."""
        said = f"{self.code}\n{self.out[-2000:]}\n{self.err[-2000:]}"
        assert self.code == 2, said
        for word in words:
            assert word in self.err, said
        assert len(self.err) < 20_000
        self.harmless()

    def harmless(self) -> None:
        """No traceback, and nothing that steers a terminal or turns a line around."""
        for text in (self.out, self.err):
            assert "Traceback" not in text
            assert "rackwright failed" not in text
            assert all(line.isprintable() for line in text.split("\n"))


def run_here(folder: Path, *arguments: str) -> Ended:
    """How ``rackwright`` ends in ``folder``, run in this process as if in one of its own."""
    git_command._git_dir.cache_clear()  # kept while a process lives, and a command is one elsewhere
    written = io.BytesIO(), io.BytesIO()
    # As pipes are: what cannot be encoded cannot be written to stdout.
    out, err = (
        io.TextIOWrapper(raw, encoding="utf-8", errors=errors, newline="\n")
        for raw, errors in zip(written, ("strict", "backslashreplace"), strict=True)
    )
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(arguments)
    out.flush()
    err.flush()
    said = [raw.getvalue().decode() for raw in written]
    return Ended(code, *said)
