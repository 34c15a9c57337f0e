"""For any text: what is shown of it is obeyed by nobody, and data keep their values."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path, PurePath
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from log_readers import obeyed, obeyed_by_github, obeyed_by_others
from rackwright.ansible_runs.display import Terminal
from rackwright.cli.options.outputs import write_report
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import (
    ANNOTATIONS,
    COLOURS,
    harmless,
    harmless_xml,
    json_text,
    visible,
)
from rackwright.report.failure import failure_annotations
from rackwright.report.formats import FORMATS
from rackwright.report.wording import printable
from rackwright.streams import Guarded, guarded
from report_factories import a_report_with, file_name

PIECES = [
    *(
        "##[",
        "#",
        "[",
        "]",
        "::",
        ":",
        "stop-commands",
        "error",
        "set-env name=x",
        "token",
        " ",
        "\t",
    ),
    *(
        "##vso[",
        "##teamcity[",
        "section_start:1:x",
        "section_end:1:x",
        "\r\x1b[0K",
        "\x1b[31m",
        "\x1b[m",
    ),
    *(
        "\n",
        "\r",
        "\r\n",
        "\x0b",
        "\x85",
        "\u2028",
        "\u202e",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\u00ad",
    ),
    *(
        "\ufeff",
        "\u034f",
        "\u00a0",
        "\u3000",
        "\x00",
        "\x1b]0;x\x07",
        "\x9b2J",
        "\x90",
        "\udc80",
        "%0A",
    ),
]
MEANT_BADLY = st.lists(
    st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=())), max_size=30
).map("".join)
XML_CANNOT_HOLD = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@given(MEANT_BADLY)
@example("##[stop-commands]x")
@example("###[stop-commands]x")
@example("#\u200b#\ufe0f[stop-commands]x")
@example("\u3000:\u034f:stop-commands::x")
@example("a\r::stop-commands::x")
@example("\x1b[0Ksection_start:1:x\r\x1b[0K")
def test_shown_text_has_no_control_sequences(text: str) -> None:
    shown = harmless(text)
    assert obeyed(shown) == []
    assert harmless(shown) == shown
    assert shown.count("\n") == text.count("\n")
    shown.encode()


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters="#:")))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@given(st.lists(st.tuples(st.booleans(), MEANT_BADLY), max_size=8))
def test_parts_on_two_streams_are_obeyed_by_nobody(parts: list[tuple[bool, str]]) -> None:
    log, alone = io.StringIO(), (io.StringIO(), io.StringIO())

    class Both(io.StringIO):
        def __init__(self, own: io.StringIO) -> None:
            super().__init__()
            self._own = own

        def write(self, text: str) -> int:
            log.write(text)
            return self._own.write(text)

    with guarded():
        streams = [Guarded(Both(own)) for own in alone]
        for second, text in parts:
            streams[second].write(text)
    assert [obeyed(own.getvalue()) for own in (*alone, log)] == [[], [], []]


@given(MEANT_BADLY)
def test_json_says_the_same(text: str) -> None:
    document = {text: [text, {"x": text}]}
    made = json_text(document)
    assert json.loads(made) == document
    assert obeyed(made) == []
    assert harmless(made) == made


@given(MEANT_BADLY)
@example("\r\n")
def test_xml_says_the_same(text: str) -> None:
    held = XML_CANNOT_HOLD.sub("\ufffd", text)
    root = ET.Element("a", name=held)
    root.text = held
    made = harmless_xml(ET.tostring(root, encoding="unicode"))
    assert ET.fromstring(made).attrib["name"] == held
    assert (ET.fromstring(made).text or "") == held
    assert obeyed(made) == []
    assert harmless(made) == made


@given(MEANT_BADLY, st.sampled_from(FORMATS), st.booleans())
@example("##[stop-commands]x", "json", False)
@example("##[stop-commands]x", "text", True)
@example("##[{##[", "sarif", False)
@example("##[/", "junit", False)
def test_every_form_of_a_report_with(text: str, form: str, colour: bool) -> None:
    out = io.StringIO()
    report = a_report_with(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        with guarded():
            write_report(
                report, form, [], blueprint=Path("b.yaml"), show_waived=True, colour=colour
            )
    shown = out.getvalue()
    if form == "github":
        assert obeyed_by_github(shown) == ["error", "notice"]
        assert obeyed_by_others(shown) == []
        return
    if form == "text" and colour:
        shown = COLOURS.sub("", shown)
    assert obeyed(shown) == []
    if form == "json":
        assert json.loads(shown)["results"][0]["message"] == text
    if form == "sarif":
        [first, _] = json.loads(shown)["runs"][0]["results"]
        doubled = printable(text).replace("{", "{{").replace("}", "}}")
        assert doubled.replace("](", "] (").rstrip(".") in first["message"]["text"]
    if form == "gitlab":
        assert printable(text) in json.loads(shown)[0]["description"]
    if form == "junit":
        [first, _] = ET.fromstring(shown).findall(".//testcase")
        assert first.attrib["file"] == XML_CANNOT_HOLD.sub("\ufffd", str(PurePath(file_name(text))))


@given(MEANT_BADLY)
def test_annotations_of_a_mistake(text: str) -> None:
    mistake = SpecError(text, hint=text, location=Location(text or "a", 1, 1))
    made = failure_annotations(SpecErrors([mistake, mistake]), text or "a", lambda where: where)
    for shown in (made, harmless(made, ANNOTATIONS)):
        assert obeyed_by_github(shown) == ["error", "error"]
        assert obeyed_by_others(shown) == []
        assert shown == made


@given(MEANT_BADLY)
def test_mistakes_and_one_line(text: str) -> None:
    made = str(SpecError(text, hint=text, location=Location(text, 1, 1)))
    assert obeyed_by_others(harmless(made)) == []
    assert visible(text).isprintable()


@given(MEANT_BADLY)
def test_tables_are_obeyed_by_nobody(text: str) -> None:
    out = io.StringIO()
    guard = Guarded(out)
    csv.writer(guard, lineterminator="\n").writerow([text, text])
    assert obeyed(out.getvalue()) == []


@given(MEANT_BADLY)
def test_a_terminal_obeys_what_redraws_its_line_only(text: str) -> None:
    from rackwright.ansible_runs.state import Line

    out = io.StringIO()
    guard = Guarded(out)
    screen = Terminal(cast("io.TextIOBase", guard), colour=True)  # type: ignore[arg-type]
    screen.tell(Line(text, failure=True), 0.0)
    assert obeyed(COLOURS.sub("", out.getvalue())) == []
