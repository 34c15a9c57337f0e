"""Blueprint templates: what ``rackwright init`` makes a team's first files from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.model.base import Model
from rackwright.resources import bundled

BLUEPRINT = "blueprint.yaml"
"""The file of a template that is not a layer."""

_UNPINNED = f"sha256:{0:064}"
"""Stands for the catalogue's digest until the blueprint can be planned."""


class TemplateQuestion(Model):
    """A value that a template asks for."""

    description: str
    default: str


class TemplateManifest(Model):
    """The ``template.yaml`` of a blueprint template."""

    description: str
    answers: dict[str, TemplateQuestion] = {}


@dataclass(frozen=True)
class BlueprintTemplate:
    """A folder below ``templates/blueprints``."""

    name: str
    folder: Path
    manifest: TemplateManifest


def list_templates() -> list[BlueprintTemplate]:
    """Every built-in blueprint template, by name."""
    from rackwright.spec.loader import load

    folders = sorted(
        p.parent for p in (bundled("templates") / "blueprints").glob("*/template.yaml")
    )
    return [
        BlueprintTemplate(f.name, f, load(f / "template.yaml", TemplateManifest).value)
        for f in folders
    ]


def find_template(name: str) -> BlueprintTemplate:
    """The template called ``name``.

    Raises:
        UsageError: there is none.
    """
    templates = {template.name: template for template in list_templates()}
    if name not in templates:
        near = difflib.get_close_matches(name, templates, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(templates)}"
        raise UsageError(f"there is no blueprint template '{name}'", hint=hint)
    return templates[name]


def write_blueprint(
    template: BlueprintTemplate, folder: Path, answers: Mapping[str, str]
) -> list[Path]:
    """The files written to ``folder``; nothing that exists is overwritten.

    Beside its answers a template may use ``policy_set``, the newest released one, and
    ``catalogue_digest``, which pins what the catalogue says of the blueprint's products today.

    Raises:
        SpecErrors: the template makes no blueprint whose products can be pinned.
        UsageError: an answer that the template does not ask for, a file that exists or one that
            cannot be written.
    """
    from rackwright.policy.policy_sets import RELEASED
    from rackwright.templating import render_file

    unknown = sorted(set(answers) - set(template.manifest.answers))
    if unknown:
        asked = ", ".join(template.manifest.answers) or "nothing"
        raise UsageError(
            f"the template '{template.name}' does not ask for '{unknown[0]}'",
            hint=f"it asks for: {asked}",
        )
    values = {"policy_set": RELEASED, "catalogue_digest": _UNPINNED}
    values.update((key, answer.default) for key, answer in template.manifest.answers.items())
    values.update(answers)
    rendered = _pinned(
        {
            folder / source.name.removesuffix(".j2"): render_file(source, values)
            for source in sorted(template.folder.glob("*.j2"))
        },
        folder / BLUEPRINT,
    )
    for path in rendered:
        if path.exists():
            raise UsageError(f"'{path}' exists", hint="choose another folder, or remove the file")
    for path, text in rendered.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"'{path}' cannot be written: {reason}") from None
    return list(rendered)


def _pinned(rendered: Mapping[Path, str], blueprint: Path) -> dict[Path, str]:
    """The files with the digest of the catalogue in them, where one of them asks for it."""
    if not any(_UNPINNED in text for text in rendered.values()):
        return dict(rendered)
    from rackwright.plan.audit.catalogue_digest import catalogue_digest
    from rackwright.plan.load import plan_tree
    from rackwright.spec.loader import tree_of
    from rackwright.spec.yaml_reader import read_text

    tree = tree_of([read_text(rendered[blueprint], str(blueprint))])
    digest = catalogue_digest(plan_tree(tree).plan)
    return {path: text.replace(_UNPINNED, digest) for path, text in rendered.items()}
