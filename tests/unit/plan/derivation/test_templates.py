"""The short forms of the templates, and of a hall of DGX H200, against what is written in full."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rack_records import as_data, rack_devices
from rackwright.diff.changes import compare
from rackwright.render.blueprints import find_template
from rackwright.render.full_form import full_yaml
from rackwright.templating import render_file
from short_forms import SHORT, planned

HALL = (SHORT / "dgx-h200.yaml").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[4]
TEMPLATES = ("hybrid-h100", "lab")


def both_forms(name: str) -> tuple[str, str]:
    """A template as it is shipped, and its short form, with the same answers."""
    template = find_template(name)
    values = {key: asked.default for key, asked in template.manifest.questions.items()}
    values |= {"policy_set": "0.2", "catalogue_digest": f"sha256:{0:064}"}
    shipped = ROOT / "templates/blueprints" / name / "blueprint.yaml.j2"
    return render_file(shipped, values), render_file(SHORT / f"{name}.yaml.j2", values)


def lines(text: str) -> int:
    """Lines that say something."""
    return sum(1 for line in text.splitlines() if line.strip() and line.split()[0][0] != "#")


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_short_form_of_a_template_is_the_same_blueprint(name: str) -> None:
    full, short = both_forms(name)
    one, other = planned(full), planned(short)
    assert [change.path for change in compare(one, other)] == ["derive"]
    assert other.derivations
    assert lines(short) < lines(full)
    before, after = one.plan.onprem[0], other.plan.onprem[0]
    assert as_data(before, "racks") == as_data(after, "racks")
    assert rack_devices(before) == rack_devices(after)
    assert before.power.sources == after.power.sources


@pytest.mark.parametrize("name", ["dgx-h200", *TEMPLATES])
def test_the_full_form_that_is_printed_is_the_same_plan(name: str) -> None:
    short = HALL if name == "dgx-h200" else both_forms(name)[1]
    one = planned(short)
    other = planned(full_yaml(one, "blueprint.yaml"))
    assert other.plan.blueprint == one.plan.blueprint
    assert other.plan.catalogue == one.plan.catalogue, "a plan follows from these two alone"
    assert other.derivations == ()
    assert yaml.safe_load(full_yaml(other, "x")) == yaml.safe_load(full_yaml(one, "x"))


def test_a_hall_of_64_dgx_h200_takes_15_lines() -> None:
    made = planned(HALL)
    assert lines(HALL) == 15
    site = made.plan.onprem[0]
    (fabric,) = site.fabrics
    assert [(tier.name, tier.count) for tier in fabric.fabric.tiers] == [("leaf", 16), ("spine", 8)]
    assert sum(racks.count for racks in site.racks) == 18
    assert len(made.plan.hosts) == 64


def test_the_table_of_the_documentation_is_what_is_counted() -> None:
    rows = []
    for name in ("dgx-h200", *TEMPLATES):
        short = HALL if name == "dgx-h200" else both_forms(name)[1]
        made = planned(short)
        full = lines(full_yaml(made, "x"))
        shipped = "" if name == "dgx-h200" else lines(both_forms(name)[0])
        rows.append(f"| `{name}` | {lines(short)} | {shipped} | {full} | {len(made.derivations)} |")
    text = (ROOT / "docs/short-blueprints.md").read_text(encoding="utf-8")
    assert [row for row in rows if row not in text] == []
