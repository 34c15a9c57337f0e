"""Creation of the files of a cluster from a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import Location, SpecErrors, UsageError
from rackwright.files import missing, named, undone
from rackwright.templates.contents import RECORD_FOLDER
from rackwright.templates.questions import Answer, AnswerError, check_answers
from rackwright.templates.record import Kept, Record, write_kept
from rackwright.templates.rendering import render_template
from rackwright.templates.source import Template, recorded

if TYPE_CHECKING:
    from rackwright.plan.model import Plan
    from rackwright.reading.tree import Tree

BLUEPRINT = "blueprint.yaml"
"""Name of the blueprint among the files; the other YAML files are layers."""
SCHEMA = ".schemas/blueprint.schema.json"
"""Path of the schema for editors, relative to the blueprint."""
MODELINE = f"# yaml-language-server: $schema={SCHEMA}\n"
"""Comment that names the schema of a file for the YAML language server."""
UNPINNED = f"sha256:{0:064}"
"""Placeholder for the catalogue digest until the blueprint can be planned."""

_MODELINE = re.compile(r"^#\s+(yaml-language-server\s*:|\$schema:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Made:
    """Files of a cluster, and its record of the template."""

    files: Mapping[str, str]
    kept: Kept


def make_cluster(
    template: Template, folder: Path, answers: Mapping[str, Answer], policy_set: str
) -> Made:
    """Return the files of a cluster for ``folder``, without writing them.

    In addition to the answers, a template may use ``policy_set`` and ``catalogue_digest``, which pins the current catalogue
    facts of the products in the blueprint.

    Raises:
        RackwrightError: an answer is invalid, the template cannot be rendered, or its products cannot be pinned.
    """
    given = check_answers(template.manifest, answers, template.name)
    offered = {"policy_set": policy_set, "catalogue_digest": UNPINNED}
    rendered = render_template(template.files, template.manifest, given, offered)
    files = with_modeline(rendered.files)
    # Plan once: the plan validates the answers, and gives the digest of the products.
    plan = _plan_of_answers(files, folder, given)
    if any(UNPINNED in text for text in files.values()):
        digest = _digest(plan) if plan is not None else digest_of_products(files, folder)
        files = {name: text.replace(UNPINNED, digest) for name, text in files.items()}
        offered["catalogue_digest"] = digest
    record = Record(
        template=str(recorded(template.source, folder)),
        version=template.version,
        commit=template.commit,
        digest=template.digest,
        offered=offered,
        answers=rendered.answers,
    )
    return Made(files, Kept(record, files))


def with_modeline(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files with a modeline in the blueprint."""
    return {name: add_modeline(text) if name == BLUEPRINT else text for name, text in files.items()}


def add_modeline(text: str) -> str:
    """Return a blueprint with a modeline, which is added unless it has one."""
    return text if _MODELINE.search(text) else MODELINE + text


def digest_of_products(files: Mapping[str, str], folder: Path) -> str:
    """Return the catalogue digest of the products in the blueprint among ``files``.

    Raises:
        UsageError: there is no blueprint.
        SpecErrors: the blueprint cannot be planned.
    """
    if BLUEPRINT not in files:
        raise UsageError(f"the template has no '{BLUEPRINT}'")
    return _digest(_plan_of(_tree_of(files, folder), folder))


def _digest(plan: Plan) -> str:
    from rackwright.plan.audit.catalogue_digest import catalogue_digest

    return catalogue_digest(plan)


def _tree_of(files: Mapping[str, str], folder: Path) -> Tree:
    """Return the document of the blueprint among ``files``, with the layers of it that are among them.

    Raises:
        SpecErrors: it cannot be read.
    """
    from rackwright.reading.loader import take_layers, tree_of
    from rackwright.reading.yaml_reader import read_bytes

    path = folder / BLUEPRINT
    base = read_bytes(files[BLUEPRINT].encode(), str(path))
    names = {folder / name: text.encode() for name, text in files.items()}
    own = [read_bytes(names[one], str(one)) for one in take_layers(base, path) if one in names]
    return tree_of([base, *own])


def _plan_of(tree: Tree, folder: Path) -> Plan:
    """Return the plan of the blueprint in ``folder``.

    Raises:
        SpecErrors: it cannot be planned.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import plan_tree

    return plan_tree(tree, catalogue_for(folder / BLUEPRINT)).plan


def _plan_of_answers(
    files: Mapping[str, str], folder: Path, given: Mapping[str, Answer]
) -> Plan | None:
    """Return the plan of a blueprint from answers; None without answers, or if the template itself is wrong.

    Raises:
        SpecErrors: answers are invalid; each error names the field that the answer is written to.
    """
    if BLUEPRINT not in files or not given:
        return None
    texts: dict[Location | None, str] = {}
    try:
        tree = _tree_of(files, folder)
        texts.update((leaf.location, str(leaf.value)) for leaf in tree.root.leaves())
        return _plan_of(tree, folder)
    except SpecErrors as error:
        wrong: list[AnswerError] = []
        for mistake in error.errors:
            value = texts.get(mistake.location, "")
            said = {value, value.partition(" ")[0]}  # with and without its unit
            if names := [name for name, answer in given.items() if f"{answer}" in said]:
                text = f"the answer to '{names[0]}' is refused: {mistake.summary}"
                wrong.append(AnswerError(names[0], text, hint=mistake.hint))
        if wrong:
            raise SpecErrors(wrong) from None
        return None


def write_cluster(made: Made, folder: Path) -> list[Path]:
    """Write the files to ``folder``, the record last, and return their paths; after an error, remove them again.

    Existing files are never overwritten.

    Raises:
        UsageError: a file exists, or cannot be written.
    """
    paths = {folder / name: text for name, text in made.files.items()}
    for path in paths:
        if path.exists() or path.is_symlink():
            raise UsageError(f"'{path}' exists", hint="choose another folder, or remove the file")
    new: list[Path] = []
    record = missing(folder / RECORD_FOLDER)[-1:]
    try:
        with undone(new, missing(*(path.parent for path in paths))):
            for path, text in paths.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                # Mode 'x' fails if the file was created since the check above.
                with named(path), path.open("x", encoding="utf-8", newline="") as file:
                    new.append(path)
                    file.write(text)
            new += record
            write_kept(folder, made.kept)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        is_file = isinstance(error, (FileExistsError, NotADirectoryError))
        hint = "name a folder: there is a file of this name" if is_file else None
        raise UsageError(f"'{error.filename}' cannot be written: {reason}", hint=hint) from None
    return list(paths)
