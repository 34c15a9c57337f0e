"""The begin of a team's own template, made of a blueprint of hers or of a small room."""

from __future__ import annotations

import re
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.reading.yaml_reader import read_raw
from rackwright.render.blueprints import find_template
from rackwright.templates.making import BLUEPRINT
from rackwright.templates.questions import MANIFEST, SUFFIX
from rackwright.templates.rendering import READ_ME, TEST_FILE

_SMALL_ROOM = "lab"
_VALUES = (
    (re.compile(r"(?m)^name:[ ]*([A-Za-z0-9-]+)[ ]*$"), "name: {{ name }}"),
    (re.compile(r"(?m)^policy_set:.*$"), 'policy_set: "{{ policy_set }}"'),
    (
        re.compile(r"(?m)^( +)catalogue_digest:[ ]*[\"']?sha256:[0-9a-f]{64}[\"']?[ ]*$"),
        r"\1catalogue_digest: {{ catalogue_digest }}",
    ),
)
"""Lines of a blueprint that differ from cluster to cluster, and what is put for them."""
_MARKS = re.compile(r"\{\{|\{%|\{#")

_MANIFEST = """\
# What the template asks: docs/templates.md says what a question may have.
_description: {description}
name:
  help: name of the cluster
  default: {name}
  validator: "{{% if name != name | lower %}}small letters, digits and '-'{{% endif %}}"
"""
_CASES = """\
# Answers that 'rackwright template test' makes clusters with. A number that nobody has published is a question
# without a default; answer it here with an example, and say 'example' in its source.
cases:
  small:
    name: {name}
"""
_READ_ME = """\
# {title}

A template of blueprints. `rackwright template test .` makes a cluster with each of the answers in `template-test.yaml`,
judges it and renders its files. `rackwright init FOLDER --template PATH` makes one to keep.
"""


def write_template(folder: Path, blueprint: Path | None) -> list[Path]:
    """Return the files of a new template in ``folder``.

    Args:
        folder: to write to; nothing that exists is overwritten.
        blueprint: what it is made of; None is a small room.

    Raises:
        UsageError: a file exists or cannot be written, or the blueprint is no text.
        SpecErrors: the blueprint cannot be read.
    """
    if blueprint is None:
        text = find_template(_SMALL_ROOM).files[f"{BLUEPRINT}{SUFFIX}"].decode("utf-8")
        name = "room"
    else:
        text, name = template_of(_text(blueprint))
    title = folder.resolve().name
    files = {
        MANIFEST: _MANIFEST.format(description=f"what {title} is", name=name),
        f"{BLUEPRINT}{SUFFIX}": text,
        TEST_FILE: _CASES.format(name=name),
        READ_ME: _READ_ME.format(title=title),
    }
    paths = {folder / name: content for name, content in files.items()}
    for path in paths:
        if path.exists() or path.is_symlink():
            raise UsageError(f"'{path}' exists", hint="choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in paths.items():
            path.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{error.filename}' cannot be written: {reason}") from None
    return list(paths)


def template_of(text: str) -> tuple[str, str]:
    """Return a blueprint as a template that gives it again, and its name.

    Name, policy set and digest of the catalogue become values; what Jinja would read stays text.
    """
    named = _VALUES[0][0].search(text)
    escaped = _MARKS.sub(lambda mark: "{{ '" + mark[0] + "' }}", text)
    for pattern, value in _VALUES:
        escaped = pattern.sub(value, escaped, count=1)
    return escaped, named[1] if named else "cluster"


def _text(blueprint: Path) -> str:
    try:
        return read_raw(blueprint).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"'{blueprint}' is not UTF-8") from None
