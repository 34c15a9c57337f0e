"""Writing one report in several forms."""

from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.output_files import Output, OutputFile
from rackwright.errors import Location, RackwrightError, UsageError
from rackwright.files import draft
from rackwright.harmless import ANNOTATIONS, COLOURS, harmless
from rackwright.report.formats import (
    DOCUMENTED,
    FOR_FORGES,
    FORMATS,
    HARMLESS,
    Context,
    renderer,
)
from rackwright.streams import show

if TYPE_CHECKING:
    from rackwright.policy.api import Policy
    from rackwright.policy.engine import Report

PDF = "pdf"
PAGES = frozenset({"html", PDF})
"""Forms with drawings, which are made of the plan as well and go to a file alone."""
_SHOWN = frozenset({"text", "md"})
_LONGEST_DELTA = 1_000_000
_LINK = re.compile(r"https://[A-Za-z0-9.:-]+/[A-Za-z0-9._/-]+")


REPORTS = OutputFile(
    {
        **dict.fromkeys(FORMATS, ()),
        "text": (".txt",),
        "json": (".json",),
        "sarif": (".sarif",),
        "junit": (".xml",),
        "md": (".md",),
        "patch": (".patch", ".diff"),
        "html": (".html", ".htm"),
        PDF: (".pdf",),
    },
    stdout=True,
)
"""Files that a report can be written to."""


def check_outputs(outputs: Sequence[Output], form: str) -> None:
    """Raise if an output cannot be written beside stdout, which carries ``form``.

    Raises:
        UsageError: it is a page on stdout, or stdout would no longer be readable as ``form``.
        ExternalToolError: it is a PDF, and there is no browser that prints.
    """
    for output in outputs:
        if output.form in PAGES and output.path is None:
            hint = f"write '{output.form}=FILE'"
            raise UsageError("the page is a file of its own", hint=hint)
        if output.form == PDF:
            from rackwright.page.pdf import find_browser

            find_browser()  # or the verdict of a large site would be lost
        if output.path is None and form != "text":
            words = f"'{output.form}=-' would mix with the {form} on stdout"
            raise UsageError(words, hint="name a file")


def refuse_replaced_inputs(arguments: argparse.Namespace, *, layers: bool) -> None:
    """Refuse an output that would replace the blueprint of the command.

    Args:
        arguments: of the command.
        layers: also refuse one that would replace a layer of it, which some commands write.

    Raises:
        UsageError: a file is both.
    """
    given = getattr(arguments, "output", None)
    blueprint = getattr(arguments, "blueprint", None)
    if not given or not isinstance(blueprint, Path):
        return
    outputs = given if isinstance(given, list) else [given]
    paths = [one.path if isinstance(one, Output) else one for one in outputs]
    files = [path for path in paths if path is not None]
    inputs: list[Path] = [blueprint]
    if layers and any(file.is_file() for file in files):
        from rackwright.reading.loader import layers_of

        inputs += [*(getattr(arguments, "layer", None) or ()), *layers_of(blueprint)]
    read = {os.path.realpath(path) for path in inputs}
    for file in files:
        if file.is_file() and os.path.realpath(file) in read:
            hint = "name another file"
            raise UsageError(f"'{file}' is read by this command, and would be lost", hint=hint)


def read_delta(path: Path) -> str:
    """Return the Markdown in ``path``; more than a comment can hold is not read.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_DELTA)
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None


def write_report(
    report: Report,
    form: str,
    outputs: Sequence[Output],
    *,
    blueprint: Path,
    policies: Sequence[type[Policy]] = (),
    delta: str | None = None,
    verbose: bool = False,
    show_waived: bool = False,
    quiet: bool = False,
    colour: bool = False,
    page: Callable[[], str] | None = None,
) -> None:
    """Write ``outputs``, then the report on stdout in ``form``; ``page`` makes the page.

    Raises:
        UsageError: a file is named twice or cannot be written.
        ExternalToolError: a browser printed no PDF.
    """
    files = [output.path.resolve() for output in outputs if output.path]
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"two outputs go to '{file}'")
    forms = {form, *(output.form for output in outputs)}
    context = Context(
        file=str(blueprint),
        delta=delta,
        link=run_link(os.environ),
        verbose=verbose,
        show_waived=show_waived,
        quiet=quiet,
        colour=colour,
    )
    if forms & DOCUMENTED:
        from rackwright.report.rules import read_rules

        context = replace(context, rules=read_rules(policies))
    main = _render(report, form, context)
    after: list[tuple[Output, Iterable[str]]] = []
    shown = ""
    for output in outputs:
        parts: Iterable[str] | bytes
        if output.form in PAGES and page is not None:
            shown = shown or page()
            parts = _printed(shown) if output.form == PDF else [shown]
        else:
            parts = _render(report, output.form, replace(context, colour=False, quiet=False))
        if output.path:
            write_file(output.path, parts)
        elif not isinstance(parts, bytes):
            after.append((output, parts))
    for text in main:
        show(text, own_in(form, colour=colour), is_harmless=form in HARMLESS)
    for output, parts in after:
        for text in parts:
            show(text, own_in(output.form))


def _printed(page: str) -> bytes:
    from rackwright.page.pdf import print_page

    return print_page(page)


def write_failure(error: RackwrightError, outputs: Sequence[Output], *, blueprint: Path) -> None:
    """Say in the comment and in annotations why there is no report.

    The other forms are left out: an empty SARIF file would close every alert.
    """
    from rackwright.report.failure import failure_annotations, failure_markdown
    from rackwright.report.paths import own_path, relative_path

    cwd, root = _places(str(blueprint))

    def place(where: Location) -> Location:
        return replace(where, file=relative_path(where.file, root=root, cwd=cwd))

    file = own_path(str(blueprint), root=root, cwd=cwd)
    texts = {"md": failure_markdown, "github": failure_annotations}
    for output in outputs:
        if make := texts.get(output.form):
            text = harmless(make(error, file, place), own_in(output.form))
            if output.path:
                write_file(output.path, text)
            else:
                show(text, own_in(output.form))


def run_link(environment: Mapping[str, str]) -> str | None:
    """Return the address of the CI run that this is, by the variables that GitHub and GitLab set."""
    link = environment.get("CI_JOB_URL", "")
    if environment.get("GITHUB_ACTIONS") == "true":
        link = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format_map(
            defaultdict(str, environment)
        )
    return link if _LINK.fullmatch(link) else None


def _render(report: Report, form: str, context: Context) -> Iterable[str]:
    if form in FOR_FORGES:
        from rackwright.report.paths import own_path, relative_to

        cwd, root = _places(context.file)
        report = relative_to(report, root=root, cwd=cwd)
        context = replace(context, file=own_path(context.file, root=root, cwd=cwd))
    parts = renderer(form)(report, context)
    if form not in _SHOWN:
        return parts
    # Files of these forms are shown as well, by whatever prints them in a job.
    return [harmless(text, own_in(form, colour=context.colour)) for text in parts]


def own_in(form: str, *, colour: bool = False) -> re.Pattern[str] | None:
    """Return the pattern of the parts of a report of ``form`` that are ours, and meant to be obeyed."""
    if form == "github":
        return ANNOTATIONS
    return COLOURS if form == "text" and colour else None


def _places(file: str) -> tuple[Path, Path]:
    """Return the folder that names are from, and the top of the repository that holds ``file``."""
    from rackwright.report.paths import repository_root

    cwd = Path.cwd()
    # Path.resolve() raises where a link leads to itself.
    return cwd, repository_root(Path(os.path.realpath(cwd / file)).parent) or cwd.resolve()


def write_file(path: Path, text: str | bytes | Iterable[str]) -> None:
    """Write the file, of one text or of several, whole or not at all: another job may read it.

    Raises:
        UsageError: it cannot be written.
    """
    parts = [text] if isinstance(text, str) else text
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written, never replaced
            _write(path, parts)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft(path) as partial:
            _write(partial, parts)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{path}' cannot be written: {reason}") from None


def _write(path: Path, parts: bytes | Iterable[str]) -> None:
    if isinstance(parts, bytes):
        path.write_bytes(parts)
        return
    with path.open("w", encoding="utf-8") as file:
        file.writelines(parts)
