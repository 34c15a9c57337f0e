"""The one Jinja2 environment: sandboxed, strict about undefined names, and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rackwright.errors import Location, RackwrightError

LARGEST_OUTPUT = 16 * 1024 * 1024
"""Most characters one template may produce."""


class TemplateError(RackwrightError):
    """A template cannot be rendered."""

    code = "template"


class _Environment(ImmutableSandboxedEnvironment):
    """Refuses the attributes that the sandbox calls unsafe, and long ranges."""

    intercepted_binops = frozenset({"**", "*"})

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        if operator == "**":
            raise jinja2.exceptions.SecurityError("the power operator is not allowed")
        for text, times in ((left, right), (right, left)):
            if isinstance(text, (str, list, tuple)) and isinstance(times, int) and times > 10_000:
                raise jinja2.exceptions.SecurityError(f"repeating {times} times is not allowed")
        return super().call_binop(context, operator, left, right)


def environment() -> jinja2.Environment:
    """The environment that every template is rendered in."""
    return _Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render_file(path: Path, values: Mapping[str, Any]) -> str:
    """The text that the template at ``path`` gives for ``values``.

    Raises:
        TemplateError: a syntax error, an undefined name, an unsafe operation or too much output.
    """
    try:
        template = environment().from_string(path.read_text(encoding="utf-8"))
        parts, size = [], 0
        for part in template.generate(**values):
            size += len(part)
            if size > LARGEST_OUTPUT:
                raise TemplateError(f"'{path.name}' produces more than {LARGEST_OUTPUT} characters")
            parts.append(part)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(
            f"{error.message}", location=Location(str(path), error.lineno, 1)
        ) from None
    except jinja2.UndefinedError as error:
        raise TemplateError(f"'{path.name}': {error.message}") from None
    except jinja2.exceptions.SecurityError as error:
        raise TemplateError(f"'{path.name}': {error}") from None
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise TemplateError(f"'{path.name}': {error}") from None
    return "".join(parts)
