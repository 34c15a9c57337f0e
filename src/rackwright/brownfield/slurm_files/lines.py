"""Lines of Slurm's files, with those that they include, as ``slurm.conf(5)`` describes them.

Keys are written in any case, ``#`` begins a comment, and a backslash at the end of a line continues it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from rackwright.brownfield.records import MOST_HOSTS, refused
from rackwright.errors import Location
from rackwright.model.names import hostlist_terms
from rackwright.model.slurm_lines import Option

MOST_INCLUDED = 20
"""Files that one file may include, and those that they include."""
MOST_LINES = 100_000

_COMMENT = re.compile(r"(?<!\\)#.*")
_WORD = re.compile(r"""(?<![A-Za-z0-9_])([A-Za-z][A-Za-z0-9_]*)\s*\+?=\s*("(?:[^"\\]|\\.)*"|\S*)""")
_PLACEHOLDER = re.compile(
    r"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}|<%.{0,200}?%>|(?<!\$)\{[A-Za-z_]+\}|<[A-Za-z][\w .-]*>|@[A-Z_]+@|\b(REPLACE|CHANGE)_?(IT|ME)\b"
)
"""Values that templates leave open: Jinja, ERB, shells, people."""
_PART = re.compile(r"([^\[\],]*)(?:\[([0-9,-]+)\])?")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_CLUSTER = re.compile(r"(?im)^[ \t]*ClusterName[ \t]*=\s*([^\s#]+)")
_OPTION: TypeAdapter[str | int] = TypeAdapter(Option)


@dataclass(frozen=True, slots=True)
class SlurmLine:
    """The words of a line, by their names in small letters.

    Attributes:
        first: the name that it begins with.
        spelled: each name as it is written.
    """

    at: Location
    words: Mapping[str, str]
    first: str
    spelled: Mapping[str, str]


class SlurmLines:
    """The lines of a file with those that it includes."""

    def __init__(self, read: Callable[[Path], str], folder: Path) -> None:
        self._read, self._folder = read, folder
        self._included = 0
        self._cluster = ""

    def of(self, text: str, path: Path) -> Iterator[SlurmLine]:
        """Yield the lines of a file that hold something, each with its place.

        Raises:
            SpecErrors: one cannot be understood, or a file that is included cannot be read.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        if (cluster := _CLUSTER.search(text)) is not None:
            self._cluster = cluster[1].lower()
        for number, line in _joined(text):
            at = Location(str(path), number, len(line) - len(line.lstrip()) + 1)
            if number > MOST_LINES:
                raise refused(
                    f"the file has more than {MOST_LINES:,} lines",
                    at,
                    "name nodes in ranges, 'NodeName=n[0001-9999] …', and take comments out",
                )
            plain = line.replace("\\#", "#").strip()
            if not plain:
                continue
            if (placeholder := _PLACEHOLDER.search(plain)) is not None:
                raise refused(
                    f"'{placeholder[0]}' is a placeholder of a template, in place of a value",
                    at,
                    "fill the template in, and name the file that it makes",
                )
            word, *rest = plain.split(None, 1)
            if word.lower() == "include":
                yield from self._of_included("".join(rest), at)
                continue
            pairs = _WORD.findall(plain)
            if not pairs or _WORD.sub("", plain).strip():
                raise refused(
                    "this line is not 'Key=Value …'", at, "take it out, or put '#' before it"
                )
            words = {key.lower(): value.strip('"') for key, value in pairs}
            yield SlurmLine(at, words, pairs[0][0].lower(), {key.lower(): key for key, _ in pairs})

    def _of_included(self, name: str, at: Location) -> Iterator[SlurmLine]:
        self._included += 1
        if self._included > MOST_INCLUDED:
            raise refused(f"more than {MOST_INCLUDED} files are included", at, "put them into one")
        path = self._find(name.strip('"').replace("%c", self._cluster), at)
        yield from self.of(self._read(path), path)

    def _find(self, name: str, at: Location) -> Path:
        """Return the file that is included: where it is said to be below this folder, or its copy here.

        The end of an absolute path is looked for, since files are copied from ``/etc/slurm`` to be read.
        A path that leads out of the folder is not followed: the file may belong to another user.

        Raises:
            SpecErrors: there is none.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        parts = [part for part in PurePosixPath(name).parts if part != "/"]
        if parts and ".." not in parts:
            ends = range(len(parts)) if name.startswith("/") else range(1)
            for first in ends:
                path = self._folder.joinpath(*parts[first:])
                if path.is_file() or not name.startswith("/"):
                    return path
        raise refused(f"'{name}' is included, which is not beside this file", at,
                      f"copy it to '{self._folder / (parts[-1] if parts else 'NAME')}'")  # fmt: skip


def as_option(value: str) -> str | None:
    """Return a value as a line of Slurm's has it, in double quotes where a blank would end it; None if no blueprint takes it."""
    text = f'"{value}"' if re.search(r"\s", value) else value
    try:
        _OPTION.validate_python(text)
    except ValidationError:
        return None
    return text


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with what continues them and without comments, which Slurm cuts off first, and the number of each first one."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        bare = _COMMENT.sub("", line).rstrip()
        if bare.endswith("\\"):
            parts.append(bare[:-1])
            continue
        yield begun, " ".join([*parts, bare])
        begun, parts = 0, []
    if parts:
        yield begun, " ".join(parts)


def expand_nodes(text: str, most: int = MOST_HOSTS) -> tuple[str, ...]:
    """Return the names that a list of Slurm's stands for; names may have several brackets.

    Raises:
        ValueError: it is no list, or stands for more than ``most`` names.
    """
    names = expand_list(text, most)
    if len(set(names)) < len(names):
        raise ValueError(f"'{text[:60]}' names a node twice")
    return names


def expand_list(text: str, most: int = MOST_HOSTS) -> tuple[str, ...]:
    """Return the words that a list of Slurm's stands for, which may be equal: addresses, ports.

    Raises:
        ValueError: it is no list, or stands for more than ``most`` words.
    """
    names: list[str] = []
    terms = hostlist_terms(text)
    if not terms[-1]:
        raise ValueError(f"'{text[:60]}' is no list of nodes; write it like 'node[01-16]'")
    for part in terms:
        made = [""]
        at = 0
        while at < len(part):
            match = _PART.match(part, at)
            if match is None or match.end() == at:
                raise ValueError(f"'{text[:60]}' is no list of nodes; write it like 'node[01-16]'")
            at = match.end()
            numbers = [""] if match[2] is None else list(_numbers(match[2], most))
            if len(made) * len(numbers) + len(names) > most:
                raise ValueError(f"'{text[:60]}' stands for more than {most:,} nodes")
            made = [f"{one}{match[1]}{number}" for one in made for number in numbers]
        names += made
    return tuple(names)


def _numbers(text: str, most: int) -> Iterator[str]:
    for one in text.split(","):
        match = _RANGE.fullmatch(one)
        if match is None:
            raise ValueError(f"'{one}' is no range; write it like '01-16'")
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low or high - low >= most:
            raise ValueError(f"the range '{one}' runs backwards, or is of more than {most:,} nodes")
        yield from (f"{number:0{len(match[1])}d}" for number in range(low, high + 1))
