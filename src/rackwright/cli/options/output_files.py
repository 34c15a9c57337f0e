"""``--output`` of every command that writes files: ``FORMAT=FILE``, or a file whose name has the format."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import UsageError

_WORD = re.compile(r"[a-z0-9.]+")
_PLAIN = "leave --output out to write to stdout"


@dataclass(frozen=True, slots=True)
class Output:
    """A format and the file that it goes to.

    Attributes:
        form: the format.
        path: the file; None is stdout, after the report itself.
        stated: False if neither the user nor the name of the file says the format.
    """

    form: str
    path: Path | None
    stated: bool = True


@dataclass(frozen=True, slots=True, eq=False)  # argparse needs a type with a hash
class OutputFile:
    """Parser of one ``--output``: ``FORMAT=FILE``, or a plain file with the format by its suffix.

    A file without a suffix gets the first format; so does a name with another suffix if the first format is a folder.

    Attributes:
        formats: suffixes of each format by its name; a format without one is written as ``FORMAT=FILE``.
        folder: format that is a folder of files; the first of ``formats``.
        stdout: ``FORMAT=-`` is stdout.
        hints: what to do instead, by a suffix that belongs to another command.
    """

    formats: Mapping[str, tuple[str, ...]]
    folder: str | None = None
    stdout: bool = False
    hints: Mapping[str, str] | None = None

    def __call__(self, text: str) -> Output:
        """Return the format and the file of an option's value.

        Raises:
            UsageError: it names no file, or no format of the command.
        """
        form, equals, name = text.partition("=")
        if not equals or not _WORD.fullmatch(form):
            return self._plain(text)
        if form not in self.formats or not name:
            raise UsageError(f"'{text}' is not FORMAT=FILE", hint=self._known())
        if name == "-":
            if not self.stdout:
                raise UsageError(f"'{text}' names no file", hint=_PLAIN)
            return Output(form, None)
        return Output(form, Path(name))

    def _plain(self, text: str) -> Output:
        path = Path(text)
        if text in self.formats:
            raise UsageError(f"'{text}' is not FORMAT=FILE", hint=f"write '{self._word(text)}'")
        if text == "-":
            hint = "write 'FORMAT=-'" if self.stdout else _PLAIN
            raise UsageError("'-' is not FORMAT=FILE", hint=hint)
        for form, suffixes in self.formats.items():
            if text.lower().endswith(suffixes):
                return Output(form, path)
        if path.suffix and self.folder is None:  # names of folders have dots, as in 'site-1.0'
            other = (self.hints or {}).get(path.suffix, "")
            raise UsageError(
                f"'{text}' is not FORMAT=FILE, and no format here ends in '{path.suffix}'",
                hint=other.format(path=path) or self._with_format(text),
            )
        return Output(next(iter(self.formats)), path, stated=False)

    def _with_format(self, text: str) -> str:
        first = next(iter(self.formats))
        return f"name the format, as in '{first}={text}'; {self._known()}"

    def _word(self, form: str) -> str:
        return f"{form}={'DIR' if form == self.folder else 'FILE'}"

    def _known(self) -> str:
        named = (
            f"{form} ({', '.join(suffixes)})" if suffixes else form
            for form, suffixes in self.formats.items()
        )
        return f"formats: {', '.join(named)}"


def add_output(parser: argparse.ArgumentParser, kind: OutputFile, text: str, **more: Any) -> None:
    """Add ``--output`` for files of the formats of ``kind``; ``text`` says what they hold."""
    parser.add_argument("--output", type=kind, metavar="[FORMAT=]FILE", help=text, **more)


def add_outputs(parser: argparse.ArgumentParser, kind: OutputFile, text: str) -> None:
    """Add a repeatable ``--output``, for files beside what stdout shows."""
    names = ", ".join(kind.formats)
    add_output(
        parser, kind, f"{text}, as {names}; repeatable", action="append", default=[]
    )  # fmt: skip


def add_output_folder(
    parser: argparse.ArgumentParser, text: str, *, required: bool = False
) -> None:
    """Add ``--output`` for a folder of files; ``text`` says which."""
    parser.add_argument("--output", type=Path, metavar="DIR", required=required, help=text)


def refuse_other_format(output: Output, wanted: str | None) -> None:
    """Raise if the file of ``output`` would hold another format than ``--json`` or ``--format`` asks for.

    Raises:
        UsageError: they contradict each other.
    """
    if wanted is None or not output.stated or output.form == wanted:
        return
    raise UsageError(
        f"'{output.path}' would hold {output.form}, not {wanted}",
        hint=f"leave out the format, or write '--output {wanted}=FILE'",
    )
