"""The forms that a report can take, by name. Each is a pure function; none is loaded unasked."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rackwright.policy.engine import Report
    from rackwright.report.rules import RuleText


@dataclass(frozen=True)
class Context:
    """Settings that a format may need beside the report.

    Attributes:
        file: the blueprint; findings without a position of their own are put there.
        rules: documentation by policy id, for the forms of ``DOCUMENTED``.
        delta: the table of changed budgets, in Markdown, made by ``rackwright diff``.
        link: address of the CI run, where the whole report is kept.
        verbose: show what passes as well.
        show_waived: show what is waived as well.
        quiet: show what blocks alone, on a terminal.
        colour: use the colours of a terminal.
    """

    file: str = ""
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    delta: str | None = None
    link: str | None = None
    verbose: bool = False
    show_waived: bool = False
    quiet: bool = False
    colour: bool = False


Renderer = Callable[["Report", Context], Iterable[str]]
"""Makes the text of a report in one part or several; each ends with a line."""

_MODULES = {
    "text": "rackwright.report.text",
    "json": "rackwright.report.json",
    "sarif": "rackwright.report.ci.sarif",
    "junit": "rackwright.report.ci.junit",
    "gitlab": "rackwright.report.ci.gitlab",
    "github": "rackwright.report.ci.github",
    "md": "rackwright.report.markdown",
    "patch": "rackwright.report.patch",
}

FORMATS = tuple(_MODULES)
"""Names of the forms."""
FOR_FORGES = frozenset({"sarif", "gitlab", "github", "junit", "md", "patch"})
"""Forms whose positions are relative to the top of the repository."""
DOCUMENTED = frozenset({"sarif"})
"""Forms that carry the documentation of the rules."""
HARMLESS = frozenset({"json"})
"""Forms that are harmless to show as they are written; they may be large."""


def renderer(form: str) -> Renderer:
    """Return the function that writes a report in ``form``.

    Raises:
        KeyError: there is no such form.
    """
    module = importlib.import_module(_MODULES[form])
    render = getattr(module, f"render_{'markdown' if form == 'md' else form}")
    if form == "json":
        return lambda report, _: cast("Iterable[str]", render(report))
    if form == "text":
        return lambda report, context: [
            render(
                report,
                verbose=context.verbose,
                show_waived=context.show_waived,
                quiet=context.quiet,
                colour=context.colour,
            )
        ]
    return lambda report, context: [render(report, context)]
