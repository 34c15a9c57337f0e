"""Templates are strict, sandboxed and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.templating import TemplateError, render_file


def render(tmp_path: Path, text: str, **values: object) -> str:
    path = tmp_path / "t.j2"
    path.write_text(text)
    return render_file(path, values)


def test_values_are_placed(tmp_path: Path) -> None:
    assert render(tmp_path, "{# doc #}\nname: {{ name }}\n", name="x") == "name: x\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ missing }}", "'missing' is undefined"),
        ("a\n{{ name ", "t.j2:2"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ 9 ** 9 ** 9 }}", "power operator"),
        ("{{ 'a' * 1000000000 }}", "for numbers only"),
        ("{% for i in range(10**9) %}x{% endfor %}", "power operator"),
        ("{% for i in range(1000000000) %}x{% endfor %}", "range"),
        ("{{ 1 / 0 }}", "division"),
        (
            "{% for a in range(99999) %}{% for b in range(999) %}xxxxxxxx{% endfor %}{% endfor %}",
            "more than",
        ),
    ],
)
def test_hostile_or_wrong_templates_end_with_an_error(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(TemplateError, match=message):
        render(tmp_path, text, name="x")
