"""What is drawn on a terminal, and that nothing of others is drawn as it wants."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.harmless import DRAWING
from rackwright.terminal import (
    LiveLine,
    cells,
    cut,
    is_terminal,
    own_text,
    print_table,
    wants_colour,
)

HEAD = ("id", "severity", "title")
ROWS = [("A-1", "high", "Racks [red]stay[/red] :warning: below"), ("B-1", "low", "x\x1b[31my")]
PLAIN = "{:<5} {:<6} {}"


class Screen(io.StringIO):
    """A terminal of a width that nobody knows."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, environment: dict[str, str]) -> str:
    """What ``print_table`` writes on ``stream``."""
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream)
    print_table(HEAD, ROWS, PLAIN)
    return stream.getvalue()


def test_a_terminal_gets_a_table_in_which_markup_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Screen(), {"TERM": "xterm"})
    assert "\x1b[1mseverity" in text
    lines = [line.rstrip() for line in DRAWING.sub("", text).splitlines()]
    assert lines == [
        "id   severity  title",
        "A-1  high      Racks [red]stay[/red] :warning: below",
        "B-1  low       x\\x1b[31my",
    ]


def test_the_last_column_goes_on_below_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rackwright.terminal.DEFAULT_WIDTH", 40)
    lines = DRAWING.sub("", shown(monkeypatch, Screen(), {"TERM": "xterm"})).splitlines()
    assert max(map(cells, lines)) <= 40
    assert lines[2].startswith(" " * 15)
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("stream", "environment"),
    [
        (io.StringIO, {"TERM": "xterm"}),
        (io.StringIO, {"TERM": "xterm", "FORCE_COLOR": "1"}),
        (Screen, {"TERM": "xterm", "NO_COLOR": "1"}),
        (Screen, {"TERM": "dumb"}),
        (Screen, {}),
    ],
)
def test_elsewhere_lines_are_plain(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], environment: dict[str, str]
) -> None:
    text = shown(monkeypatch, stream(), environment)
    assert text == "".join(f"{PLAIN.format(*row)}\n" for row in ROWS)


@given(st.text(), st.integers(0, 60))
def test_a_text_of_others_is_drawn_as_escapes_on_one_line(words: str, width: int) -> None:
    stream = Screen()
    line = LiveLine(stream, colour=True)
    line.draw(own_text(cut(words, width), "red"))
    line.say(own_text(words, "red"))
    line.close()
    drawn = DRAWING.sub("", stream.getvalue())
    assert drawn.replace("\n", "").isprintable()
    assert drawn.count("\n") == 1


@given(st.text(), st.integers(0, 60))
def test_a_text_is_cut_to_its_room(words: str, room: int) -> None:
    printable = "".join(sign for sign in words if sign.isprintable())
    assert cells(cut(printable, room)) <= room
    assert cut("gpu", 3) == "gpu"


@pytest.mark.parametrize(
    ("choice", "environment", "wanted"),
    [
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {}, False),
    ],
)
def test_precedence_of_colour_settings(
    choice: str, environment: dict[str, str], *, wanted: bool
) -> None:
    assert wants_colour(choice, io.StringIO(), environment) is wanted


def test_colours_are_for_terminals() -> None:
    assert wants_colour("auto", Screen(), {})
    assert is_terminal(Screen(), {"TERM": "xterm"})
    assert not is_terminal(Screen(), {"TERM": "dumb"})
    assert not is_terminal(io.StringIO(), {"TERM": "xterm"})
