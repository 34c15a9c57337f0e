"""Record that a cluster keeps of its template: answers, and the original files.

The files as they came are what an update compares with: what the template changed is the difference
to them, what the team changed as well. So an update needs the old version of no template, and gives
the same whichever version of copier made the files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rackwright.errors import UsageError
from rackwright.files import write_changed
from rackwright.harmless import visible
from rackwright.model.base import Model
from rackwright.reading.loader import load
from rackwright.templates.contents import RECORD_FOLDER, check_files, label_of, read_folder, text_of
from rackwright.templates.questions import Answer

ANSWERS_FILE = f"{RECORD_FOLDER}/answers.yml"
_BASE = f"{RECORD_FOLDER}/base"
_SUFFIX = ".base"
"""Behind the names of kept files: what looks for blueprints takes none of them for one."""
_MOST_PLACES = 100_000
_HEAD = """\
# What 'rackwright init' and 'update' made these files from. Commit it with them; what lies beside it is
# the files as they came, which an update compares with.
"""


class Record(Model):
    """The file of answers."""

    template: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Where the template is from, without a tag; the path of a folder begins at the cluster."""
    version: Annotated[str, Field(max_length=200)] | None = None
    """Its tag, or the version of the package that brought it; a folder has none."""
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """That the tag named."""
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    """Of the template's files."""
    offered: Mapping[str, Annotated[str, Field(max_length=1_000)]]
    """What the template got beside the answers."""
    answers: Mapping[str, Answer]
    """To each of its questions."""

    @property
    def label(self) -> str:
        """Label of the template, beside its source."""
        return label_of(self.version, self.digest)


@dataclass(frozen=True, slots=True)
class Kept:
    """A record with the files as they came, by name."""

    record: Record
    base: Mapping[str, str]


def read_kept(folder: Path) -> Kept:
    """Read the record of the cluster in ``folder``.

    Raises:
        UsageError: it keeps nothing.
        SpecErrors: the file of answers is not valid.
        TemplateContentError: a kept file cannot be read, or has a name that none may have.
    """
    path = folder / ANSWERS_FILE
    if not path.is_file() or path.is_symlink() or path.parent.is_symlink():
        raise UsageError(
            f"'{visible(str(folder))}' was not made from a template",
            hint=f"'init' writes '{ANSWERS_FILE}', which tells; name the folder that has it",
        )
    record = load(path, Record).value
    base = folder / _BASE
    found = dict(_files(base)) if base.is_dir() and not base.is_symlink() else {}
    files = check_files((name.removesuffix(_SUFFIX), content) for name, content in found.items())
    return Kept(record, {name: text_of(content, name) for name, content in files.items()})


def write_kept(folder: Path, kept: Kept) -> None:
    """Write the record and the files as they came, and remove those that came before.

    Raises:
        OSError: something cannot be written.
    """
    base = folder / _BASE
    before = [name for name, _ in _files(base)] if base.is_dir() else []
    for name in before:
        if name.removesuffix(_SUFFIX) not in kept.base:
            (base / name).unlink()
    for name, text in kept.base.items():
        path = base / f"{name}{_SUFFIX}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_changed(path, text)
    (folder / RECORD_FOLDER).mkdir(parents=True, exist_ok=True)
    write_changed(folder / ANSWERS_FILE, _HEAD + record_text(kept.record))


def record_text(record: Record) -> str:
    """Return the record as YAML, each value as JSON writes it."""
    data = record.model_dump(mode="json", exclude_none=True)
    lines = []
    for key, value in data.items():
        if isinstance(value, dict):
            inside = [f"  {name}: {_scalar(one)}" for name, one in value.items()]
            lines += [f"{key}:", *inside] if inside else [f"{key}: {{}}"]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def find_clusters(folder: Path) -> Iterator[Path]:
    """Yield the folders at and below ``folder`` that keep a record, without following links.

    Raises:
        UsageError: there are too many folders to look at.
    """
    seen = 0
    for place, folders, _ in os.walk(folder):
        seen += 1 + len(folders)
        if seen > _MOST_PLACES:
            raise UsageError(
                f"'{visible(str(folder))}' holds more than {_MOST_PLACES:,} folders",
                hint="name the folder of the clusters",
            )
        if (Path(place) / ANSWERS_FILE).is_file():
            yield Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))


def _files(base: Path) -> Iterator[tuple[str, bytes]]:
    yield from read_folder(base).items()


def _scalar(value: object) -> str:
    """Return a value for YAML 1.2: a text in quotes, without escapes that only JSON knows."""
    return json.dumps(value, ensure_ascii=False)
