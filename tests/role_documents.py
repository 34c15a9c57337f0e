"""The READMEs of roles, from the specifications of their arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

COLLECTION = "rackwright.cluster"
_MARKUP = re.compile(r"\b[CIOVBP]\(([^()]*)\)")
"""Ansible's marks for code, options, values and the like."""


@dataclass(frozen=True)
class RoleFacts:
    """What the files of a role say about it.

    Attributes:
        name: without the collection.
        specs: its entry points with their arguments, as in ``meta/argument_specs.yml``.
        galaxy: its ``galaxy_info``.
        tags: of its parts, in their order.
        defaults: its variables in ``defaults/main.yml``.
    """

    name: str
    specs: Mapping[str, Mapping[str, Any]]
    galaxy: Mapping[str, Any]
    tags: Sequence[str]
    defaults: Collection[str] = ()


def read_role(folder: Path) -> RoleFacts:
    """What the files in ``folder`` say about a role."""
    defaults = folder / "defaults/main.yml"
    first, *others = _read(folder / "tasks/main.yml")
    tagged = {"preflight"}.union(*(task["tags"] for task in others))
    return RoleFacts(
        name=folder.name,
        specs=_read(folder / "meta/argument_specs.yml")["argument_specs"],
        galaxy=_read(folder / "meta/main.yml")["galaxy_info"],
        tags=tuple(tag for tag in first["tags"] if tag in tagged),
        defaults=tuple(_read(defaults)) if defaults.is_file() else (),
    )


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def render_readme(role: RoleFacts) -> str:
    """The README of a role as Markdown."""
    return "\n".join(_lines(role)) + "\n"


def render_index(roles: Sequence[RoleFacts]) -> str:
    """A table of the roles as Markdown, by name."""
    rows = [
        f"| [{role.name}]({role.name}/README.md) | {_cell(_plain(_summary(role)))} |"
        for role in sorted(roles, key=lambda role: role.name)
    ]
    return "\n".join(["| Role | What it is for |", "|---|---|", *rows]) + "\n"


def _summary(role: RoleFacts) -> str:
    return str(role.specs["main"]["short_description"])


def _lines(role: RoleFacts) -> Iterator[str]:
    yield f"# {COLLECTION}.{role.name}"
    for entry, spec in role.specs.items():
        yield ""
        if entry != "main":
            yield f"## Entry point {entry}"
            yield ""
        yield f"{_plain(spec['short_description'])}."
        described = spec.get("description", ())
        for paragraph in [described] if isinstance(described, str) else described:
            yield ""
            yield _plain(paragraph)
        yield ""
        yield from _variables(spec.get("options") or {}, role.defaults)
    if role.tags:
        yield ""
        yield f"Tags: {', '.join(f'`{tag}`' for tag in role.tags)}."
    yield ""
    yield f"Written for {_platforms(role.galaxy)}, ansible-core {_least(role.galaxy)} or newer."
    yield "The index of the roles says where it was run."
    yield ""
    yield "Written from `meta/argument_specs.yml`; `make roles-docs` regenerates it."


def _variables(
    options: Mapping[str, Mapping[str, Any]], defaults: Collection[str]
) -> Iterator[str]:
    if not options:
        yield "It has no variables."
        return
    yield "| Variable | Type | Default | What it is |"
    yield "|---|---|---|---|"
    for name, option in _flatten(options):
        described = option.get("description", "")
        text = " ".join([described] if isinstance(described, str) else described)
        if "choices" in option:
            choices = ", ".join(f"`{choice}`" for choice in option["choices"])
            text = f"{text} One of {choices}."
        default = "see `defaults/main.yml`" if name in defaults else ""
        row = (f"`{name}`", _type(option), _default(option) or default, _plain(text))
        yield f"| {' | '.join(_cell(part) for part in row)} |"


def _flatten(
    options: Mapping[str, Mapping[str, Any]], prefix: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each variable, and below it the members of what it holds."""
    for name, option in options.items():
        title = f"{prefix}{name}"
        yield title, option
        between = "[]." if option.get("type") == "list" else "."
        yield from _flatten(option.get("options") or {}, f"{title}{between}")


def _type(option: Mapping[str, Any]) -> str:
    kind = str(option.get("type", "str"))
    return f"{kind} of {option['elements']}" if "elements" in option else kind


def _default(option: Mapping[str, Any]) -> str:
    if option.get("required"):
        return "required"
    if "default" not in option:
        return ""
    value = option["default"]
    written = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return f"`{written}`"


def _platforms(galaxy: Mapping[str, Any]) -> str:
    named = [f"{one['name']} ({', '.join(one['versions'])})" for one in galaxy["platforms"]]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def _least(galaxy: Mapping[str, Any]) -> str:
    return str(galaxy["min_ansible_version"])


def _plain(text: str) -> str:
    """Ansible's markup as Markdown, on one line."""
    return _MARKUP.sub(r"`\1`", " ".join(text.split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
