"""The one Jinja2 environment: sandboxed, strict about undefined names, and bounded.

A template is text with values, choices and loops. What could run for ever or fill the memory is not
part of it: no calls but ``range``, no macros, no other templates, no arithmetic on texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rackwright.errors import Location, RackwrightError

LARGEST_TEMPLATE = 1024 * 1024
"""Most bytes of a template."""
LARGEST_OUTPUT = 16 * 1024 * 1024
"""Most characters one template may produce."""
MOST_STEPS = 200_000
"""Most rounds of all loops of a template together."""

_FILTERS = frozenset(
    {"default", "first", "int", "join", "last", "length", "lower", "sort", "string", "trim"}
    | {"unique", "upper"}
)
_REFUSED: Mapping[type[nodes.Node], str] = {
    nodes.Macro: "a macro",
    nodes.CallBlock: "a macro",
    nodes.FilterBlock: "a filter around a block",
    nodes.AssignBlock: "an assigned block",
    nodes.Block: "a block",
    nodes.Include: "an included template",
    nodes.Import: "an imported template",
    nodes.FromImport: "an imported template",
    nodes.Extends: "an extended template",
    nodes.Concat: "the operator '~'",
}
_LOOKED_AT = (nodes.Call, nodes.Filter, nodes.Getattr, nodes.Getitem, nodes.Name, nodes.Pow)
"""What ``refuse_unbounded`` looks at."""
_TICK = "_rackwright_step"
"""Name of the function that counts rounds of loops; no template may use it."""


class TemplateError(RackwrightError):
    """A template cannot be rendered."""

    code = "template"


class _Environment(ImmutableSandboxedEnvironment):
    """Refuses the attributes that the sandbox calls unsafe, and what has no bounds."""

    intercepted_binops = frozenset({"**", "*", "+", "%"})

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        """Compute with small numbers only; a text or a list could be doubled too often.

        Raises:
            SecurityError: the operator is a power, a side is no number, or a number is too large.
        """
        if operator == "**":
            raise jinja2.exceptions.SecurityError("the power operator is not allowed")
        if not all(isinstance(side, (int, float)) for side in (left, right)):
            raise jinja2.exceptions.SecurityError(f"the operator '{operator}' is for numbers only")
        if max(abs(left), abs(right)) > 10**18:
            raise jinja2.exceptions.SecurityError("a number is too large")
        return super().call_binop(context, operator, left, right)

    def is_safe_callable(self, obj: Any) -> bool:
        """Call only what this environment offers; methods of values have no bounds."""
        return any(obj is known for known in self.globals.values())

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Return the template's tree, refused where it has what is not allowed, with its loops counted.

        Raises:
            TemplateSyntaxError: it is not valid, or has something that is not allowed.
        """
        tree = super()._parse(source, name, filename)
        for kind, what in _REFUSED.items():
            for found in tree.find_all(kind):
                raise jinja2.TemplateSyntaxError(f"{what} is not allowed", found.lineno)
        for named in tree.find_all(nodes.Name):
            if named.name == _TICK:
                raise jinja2.TemplateSyntaxError(f"the name '{_TICK}' is not allowed", named.lineno)
        for loop in tree.find_all(nodes.For):
            if loop.recursive:
                raise jinja2.TemplateSyntaxError("a recursive loop is not allowed", loop.lineno)
            step = nodes.Call(nodes.Name(_TICK, "load"), [], [], None, None)
            loop.body.insert(0, nodes.Output([step]).set_lineno(loop.lineno))
        return tree


def environment(*, autoescape: bool = False) -> jinja2.Environment:
    """Return the environment that every template is rendered in; it counts the steps of one rendering.

    Args:
        autoescape: values are text of a document of HTML, but for those that are markup already.
    """
    made = _Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=autoescape,
    )
    made.filters = {name: made.filters[name] for name in _FILTERS}
    made.globals = {"range": jinja2.sandbox.safe_range, _TICK: _counter()}
    return made


def _counter() -> Callable[[], str]:
    """Return a function that adds no text and fails when it is called too often."""
    steps = 0

    def step() -> str:
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            raise jinja2.exceptions.SecurityError(f"more than {MOST_STEPS} steps of loops")
        return ""

    return step


def render_file(path: Path, values: Mapping[str, Any], *, autoescape: bool = False) -> str:
    """Return the text that the template at ``path`` gives for ``values``.

    Args:
        path: of the template.
        values: by the names that it uses.
        autoescape: as for ``environment``.

    Raises:
        TemplateError: it cannot be read, a syntax error, an undefined name, an operation that is
            not allowed, or too much output.
    """
    try:
        return render_text(_source(path), path.name, values, autoescape=autoescape)
    except TemplateError as error:
        if error.location is None or error.location.file != path.name:
            raise
        place = Location(str(path), error.location.line, error.location.column)
        raise TemplateError(error.summary, location=place) from None


def render_text(
    source: str, name: str, values: Mapping[str, Any], *, autoescape: bool = False
) -> str:
    """Return the text that a template gives for ``values``; ``name`` is for errors.

    Raises:
        TemplateError: as ``render_file``.
    """
    try:
        template = environment(autoescape=autoescape).from_string(source)
        parts, size = [], 0
        for part in template.generate(**values):
            size += len(part)
            if size > LARGEST_OUTPUT:
                raise TemplateError(f"'{name}' produces more than {LARGEST_OUTPUT} characters")
            parts += [part] if part else []
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{error.message}", location=Location(name, error.lineno, 1)) from None
    except jinja2.UndefinedError as error:
        raise TemplateError(f"'{name}': {error.message}") from None
    except jinja2.TemplateError as error:
        raise TemplateError(f"'{name}': {error}") from None
    except RecursionError:
        raise TemplateError(f"'{name}' is nested too deeply") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateError(f"'{name}': {error}") from None
    except (MemoryError, SyntaxError):  # a compiler's own limits on nesting
        raise TemplateError(f"'{name}' is too complicated") from None
    return "".join(parts)


def refuse_unbounded(text: str, name: str) -> None:
    """Refuse a template that another environment will render, for what this one would refuse.

    What can be seen without values is looked at: how much text and how many steps it takes is not.

    Args:
        text: of the template.
        name: its file, for the error.

    Raises:
        TemplateError: a syntax error, a construct, a filter, a call or a name that is not allowed.
    """
    try:
        tree = environment().parse(text)
    except jinja2.TemplateSyntaxError as error:
        place = Location(name, error.lineno, 1)
        raise TemplateError(f"{error.message}", location=place) from None
    except (RecursionError, MemoryError, SyntaxError):
        raise TemplateError(f"'{name}' is nested too deeply") from None
    for found in tree.find_all(_LOOKED_AT):
        if what := _unbounded(found):
            place = Location(name, found.lineno, 1)
            raise TemplateError(f"{what} is not allowed", location=place)


def _unbounded(found: nodes.Node) -> str | None:
    """Return the part of a node that is not allowed; None if all of it is."""
    match found:
        case nodes.Call(node=nodes.Name(name=called)) if called in {"range", _TICK}:
            return None
        case nodes.Call():
            return "a call of anything but 'range'"
        case nodes.Pow():
            return "the power operator"
        case nodes.Filter(name=used) if used not in _FILTERS:
            return f"the filter '{used}'"
        case nodes.Getattr(attr=part) if part.startswith("_"):
            return f"the name '{part}'"
        case nodes.Getitem(arg=nodes.Const(value=str() as part)) if part.startswith("_"):
            return f"the name '{part}'"
        case nodes.Name(name=named) if named.startswith("_") and named != _TICK:
            return f"the name '{named}'"
        case _:
            return None


def _source(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_TEMPLATE + 1)
        text = raw.decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TemplateError(f"'{path}' cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise TemplateError(f"'{path.name}' is not UTF-8") from None
    if len(raw) > LARGEST_TEMPLATE:
        raise TemplateError(f"'{path.name}' is larger than {LARGEST_TEMPLATE} bytes")
    return text
