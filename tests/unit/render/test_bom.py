"""The bill of materials agrees with the plan to the piece, and two of them can be compared."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_support import run_here
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import LoadedPlan, load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.bom import INCLUDED, Article, bill_of_materials, compare, length_class
from suites import ROOT

FIXTURES = sorted((builtin_pack() / "fixtures").glob("*.yaml"))
SHORT = """apiVersion: rackwright/v1
name: atlas
derive: "1"
sites:
  - name: sjc1
    provider: onprem
    power: {continuous_derate: 80 %, power_factor: 0.95, contract: 1100 kW, utility: 1200 kW, feeds: [A, B, C],
            feed_path: [{kind: ups, modules: {count: 6, capacity: 100 kW, spare: 1}},
                        {kind: rpp, circuit: {voltage: 415 V, current: 800 A, phases: 3}}],
            pdu: pdu-415v-60a-24c19, circuit: {voltage: 415 V, current: 60 A, phases: 3}}
    halls: [{name: hall-1, air: {type: crah-spec-100kw, count: 9, inlet_temperature: 24 °C,
                                 temperature_rise: 14 K, ashrae_class: A2, containment: hot-aisle}}]
    racks: {power_limit: 45 kW}
    node_groups: [{name: dgx, role: compute, type: dgx-h200, count: 64}]
    fabric:
      preset: rail-optimized
      technology: infiniband
      rate: 400 Gbps
      oversubscription: 1
      links:
        - {name: nodes, cable: mms4x00-ns, fibre: OS2, length: 24 m}
        - {name: spines, cable: mma4z00, fibre: OM4, length: 10 m}
"""


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    (tmp_path / "b.yaml").write_text(SHORT)
    return tmp_path


def quantities(lines: list[Article]) -> dict[tuple[str, str, str], int]:
    return {(line.category, line.product, line.detail): line.quantity for line in lines}


def devices_of(loaded: LoadedPlan) -> Counter[str]:
    """Count the devices of a plan one by one, by what stands in each rack."""
    found: Counter[str] = Counter()
    for site in loaded.plan.onprem:
        for racks in site.racks:
            for _ in racks.names:
                found.update(f"{device.kind} {device.entry}" for device in racks.kind.devices)
    return found


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_devices_of_the_bill_are_those_of_the_plan(path: Path) -> None:
    loaded = load_plan(path)
    counted: Counter[str] = Counter()
    for line in bill_of_materials(loaded.plan):
        if line.category in {"node", "switch", "pdu", "shelf", "manifold", "door", "fluid"}:
            counted[f"{line.category} {line.product}"] += line.quantity
    racked = {key: n for key, n in devices_of(loaded).items() if not key.startswith("cdu ")}
    assert dict(counted) == racked


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_cables_of_the_bill_are_those_of_the_plan(path: Path) -> None:
    loaded = load_plan(path)
    laid = sum(
        1
        for site in loaded.plan.onprem
        for fabric in site.fabrics
        if fabric.layout is not None
        for _ in wires(fabric.layout)
    )
    lines = bill_of_materials(loaded.plan)
    bought = sum(line.quantity for line in lines if line.category == "cable")
    joined = any(line.product == "mcp4y10" for line in lines)
    assert bought < laid if joined else bought == laid


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_an_article_is_one_line(path: Path) -> None:
    lines = bill_of_materials(load_plan(path).plan)
    keys = Counter(line.key for line in lines)
    assert [key for key, count in keys.items() if count > 1] == []
    assert all(line.quantity > 0 for line in lines)


def test_bill_of_64_dgx_h200(hall: Path) -> None:
    """64 × 8 links of 400 Gbps to 16 leaves, and as many to 8 spines; twin-port parts serve two."""
    found = quantities(bill_of_materials(load_plan(hall / "b.yaml").plan))
    assert found["node", "dgx-h200", ""] == 64
    assert found["switch", "qm9700", ""] == 24
    assert found["cable", "OS2", "up to 25 m"] == 512
    assert found["cable", "OM4", "up to 10 m"] == 512
    assert found["transceiver", "mms4x00-ns", ""] == 64 * 4 + 16 * 16
    assert found["transceiver", "mma4z00", ""] == 16 * 16 + 8 * 32
    assert found["power supply", "dgx-h200", ""] == 64 * 6
    assert found["power source", "ups", "module of 100 kW"] == 18
    assert found["air handler", "crah-spec-100kw", ""] == 9


def test_bill_of_a_superpod_is_the_published_one() -> None:
    """NVIDIA DGX SuperPOD with DGX H100 (RA-11333-001 V11), tables 4 and 7: devices, and cables of the compute fabric."""
    plan = load_plan(ROOT / "docs/examples/superpod-dgx-h100.yaml").plan
    lines = bill_of_materials(plan)
    devices = {
        (line.category, line.product): line.quantity
        for line in lines
        if line.category in {"node", "switch"}
    }
    assert devices == {
        ("node", "dgx-h100"): 127,
        ("node", "cpu-2u"): 4,
        ("node", "ufm-ndr"): 4,
        ("switch", "qm9700"): 48 + 16,
        ("switch", "sn4600c"): 8,
        ("switch", "sn2201"): 8,
    }
    cables: Counter[str] = Counter()
    for line in lines:
        if line.category == "cable":
            cables["all"] += line.quantity
    # 1,020 from nodes and UFM to leaves, 1,024 from leaves to spines; the other fabrics by their layouts.
    others = sum(
        sum(1 for _ in wires(fabric.layout))
        for fabric in plan.onprem[0].fabrics
        if fabric.layout is not None and fabric.name != "compute"
    )
    assert cables["all"] == 1020 + 1024 + others
    supplies = {line.product: line.quantity for line in lines if line.category == "power supply"}
    assert supplies["dgx-h100"] == 127 * 6


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    count=st.integers(1, 90),
    limit=st.integers(20, 60),
    product=st.sampled_from(["dgx-h100", "dgx-h200"]),
    reach=st.sampled_from([3, 10, 24, 60]),
)
def test_bill_of_any_hall_is_its_plan_to_the_piece(
    tmp_path: Path, count: int, limit: int, product: str, reach: int
) -> None:
    text = SHORT.replace("count: 64", f"count: {count}").replace("45 kW", f"{limit} kW")
    text = text.replace("dgx-h200", product).replace("length: 24 m", f"length: {reach} m")
    (tmp_path / "b.yaml").write_text(text)
    loaded = load_plan(tmp_path / "b.yaml")
    (site,) = loaded.plan.onprem
    lines = bill_of_materials(loaded.plan)
    bought = Counter[str]()
    for line in lines:
        bought[line.category] += line.quantity
    racked = devices_of(loaded)
    for kind in ("node", "switch", "pdu"):
        assert bought[kind] == sum(n for key, n in racked.items() if key.startswith(f"{kind} "))
    assert bought["rack"] == sum(racks.count for racks in site.racks)
    assert bought["node"] == count
    laid = [wire for fabric in site.fabrics if fabric.layout for wire in wires(fabric.layout)]
    assert bought["cable"] == len(laid)
    # Each end of an optical cable is in a port of a transceiver, and no transceiver has more ports than two.
    assert len(laid) <= bought["transceiver"] <= 2 * len(laid)
    again = bill_of_materials(load_plan(tmp_path / "b.yaml").plan)
    assert compare(lines, again) == []


def test_spares_follow_from_failures_beyond_those_that_a_group_has(hall: Path) -> None:
    """64 × 6.5 / 1000 a day for 10 days are 4.16 on average: P(X ≤ 9) is 0.9896, so 10 for 99 %, and 4 are there."""
    layer = {
        "reliability": {
            "node_failures_per_1000_days": 6.5,
            "repair_time": "10 d",
            "groups": [{"site": "sjc1", "group": "dgx", "spares": 4}],
        }
    }
    (hall / "r.yaml").write_text(yaml.safe_dump(layer))
    lines = bill_of_materials(load_plan(hall / "b.yaml", [hall / "r.yaml"]).plan)
    (spare,) = [line for line in lines if line.category == "spare"]
    assert (spare.product, spare.quantity) == ("dgx-h200", 6)


@pytest.mark.parametrize(
    ("length", "text"),
    [(10.0, "up to 10 m"), (10.01, "up to 15 m"), (0.4, "up to 1 m"), (None, "length unknown"),
     (2500.0, "up to 2500 m")],
)  # fmt: skip
def test_length_class_reaches(length: float | None, text: str) -> None:
    assert length_class(length) == text


def test_bills_of_two_revisions_are_compared(hall: Path) -> None:
    assert run_here(hall, "bom", "b.yaml", "--json", "--output", "before.json").code == 0
    assert run_here(hall, "bom", "b.yaml", "--than", "before.json").out == "nothing changes\n"
    (hall / "b.yaml").write_text(
        SHORT.replace("count: 64", "count: 72").replace("count: 9,", "count: 8,")
    )
    ended = run_here(hall, "bom", "b.yaml", "--than", "before.json", "--format", "csv")
    rows = {
        (row["category"], row["product"]): row["change"]
        for row in csv.DictReader(ended.out.splitlines())
    }
    assert rows["node", "dgx-h200"] == "+8"
    assert rows["air handler", "crah-spec-100kw"] == "-1"


def test_article_that_is_gone_is_returned() -> None:
    one = Article("sjc1", "node", "dgx-h200", "", "DGX H200", "", 4)
    (change,) = compare([one], [])
    assert (change.before, change.after) == (4, 0)


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"schema": "rackwright.bom/v2"}'])
def test_file_that_is_no_bill_is_refused(hall: Path, text: str) -> None:
    (hall / "other.json").write_text(text)
    ended = run_here(hall, "bom", "b.yaml", "--than", "other.json")
    ended.refused("'other.json' is not a bill of materials", "rackwright bom --json")


def test_text_json_and_csv_say_the_same(hall: Path) -> None:
    text = run_here(hall, "bom", "b.yaml").out
    document = json.loads(run_here(hall, "bom", "b.yaml", "--json").out)
    rows = list(csv.DictReader(run_here(hall, "bom", "b.yaml", "--format", "csv").out.splitlines()))
    assert document["schema"] == "rackwright.bom/v1"
    assert len(text.splitlines()) - 1 == len(document["lines"]) == len(rows)
    assert [row["quantity"] for row in rows] == [
        str(line["quantity"]) for line in document["lines"]
    ]


def test_known_prices_are_those_of_the_costs(hall: Path) -> None:
    """A bill had part numbers and no prices."""
    without = run_here(hall, "bom", "b.yaml").out
    assert "unit_price_usd" not in without
    costs = "costs: {capex: {dgx-h200: 312000.5 USD, rack-48u: 4000 USD, qm9700: 900 USD}}\n"
    (hall / "b.yaml").write_text(SHORT + costs)
    document = json.loads(run_here(hall, "bom", "b.yaml", "--json").out)
    priced = {
        (line["category"], line["product"]): line["unit_price_usd"]
        for line in document["lines"]
        if line["unit_price_usd"] is not None
    }
    assert priced == {
        ("node", "dgx-h200"): 312000.5,
        ("rack", "rack-48u"): 4000,
        ("switch", "qm9700"): 900,
    }
    text = run_here(hall, "bom", "b.yaml").out
    assert "unit_price_usd  price_usd" in text.splitlines()[0]
    (row,) = (line for line in text.splitlines() if " node " in line)
    assert row.split()[-2:] == ["312000.50", "19968032.00"]
    rows = list(csv.DictReader(run_here(hall, "bom", "b.yaml", "--format", "csv").out.splitlines()))
    assert {row["price_usd"] for row in rows if row["category"] == "node"} == {"19968032.00"}


def test_bill_has_lead_times_and_prices_of_cables_and_sources(hall: Path) -> None:
    """No field had a lead time, and ``capex`` refused cables, transceivers and sources without a product."""
    bill = json.loads(run_here(hall, "bom", "b.yaml", "--json").out)["lines"]
    cable = next(line["product"] for line in bill if line["category"] == "transceiver")
    (hall / "rackwright.yaml").write_text("prices: [{path: prices}]\n")
    (hall / "prices").mkdir()
    (hall / "prices/offer.yaml").write_text(
        "id: offer\noffer: capex\nregion: world\ncurrency: USD\nunit: unit\n"
        "prices: {qm9700: {value: 900, source: quote}}\n"
        "lead_times: {qm9700: {value: 63 d, source: quote}, rack-48u: {value: 14 d, source: quote}}\n"
        "sources: {quote: {title: Offer 12 of Acme, date: 2026-11-01, confidence: official}}\n"
    )
    costs = (
        f"capex: {{{cable}: 1200 USD, ups: 15000 USD}}, lead_times: {{ups: 280 d, rack-48u: 7 d}}"
    )
    (hall / "b.yaml").write_text(f"{SHORT}costs: {{{costs}}}\n")
    lines = json.loads(run_here(hall, "bom", "b.yaml", "--json").out)["lines"]
    offers = {
        line["product"]: (line["unit_price_usd"], line["lead_time_days"])
        for line in lines
        if line["note"] != INCLUDED
    }
    assert offers[cable] == (1200, None)
    assert offers["ups"] == (15000, 280)
    assert offers["qm9700"] == (900, 63)
    assert offers["rack-48u"] == (None, 7)
    assert offers["dgx-h200"] == (None, None)
    rows = csv.DictReader(run_here(hall, "bom", "b.yaml", "--format", "csv").out.splitlines())
    assert {row["lead_time_days"] for row in rows if row["category"] == "switch"} == {"63"}
    wrong = "costs: {lead_times: {upps: 280 d}}\n"
    (hall / "b.yaml").write_text(SHORT + wrong)
    run_here(hall, "bom", "b.yaml").refused("there is no hardware product 'upps'", "did you mean")


def test_lead_times_belong_to_lists_of_purchase_prices(hall: Path) -> None:
    (hall / "rackwright.yaml").write_text("prices: [{path: prices}]\n")
    (hall / "prices").mkdir()
    (hall / "prices/tariff.yaml").write_text(
        "id: tariff\noffer: energy\nregion: US-OH\ncurrency: USD\nunit: kWh\n"
        "prices: {}\nlead_times: {qm9700: {value: 63 d, source: quote}}\n"
        "sources: {quote: {title: Offer 12 of Acme, date: 2026-11-01, confidence: official}}\n"
    )
    run_here(hall, "bom", "b.yaml").refused("'lead_times' are those of capex, not of energy")


def test_bill_without_prices_of_an_older_release_is_compared(hall: Path) -> None:
    document = json.loads(run_here(hall, "bom", "b.yaml", "--json").out)
    for line in document["lines"]:
        del line["unit_price_usd"], line["lead_time_days"]
    (hall / "old.json").write_text(json.dumps(document))
    assert run_here(hall, "bom", "b.yaml", "--than", "old.json").out == "nothing changes\n"


def test_power_shelves_of_a_rack_scale_product_are_priced_with_it(tmp_path: Path) -> None:
    """The bill priced them again; the costs count them as bought with the rack."""
    (tmp_path / "costs.yaml").write_text(
        "costs: {capex: {mgx-33kw: 9000 USD, gb200-nvl72: 3000000 USD}}\n"
    )
    fixture = next(path for path in FIXTURES if path.name == "liquid.yaml")
    lines = bill_of_materials(load_plan(fixture, [tmp_path / "costs.yaml"]).plan)
    (shelves,) = (line for line in lines if line.category == "shelf")
    assert (shelves.quantity, shelves.note, shelves.price_usd) == (4 * 8, INCLUDED, None)
    (racks,) = (line for line in lines if line.product == "gb200-nvl72" and line.category == "node")
    assert (racks.note, racks.unit_price_usd) == ("", 3_000_000)


def test_articles_included_and_bought_are_compared_by_their_sum() -> None:
    """A bill of an older release has shelves as bought that are included now."""
    eight, three, five = (Article("lux1", "shelf", "mgx-33kw", "", "", "", n) for n in (8, 3, 5))
    included = replace(five, note=INCLUDED)
    assert compare([eight], [three, included]) == []
    (change,) = compare([three, included], [replace(eight, quantity=9)])
    assert (change.before, change.after) == (8, 9)
