"""Blueprints of tests that are not about the rules of the newest policy set."""

from __future__ import annotations

from pathlib import Path

from rackwright.policy.policy_sets import RELEASED

_NEWEST = f'policy_set: "{RELEASED}"\n'
_FIRST = 'policy_set: "0.1"\n'


def name_first_set(path: Path) -> Path:
    """``path``, after the blueprint in it names the first policy set.

    It names the newest before, as templates do, or none, as fixtures do. Later rules are previews
    then, so that a test may change hardware without stating all that they ask for.
    """
    text = path.read_text(encoding="utf-8")
    head = "apiVersion: rackwright/v1\n"
    assert text.count(_NEWEST) == 1 or "policy_set:" not in text
    assert text.count(head) == 1
    old, new = (_NEWEST, _FIRST) if _NEWEST in text else (head, head + _FIRST)
    text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path
