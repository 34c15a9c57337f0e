"""Blueprints from the built-in templates, as ``rackwright init`` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright.templates.making import BLUEPRINT, make_cluster, write_cluster
from rackwright.templates.questions import Answer
from rackwright.templates.source import Template, built_in_names, open_template, parse_source

__all__ = ["BLUEPRINT", "find_template", "list_templates", "write_blueprint"]


def list_templates() -> list[Template]:
    """Return every built-in blueprint template, by name."""
    return [find_template(name) for name in built_in_names()]


def find_template(name: str) -> Template:
    """Return the template at a source, most often the name of a built-in one.

    Raises:
        RackwrightError: there is none.
    """
    return open_template(parse_source(name))


def write_blueprint(template: Template, folder: Path, answers: Mapping[str, Answer]) -> list[Path]:
    """Return the files written to ``folder``, for the newest released policy set.

    Raises:
        RackwrightError: as ``make_cluster`` and ``write_cluster``.
    """
    from rackwright.policy.policy_sets import RELEASED

    return write_cluster(make_cluster(template, folder, answers, RELEASED), folder)
