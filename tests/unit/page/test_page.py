"""The page: what is on it is the plan's and the report's, and nothing of others is markup or program."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ci_team import git
from cli_support import run_here
from factories import a_plan, a_site
from rackwright.drawings.one_line import boxes_of, draw_one_line, states_after_loss
from rackwright.page import growth
from rackwright.page.budget_rows import BudgetRow, budget_rows
from rackwright.page.document import embedded, render_page
from rackwright.page.finding_rows import finding_rows
from rackwright.page.growth import next_need
from rackwright.page.headline import headline
from rackwright.page.places import Place, Places
from rackwright.plan.load import LoadedPlan, load_plan
from rackwright.plan.model import Plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint, check_plan
from rackwright.policy.engine import Report
from rackwright.render.full_form import full_yaml
from rackwright.resources import bundled
from report_factories import HOSTILE, HOSTILE_TEXT, a_report_with
from short_forms import CATALOGUE
from wrong_inputs import BASE

FIXTURES = bundled("policies") / "fixtures"


class Reader(HTMLParser):
    """The elements of a page with their attributes, and the text of its styles and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in {"script", "style"} else None

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.inside.append((*self._open, data))

    def text_of(self, tag: str, **attributes: str) -> str:
        return "".join(
            text
            for name, own, text in self.inside
            if name == tag and own.items() >= attributes.items()
        )

    @property
    def policy(self) -> str:
        found = [own["content"] for _, own in self.elements if "http-equiv" in own]
        assert len(found) == 1
        return found[0] or ""


def judged(name: str) -> tuple[Plan, Report]:
    loaded = load_plan(FIXTURES / f"{name}.yaml")
    return loaded.plan, check_plan(loaded)


@pytest.fixture(scope="module")
def fabric() -> tuple[Plan, Report, str]:
    plan, report = judged("fabric")
    return plan, report, render_page(plan, report)


def data_of(page: str) -> dict[str, object]:
    found = json.loads(Reader(page).text_of("script", id="data"))
    assert isinstance(found, dict)
    return found


def test_nothing_is_loaded_and_only_the_own_program_runs(fabric: tuple[Plan, Report, str]) -> None:
    page = Reader(fabric[2])
    rules = dict(part.strip().split(" ", 1) for part in page.policy.split(";"))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        text = "".join(t for name, own, t in page.inside if name == tag and "type" not in own)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    for tag, own in page.elements:
        assert tag not in {"iframe", "object", "embed", "base", "img", "video", "audio"}
        for name, value in own.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"style", "src", "srcset", "action", "formaction"}, (tag, name)
            if name in {"href", "xlink:href"}:
                assert value is not None
                assert value.startswith("#") or value == "data:,"


def test_every_finding_is_there_once_with_its_place(fabric: tuple[Plan, Report, str]) -> None:
    plan, report, text = fabric
    rows = finding_rows(report, Places(plan))
    page = Reader(text)
    ids = [own["id"] for tag, own in page.elements if tag == "li" and "id" in own]
    assert ids == [f"f{row.number}" for row in rows]
    placed = {row.policy: row.places for row in rows}
    (dgx,) = placed["REL-003"]
    classes = {
        number
        for number, racks in enumerate(plan.onprem[0].racks)
        if any(device.group == "dgx" for device in racks.kind.devices)
    }
    assert set(dgx.classes) == classes
    sources = {place.source for row in rows for place in row.places if place.source}
    assert sources <= {source.source for source in plan.onprem[0].power.sources}
    assert sources
    states = [row.state for row in rows]
    assert states[:3] == ["blocks", "blocks", "unknown"]
    assert states.count("blocks") == 2
    blocking = [row.weight in {"blocks", "unknown, blocks"} for row in rows]
    assert blocking == sorted(blocking, reverse=True)
    assert rows[-1].state in {"warns", "preview", "unknown"}


def test_equal_racks_are_drawn_once(fabric: tuple[Plan, Report, str]) -> None:
    plan, _, text = fabric
    site = plan.onprem[0]
    own = data_of(text)["sites"][0]  # type: ignore[index]
    assert set(own["racks"]) == {name for rack in site.racks for name in rack.names}
    assert len(own["classes"]) == len(site.racks)
    large, report = judged("busways")
    again = data_of(render_page(large, report))["sites"][0]  # type: ignore[index]
    drawn = {one["d"] for one in again["classes"]}
    assert len(drawn) <= len(again["classes"])
    for number, racks in enumerate(site.racks):
        for rack, position in zip(racks.names, racks.positions, strict=True):
            names = plan.racked[site.name].get(rack, {})
            labels = [one[0] for _, one in sorted(names.items())]
            assert own["racks"][rack] == [number, position + 1, labels]


@pytest.mark.parametrize("name", ["fabric", "plant", "busways"])
def test_states_after_a_loss_are_those_of_the_drawing(name: str) -> None:
    (site,) = load_plan(FIXTURES / f"{name}.yaml").plan.onprem
    boxes = boxes_of(site)
    found = states_after_loss(site, boxes)
    assert set(found) == {box.key for box in boxes if box.members}
    changed = 0
    for lost, states in found.items():
        drawn = draw_one_line(site, lost).body
        for key, state in states.items():
            (box,) = re.findall(rf'<g class="source[^"]*" data-s="{re.escape(key)}".*?</g>', drawn)
            assert f">{state.words}<" in drawn[drawn.index(box) :]
            changed += 1
    assert changed > len(found)


def hostile_sites() -> Iterator[Plan]:
    plan = a_plan(a_site())
    (site,) = plan.onprem
    yield plan
    yield replace(
        plan,
        onprem=(
            replace(
                site,
                power=replace(
                    site.power,
                    sources=tuple(replace(one, missing_parents=0) for one in site.power.sources),
                ),
                cooling=replace(
                    site.cooling,
                    halls=tuple(replace(one, hall=HOSTILE_TEXT) for one in site.cooling.halls),
                ),
                racks=tuple(
                    replace(one, hall=HOSTILE_TEXT, hostlist=HOSTILE_TEXT) for one in site.racks
                ),
            ),
        ),
    )


def test_texts_of_others_are_text(fabric: tuple[Plan, Report, str]) -> None:
    """Names are checked where a blueprint is read; the page does not count on it."""
    kinds = {tag for tag, _ in Reader(fabric[2]).elements}
    plans = list(hostile_sites())
    assert len(plans) == 2
    for plan in plans:
        report = a_report_with(HOSTILE_TEXT)
        report = replace(report, results=(*report.results, HOSTILE))
        text = render_page(plan, report, uncompared=HOSTILE_TEXT)
        page = Reader(text)
        assert {tag for tag, _ in page.elements} <= kinds | {"section", "details", "summary"}
        assert [own.get("type") for tag, own in page.elements if tag == "script"] == [
            "application/json",
            None,
        ]
        assert not any(name.startswith("on") for _, own in page.elements for name in own)
        assert "\u202e" not in text
        assert "\x1b" not in text
        told = json.dumps(data_of(text))
        assert "<script>x</script>" in told


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "]]>", "\u2028", "&lt;", '"\\u003c'])
def test_data_cannot_leave_its_element(text: str) -> None:
    written = embedded({text: [text]})
    assert not set(written) & set("<>&\u2028\u2029")
    assert written.isascii()
    assert json.loads(written) == {text: [text]}


def test_check_writes_the_page(tmp_path: Path) -> None:
    ended = run_here(tmp_path, "check", str(FIXTURES / "plant.yaml"), "--output", "html=o/p.html")
    assert ended.code in {5, 6}
    assert "<h1>plant</h1>" in (tmp_path / "o/p.html").read_text("utf-8")
    refused = run_here(tmp_path, "check", str(FIXTURES / "plant.yaml"), "--output", "html=-")
    refused.refused("html=FILE")


def test_the_page_shows_what_changes_against_a_base(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    blueprint = tmp_path / "plant.yaml"
    text = (FIXTURES / "plant.yaml").read_text("utf-8")
    assert "supply_temperature: 35 °C" in text
    blueprint.write_text(text, "utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, capture_output=True)
    blueprint.write_text(
        text.replace("supply_temperature: 35 °C", "supply_temperature: 36 °C"), "utf-8"
    )
    arguments = ["check", "plant.yaml", "--output", "html=p.html", "--base-ref", "HEAD"]
    run_here(tmp_path, *arguments)
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "What changes" in page
    assert "supply_temperature" in page
    assert "<td>36 °C</td>" in page
    (tmp_path / "plant.yaml").rename(tmp_path / "other.yaml")
    run_here(tmp_path, *[word.replace("plant.yaml", "other.yaml") for word in arguments])
    assert "What changes" in (tmp_path / "p.html").read_text("utf-8")


def test_aws_site_is_drawn_on_the_page() -> None:
    plan, report = judged("aws")
    page = render_page(plan, report)
    (site,) = plan.aws
    part = page.partition('<section class="site" id="aws-0">')[2].partition("</section>")[0]
    assert f"<title>network of {site.name} on AWS</title>" in part
    assert f'<a href="#aws-0">{site.name}</a>' in page


def test_jobs_are_shown_with_their_step_and_what_would_change_it() -> None:
    plan, report = judged("workloads")
    page = render_page(plan, report)
    (found,) = plan.predictions
    assert found.step is not None
    jobs = page.partition('<section id="jobs">')[2].partition("</section>")[0]
    assert "pretrain: llama3.1-70b, fp8, on 512 × H200 SXM of sjc1/dgx" in jobs
    drawn = [
        part for part, one in found.step.by_part().items() if one >= 0.005 * found.step.seconds
    ]
    assert jobs.count('class="track"') == len(drawn)
    assert all(f">{part}</text>" in jobs for part in drawn)
    assert f"<td>{drawn[0]}, " in jobs
    assert "no failures, no checkpoints" in jobs


def test_a_job_without_a_prediction_says_why(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("workloads: [{name: pretrain, layout: {tensor: 3}}]\n")
    loaded = load_plan(FIXTURES / "workloads.yaml", [layer])
    page = render_page(loaded.plan, check_plan(loaded))
    jobs = page.partition('<section id="jobs">')[2].partition("</section>")[0]
    assert "No prediction: " in jobs
    assert "does not divide 64 heads" in jobs
    assert "<svg" not in jobs


def test_a_page_without_workloads_has_no_section_of_them(
    fabric: tuple[Plan, Report, str],
) -> None:
    assert 'id="jobs"' not in fabric[2]


def test_headline_says_what_fits_and_the_next_limit(tmp_path: Path) -> None:
    def told(plan: Plan, report: Report) -> tuple[str, list[BudgetRow]]:
        rows = list(budget_rows(report.results, Places(plan)))
        return headline(plan, report, rows), rows

    (tmp_path / "small.yaml").write_text("sites: [{name: sjc1, power: {contract: 10 kW}}]\n")
    loaded = load_plan(FIXTURES / "air.yaml", [tmp_path / "small.yaml"])
    report = check_plan(loaded)
    text, rows = told(loaded.plan, report)
    broken = sum(r.outcome is Outcome.FAIL and r.blocks for r in report.results)
    assert broken > 0
    assert re.search(rf"do not fit yet: {broken} limits? (is|are) broken\. First: ", text)
    assert rows[0].state == "broken"
    kept = tuple(r for r in report.results if r.outcome is Outcome.PASS)
    text, rows = told(loaded.plan, replace(report, results=kept, questions=()))
    assert re.fullmatch(
        r"\d+ servers? fit, by what is checked for \w+\. Next limit: .* left\.", text
    )
    known = [row for row in rows if row.state in {"tight", "fine"}]
    assert known[0].value.endswith((" W", " kW", " MW", " kg", " A"))


def test_next_limit_is_a_resource_and_no_rating_of_a_cable(tmp_path: Path) -> None:
    """More servers do not use up the margin between a breaker and its cable, which came first."""
    for template in ("onprem-h200", "onprem-gb200-nvl72"):
        run_here(tmp_path, "init", template, "--template", template, "--example")
        run_here(tmp_path, "check", template, "--output", f"html={template}.html")
        page = (tmp_path / f"{template}.html").read_text(encoding="utf-8")
        (told,) = re.findall(r"Next limit: ([^<]*) left[;.]", page)
        assert re.search(r" at .*[\d.] (W|kW|MW|kg|kg/m2|L/min|CFM) \(\d", told), told


def test_headline_says_what_one_more_rack_needs(tmp_path: Path) -> None:
    """By the rule of the limit itself: the difference of its value with 68 servers and with 64."""
    values = {}
    for count in (64, 68):
        text = BASE.replace("count: 64}", f"count: {count}}}").replace("count: 1}", "count: 3}")
        (tmp_path / f"{count}.yaml").write_text(text)
        ended = run_here(tmp_path, "check", f"{count}.yaml", "--json", "--only", "COOL-001")
        (values[count],) = (
            one["value"]
            for one in json.loads(ended.out)["results"]
            if one["message"].startswith("heat into the air, one air handler lost")
        )
    run_here(tmp_path, "check", "64.yaml", "--output", "64.html")
    page = (tmp_path / "64.html").read_text(encoding="utf-8")
    found = re.findall(r"4 more of &#39;dgx&#39;, with their switches, need ([\d.]+) kW\.", page)
    (need,) = map(float, found)
    assert need == pytest.approx((values[68] - values[64]) / 1000, abs=0.01)
    assert need > 4 * 10.2  # four DGX H200, and the switches that they need


def design_of(folder: Path, text: str) -> tuple[LoadedPlan, dict[str, BudgetRow]]:
    """Return a design and the budgets of its air, by rule."""
    (folder / "design.yaml").write_text(text, encoding="utf-8")
    loaded = load_plan(folder / "design.yaml", catalogue=CATALOGUE)
    results = check_blueprint(loaded, only=["COOL-001", "COOL-017"]).results
    return loaded, {row.policy: row for row in budget_rows(results, Places(loaded.plan))}


def test_need_of_more_servers_is_known_where_the_limit_names_a_temperature(tmp_path: Path) -> None:
    """COOL-017 names the return air, which more servers warm: it never had a need."""
    loaded, rows = design_of(tmp_path, BASE)
    assert re.search(r"return air of \d+\.\d °C", rows["COOL-017"].what)
    assert next_need(loaded, rows["COOL-017"]) == next_need(loaded, rows["COOL-001"]) != ""


def test_need_of_more_servers_names_the_group_at_the_place_of_the_limit(tmp_path: Path) -> None:
    groups = "count: 40}\n      - {name: old, role: compute, type: dgx-h200, count: 16}"
    loaded, rows = design_of(tmp_path, BASE.replace("count: 64}", groups))
    row = rows["COOL-001"]  # of a hall with both groups
    assert re.fullmatch(r"4 more of 'dgx' need [\d.]+ kW", next_need(loaded, row))
    place = ("sites", 0, "node_groups", 1)
    racks = loaded.plan.onprem[0].racks
    own = [n for n, one in enumerate(racks) if place in {d.path for d in one.kind.devices}]
    near = replace(row, place=Place(0, tuple(own)))
    assert re.fullmatch(r"4 more of 'old' need [\d.]+ kW", next_need(loaded, near))


def test_full_form_says_nothing_about_more_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, rows = design_of(tmp_path, BASE)
    larger, _ = design_of(tmp_path, BASE.replace("count: 64}", "count: 68}"))
    full, _ = design_of(tmp_path, full_yaml(loaded, "design.yaml"))
    # A larger plan is at hand, so that only the form of the blueprint keeps it from being used.
    monkeypatch.setattr(growth, "load_data", lambda data, catalogue: larger)
    assert next_need(loaded, rows["COOL-001"]).startswith("4 more of 'dgx'")
    assert next_need(full, rows["COOL-001"]) == ""


def test_page_names_file_revision_and_day(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_bytes((FIXTURES / "air.yaml").read_bytes())
    arguments = ("check", "b.yaml", "--today", "2026-11-27", "--output", "html=page.html")

    def said() -> str:
        run_here(tmp_path, *arguments)
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    assert "b.yaml, not committed, 2026-11-27" in said()
    for words in (("init", "-q"), ("add", "b.yaml"), ("commit", "-q", "-m", "x")):
        git(tmp_path, *words)
    commit = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert f"b.yaml, revision {commit}, 2026-11-27" in said()
    with (tmp_path / "b.yaml").open("a") as file:
        file.write("# a change\n")
    assert f"revision {commit} with changes that are not committed, 2026-11-27" in said()
