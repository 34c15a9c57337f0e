"""Scaffold of a new rule: files that work as they are, to be changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright import __version__
from rackwright.errors import UsageError
from rackwright.policy.packs.loader import builtin_pack, builtin_rules, load_packs, rule_files
from rackwright.policy.packs.manifest import NAME as MANIFEST
from rackwright.policy.policy_sets import next_set
from rackwright.resources import bundled

FIXTURE, SITE = "small", "lab1"
"""Blueprint that the examples of a team's new rule start from, and its site."""
BUILTIN_FIXTURE, BUILTIN_SITE = "air", "sjc1"
"""The same of a built-in rule."""

_PLACE = re.compile(r"([a-z][a-z0-9-]{0,30})/([A-Z]{2,8})-(\d{3})")
_TITLE = re.compile(r'[^"\\{}#\n\r\t]{3,100}')
_RESERVED = ("fixtures", "tests")
_LONGEST_SLUG = 40


def new_policy(pack: Path, place: str, title: str) -> list[Path]:
    """Write the files of a new rule and return their paths; existing files are never overwritten.

    Args:
        pack: folder of the pack; created, with a manifest and a fixture, if it does not exist. The
            built-in pack of a checkout takes rules with the ids of its families.
        place: family and id, like ``power/ACME-001``.
        title: one line that says what is true when the rule is kept.

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
    builtin = pack.resolve() == builtin_pack().resolve()
    if builtin:
        _check_family(family, prefix)
    _refuse_taken(pack, prefix, policy_id, builtin=builtin)
    stem = pack / family / f"{prefix.lower()}{number}_{slug}"
    values: Mapping[str, Any] = {
        "id": policy_id,
        "family": family,
        "title": title,
        "title_in_text": title[:1].lower() + title[1:],
        "class_name": "".join(word.capitalize() for word in f"rule_{slug}".split("_")),
        "fixture": BUILTIN_FIXTURE if builtin else FIXTURE,
        "site": BUILTIN_SITE if builtin else SITE,
        "since": next_set() if builtin else "1.0",
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
    if not builtin:
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


def _check_family(family: str, prefix: str) -> None:
    """Raise if the ids of a family would begin with two prefixes.

    Raises:
        UsageError: the family has another prefix, or the prefix another family.
    """
    prefixes = {policy.family: policy.id.partition("-")[0] for policy in builtin_rules()}
    if family in prefixes and prefixes[family] != prefix:
        raise UsageError(
            f"ids of the family '{family}' begin with '{prefixes[family]}-', not '{prefix}-'"
        )
    owner = next((name for name, other in prefixes.items() if other == prefix), family)
    if owner != family:
        raise UsageError(f"ids that begin with '{prefix}-' belong to the family '{owner}'")


def _refuse_taken(pack: Path, prefix: str, policy_id: str, *, builtin: bool) -> None:
    taken = {policy.id for policy in builtin_rules()}
    if not builtin:
        if prefix in {name.partition("-")[0] for name in taken}:
            raise UsageError(
                f"ids that begin with '{prefix}-' belong to the built-in policies",
                hint="choose a prefix of the team's own, like 'ACME'; a rule of the product goes "
                f"into '{builtin_pack()}' of a checkout",
            )
        if not pack.is_dir() or not rule_files(pack):
            return
        taken = {policy.id for policy in load_packs((pack,))}
    if policy_id in taken:
        raise UsageError(
            f"the policy id '{policy_id}' is used already", hint="take the next number"
        )
