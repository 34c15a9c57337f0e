"""Answers to the questions of a template: conditions, defaults and validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.templates.questions import (
    Answer,
    AnswerError,
    Question,
    checked_answer,
    typed_answer,
)
from rackwright.templating import TemplateError, render_text

_NO = frozenset({"", "0", "false", "no", "none"})


class Answering:
    """Answers to the questions of one template, in the order of the questions.

    Args:
        questions: questions by name.
        given: answers of the user.
        offered: additional values that questions may use.
    """

    def __init__(
        self,
        questions: Mapping[str, Question],
        given: Mapping[str, Answer],
        offered: Mapping[str, str],
    ) -> None:
        self._questions, self._given = questions, given
        self.values: dict[str, Any] = dict(offered)
        """Values for the rendering of the template's files."""
        self.answers: dict[str, Answer] = {}
        """Typed answers to the questions whose condition is true."""

    def is_asked(self, name: str) -> bool:
        """Return True if the condition of a question is true for the previous answers."""
        when = self._questions[name].when
        if isinstance(when, bool):
            return when
        return self._text(name, when).strip().lower() not in _NO

    def default(self, name: str) -> Answer | None:
        """Return the default of a question; None if an answer is required."""
        question = self._questions[name]
        if isinstance(question.default, str):
            return typed_answer(name, question.type, self._text(name, question.default))
        return question.default

    def take(self, name: str, answer: Answer) -> None:
        """Store an answer after its validation.

        Raises:
            AnswerError: it has the wrong type, is no choice, or the validator of the question
                refuses it.
        """
        question = self._questions[name]
        value = checked_answer(name, question, answer)
        self.values[name] = value
        problem = self._text(name, question.validator).strip() if question.validator else ""
        if problem:
            del self.values[name]
            text = f"the answer to '{visible(name)}' is refused: {visible(problem)}"
            raise AnswerError(name, text)
        self.answers[name] = value

    def take_all(self) -> None:
        """Store the given answers, and the defaults of the other questions.

        Raises:
            AnswerError: an answer is refused.
            UsageError: a question has neither answer nor default.
            TemplateError: a text of a question cannot be rendered.
        """
        missing: list[str] = []
        for name in self._questions:
            try:
                if not self._take_next(name):
                    missing.append(name)
            except TemplateError:
                if not missing:  # after a missing answer, later failures may only follow from it
                    raise
        if missing:
            named = f"an answer to '{missing[0]}'"
            if len(missing) > 1:
                named = f"answers to: {', '.join(missing)}"
            asked = (f"--set {name}=…  {self._questions[name].help}" for name in missing)
            raise UsageError(
                f"the template needs {named}",
                hint="\n".join(
                    ("with --set, or in a file that '--questions FILE' writes:", *asked)
                ),
            )

    def _take_next(self, name: str) -> bool:
        """Store the answer to the next question; return False if it has neither answer nor default."""
        if not self.is_asked(name):
            unasked = self.default(name)
            if unasked is not None:
                self.values[name] = unasked
            return True
        answer = self._given.get(name)
        answer = self.default(name) if answer is None else answer
        if answer is None:
            return False
        self.take(name, answer)
        return True

    def _text(self, name: str, text: str) -> str:
        return render_text(text, f"the question '{name}'", self.values)
