"""What a terminal and a log show of a run."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from rackwright.ansible_runs.display import (
    LOG_AFTER_S,
    Log,
    Terminal,
    describe,
    draw,
    duration,
    listed,
    screen_for,
)
from rackwright.ansible_runs.observer import Lines, Watch
from rackwright.ansible_runs.state import Line, Live, View
from rackwright.ansible_runs.terminal_text import plain
from rackwright.terminal import cells, cut

VIEW = View(
    step="munge",
    task="Install packages",
    done=31,
    total=50,
    finished=4,
    hosts=54,
    failed=3,
    names=("gpu-1", "höst-2", "主机-3"),
    seconds=92.4,
)


BACK = "\r\x1b[2K"
"""To the begin of the line, which is erased."""


class Console(io.StringIO):
    """A stream that says that it is a terminal; its width is not known."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_wide_terminal_shows_all_of_it() -> None:
    assert draw(VIEW, 120).plain == (
        "munge: 31 of 50, 4 of 54 hosts done, 3 failed: gpu-1, höst-2, 主机-3, 1:32 "
        "(Install packages)"
    )


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (79, "munge: 31 of 50, 4 of 54 hosts done, 3 failed: gpu-1, höst-2, 主机-3, 1:32"),
        (70, "munge: 31 of 50, 4 of 54 hosts done, 3 failed: gpu-1, höst-2 +1, 1:32"),
        (61, "munge: 31 of 50, 4 of 54 hosts done, 3 failed: gpu-1 +2, 1:32"),
        (52, "munge: 31 of 50, 4 of 54 hosts done, 3 failed, 1:32"),
        (41, "munge: 31 of 50, 3 failed: gpu-1 +2, 1:32"),
        (31, "munge: 31 of 50, 3 failed, 1:32"),
        (30, "mun…: 31 of 50, 3 failed, 1:32"),
        (20, "3 failed, 31 of 50,…"),
        (5, "3 fa…"),
    ],
)
def test_least_important_parts_are_omitted_first(width: int, shown: str) -> None:
    assert draw(VIEW, width).plain == shown


@pytest.mark.parametrize("failed", [0, 1, 3, 12_500])
def test_a_line_fits_into_every_terminal(failed: int) -> None:
    step = "主机 what every host needs, and more"
    names = VIEW.names[:failed]
    view = replace(VIEW, step=step, failed=failed, names=names, task="タスク" * 30)
    for width in range(200):
        for encoding in ("utf-8", "ascii"):
            text = draw(view, width, encoding=encoding).plain
            assert cells(text) <= width
            assert text.isprintable()


def test_a_terminal_without_the_signs_shows_escapes() -> None:
    assert "h\\xf6st-2" in draw(VIEW, 200, encoding="ascii").plain
    assert draw(VIEW, 200, encoding="ascii").plain.isascii()


def test_between_steps_only_the_run_is_counted() -> None:
    between = replace(VIEW, step="", task="", done=0, total=0)
    assert draw(between, 55).plain == "4 of 54 hosts done, 3 failed: gpu-1, höst-2 +1, 1:32"


def test_names_are_cut_with_their_number() -> None:
    assert listed(["a", "b"], 2, 4) == "a, b"
    assert listed(["a", "b"], 900, 9) == "a, b +898"
    assert listed(["a", "b"], 900, 8) == "a +899"
    assert listed(["a-very-long-name"], 1, 5) == ""


def test_columns_are_counted_as_terminals_do() -> None:
    assert (cells("gpu"), cells("主机"), cells("e\u0301")) == (3, 4, 1)
    assert (cut("主机主机", 6), cut("主机主机", 7), cut("abc", 0)) == ("主机 …", "主机主…", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("a\r\x1b[2Kb\tc\nd", "a b c d"),
        ("\x1b]0;title\x07x\x1b]8;;http://y\x1b\\z", "xz"),
        ("\x9b31mx\x85y", "x y"),
        ("\x1b]never ends", "never ends"),
        ("\x1bcfull reset, \u202eesrever, \ud800", "full reset, esrever, "),
        ("höst 主机", "höst 主机"),
    ],
)
def test_nothing_steers_the_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_time_is_minutes_and_seconds() -> None:
    assert [duration(at) for at in (0.4, 59.9, 92, 3600 + 62)] == [
        "0:00",
        "0:59",
        "1:32",
        "1:01:02",
    ]


def test_a_terminal_has_one_line_and_failures_above_it() -> None:
    stream = Console()
    screen = Terminal(stream, colour=False)
    for at in (1.0, 1.05, 1.2):
        screen.show(lambda _: VIEW, at)
    drawn = draw(VIEW, 79).plain
    assert stream.getvalue() == f"{drawn}{BACK}{drawn}", "ten times a second at the most"
    stream.truncate(stream.seek(0))
    screen.tell(Line("munge: begins on 3 hosts"), 1.21)
    assert stream.getvalue() == ""
    screen.tell(Line("gpu-1 failed: x", failure=True), 1.21)
    screen.show(lambda _: VIEW, 1.22)
    screen.close()
    assert stream.getvalue() == f"{BACK}  gpu-1 failed: x\n{drawn}{BACK}"
    screen.close()
    assert not stream.getvalue().endswith(BACK * 2), "it is taken away once"


def test_a_log_has_a_line_now_and_then() -> None:
    stream = io.StringIO()
    screen = Log(stream)
    screen.tell(Line("munge: begins on 3 hosts", begins="munge"), -5.0)
    for tenth in range(10 * int(LOG_AFTER_S) + 5):  # the first of them writes what was held back
        screen.show(lambda _: VIEW, tenth / 10)
    screen.close()
    assert stream.getvalue().splitlines() == ["  munge: begins on 3 hosts", f"  {describe(VIEW)}"]
    assert describe(VIEW) == (
        "munge: 31 of 50 (Install packages), 4 of 54 hosts done, "
        "3 failed: gpu-1, höst-2, 主机-3, 1:32"
    )
    assert describe(replace(VIEW, step="", task="", failed=0, names=())) == (
        "4 of 54 hosts done, 1:32"
    )


def test_a_step_that_is_over_at_once_has_one_line_in_a_log() -> None:
    stream = io.StringIO()
    screen = Log(stream)
    for step, seconds in (("rdma", 0.5), ("base", 10.0)):
        screen.tell(Line(f"{step}: begins", begins=step), 0.0)
        screen.show(lambda _: VIEW, seconds)
        screen.tell(Line(f"{step}: ends", ends=step), seconds)
    screen.tell(Line("munge: begins", begins="munge"), 10.0)
    screen.tell(Line("gpu-1 failed: x", failure=True), 10.1)
    screen.tell(Line("pmix: begins", begins="pmix"), 10.2)
    screen.close()
    assert stream.getvalue().split("\n  ") == [
        "  rdma: ends",
        "base: begins",
        "base: ends",
        "munge: begins",
        "gpu-1 failed: x",
        "pmix: begins\n",
    ]


@pytest.mark.parametrize(
    ("environment", "kind", "colour"),
    [
        ({"TERM": "xterm"}, Terminal, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, Terminal, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, Terminal, True),
        ({"TERM": "dumb"}, Log, None),
        ({}, Log, None),
    ],
)
def test_a_terminal_is_asked_what_it_can(
    environment: dict[str, str], kind: type[object], colour: bool | None
) -> None:
    screen = screen_for(Console(), environment)
    assert isinstance(screen, kind)
    assert getattr(screen, "colour", None) is colour
    assert isinstance(screen_for(io.StringIO(), {"TERM": "xterm"}), Log)


def test_colour_is_for_failures_and_never_without_leave() -> None:
    with_colour, without = Console(), Console()
    for stream, colour in ((with_colour, True), (without, False)):
        screen = Terminal(stream, colour=colour)
        screen.show(lambda _: VIEW, 1.0)
        screen.tell(Line("gpu-1 failed: x", failure=True), 1.0)
    assert with_colour.getvalue().count("\x1b[31m") == 2
    assert "\x1b[3" not in without.getvalue()


def test_a_watch_shows_what_happens_and_takes_its_line_away() -> None:
    stream, now = Console(), [5.0]
    live = Live(frozenset({"a", "b"}), lambda _: frozenset({"a", "b"}))
    with Watch(live, Terminal(stream, colour=False), clock=lambda: now[0]) as watch:
        watch.take({"event": "playbook_on_play_start", "event_data": {"pattern": "x"}}, None)
        now[0] = 7.0
        data = {"role": "munge", "task": "Copy"}
        watch.take({"event": "playbook_on_task_start", "event_data": data}, "munge …")
        assert "munge: 0 of 2, 0 of 2 hosts done, 0:02 (Copy)" in stream.getvalue()
        now[0] = 8.0
        for host in ("a", "b"):
            failed = {**data, "host": host, "res": {"msg": "was \x1b[2Jlost"}}
            watch.take({"event": "runner_on_failed", "event_data": failed}, None)
        assert "  a failed: munge / Copy: was lost\n" in stream.getvalue()
        assert "2 failed: a, b, 0:03" in stream.getvalue()
    assert stream.getvalue().endswith(BACK)
    assert "munge …" not in stream.getvalue()


def test_a_program_is_told_lines_as_ever() -> None:
    said: list[str] = []
    lines = Lines(said.append)
    lines.take({}, "munge …")
    lines.take({}, None)
    lines.take({}, "a failed: lost \x1b[31m")
    assert said == ["munge …", "a failed: lost"]
