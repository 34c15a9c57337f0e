"""The page in a real browser: what is seen after a click, in light and dark, at two widths and on paper."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser import CHROMIUM, Page, browser
from cli_support import run_here
from npm_tools import NODE, NPM, installed
from rackwright.model.quantities import format_quantity
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.resources import bundled

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

FABRIC = bundled("policies") / "fixtures" / "fabric.yaml"
LARGE = bundled("policies").parent / "docs/examples/superpod-dgx-h100.yaml"
FLOOR = "[data-part=floor]"


@dataclass
class Shown:
    """A page that is shown, the plan that it is of, and where it lies."""

    tab: Page
    plan: Plan
    path: Path


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    run_here(folder, "check", str(FABRIC), "--output", "html=page.html")
    return folder / "page.html"


@pytest.fixture
def shown(tab: Page, written: Path) -> Shown:
    tab.set_view(1280)
    tab.open(written)
    return Shown(tab, load_plan(FABRIC).plan, written)


def loads(tab: Page) -> dict[str, str]:
    names = tab.ask("Array.from(document.querySelectorAll('.source'), (one) => one.dataset.s)")
    return dict(zip(names, tab.texts(".source [data-load]"), strict=True))


def test_the_page_asks_nobody_and_its_policy_is_kept(shown: Shown) -> None:
    tab = shown.tab
    assert tab.requests == [shown.path.resolve().as_uri()]
    assert tab.complaints == []
    assert tab.text("h1") == "fabric"


def test_what_is_slipped_in_does_not_run(tab: Page, written: Path, tmp_path: Path) -> None:
    slipped = (
        "<script>self.owned = 1</script><p style='color:red' id='slipped'></p>"
        "<img src='data:,' onerror='self.owned = 2'><iframe src='data:text/html,x'></iframe></main>"
    )
    (tmp_path / "page.html").write_text(
        written.read_text("utf-8").replace("</main>", slipped), "utf-8"
    )
    tab.open(tmp_path / "page.html")
    assert tab.ask("typeof self.owned") == "undefined"
    red = "getComputedStyle(document.getElementById('slipped')).color"
    assert tab.ask(red) == tab.ask("getComputedStyle(document.body).color")
    assert sum("Content Security Policy" in one for one in tab.complaints) >= 4
    assert loads(tab), "the page's own program runs"


def test_a_click_on_a_source_shows_the_loads_after_its_loss(shown: Shown) -> None:
    tab, (site,) = shown.tab, shown.plan.onprem
    before = loads(tab)
    assert set(before) == {one.source for one in site.power.sources}
    tab.click(".source[data-s='ups-b']")
    after = loads(tab)
    assert after["ups-b"] == "lost"
    dead = site.power.tree.outages.dead["ups-b"]
    assert {name for name, words in after.items() if words in {"lost", "dead"}} == set(dead)
    for name, watts in site.power.after_loss.without("ups-b").items():
        if name not in dead and watts is not None:
            assert after[name].startswith(f"{format_quantity(watts, 'W')} of ")
    assert after["ups-a"] != before["ups-a"]
    assert tab.text("[data-state]") == "sjc1 power, after the loss of ups-b"
    assert tab.text("[data-source='ups-a'] [data-after]") == after["ups-a"]
    tab.click(".source[data-s='ups-b']")
    assert loads(tab) == before
    # The same by keys, and from the list.
    tab.ask("document.querySelector(\".source[data-s='ups-b']\").focus()")
    tab.press("Enter", 13)
    assert loads(tab) == after
    tab.choose("[data-lose]", "")
    assert loads(tab) == before


def test_a_finding_marks_its_racks_and_leads_back(shown: Shown) -> None:
    tab, (site,) = shown.tab, shown.plan.onprem
    place = "#findings .blocks .go[data-c]:not([data-c=''])"
    classes = {int(one) for one in tab.ask(f'document.querySelector("{place}").dataset.c').split()}
    tab.click(place)
    marked = tab.ask(
        "Array.from(document.querySelectorAll('.cell.chosen'), (one) => one.dataset.r)"
    )
    assert set(marked) == {name for number in classes for name in site.racks[number].names}
    # Which of them comes first in the document is no matter: those that are chosen are drawn last.
    in_sight = (
        "Array.from(document.querySelectorAll('.cell.chosen'), (one) => one.getBoundingClientRect())"
        ".some((r) => r.top >= 0 && r.bottom <= innerHeight)"
    )
    assert tab.ask(in_sight)
    assert tab.text(".facts strong") in marked
    tab.click(".facts li.blocks .go")
    assert tab.count(".cell.chosen") == 0
    assert tab.text(".finding.chosen .code") == "REL-003"
    # One on a source, folded away, and back.
    tab.ask("document.querySelector('#findings details').open = true")
    tab.click("#findings .go[data-o='ups-b']")
    assert tab.ask("document.querySelector('.source.chosen').dataset.s") == "ups-b"
    tab.ask("document.querySelector('#findings details').open = false")
    tab.click("[data-source='ups-b'] [data-found] .go")
    assert tab.ask("document.querySelector('#findings details').open")
    assert tab.count(".finding.chosen") == 1


def test_the_floor_is_coloured_by_each_measure(shown: Shown) -> None:
    tab = shown.tab
    seen = set()
    for measure in ("power", "heat", "weight", "headroom"):
        tab.click(f"[data-measure={measure}]")
        assert tab.texts("[aria-pressed=true][data-measure]") == [measure]
        assert tab.count("[data-legend]:not([hidden])") == 1
        steps = tab.ask(
            "Array.from(document.querySelectorAll('.cell > .rack'), (one) =>"
            " one.getAttribute('class') + getComputedStyle(one).fill)"
        )
        seen.add(tuple(steps))
    assert len(seen) > 2


def test_a_rack_shows_its_own_names(shown: Shown) -> None:
    tab, plan = shown.tab, shown.plan
    (site,) = plan.onprem
    by_name = {name: racks for racks in site.racks for name in racks.names}
    for rack in (list(by_name)[1], list(by_name)[-1]):
        tab.click(f".cell[data-r='{rack}']")
        names = plan.racked[site.name][rack]
        told = tab.texts(".elevation text")
        assert {one[0] for one in names.values()} <= set(told)
        assert any(text.startswith(rack) for text in told)
        for source in by_name[rack].sources:
            assert f"from {source}" in told
    tab.ask("document.querySelector('#find input').focus()")
    tab.write("dgx-07")
    tab.press("Enter", 13)
    assert tab.text(".facts strong") == "c02"
    assert "dgx-07" in tab.texts(".elevation text")


def test_cables_and_rails_are_followed(shown: Shown) -> None:
    tab, (site,) = shown.tab, shown.plan.onprem
    layout = site.fabrics[0].layout
    assert layout is not None
    part = "[data-fabric='0']"
    tab.click(f"{part} [data-rail='3']")
    on = tab.ask(f'Array.from(document.querySelectorAll("{part} .way.on"), (one) => one.dataset.w)')
    hosts = sum(run.hosts for run in layout.runs if len(run.leaves) > 2)
    assert len(on) == hosts
    assert {way.split()[1] for way in on} == {
        f"t0-{run.leaves[2]}" for run in layout.runs if len(run.leaves) > 2
    }
    tab.click(f"{part} .port[data-e='h0']")
    ways = tab.ask(
        f'Array.from(document.querySelectorAll("{part} .way.on"), (one) => one.dataset.w)'
    )
    leaves = Counter(layout.runs[0].place(0, n)[0] for n in range(layout.hosts[0].interfaces or 0))
    assert {way.split()[1] for way in ways} == {f"t0-{leaf}" for leaf in leaves}
    # A cable by itself: the point in the middle of one between a leaf and a spine.
    x, y = tab.ask(
        f'(() => {{ const one = document.querySelector("{part} .way"); '
        "one.scrollIntoView({block: 'center', behavior: 'instant'}); "
        "const r = one.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    tab.click_at(x, y)
    assert tab.count(f"{part} .way.on") == 1
    assert re.fullmatch(r"leaf \d+ to spine \d+: \d+ cables?", tab.text(f"{part} .told"))


def test_a_large_fabric_is_followed_by_unit(tab: Page, tmp_path: Path) -> None:
    run_here(tmp_path, "check", str(LARGE), "--output", "html=page.html")
    (site,) = load_plan(LARGE).plan.onprem
    layout = site.fabrics[0].layout
    assert layout is not None
    tab.set_view(1280)
    tab.open(tmp_path / "page.html")
    part = "[data-fabric='0']"
    tab.click(f"{part} [data-e='u0-2']")
    names = layout.tiers[0].names()
    assert f"32 cables to {names[layout.runs[0].leaves[2]]}, ports 1 to 32." in tab.text(
        f"{part} .told"
    )
    tab.choose(f"{part} [data-shape='0']", "1")
    run = layout.runs[1]
    assert names[run.leaves[2]] in tab.text(f"{part} .told").partition(" In all ")[0]
    assert tab.text(f"{part} [data-t='u0-2']") == f"leaf {run.leaves[2] + 1}"
    assert tab.complaints == []


def pixels(path: Path) -> tuple[int, int, bytes]:
    """Width, height, and rows of a PNG with three or four bytes a pixel."""
    raw = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", raw[16:26])
    assert (depth, kind in {2, 6}) == (8, True)
    parts, at = [], 8
    while at < len(raw):
        (size,) = struct.unpack(">I", raw[at : at + 4])
        if raw[at + 4 : at + 8] == b"IDAT":
            parts.append(raw[at + 8 : at + 8 + size])
        at += 12 + size
    return width, height, zlib.decompress(b"".join(parts))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_it_fits_its_window_in_light_and_dark(
    tab: Page, written: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    tab.set_view(width, dark=dark)
    tab.open(written)
    size = tab.call("Page.getLayoutMetrics")["cssContentSize"]
    assert size["width"] == width, "nothing sticks out at the side"
    folder = Path(os.environ.get("RACKWRIGHT_PICTURES", tmp_path))
    picture = folder / f"page-{width}-{'dark' if dark else 'light'}.png"
    tab.picture(picture)
    wide, _, rows = pixels(picture)
    assert wide == width
    # The ground of the page, at the left edge below the bar: the last row is stored against the one above.
    ground = tab.ask("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, re.findall(r"\d+", ground)[:3])) > 382
    assert light is not dark
    assert len(set(rows)) > 100, "it is not empty"
    ink = tab.ask("getComputedStyle(document.body).color")
    assert abs(_grey(ground) - _grey(ink)) > 150
    overlaps = tab.ask(OVERLAPS)
    assert overlaps == []


@pytest.mark.skipif(NPM is None or NODE is None, reason="npm is not installed")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_serious_on_the_page(
    tab: Page, written: Path, width: int, dark: bool
) -> None:
    rules = installed("axe") / "node_modules/axe-core/axe.min.js"
    tab.call("Page.setBypassCSP", enabled=True)
    try:
        tab.set_view(width, dark=dark)
        tab.open(written)
        assert tab.barriers(rules) == []
    finally:
        tab.call("Page.setBypassCSP", enabled=False)


def test_drawing_of_aws_fits_the_page(tab: Page, tmp_path: Path) -> None:
    run_here(tmp_path, "check", str(FABRIC.with_name("aws.yaml")), "--output", "html=page.html")
    for width in (1280, 400):
        tab.set_view(width)
        tab.open(tmp_path / "page.html")
        assert tab.call("Page.getLayoutMetrics")["cssContentSize"]["width"] == width
        assert tab.count("#aws-0 svg.drawing") == 1
        assert tab.ask(OVERLAPS) == []
        folder = Path(os.environ.get("RACKWRIGHT_PICTURES", tmp_path))
        tab.picture(folder / f"aws-{width}.png", "#aws-0")


OVERLAPS = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('main svg.drawing')) {
    const boxes = Array.from(svg.querySelectorAll('text'), (one) => [one.textContent, one.getBoundingClientRect()])
      .filter(([words, r]) => words.trim().length > 1 && r.width > 0);
    boxes.sort((a, b) => a[1].top - b[1].top);
    for (let i = 0; i < boxes.length; i++)
      for (let j = i + 1; j < boxes.length && boxes[j][1].top < boxes[i][1].bottom; j++) {
        const [a, b] = [boxes[i][1], boxes[j][1]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 2 && high > 4) found.push([boxes[i][0], boxes[j][0]]);
      }
  }
  return found;
})()"""
"""Words of a drawing that lie over other words."""


def _grey(colour: str) -> float:
    return sum(int(one) for one in re.findall(r"\d+", colour)[:3]) / 3


def test_the_colours_can_be_chosen(shown: Shown) -> None:
    tab = shown.tab
    grounds = []
    for wanted in ("light", "dark", "auto"):
        tab.click("#theme")
        assert tab.text("#theme") == f"Colours: {wanted}"
        grounds.append(_grey(tab.ask("getComputedStyle(document.body).backgroundColor")))
    assert grounds[1] < 60 < 200 < grounds[0] == grounds[2]


def test_it_is_printed_light_and_whole(tab: Page, written: Path, tmp_path: Path) -> None:
    tab.set_view(1280, dark=True)
    tab.open(written)
    tab.call(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    try:
        assert _grey(tab.ask("getComputedStyle(document.body).backgroundColor")) > 200
        assert tab.ask("getComputedStyle(document.querySelector('.top')).display") == "none"
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")
    paper = tmp_path / "page.pdf"
    tab.paper(paper)
    assert paper.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) > 3
    assert tab.ask("document.querySelector('#findings details').open")
