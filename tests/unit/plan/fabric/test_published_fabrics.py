"""Published fabrics come out of the plan switch for switch; ``UPDATE_GOLDEN=1`` writes their table anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from examples import MANY
from published_fabrics import PUBLISHED, SOURCES, Published, table

DOCUMENT = Path(__file__).parents[4] / "docs/fabrics.md"
BEGIN, END = "<!-- made by tests/published_fabrics.py -->\n", "<!-- end -->\n"
LARGE = 5_000
"""Cables above which the list is made only where many examples are asked for."""
TOLD_APART = {
    # 1,296 nodes of 8 GPUs are 10,368; the table prints 9,216.
    ("DGX B300, XDR, 1,296 nodes", "gpus"),
    # 192 cables below leave 7 : 1 at 27.4 above, so there are 28.
    ("Llama 3, 8 pods", "ratios"),
    # 24 spines keep half their ports for cores; 16 are enough for 32 uplinks of each leaf.
    ("DGX GB200 NVL72, 8 racks", "switches"),
}
"""Where a document prints another number than the plan has, and why."""


def compared(one: Published) -> dict[str, tuple[tuple[float | None, ...], tuple[float, ...]]]:
    """Published and computed numbers by what they are of."""
    return {
        "gpus": ((one.gpus,), (one.accelerators,)),
        "switches": (one.switches, one.needed),
        "cables": (one.cables, one.cabled),
        "ratios": (one.ratios, one.oversubscribed),
    }


@pytest.mark.parametrize("one", PUBLISHED, ids=lambda one: one.name)
def test_a_published_fabric_comes_out_switch_for_switch(one: Published):
    for what, (published, computed) in compared(one).items():
        assert len(published) == len(computed)
        known = [pair for pair in zip(published, computed, strict=True) if pair[0] is not None]
        differs = [pair for pair in known if pair[0] != pair[1]]
        assert bool(differs) == ((one.name, what) in TOLD_APART), (what, differs)
    assert one.layout.unplaced == (0,) * len(one.layout.hosts)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "one",
    [one for one in PUBLISHED if MANY or sum(one.cabled) <= LARGE],
    ids=lambda one: one.name,
)
def test_the_list_of_cables_has_as_many(one: Published):
    assert one.listed == one.cabled


def test_the_designs_that_were_asked_for_are_there():
    names = {one.name for one in PUBLISHED}
    wanted = {f"DGX H100, {nodes} nodes" for nodes in ("31", "63", "127", "512", "2,048")}
    wanted |= {"DGX B200, 64 nodes", "DGX B300, XDR, 72 nodes"}
    wanted |= {"DGX B300, Ethernet, two planes, 64 nodes"}
    wanted |= {"DGX GB200 NVL72, 8 racks", "Llama 3, 1 pod", "Llama 3, 8 pods"}
    assert wanted <= names
    assert {one.source for one in PUBLISHED} == set(SOURCES)


def test_the_table_of_the_documentation_has_these_numbers():
    text = DOCUMENT.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    written, end, after = rest.partition(END)
    assert begin
    assert end
    if os.environ.get("UPDATE_GOLDEN"):
        DOCUMENT.write_text(before + begin + table() + end + after, "utf-8")
        written = table()
    assert written == table()
