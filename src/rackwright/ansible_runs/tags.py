"""Steps that a run is limited to: which there are, and whether they are everything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from rackwright.ansible_runs.run import PLAYBOOK
from rackwright.errors import UsageError
from rackwright.reading.suggest import did_you_mean
from rackwright.resources import bundled

EVERYTHING = "all"
ANSIBLES_OWN = frozenset({EVERYTHING, "tagged"})
"""What Ansible itself takes for any tag. Its ``never`` and ``untagged`` count as far as there are
such tasks, and they are in no role."""
IDLE = frozenset({"always", "preflight"})
"""Tags of tasks that only look."""


def parse_tags(text: str | None) -> tuple[str, ...]:
    """Return the tags of ``--tags``; empty where it was not given.

    Raises:
        UsageError: no task of the playbook has one of them, so that it would do nothing.
    """
    if text is None:
        return ()
    given = tuple(tag.strip() for tag in text.split(","))
    known = known_tags()
    listed = f"there are: {', '.join([*sorted(known), *sorted(ANSIBLES_OWN)])}"
    for tag in given:
        if tag not in known | ANSIBLES_OWN:
            near = did_you_mean(tag, known)
            raise UsageError(
                f"no task has the tag '{tag}' of --tags",
                hint=f"{near} {listed}" if near else listed,
            )
    return given


def is_everything(tags: Collection[str]) -> bool:
    """Return True if a run with ``tags`` does the same as one without."""
    return not tags or EVERYTHING in tags


def changes_nothing(tags: Collection[str]) -> bool:
    """Return True if a run with ``tags`` has only tasks that read."""
    return bool(tags) and IDLE.issuperset(tags)


@cache
def known_tags() -> frozenset[str]:
    """Return the tags that the playbook's plays and its roles' tasks have."""
    playbook, roles = bundled("stacks") / PLAYBOOK, bundled("roles")
    plays = yaml.safe_load(playbook.read_text(encoding="utf-8"))
    found = set(_tags(plays))
    for name in set(_roles(plays)):
        for path in sorted((roles / name / "tasks").glob("*.yml")):
            found.update(_tags(yaml.safe_load(path.read_text(encoding="utf-8"))))
    return frozenset(found)


def _tags(node: Any) -> Iterator[str]:
    """Yield the tags of plays, of tasks, and of blocks with what is in them."""
    for entry in _entries(node):
        tags = entry.get("tags", ())
        yield from (tag.strip() for tag in (tags.split(",") if isinstance(tags, str) else tags))


def _roles(plays: Any) -> Iterator[str]:
    for entry in _entries(plays):
        role = entry.get("role")
        for key in ("import_role", "include_role"):
            role = (entry.get(f"ansible.builtin.{key}") or {}).get("name", role)
        if role is not None:
            yield role


def _entries(node: Any) -> Iterator[Mapping[str, Any]]:
    for entry in node or ():
        if isinstance(entry, Mapping):
            yield entry
            for part in ("roles", "pre_tasks", "tasks", "post_tasks", "block", "rescue", "always"):
                yield from _entries(entry.get(part))
