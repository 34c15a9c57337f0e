"""Templates of somebody hostile: an error with words, soon and in little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from examples import share
from rackwright.templating import TemplateError, render_file

VALUES = {"name": "atlas", "items": [1, 2, 3], "table": {"a": {"b": 1}}}


def render(folder: Path, text: str) -> str:
    path = folder / "t.j2"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return render_file(path, VALUES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
        ("{{ self.__init__.__globals__ }}", "unsafe"),
        ("{{ name|attr('__class__') }}", "No filter named 'attr'"),
        ("{{ name|map(attribute='__class__')|list }}", "No filter named"),
        ("{{ '{0.__class__}'.format(name) }}", "not safely callable"),
        ("{{ lipsum.__globals__.os }}", "'lipsum' is undefined"),
        ("{{ cycler.__init__.__globals__ }}", "unsafe"),
        ("{% include '../../../../etc/passwd' %}", "an included template is not allowed"),
        ("{% import '/etc/passwd' as x %}", "an imported template is not allowed"),
        ("{% from '/etc/passwd' import x %}", "an imported template is not allowed"),
        ("{% extends '/etc/passwd' %}", "an extended template is not allowed"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "a macro is not allowed"),
        ("{% block a %}{{ self.a() }}{% endblock %}", "a block is not allowed"),
        ("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "a recursive loop"),
        ("{% set _rackwright_step = range %}", "is not allowed"),
        ("{% set a %}{{ name }}{% endset %}", "an assigned block is not allowed"),
        ("{% set a = 'x' ~ 'x' %}", "the operator '~' is not allowed"),
        ("{{ 'a' + 'a' }}", "for numbers only"),
        ("{{ 'a' * 2 }}", "for numbers only"),
        ("{{ [1] * 2 }}", "for numbers only"),
        ("{{ '%099999999d' % 1 }}", "for numbers only"),
        ("{{ 9 ** 9 ** 9 }}", "power operator"),
        ("{{ 10000000000 * 10000000000 * 10 }}", "a number is too large"),
        ("{{ 'x'.ljust(999999999) }}", "not safely callable"),
        ("{{ (1).to_bytes(999999999, 'big') }}", "not safely callable"),
        ("{{ 'x'|center(999999999) }}", "No filter named 'center'"),
        ("{{ 'a'.encode('nope') }}", "not safely callable"),
        ("{{ items.pop() }}", "not safely callable"),
        ("{% for a in range(99999999) %}{% endfor %}", "[Rr]ange too big"),
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "more than 200000 steps of loops",
        ),
        ("{% for a in range(99999) %}{{ '" + "x" * 1000 + "' }}{% endfor %}", "produces more than"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
        ("{{ " + "-" * 5000 + "1 }}", "nested too deeply"),
        ("{% if 1 %}" * 3000 + "{% endif %}" * 3000, "nested too deeply"),
        ("{{ table.a.c.d }}", "has no attribute 'c'"),
        ("{{ 1 // 0 }}", "zero"),
        ("{{ 1 < 'a' }}", "not supported"),
        ("x" * (1024 * 1024 + 1), "larger than"),
        ("\ud800", "is not UTF-8"),
    ],
)
def test_a_hostile_template_is_refused_in_bounded_memory(
    tmp_path: Path, text: str, message: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TemplateError, match=message) as caught:
            render(tmp_path, text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 1000
    assert peak < 100 * 1024 * 1024


def test_loops_choices_and_values_are_what_a_template_has(tmp_path: Path) -> None:
    text = (
        "{% for i in range(2) %}{% for x in items if x > 1 %}"
        "{{ name|upper }}{{ i + x }}{% if loop.last %};{% endif %}{% endfor %}{% endfor %}"
        "{% set n = items|length %}{{ n * 2 }} {{ table.a.b }}{{ items|join(',') }}"
    )
    assert render(tmp_path, text) == "ATLAS2ATLAS3;ATLAS3ATLAS4;6 11,2,3"


def test_a_template_that_cannot_be_read_is_an_error_with_words(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="cannot be read: is a directory"):
        render_file(tmp_path, {})


WORDS = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "for",
        "in",
        "if",
        "endif",
        "endfor",
        "else",
        "set",
        "=",
        "range(",
        "99999",
        "(",
        ")",
        "[",
        "]",
        "'",
        '"',
        ".",
        "|",
        "~",
        "*",
        "**",
        "+",
        "-",
        "%",
        "name",
        "items",
        "table",
        "__class__",
        "__globals__",
        "self",
        "loop",
        "macro",
        "endmacro",
        "include",
        "import",
        "block",
        "raw",
        "endraw",
        "join",
        "sort",
        "default",
        "x",
        "\x00",
        "\u202e",
    ]
)


@share(3, HealthCheck.function_scoped_fixture)
@given(st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=80)))
@example("{{ (1|sort)|join }}")
@example("{{ {}|sort|first }}")
@example("{{ [3, 'a']|sort }}")
@example("{{ name[items] }}")
@example("{% set range = 1 %}{{ range(2) }}")
def test_a_template_renders_or_is_refused_with_words(tmp_path: Path, text: str) -> None:
    try:
        made = render(tmp_path, text)
    except TemplateError:
        return
    assert isinstance(made, str)
