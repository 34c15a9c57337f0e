"""Answers to the questions of a template: from a file, from options, or asked on a terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from rackwright.errors import RackwrightError
    from rackwright.templates.answering import Answering
    from rackwright.templates.questions import Answer, Question
    from rackwright.templates.source import Template

EXAMPLE = "example"
"""Question of a template that marks values as examples, and the answer that marks all of them."""


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that answer questions of a template."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="answer of the template, like name=atlas; repeatable",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="YAML file with answers; --set takes precedence",
    )


def answers_of(arguments: argparse.Namespace, template: Template | None) -> dict[str, Answer]:
    """Return the answers that a command was given; a key of the file without a value is none.

    Raises:
        SpecErrors: the file of answers cannot be read, answers another template, or has a wrong answer.
        UsageError: something given is no answer.
    """
    answers: dict[str, Answer] = {}
    if arguments.answers is not None:
        answers = _of_file(arguments.answers, template)
    named: set[str] = set()
    for pair in arguments.set:
        key, equals, value = pair.partition("=")
        if not equals:
            hint = f"write '--set {pair.partition(':')[0]}=VALUE'"
            raise UsageError(f"'{pair}' is not KEY=VALUE", hint=hint)
        if key in named:
            raise UsageError(f"'{key}' is set twice", hint="write '--set' once for each question")
        named.add(key)
        answers[key] = value
    return answers


def _of_file(path: Path, template: Template | None) -> dict[str, Answer]:
    """Return the answers in a file; a key without a value is none.

    Raises:
        SpecErrors: the file cannot be read, answers another template, or has a wrong answer; all of them.
        UsageError: it is no mapping.
    """
    from rackwright.errors import SpecError, SpecErrors
    from rackwright.harmless import visible
    from rackwright.reading.loader import load_tree
    from rackwright.templates.questions import checked_answer

    if path.suffix.lower() == ".csv":
        hint = "'--questions FILE' writes the questions to a file to fill in"
        raise UsageError(f"'{path}' is a table, not a file of answers", hint=hint)
    tree = load_tree(path)
    if not isinstance(tree.data, dict):
        raise UsageError(
            f"'{path}' is not a mapping of answers",
            hint="write one answer a line, like 'altitude: 30 m'",
        )
    answers: dict[str, Answer] = {}
    errors: list[SpecError] = []

    def refuse(key: str, text: str, hint: str | None, *, at_key: bool) -> None:
        place = tree.locate((key,), key=at_key)
        errors.append(SpecError(text, hint=hint, location=place))

    for key, value in tree.data.items():
        if template is not None and key not in template.manifest.questions:
            text = f"the template '{template.name}' does not ask for '{visible(str(key))}'"
            refuse(key, text, _other_template(tree.data, template, str(key)), at_key=True)
        elif value is not None and not isinstance(value, (str, int, float)):
            kind = "a mapping" if isinstance(value, dict) else "a list"
            text = f"the answer to '{visible(str(key))}' is {kind}"
            refuse(key, text, f"write one value: '{visible(str(key))}: …'", at_key=False)
        elif value is not None:
            answers[key] = value
            try:
                if template is not None:
                    checked_answer(key, template.manifest.questions[key], value)
            except UsageError as error:
                refuse(key, error.summary, error.hint, at_key=False)
    if errors:
        raise SpecErrors(errors)
    return answers


def placed(error: RackwrightError, arguments: argparse.Namespace) -> RackwrightError:
    """Return an error about answers with their places in the file of answers; any other as it is."""
    from rackwright.errors import SpecError, SpecErrors
    from rackwright.reading.loader import load_tree
    from rackwright.templates.questions import AnswerError

    if arguments.answers is None:
        return error
    tree = load_tree(arguments.answers)
    in_file = set(tree.data) - {pair.partition("=")[0] for pair in arguments.set}
    found: list[SpecError] = []
    for one in error.errors if isinstance(error, SpecErrors) else (error,):
        if not isinstance(one, AnswerError) or one.question not in in_file:
            return error
        place = tree.locate((one.question,))
        found.append(SpecError(one.summary, hint=one.hint, location=place))
    return SpecErrors(found)


def _other_template(data: Mapping[str, object], template: Template, key: str) -> str:
    """Return the hint for a key that a template does not ask for: another spelling, or another template."""
    from rackwright.reading.suggest import did_you_mean
    from rackwright.render.blueprints import list_templates

    if key in {"template", "_template"}:
        return f"name the template by '--template {data[key]}'"
    if isinstance(data[key], dict) and key == "answers":
        return "write the answers at the top of the file"
    known = {one.name: set(one.manifest.questions) for one in list_templates()}
    if others := [name for name, asked in known.items() if set(data) <= asked]:
        return f"these are answers to '{others[0]}'"
    questions = template.manifest.questions
    if near := did_you_mean(key, questions):
        return near
    if others := [name for name, asked in known.items() if key in asked]:
        return f"'{others[0]}' asks for it: is this the template that is meant?"
    return f"it asks for: {', '.join(questions)}"


def example_answers(template: Template, given: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return ``given`` with the answers of the first case of a template's test below them.

    Raises:
        UsageError: the template has no example answers.
    """
    from rackwright.templates.cases import read_cases

    first = next(iter(read_cases(template).values()))
    questions = template.manifest.questions
    if not first and any(one.default is None for one in questions.values()):
        raise UsageError(f"the template '{template.name}' has no example answers")
    marked = {EXAMPLE: "all"} if EXAMPLE in questions else {}
    return {**first, **marked, **given}


def question_sheet(template: Template) -> str:
    """Return the questions of a template as a file of answers that is to be filled in."""
    lines = [
        f"# Answers to the template '{template.name}'. An empty key keeps its default, behind '#'."
    ]
    for name, question in template.manifest.questions.items():
        lines += ["", f"# {_asked(question)}"]
        if question.when is not True:
            lines.append(f"# Only if {str(question.when).strip(' {}')}.")
        default = "" if question.default is None else f"  # {question.default}"
        lines.append(f"{name}:{default}")
    return "\n".join(lines) + "\n"


def ask(
    template: Template,
    given: Mapping[str, Answer],
    read: Callable[[str], str] = input,
    write: Callable[[str], object] = sys.stderr.write,
) -> dict[str, Answer]:
    """Return the answers to all questions of a template, asking for those that are not given.

    Raises:
        UsageError: a given answer is refused, or the input ends.
    """
    from rackwright.templates.answering import Answering

    answering = Answering(template.manifest.questions, given, {"policy_set": ""})
    for name, question in template.manifest.questions.items():
        if not answering.is_asked(name):
            unasked = answering.default(name)
            if unasked is not None:
                answering.values[name] = unasked
            continue
        if name in given:
            answering.take(name, given[name])
            continue
        _ask_one(answering, name, question, read, write)
    return answering.answers


def _ask_one(
    answering: Answering,
    name: str,
    question: Question,
    read: Callable[[str], str],
    write: Callable[[str], object],
) -> None:
    default = answering.default(name)
    write(f"{_asked(question)}\n")
    while True:
        try:
            text = read(f"  {name}{'' if default is None else f' [{default}]'}: ").strip()
        except EOFError:
            raise UsageError(
                "the input ended before all questions were answered; nothing is written",
                hint="'--questions FILE' writes them as a file to fill in",
            ) from None
        answer = text or default
        if answer is None:
            write("  this question has no default\n")
            continue
        try:
            answering.take(name, answer)
        except UsageError as error:
            write(f"  {error.summary}{f'; {error.hint}' if error.hint else ''}\n")
            continue
        return


def _asked(question: Question) -> str:
    choices = question.choices
    return f"{question.help} ({', '.join(map(str, choices))})" if choices else question.help
