"""Drawings in the documents are those of today's code; ``UPDATE_GOLDEN=1`` writes them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from rackwright.drawings.collection import DrawingKind, draw
from rackwright.plan.load import load_plan
from rackwright.resources import bundled
from suites import ROOT

IMAGES: dict[str, tuple[str, DrawingKind]] = {
    "aws": ("aws", "aws"),
    "cooling": ("plant", "cooling"),
    "fabric": ("fabric", "fabric"),
    "floor": ("fabric", "floor"),
    "rows": ("fabric", "rows"),
}
"""Fixture and kind of each image of ``docs/images``."""


@pytest.mark.parametrize("name", IMAGES)
def test_image_is_drawn_as_the_code_draws(name: str) -> None:
    fixture, kind = IMAGES[name]
    plan = load_plan(bundled("policies") / "fixtures" / f"{fixture}.yaml").plan
    _, drawing = next(draw(plan, kind))
    path = ROOT / f"docs/images/{name}.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(drawing.standalone(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawing.standalone()


def test_every_image_is_shown_by_a_document() -> None:
    shown = "".join(texts())
    images = [path.name for path in (ROOT / "docs/images").iterdir()]
    # One picture stands for templates whose halls are alike.
    lost = [name for name in images if name not in shown and not name.startswith("template-")]
    assert len(images) > 10
    assert lost == []


def texts() -> Iterator[str]:
    yield (ROOT / ".ci/site/mkdocs.yml").read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        yield path.read_text(encoding="utf-8")
