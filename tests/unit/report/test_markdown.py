"""The comment: its order, its size in bytes, and names that mean harm."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from rackwright.plan.base import Subject
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report
from rackwright.report.escaping import code, prose
from rackwright.report.formats import Context
from rackwright.report.markdown import LARGEST, REFUSED, marker, render_markdown
from report_factories import (
    ADVISORY,
    CLEAN,
    EXCEPTED,
    FAIL,
    GOLDEN,
    HOSTILE,
    HOSTILE_TEXT,
    LAPSED,
    MIXED,
)

CONTEXT = Context(file="site/atlas.yaml")
DELTA = """\
| Budget | Before | After | Limit | Headroom | |
|---|--:|--:|--:|--:|---|
| r12 feed B | 36 kW | **46.2 kW** | 41.5 kW | **-4.7 kW** | PWR-002 blocks |
"""


def many(count: int, size: int = 1) -> Report:
    """A report whose findings cannot be told together, each with ``size`` wide characters."""
    found = tuple(replace(FAIL, message=f"{n} {'界' * size}") for n in range(count))
    return Report("atlas", found, 1)


def html(text: str) -> str:
    made: str = MarkdownIt("gfm-like").render(text)
    return made


def test_order() -> None:
    with_delta = replace(CONTEXT, delta=DELTA)
    assert render_markdown(MIXED, with_delta) == (GOLDEN / "mixed.md").read_text()
    assert render_markdown(CLEAN, CONTEXT) == (GOLDEN / "clean.md").read_text()


def test_the_run_is_linked() -> None:
    text = render_markdown(CLEAN, replace(CONTEXT, link="https://forge.example/o/r/1"))
    assert "([the run](https://forge.example/o/r/1))" in text


def test_the_marker_is_hidden_and_cannot_be_left() -> None:
    assert marker("a --> b") == "<!-- rackwright:pr:a-----b -->"
    assert marker("site/atlas.yaml") == "<!-- rackwright:pr:site-atlas.yaml -->"
    assert "rackwright:pr" not in re.sub(r"<!--.*?-->", "", render_markdown(CLEAN, CONTEXT))


def test_hostile_names_are_only_text() -> None:
    text = render_markdown(Report(HOSTILE_TEXT, (HOSTILE,), 1), CONTEXT)
    tags = set(re.findall(r"</?([a-z0-9]+)", html(text)))
    assert tags <= {"h3", "ul", "li", "strong", "code", "br", "p"}
    bare = re.sub(r"<!--.*?-->|`[^`]*`|&#8203;", " ", text)
    assert not re.search(r"[@#!~]\w", bare)
    for character in "\x1b\x00\r\u202e\u2066":
        assert character not in text
    assert text.count("\n- ") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("@team a@b.c", "@&#8203;team a@&#8203;b.c"),
        ("<b>&amp;", "&lt;b&gt;&amp;&#8203;amp;"),
        ("#12 !3 $4 %x ~y", r"\#&#8203;12 \!&#8203;3 $&#8203;4 %&#8203;x \~&#8203;y"),
        ("4.7 kW (11 %) over", "4.7 kW (11 %) over"),
        ("http://x www.x", "http&#8203;://x www&#8203;.x"),
        ("a\nb", "a b"),
        ("/close", "&#8203;/close"),
        ("`x` *y* _z_", r"\`x\` \*y\* \_z\_"),
        ("\ue000", r"\\ue000"),
    ],
)
def test_prose(text: str, expected: str) -> None:
    assert prose(text) == expected
    assert html(expected).count("<") == 2  # the paragraph's own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.yaml:3", "`a.yaml:3`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("a|b", "`a\\|b`"),
        ("\n", ""),
    ],
)
def test_code(text: str, expected: str) -> None:
    assert code(text) == expected


@pytest.mark.parametrize("count", [1, 60, 5000])
@pytest.mark.parametrize("size", [1, 500])
def test_the_size_is_kept_in_bytes(count: int, size: int) -> None:
    text = render_markdown(many(count, size), CONTEXT)
    assert len(text.encode()) <= LARGEST
    assert text.startswith(
        f"{marker('site/atlas.yaml')}\n### rackwright: {count:,} blocking finding"
    )
    shown = text.count("\n- **")
    assert shown >= 1
    told = re.search(r"\*([\d,]+) more did not fit", text)
    assert shown + (int(told[1].replace(",", "")) if told else 0) == count


def test_the_size_is_exact_at_its_edge() -> None:
    report = many(40)
    whole = len(render_markdown(report, CONTEXT, largest=10**6).encode())
    reserve = 160
    assert "did not fit" not in render_markdown(report, CONTEXT, largest=whole + reserve)
    cut = render_markdown(report, CONTEXT, largest=whole + reserve - 1)
    assert "*1 more did not fit" in cut
    assert len(cut.encode()) <= whole + reserve - 1


def test_details_are_dropped_first_and_the_verdict_never() -> None:
    report = Report("atlas", (*many(30).results, ADVISORY), 1)
    small = render_markdown(report, replace(CONTEXT, delta=DELTA), largest=3000)
    assert DELTA in small
    assert "COOL-009" not in small
    assert "<details" not in small
    least = render_markdown(report, replace(CONTEXT, delta=DELTA), largest=420)
    assert "### rackwright: 30 blocking findings in atlas" in least
    with pytest.raises(ValueError, match="cannot hold the verdict"):
        render_markdown(report, CONTEXT, largest=100)


def test_folded_part_of_a_delta_is_whole_or_omitted() -> None:
    folded = f"{DELTA}\n<details><summary>x</summary>\n\n{'y' * 2000}\n</details>"
    whole = render_markdown(CLEAN, replace(CONTEXT, delta=folded))
    assert whole.count("<details>") == whole.count("</details>") == 1
    refused = render_markdown(MIXED, replace(CONTEXT, delta=folded))
    assert refused.index(DELTA) < refused.index("**PWR-002**") < refused.index("yyy")
    cut = render_markdown(CLEAN, replace(CONTEXT, delta=folded), largest=1500)
    assert "<details" not in cut
    assert DELTA in cut


def test_a_change_that_is_refused_does_not_pass() -> None:
    refused = f"a → b\n\n{REFUSED}: `name`: atlas → zeus: all is made anew\n"
    title = render_markdown(CLEAN, replace(CONTEXT, delta=refused)).splitlines()[1]
    assert title == "### rackwright: the change to atlas is refused"
    title = render_markdown(MIXED, replace(CONTEXT, delta=refused)).splitlines()[1]
    assert title == "### rackwright: 4 blocking findings in atlas"


def test_long_names_are_cut() -> None:
    report = Report("atlas", (replace(FAIL, subject=Subject("n" * 100_000, ())),), 1)
    text = render_markdown(report, CONTEXT)
    assert len(text) < 3000
    assert "load is 46.2 kW" in text


def test_findings_that_only_differ_in_their_subject_are_one_item() -> None:
    others = tuple(replace(FAIL, subject=Subject(f"rack {n}", ())) for n in range(9))
    text = render_markdown(Report("atlas", (FAIL, *others), 1), CONTEXT)
    assert text.count("\n- ") == 1
    assert "rack 4, rack 5 and 3 more" in text


def test_waived_results_are_shown_separately() -> None:
    report = Report("atlas", (replace(FAIL, outcome=Outcome.WAIVED),), 1)
    text = render_markdown(report, CONTEXT)
    assert "rackwright: atlas passes" in text
    assert "#### Waived\n\n- **PWR-002**" in text


def test_waivers_and_baseline() -> None:
    assert render_markdown(EXCEPTED, CONTEXT) == (GOLDEN / "excepted.md").read_text()
    assert render_markdown(LAPSED, CONTEXT) == (GOLDEN / "lapsed.md").read_text()
