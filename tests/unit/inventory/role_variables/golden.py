"""Files of roles as Ansible would write them, compared with those that were read by people."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from rackwright.resources import bundled

FOLDER = Path(__file__).parents[3] / "golden"


def render(template: str, variables: Mapping[str, Any]) -> str:
    """The text of a role's template, like ``nccl/templates/nccl.conf.j2``."""
    environment = jinja2.Environment(
        trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["comment"] = lambda text: f"#\n# {text}\n#"
    environment.filters["dict2items"] = lambda found: [
        {"key": key, "value": value} for key, value in found.items()
    ]
    text = (bundled("roles") / template).read_text(encoding="utf-8")
    return environment.from_string(text).render(variables, ansible_managed="Ansible managed")


def compare(name: str, text: str) -> None:
    """Fail unless the golden file ``name`` is ``text``; ``UPDATE_GOLDEN`` writes it anew."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
