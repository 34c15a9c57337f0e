"""Templates of a team, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ci_team import git
from rackwright.templates.cases import read_cases
from rackwright.templates.questions import Answer
from rackwright.templates.source import Template

COPIER = """\
_description: a room
name:
  help: name of the cluster
  default: atlas
count:
  help: racks
  type: int
  default: 2
  validator: "{% if count < 1 or count > 40 %}from 1 to 40{% endif %}"
feeds:
  help: feeds of a rack
  type: int
  default: 3
  choices: [2, 3]
"""
TEXT = """\
name: {{ name }}
owner: team@example.com
policy_set: "{{ policy_set }}"
racks: {{ count }}
# feeds
{% for n in range(feeds) %}
feed-{{ n }}: true
{% endfor %}
# end
"""
V1: Mapping[str, str] = {
    "copier.yml": COPIER,
    "room.yaml.j2": TEXT,
    "notes.txt": "as it is {{ x }}\n",
}


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """``folder``, which holds the files then."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def tag_files(repository: Path, tag: str, files: Mapping[str, str]) -> str:
    """The URL of a git repository whose tag names a commit with these files."""
    if not (repository / ".git").exists():
        repository.mkdir(parents=True, exist_ok=True)
        git(repository, "init", "--quiet", "--initial-branch=main")
    write_files(repository, files)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", f"--message={tag}")
    git(repository, "tag", tag)
    return f"git+file://{repository}"


def example_answers(template: Template) -> Mapping[str, Answer]:
    """The answers of the first case of a template's test."""
    return next(iter(read_cases(template).values()))
