"""Files that a template makes, and what it does not get to do."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rackwright.errors import RackwrightError, UsageError
from rackwright.templates import rendering
from rackwright.templates.questions import Answer, AnswerError, read_manifest
from rackwright.templates.rendering import Rendered, render_template
from template_support import COPIER, V1

OFFERED = {"policy_set": "0.3"}


def render(files: Mapping[str, str], answers: Mapping[str, Answer] | None = None) -> Rendered:
    raw = {name: text.encode() for name, text in files.items()}
    return render_template(raw, read_manifest(raw, "t"), answers or {}, OFFERED)


def test_files_are_rendered_or_copied_and_answers_are_typed() -> None:
    made = render(V1, {"feeds": 2})
    assert made.files == {
        "notes.txt": "as it is {{ x }}\n",
        "room.yaml": (
            'name: atlas\nowner: team@example.com\npolicy_set: "0.3"\nracks: 2\n# feeds\n'
            "feed-0: true\nfeed-1: true\n# end\n"
        ),
    }
    assert made.answers == {"name": "atlas", "count": 2, "feeds": 2}


def test_a_default_may_follow_from_an_answer_and_a_question_from_another() -> None:
    text = (
        "name: {help: a}\nzone: {help: b, default: '{{ name }}.internal'}\n"
        "more: {help: c, type: bool, default: false}\n"
        "size: {help: d, type: int, default: 5, when: '{{ more }}'}\n"
    )
    files = {"copier.yml": text, "x.j2": "{{ zone }}{% if more %} {{ size }}{% endif %}."}
    assert render(files, {"name": "a"}).files == {"x": "a.internal."}
    assert render(files, {"name": "a", "more": True, "size": 7}).files == {"x": "a.internal 7."}


def test_a_question_that_is_asked_and_not_answered_is_named_with_what_it_asks() -> None:
    text = (
        "more: {help: a, type: bool, default: true}\nsize: {help: how large, when: '{{ more }}'}\n"
    )
    with pytest.raises(UsageError) as caught:
        render({"copier.yml": text, "x.j2": "{{ size }}"})
    assert caught.value.summary == "the template needs an answer to 'size'"
    assert caught.value.hint is not None
    assert caught.value.hint.splitlines()[1:] == ["--set size=…  how large"]
    assert render({"copier.yml": text, "x.j2": "."}, {"more": False}).files == {"x": "."}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"count": 41}, "the answer to 'count' is refused: from 1 to 40"),
        ({"feeds": 4}, "the answer to 'feeds' is refused"),
    ],
)
def test_a_validator_and_choices_refuse_in_words(answers: dict[str, Answer], words: str) -> None:
    with pytest.raises(AnswerError, match=words) as caught:
        render(V1, answers)
    assert [caught.value.question] == list(answers)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ nobody }}", "'nobody' is undefined"),
        ("{{ _copier_conf.os }}", "'_copier_conf' is not allowed"),
        ("{{ _copier_python }}", "'_copier_python' is not allowed"),
        ("{{ ().__class__ }}", "'__class__' is not allowed"),
        ("{{ name['__class__'] }}", "'__class__' is not allowed"),
        ("{{ name | map(attribute='__class__') }}", "the filter 'map' is not allowed"),
        ("{{ name | attr('__class__') }}", "the filter 'attr' is not allowed"),
        ("{% include '/etc/passwd' %}", "an included template is not allowed"),
        ("{% import 'os' as x %}", "an imported template is not allowed"),
        ("{{ lipsum(n=9) }}", "a call of anything but 'range'"),
        ("{{ pathjoin('..') }}", "a call of anything but 'range'"),
        ("{% yield x from y %}{% endyield %}", "unknown tag 'yield'"),
        ("{% set name = name %}{{ 'x' * 10000000000 }}", "for numbers only"),
        ("{{ 10 ** 10 }}", "the power operator is not allowed"),
    ],
)
def test_forbidden_construct_of_a_template_is_refused(text: str, words: str) -> None:
    files = {"copier.yml": COPIER, "x.yaml.j2": text}
    with pytest.raises(RackwrightError, match=words):
        render(files)


def test_a_template_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "SECONDS", 1)
    slow = "{% for a in range(99999) %}{{ range(99999) | sort | length }}{% endfor %}"
    with pytest.raises(RackwrightError, match="more memory or time"):
        render({"copier.yml": COPIER, "x.yaml.j2": slow})


def test_loops_without_end_are_given_up() -> None:
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(RackwrightError, match="more than 200000 steps of loops"):
        render({"copier.yml": COPIER, "x.yaml.j2": loops})


def test_a_text_that_is_no_utf_8_is_refused() -> None:
    raw = {"copier.yml": COPIER.encode(), "x.bin": b"\xff\xfe"}
    with pytest.raises(RackwrightError, match=r"'x\.bin' is not UTF-8"):
        render_template(raw, read_manifest(raw, "t"), {}, OFFERED)


def test_two_files_that_make_the_same_one_are_refused() -> None:
    with pytest.raises(RackwrightError, match="more than one file of the template makes 'x'"):
        render({"copier.yml": COPIER, "x": "", "x.j2": ""})


def test_programs_of_the_user_are_not_in_reach(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.mktemp("home")
    program = home / "git"
    program.write_text(f"#!/bin/sh\ntouch {home / 'called'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home))
    made = render({**V1, "own.txt": "only this test has it\n"})
    assert made.answers["name"] == "atlas"
    assert not (home / "called").exists()


def test_file_that_renders_to_nothing_is_left_out() -> None:
    files = {"copier.yml": COPIER, "x": "", "y.j2": "{% if feeds == 9 %}\nnine\n{% endif %}\n"}
    assert render(files).files == {"x": ""}
