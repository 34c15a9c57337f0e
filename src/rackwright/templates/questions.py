"""Questions of a template: the typed questions in its ``copier.yml``.

Copier also has settings with which a template runs commands, loads code or reads other files. They are rejected here,
regardless of the author of the template.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rackwright.errors import Location, SpecError, SpecErrors, UsageError
from rackwright.harmless import visible
from rackwright.model.base import Model
from rackwright.model.units import dimension_of
from rackwright.reading import cures
from rackwright.reading.loader import tree_of, validate_part
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.yaml_reader import read_bytes
from rackwright.templates.contents import TemplateContentError
from rackwright.templating import TemplateError, refuse_unbounded

MANIFEST = "copier.yml"
SUFFIX = ".j2"
"""Suffix of files that are rendered; other files are copied."""
LONGEST_ANSWER = 1_000
"""Maximum length of one answer, in characters."""
MOST_QUESTIONS = 200

Answer = str | int | float | bool

_RUNS = {
    "_tasks": "runs commands",
    "_migrations": "runs commands",
    "_jinja_extensions": "loads code",
    "_external_data": "reads files that are not the template's",
}
_QUESTION = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OURS = frozenset({"_description", "_example", "_min_copier_version"})


class AnswerError(UsageError, SpecError):
    """A refused answer to a question of a template, on the command line or in a file.

    Args:
        question: its name.
        summary: what is wrong.
        hint: how to fix it.
    """

    def __init__(self, question: str, summary: str, *, hint: str | None = None) -> None:
        super().__init__(summary, hint=hint)
        self.question = question


class Question(Model):
    """Question of a template."""

    type: Literal["str", "int", "float", "bool"] = "str"
    help: Annotated[str, Field(min_length=1, max_length=500)]
    """Text of the question, shown by ``init --list``."""
    default: Answer | None = None
    """Value without an answer; a text may use answers to earlier questions. The question must be answered if
    omitted."""
    unit: Annotated[str, Field(max_length=20)] | None = None
    """Unit of a number, which an answer may include."""
    choices: tuple[Answer, ...] | None = None
    """Allowed values. Any value of the type if omitted."""
    validator: Annotated[str, Field(max_length=2_000)] | None = None
    """Jinja expression that renders to the error of an invalid answer, and to nothing for a valid one."""
    when: Annotated[str, Field(max_length=500)] | bool = True
    """Condition of the question, which may use answers to earlier questions."""


class Manifest(Model):
    """Manifest of a template."""

    description: Annotated[str, Field(min_length=1, max_length=500)]
    questions: Mapping[str, Question]
    example: bool = False
    """True if every blueprint of the template is an example, whatever is answered."""


def read_manifest(files: Mapping[str, bytes], where: str) -> Manifest:
    """Return the manifest among the files of a template.

    Args:
        files: contents by name.
        where: name of the template in errors.

    Raises:
        TemplateContentError: there is no manifest.
        SpecErrors: the manifest is not valid, or has an unsupported setting.
    """
    if MANIFEST not in files:
        hint = "'rackwright template new' begins one"
        raise TemplateContentError(f"'{visible(where)}' has no '{MANIFEST}'", hint=hint)
    name = f"{where}/{MANIFEST}"
    tree = tree_of([read_bytes(files[MANIFEST], name)])
    data = tree.data
    if not isinstance(data, Mapping):
        raise SpecErrors([SpecError("a mapping of questions is needed", location=tree.locate(()))])
    errors: list[SpecError] = []
    questions: dict[str, Question] = {}
    for key, value in data.items():
        place = tree.locate((key,), key=True)
        if str(key).startswith("_"):
            errors += _refused_setting(str(key), place)
            continue
        if not _QUESTION.fullmatch(str(key)):
            text = f"'{visible(str(key))}' cannot be the name of a question"
            hint = "a small letter, then small letters, digits and '_'"
            errors.append(SpecError(text, hint=hint, location=place))
            continue
        if not isinstance(value, Mapping):
            hint = f"write '{key}: {{help: …, default: …}}'"
            errors.append(
                SpecError(f"the question '{key}' has no 'help'", hint=hint, location=place)
            )
            continue
        try:
            one = validate_part(tree, Question, value, (key,))
            _check_texts(one, name)
        except SpecErrors as error:
            errors += error.errors
        except TemplateError as error:
            errors.append(SpecError(error.summary, location=place))
        else:
            questions[key] = one
    if len(questions) > MOST_QUESTIONS:
        errors.append(SpecError(f"more than {MOST_QUESTIONS} questions", location=tree.locate(())))
    if errors:
        raise SpecErrors(errors)
    description = data.get("_description", "no description")
    return Manifest(
        description=str(description)[:500],
        questions=questions,
        example=data.get("_example") is True,
    )


def check_answers(
    manifest: Manifest, answers: Mapping[str, Answer], called: str
) -> dict[str, Answer]:
    """Return the answers converted to the types of their questions.

    Args:
        manifest: manifest of the template.
        answers: answers of a user, a file or the record of a cluster.
        called: name of the template in errors.

    Returns:
        Given answers by question.

    Raises:
        UsageError: the template does not ask for one of them.
        AnswerError: the first one that is refused.
    """
    typed: dict[str, Answer] = {}
    for name, value in answers.items():
        if name not in manifest.questions:
            asked = ", ".join(manifest.questions) or "nothing"
            near = did_you_mean(name, manifest.questions)
            raise UsageError(
                f"the template '{visible(called)}' does not ask for '{visible(name)}'",
                hint=near or f"it asks for: {asked}",
            )
        if isinstance(value, str) and (len(value) > LONGEST_ANSWER or not value.isprintable()):
            raise AnswerError(
                name,
                f"the answer to '{name}' must be printable text on one line of at most "
                f"{LONGEST_ANSWER:,} characters",
            )
        typed[name] = checked_answer(name, manifest.questions[name], value)
    return typed


def checked_answer(name: str, question: Question, value: Answer) -> Answer:
    """Return an answer in the type of its question, after comparison with the choices.

    Raises:
        AnswerError: it is of another type, or no choice.
    """
    typed = typed_answer(name, question.type, value, question.unit)
    if question.choices is None:
        return typed
    choices = [typed_answer(name, question.type, one) for one in question.choices]
    if typed not in choices:
        listed = ", ".join(map(str, choices))
        raise AnswerError(
            name, f"the answer to '{visible(name)}' is refused: choose one of {listed}"
        )
    return typed


def typed_answer(name: str, kind: str, value: Answer, unit: str | None = None) -> Answer:
    """Return an answer in the type of its question.

    Raises:
        AnswerError: it cannot be one.
    """
    given = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if kind == "str":
        return given
    text, hint = (given, None) if unit is None else _in_unit(given, unit, whole=kind == "int")
    if kind == "bool":
        said = {"true": True, "yes": True, "false": False, "no": False}.get(text.lower())
        if said is not None:
            return said
        wanted = "'true' or 'false'"
    elif kind == "int":
        if re.fullmatch(r"-?[0-9]{1,15}", text):
            return int(text)
        wanted = "a whole number"
    else:
        if re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", text):
            return float(text)
        wanted = "a number"
    wanted += f" in {unit}" if unit is not None else ""
    if kind != "bool":
        number: object = value if isinstance(value, float) else text
        cure = cures.of_unknown(text) or cures.of_variable(text)
        hint = cure or hint or cures.of_number(number, whole=kind == "int")
    raise AnswerError(
        name,
        f"the answer to '{name}' must be {wanted}, got '{visible(given)}'",
        hint=None if hint is None else visible(hint),
    )


def _in_unit(text: str, unit: str, *, whole: bool) -> tuple[str, str | None]:
    """Return the number of a quantity in the unit of its question, and a hint if it has none."""
    if own := re.fullmatch(rf"(.*\d)\s*{re.escape(unit)}", text):
        return own[1], None
    dimension = dimension_of(unit)
    if dimension is None or not re.search(r"\d\s*[^\s\d.,]", text):
        return text, None
    try:
        value = dimension.parse(text) / dimension.parse(f"1 {unit}")
    except ValueError as error:
        return text, str(error)
    # Division leaves rounding errors, which an answer of type int could not have.
    exact = f"{value:.9f}".rstrip("0").rstrip(".")
    if whole and "." in exact:
        return text, f"write '{value:.0f} {unit}'"
    return exact, None


def _refused_setting(key: str, place: Location) -> list[SpecError]:
    if key in _OURS:
        return []
    if key in _RUNS:
        text = f"'{key}' {_RUNS[key]}, which is not allowed in a template"
        return [SpecError(text, hint="remove it: templates are text", location=place)]
    hint = f"supported settings: {', '.join(sorted(_OURS))}"
    return [SpecError(f"the setting '{visible(key)}' is not supported", hint=hint, location=place)]


def _check_texts(question: Question, name: str) -> None:
    """Raise if a text of a question could be rendered without limits."""
    texts = [question.help, question.default, question.validator, question.when]
    for text in (*texts, *(question.choices or ())):
        if isinstance(text, str):
            refuse_unbounded(text, name)
