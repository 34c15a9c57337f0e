"""Record of the template in a cluster: answers and original files.

An update compares both the new version of the template and the files of the team with the original files. So it needs no
old version of the template, and does not depend on the version of copier that wrote the files.
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
"""Suffix of the original files, so that no search for blueprints finds them."""
_MOST_PLACES = 100_000
_HEAD = """\
# What 'rackwright init' and 'update' made these files from. Commit it with them; what lies beside it is
# the files as they came, which an update compares with.
"""


class Record(Model):
    """Content of ``answers.yml``."""

    template: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Source of the template without a tag; the path of a folder is relative to the cluster."""
    version: Annotated[str, Field(max_length=200)] | None = None
    """Tag of the template, or version of its package. None for a folder."""
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """Commit of the tag."""
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    """Digest of the files of the template."""
    offered: Mapping[str, Annotated[str, Field(max_length=1_000)]]
    """Additional values that the template used."""
    answers: Mapping[str, Answer]
    """Answers by question."""

    @property
    def label(self) -> str:
        """Label of the template, beside its source."""
        return label_of(self.version, self.digest)


@dataclass(frozen=True, slots=True)
class Kept:
    """Record with the original files by name."""

    record: Record
    base: Mapping[str, str]


def read_kept(folder: Path) -> Kept:
    """Read the record of the cluster in ``folder``.

    Raises:
        UsageError: the cluster has no record.
        SpecErrors: ``answers.yml`` is not valid.
        TemplateContentError: an original file cannot be read, or has a forbidden name.
    """
    path = folder / ANSWERS_FILE
    if not path.is_file() or path.is_symlink() or path.parent.is_symlink():
        raise UsageError(
            f"'{visible(str(folder))}' was not made from a template",
            hint=f"give the folder that contains '{ANSWERS_FILE}', which 'init' writes",
        )
    record = load(path, Record).value
    base = folder / _BASE
    found = dict(_files(base)) if base.is_dir() and not base.is_symlink() else {}
    files = check_files((name.removesuffix(_SUFFIX), content) for name, content in found.items())
    return Kept(record, {name: text_of(content, name) for name, content in files.items()})


def write_kept(folder: Path, kept: Kept) -> None:
    """Write the record and the original files, and remove those of the previous version.

    Raises:
        OSError: a file cannot be written.
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
    """Return the record as YAML, with values in JSON syntax."""
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
    """Yield the folders at and below ``folder`` with a record, without following links.

    Raises:
        UsageError: there are too many folders.
    """
    seen = 0
    for place, folders, _ in os.walk(folder):
        seen += 1 + len(folders)
        if seen > _MOST_PLACES:
            raise UsageError(
                f"'{visible(str(folder))}' contains more than {_MOST_PLACES:,} folders",
                hint="give the folder of the clusters",
            )
        if (Path(place) / ANSWERS_FILE).is_file():
            yield Path(place)
        # Assigned in place: os.walk then skips the removed folders.
        folders[:] = sorted(name for name in folders if not name.startswith("."))


def _files(base: Path) -> Iterator[tuple[str, bytes]]:
    yield from read_folder(base).items()


def _scalar(value: object) -> str:
    """Return a value as YAML 1.2: text in quotes, without escapes that only JSON has."""
    # JSON is valid YAML 1.2 except for \uXXXX surrogate pairs, which ensure_ascii would write.
    return json.dumps(value, ensure_ascii=False)
