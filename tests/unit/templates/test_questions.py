"""What a template may ask, and which answers are taken."""

from __future__ import annotations

import pytest

from rackwright.errors import RackwrightError, SpecErrors, UsageError
from rackwright.templates.questions import Manifest, check_answers, read_manifest
from template_support import COPIER


def manifest(text: str = COPIER) -> Manifest:
    return read_manifest({"copier.yml": text.encode()}, "t")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("_tasks: [touch /tmp/x]", "runs commands"),
        ("_migrations: [{version: v1, before: [touch x]}]", "runs commands"),
        ("_jinja_extensions: [os.path]", "loads code"),
        ("_external_data: {x: /etc/passwd}", "reads files that are not the template's"),
        ("_subdirectory: ../..", "is not supported"),
        ("_preserve_symlinks: true", "is not supported"),
        ("_answers_file: /etc/x", "is not supported"),
        ("_envops: {undefined: os.system}", "is not supported"),
        ("_exclude: []", "is not supported"),
        ("_message_after_copy: run this", "is not supported"),
    ],
)
def test_a_setting_by_which_copier_would_do_more_is_refused_at_its_place(
    setting: str, reason: str
) -> None:
    with pytest.raises(SpecErrors) as caught:
        manifest(f"{COPIER}{setting}\n")
    (error,) = caught.value.errors
    assert reason in error.summary
    assert str(error.location) == "t/copier.yml:15:1"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('x: {help: a, validator: "{{ cycler.__init__ }}"}', "'__init__' is not allowed"),
        ("x: {help: a, default: \"{{ ''.__class__ }}\"}", "'__class__' is not allowed"),
        ('x: {help: a, when: "{{ _copier_conf.src_path }}"}', "'_copier_conf' is not allowed"),
        ("x: {help: \"{% include 'y' %}\"}", "an included template is not allowed"),
        ('x: {help: a, validator: "{{ x | to_json }}"}', "the filter 'to_json' is not allowed"),
        ('x: {help: a, validator: "{{ x.format(x) }}"}', "a call of anything but 'range'"),
        ("x: {help: a, type: yaml}", "'str', 'int', 'float' or 'bool'"),
        ("x: {help: a, secret: true}", "secret"),
        ("x: 3", "has no 'help'"),
        ("x: !include y", "the tag '!include' is not allowed"),
        ("X-Y: {help: a}", "cannot be the name of a question"),
    ],
)
def test_a_question_with_more_than_text_is_refused(question: str, words: str) -> None:
    with pytest.raises(SpecErrors, match=words):
        manifest(f"{question}\n")


def test_a_bomb_of_anchors_is_refused() -> None:
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(SpecErrors):
        manifest("\n".join(lines))


def test_two_documents_in_one_file_are_refused() -> None:
    with pytest.raises(SpecErrors):
        manifest(f"{COPIER}---\n_tasks: [touch x]\n")


def test_a_template_without_questions_is_told() -> None:
    with pytest.raises(RackwrightError, match=r"has no 'copier\.yml'"):
        read_manifest({"room.yaml.j2": b""}, "t")


def test_answers_get_the_type_that_is_asked_for() -> None:
    text = "i: {help: a, type: int}\nf: {help: a, type: float}\nb: {help: a, type: bool}\ns: {help: a}\n"
    given = {"i": "12", "f": "-1.5", "b": "no", "s": "08"}
    assert check_answers(manifest(text), given, "t") == {"i": 12, "f": -1.5, "b": False, "s": "08"}
    for name, value in (("i", "1.5"), ("i", "1e9"), ("f", "nan"), ("b", "1"), ("i", "9" * 16)):
        with pytest.raises(UsageError, match=f"the answer to '{name}' must be"):
            check_answers(manifest(text), {**given, name: value}, "t")


@pytest.mark.parametrize("value", ["a\nsites: []", "a\x1b[2J", "a\u202eb", "x" * 1_001, "a\x00"])
def test_an_answer_is_one_line_of_printable_text(value: str) -> None:
    with pytest.raises(UsageError, match="the answer to 'name' must be printable text"):
        check_answers(manifest(), {"name": value}, "t")


def test_answer_without_a_question_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        check_answers(manifest(), {"nmae": "x"}, "t")
    assert caught.value.hint == "did you mean 'name'?"
