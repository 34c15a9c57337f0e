"""A team's new rule: files that work as they are, to be changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright import __version__
from rackwright.errors import UsageError
from rackwright.policy.packs.loader import load_packs, rule_files
from rackwright.policy.packs.manifest import NAME as MANIFEST
from rackwright.resources import bundled

FIXTURE = "small"
"""Name of the blueprint that the examples of a new rule start from."""

_PLACE = re.compile(r"([a-z][a-z0-9-]{0,30})/([A-Z]{2,8})-(\d{3})")
_TITLE = re.compile(r'[^"\\{}#\n\r\t]{3,100}')
_RESERVED = ("fixtures", "tests")
_LONGEST_SLUG = 40


def new_policy(pack: Path, place: str, title: str) -> list[Path]:
    """The files written for a new rule; nothing that exists is overwritten.

    Args:
        pack: folder of the pack; made, with a manifest and a fixture, where it does not exist.
        place: family and id, like ``power/ACME-001``.
        title: one line that says what holds when the rule is kept.

    Raises:
        UsageError: the place or title is not valid, the id is taken, or a file exists.
        PolicyLoadError: the pack that is there cannot be loaded.
    """
    from rackwright.templating import render_file

    family, prefix, number = _parse(place)
    title = " ".join(title.split()).rstrip(".")
    words = re.sub(r"['’]", "", title.lower())
    slug = re.sub(r"[^a-z0-9]+", "_", words).strip("_")[:_LONGEST_SLUG].strip("_")
    if not _TITLE.fullmatch(title) or not title.isprintable() or not slug:
        raise UsageError(
            f"'{title}' cannot be a title",
            hint="3 to 100 characters on one line, without quotes, backslashes, braces and '#'",
        )
    policy_id = f"{prefix}-{number}"
    _refuse_taken(pack, prefix, policy_id)
    stem = pack / family / f"{prefix.lower()}{number}_{slug}"
    values: Mapping[str, Any] = {
        "id": policy_id,
        "family": family,
        "title": title,
        "title_in_text": title[:1].lower() + title[1:],
        "class_name": "".join(word.capitalize() for word in f"rule_{slug}".split("_")),
        "fixture": FIXTURE,
        "requires": ".".join(re.findall(r"\d+", __version__)[:2]),
    }
    files = {
        stem.with_suffix(".py"): "rule.py.j2",
        stem.with_suffix(".md"): "rule.md.j2",
        stem.with_suffix(".examples.yaml"): "rule.examples.yaml.j2",
    }
    for path in files:
        if path.exists():
            raise UsageError(f"'{path}' exists", hint="give the rule another id or title")
    shared = {
        pack / "fixtures" / f"{FIXTURE}.yaml": "fixture.yaml.j2",
        pack / MANIFEST: "pack.yaml.j2",
    }
    files |= {path: template for path, template in shared.items() if not path.exists()}
    templates = bundled("templates") / "scaffolds" / "policy"
    texts = {path: render_file(templates / name, values) for path, name in files.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _parse(place: str) -> tuple[str, str, str]:
    match = _PLACE.fullmatch(place)
    if match is None or match.group(1) in _RESERVED:
        raise UsageError(
            f"'{place}' is not FAMILY/ID", hint="write it like 'power/ACME-001', with three digits"
        )
    return match.group(1), match.group(2), match.group(3)


def _refuse_taken(pack: Path, prefix: str, policy_id: str) -> None:
    builtin = {policy.id.partition("-")[0] for policy in load_packs()}
    if prefix in builtin:
        raise UsageError(
            f"ids that begin with '{prefix}-' belong to the built-in policies",
            hint="choose a prefix of the team's own, like 'ACME'",
        )
    if not pack.is_dir() or not rule_files(pack):
        return
    if policy_id in {policy.id for policy in load_packs((pack,))}:
        raise UsageError(
            f"the policy id '{policy_id}' is used already", hint="take the next number"
        )
