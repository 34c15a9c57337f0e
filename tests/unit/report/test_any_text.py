"""Whatever a blueprint's names hold, each form stays what it is."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import jsonschema
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rackwright.report.escaping import code, prose
from rackwright.report.formats import FORMATS, Context, renderer
from rackwright.report.markdown import LARGEST
from report_factories import GOLDEN, HOSTILE_TEXT, a_report_with

MEANT_BADLY = st.lists(
    st.one_of(
        st.sampled_from(
            list("`|*_~[]()<>!#@&\\/:;-+=.\"'\n\r\t \x00\x1b\x7f\x85\u200b\u2028\u202e")
        ),
        st.sampled_from(["http", "www", "</details>", "-->", "<!--", "]]>", "::error", "%0A"]),
        st.characters(codec="utf-8"),
    ),
    max_size=40,
).map("".join)
SARIF = jsonschema.Draft4Validator(
    json.loads((GOLDEN.parent / "schemas/sarif-2.1.0-rtm.5.json").read_text())
)
HTML = MarkdownIt("gfm-like")
PLAIN = {"p", "h3", "h4", "ul", "li", "strong", "code", "br", "details", "summary"}


@given(MEANT_BADLY)
@example(HOSTILE_TEXT)
def test_every_form(text: str) -> None:
    report, context = a_report_with(text), Context(file="site/atlas.yaml")
    made = {form: "".join(renderer(form)(report, context)) for form in FORMATS}
    json.loads(made["json"])
    SARIF.validate(json.loads(made["sarif"]))
    assert len(ET.fromstring(made["junit"]).findall(".//testcase")) == 2
    assert len(json.loads(made["gitlab"])) == 1
    assert [line[:9] for line in made["github"].split("\n")] == ["::error f", "::notice ", ""]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", made["text"])


@given(MEANT_BADLY)
@example(HOSTILE_TEXT)
def test_the_comment(text: str) -> None:
    comment = "".join(renderer("md")(a_report_with(text), Context(file="site/atlas.yaml")))
    assert len(comment.encode()) <= LARGEST
    assert set(re.findall(r"</?([a-z0-9]+)", HTML.render(comment))) <= PLAIN
    bare = re.sub(r"<!--.*?-->|(`+)[^`].*?\1|&#8203;", " ", comment)
    assert not re.search(r"(?<!&)[@#]\w", bare)


@given(MEANT_BADLY)
def test_prose_and_code_say_what_they_are_given(text: str) -> None:
    shown = re.sub(r"<[^>]*>", "", HTML.render(prose(text)))
    assert "<" not in shown
    for made in (prose(text), code(text)):
        rendered = HTML.render(f"| a |\n|---|\n| {made} |\n")
        assert rendered.count("<td>") == 1
        assert set(re.findall(r"</?([a-z0-9]+)", rendered)) <= {
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "code",
        }
