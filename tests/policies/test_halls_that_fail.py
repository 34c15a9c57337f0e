"""Halls that would burn, trip, freeze or boil: one physical fact of a green hall is broken, and a rule refuses it.

The halls are those of the templates with the answers of their tests: 32 DGX H100 in air on three feeds, and
eight NVL72 racks on liquid. A reader of an earlier release broke 24 facts, and each ended as "ok" in
profile production; beside each are variants: other numbers, another place, or the fact left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
import yaml

from rackwright.exit_codes import ExitCode
from rackwright.plan.load import load_data, load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report
from rackwright.policy.policy_sets import RELEASED
from rackwright.render.full_form import full_yaml
from rackwright.report.text import render_text
from rackwright.templates.cases import read_cases
from rackwright.templates.making import BLUEPRINT, make_cluster, write_cluster
from rackwright.templates.source import open_template, parse_source

AIR, LIQUID = ("onprem-h100", "three-feeds"), ("onprem-gb200-nvl72", "eight-racks")
GB300 = ("onprem-gb300-nvl72", "eight-racks")
GONE = object()
"""Instead of a value: the key is left out."""
UNKNOWN = None
"""Instead of the limit: a missing fact blocks."""

SOURCES = "power.sources"
FEEDS = "halls.*.rows.*.rack_groups.*.feeds.*"
FIRST_FEEDS = "halls.*.rows.*.rack_groups.0.feeds.*"
GROUPS = "halls.*.rows.*.rack_groups.*"
HALL_AIR = "halls.0.air"
LOOP = "loops.0"
TIERS = "fabrics.0.tiers.*"


class Broken(NamedTuple):
    """A hall with something wrong, and the rule that refuses it with its number and limit."""

    name: str
    hall: tuple[str, str]
    changes: Mapping[str, Any]
    rule: str
    value: float | None = None
    limit: float | None = None


ISLAND = {
    f"{SOURCES}.name=utility": {
        "name": "utility",
        "kind": "generator",
        "modules": {"count": 2, "capacity": "2000 kW", "spare": 1},
        "fault_current": "15 kA",
        "step_load": "2000 kW",
        "fuel": "100 m3",
        "consumption": "8 L/min",
        "voltage_tolerance": "1 %",
    },
    "power.contract": GONE,
}
ONE_PHASE = {"voltage": "800 V", "current": "250 A", "phases": 1}

BROKEN = (
    Broken("n01 60 A on 4 mm2", AIR, {f"{FEEDS}.conductors.cross_section": "4 mm2"}, "PWR-020", 60, 31.34),
    Broken("n01 panels of 400 A on 50 mm2", AIR, {f"{SOURCES}.kind=rpp.conductors.cross_section": "50 mm2"}, "PWR-020", 400, 143.3),
    Broken("n01 panels of 400 A on 95 mm2", AIR, {f"{SOURCES}.kind=rpp.conductors.cross_section": "95 mm2"}, "PWR-020", 400, 222.4),
    Broken("n01 60 A on 16 mm2 of aluminium", AIR, {f"{FEEDS}.conductors.material": "aluminium"}, "PWR-020", 60, 57.46),
    Broken("n01 racks of 350 A on 70 mm2", LIQUID, {f"{FIRST_FEEDS}.conductors.cross_section": "70 mm2"}, "PWR-020", 350, 183.6),
    Broken("n01 a claim of 100 A for 4 mm2", AIR, {f"{FEEDS}.conductors.cross_section": "4 mm2", f"{FEEDS}.conductors.ampacity": "100 A"}, "PWR-020", 60, 52.5),
    Broken("n01 4 mm2, cabling not stated", AIR, {f"{FEEDS}.conductors.cross_section": "4 mm2", "power.cabling": GONE}, "PWR-020", 60, 42),
    Broken("n01 conductors of racks not stated", AIR, {f"{FEEDS}.conductors": GONE}, "PWR-017"),
    Broken("n01 conductors of panels not stated", LIQUID, {f"{SOURCES}.kind=rpp.conductors": GONE}, "PWR-017"),
    Broken("n80 CDUs on the utility", LIQUID, {f"{LOOP}.supplies": GONE, f"{LOOP}.fed_by": ["utility"]}, "COOL-015", 1, 0),
    Broken("n80 CDUs of 10 s on the utility", LIQUID, {f"{LOOP}.supplies": [{"count": 3, "fed_by": ["utility"]}], f"{LOOP}.restart": "10 s"}, "COOL-015", 11, 0),
    Broken("n80 sources of CDUs not stated", LIQUID, {f"{LOOP}.supplies": GONE}, "COOL-015"),
    Broken("n06 300 m3 of air", AIR, {f"{HALL_AIR}.volume": "300 m3"}, "COOL-015", 6, 5.6),
    Broken("n06 chillers that start in 20 minutes", AIR, {"plant.name=chillers.restart": "20 min"}, "COOL-015", 1201, 1011),
    Broken("n06 dry coolers that start in 30 minutes", LIQUID, {"plant.name=dry-coolers.restart": "30 min"}, "COOL-015", 1801, 254.5),
    Broken("n06 start of chillers not stated", AIR, {"plant.name=chillers.restart": GONE}, "COOL-015"),
    Broken("n83 plates give 920 kW to the hall", LIQUID, {f"{LOOP}.water": "indoors"}, "COOL-001", 1.12e6, 299_100),
    Broken("n83 CDUs that give their heat outdoors", LIQUID, {f"{LOOP}.water": "outdoors"}, "COOL-016"),
    Broken("n83 water of CDUs not stated", LIQUID, {f"{LOOP}.water": GONE}, "COOL-011"),
    Broken("n39 air of 24 °C from water of 35 °C", AIR, {"facility_water.name=chilled.supply_temperature": "35 °C"}, "COOL-016", 35, 22),
    Broken("n39 air handlers on warm water", LIQUID, {f"{HALL_AIR}.water": "warm"}, "COOL-016", 30, 22),
    Broken("n39 temperature of water not stated", AIR, {"facility_water.name=chilled.supply_temperature": GONE}, "COOL-016"),
    Broken("n03 peaks above an overload of 1.2 MW", LIQUID, {f"{SOURCES}.kind=ups.overload": "1200 kW"}, "PWR-007", 1.62e6, 1.2e6),
    Broken("n03 peaks above an overload of 150 kW", AIR, {f"{SOURCES}.kind=ups.overload": "150 kW"}, "PWR-007", 221_300, 150_000),
    Broken("n84 overload not stated", LIQUID, {f"{SOURCES}.kind=ups.overload": GONE}, "PWR-007"),
    Broken("n02c swing on gas sets not stated", LIQUID, ISLAND, "PWR-028"),
    Broken("n02c swing on gas sets of 200 kW", LIQUID, {**ISLAND, f"{SOURCES}.name=utility.swing_limit": "200 kW"}, "PWR-028", 1.098e6, 200_000),
    Broken("n02c swing on a utility of 300 kW", LIQUID, {f"{SOURCES}.name=utility.swing_limit": "300 kW"}, "PWR-028", 1.098e6, 300_000),
    Broken("n04b shelves on 208 V", LIQUID, {f"{FIRST_FEEDS}.circuit.voltage": "208 V"}, "PWR-023", 208, 346),
    Broken("n04b shelves on 800 V", LIQUID, {f"{FIRST_FEEDS}.circuit.voltage": "800 V"}, "PWR-023", 800, 480),
    Broken("n58 shelves on one phase of 800 V", LIQUID, {f"{FIRST_FEEDS}.circuit": ONE_PHASE}, "PWR-023"),
    Broken("n15 reversed switches", AIR, {f"{TIERS}.air_direction": "back-to-front"}, "RACK-007"),
    Broken("n15 reversed spines", AIR, {"fabrics.0.tiers.name=spine.air_direction": "back-to-front"}, "RACK-007"),
    Broken("n15 direction not stated", AIR, {f"{TIERS}.air_direction": GONE}, "RACK-007"),
    Broken("n73 no containment", AIR, {f"{HALL_AIR}.containment": "none"}, "RACK-008"),
    Broken("n73 no blanking panels", AIR, {f"{GROUPS}.blanking": False}, "RACK-008"),
    Broken("n73 blanking panels not stated", AIR, {f"{GROUPS}.blanking": GONE}, "RACK-008"),
    Broken("n14 75 °C at a connector of 60 °C", LIQUID, {f"{LOOP}.supply_temperature": "45 °C", f"{LOOP}.temperature_rise": "30 K"}, "COOL-008", 75, 60),
    Broken("n14 supply not stated", LIQUID, {f"{LOOP}.supply_temperature": GONE}, "COOL-008"),
    Broken("n14 75 °C in the hall of GB300", GB300, {f"{LOOP}.supply_temperature": "45 °C", f"{LOOP}.temperature_rise": "30 K"}, "COOL-008", 75, 60),
    Broken("n79 900 kPa in the hall of GB300", GB300, {f"{LOOP}.pressure": "900 kPa"}, "COOL-008", 900, 517.1),
    Broken("n79 900 kPa at a connector of 517 kPa", LIQUID, {f"{LOOP}.pressure": "900 kPa"}, "COOL-008", 900, 517.1),
    Broken("n79 520 kPa", LIQUID, {f"{LOOP}.pressure": "520 kPa"}, "COOL-008", 520, 517.1),
    Broken("n79 pressure not stated", LIQUID, {f"{LOOP}.pressure": GONE}, "COOL-008"),
    Broken("n05 water in dry coolers", LIQUID, {"facility_water.name=warm.fluid": "water"}, "COOL-018", -8, 0),
    Broken("n05 PG25 at -26 °C", LIQUID, {"design_coldest": "-26 °C"}, "COOL-018", -26, -10),
    Broken("n05 coldest day not stated", LIQUID, {"design_coldest": GONE}, "COOL-018"),
    Broken("n16 aisles of 0.2 m", AIR, {f"{GROUPS}.aisle_depth": "0.1 m"}, "RACK-014", 0.2, 0.9),
    Broken("n16 aisles of 0.8 m", AIR, {f"{GROUPS}.aisle_depth": "0.4 m"}, "RACK-014", 0.8, 0.9),
    Broken("n16 aisles not stated", AIR, {f"{GROUPS}.aisle_depth": GONE}, "RACK-014"),
    Broken("n27 credit of 2 m of aisle", LIQUID, {"halls.0.floor.uniform": "600 kg/m2", f"{GROUPS}.aisle_depth": "2 m"}, "RACK-013", 979, 600),
    Broken("n27 credit of 5 m of aisle", AIR, {"halls.0.floor.uniform": "250 kg/m2", f"{GROUPS}.aisle_depth": "5 m"}, "RACK-013", 433.1, 250),
    Broken("n17 breakers of the NEC at 95 %", AIR, {"power.continuous_derate": "95 %", "power.cabling": GONE}, "PWR-025", 95, 80),
    Broken("n17 at 100 % by the NEC", AIR, {"power.continuous_derate": "100 %", "power.cabling.standard": "nec", "power.cabling.temperature": "75 °C"}, "PWR-025", 100, 80),
    Broken("n18 UPSs of redundancy N", AIR, {f"{SOURCES}.kind=ups.redundancy": "N", f"{SOURCES}.kind=ups.modules.capacity": "70 kW"}, "PWR-026", 176_500, 140_000),
    Broken("n18 panels of redundancy N", AIR, {f"{SOURCES}.kind=rpp.redundancy": "N", f"{SOURCES}.kind=rpp.circuit.current": "220 A"}, "PWR-026", 176_500, 120_200),
    Broken("n31 a cap of 40 kW on 72 GPUs", LIQUID, {"node_groups.name=nvl72.power_cap": "40 kW"}, "PWR-027", 40_000, 60_000),
    Broken("n31 a cap of 59 kW", LIQUID, {"node_groups.name=nvl72.power_cap": "59 kW"}, "PWR-027", 59_000, 60_000),
    Broken("n86 a cap of 4.6 kW on 8 GPUs", AIR, {"node_groups.name=dgx.power_cap": "4.6 kW"}, "PWR-027", 4_600, 6_200),
    Broken("n09 4,000 m", AIR, {"altitude": "4000 m"}, "PWR-024", 4000, 3050),
    Broken("n09 2,500 m with breakers of 2,000 m", AIR, {"altitude": "2500 m"}, "PWR-024", 2500, 2000),
    Broken("n09 altitude not stated", AIR, {"altitude": GONE}, "PWR-024"),
    Broken("n32 a fault of 0.3 kA", AIR, {f"{SOURCES}.name=utility.fault_current": "0.3 kA"}, "PWR-021", 264.7, 600),
    Broken("n32 a fault of 1 kA before panels of 400 A", AIR, {f"{SOURCES}.name=utility.fault_current": "1 kA"}, "PWR-021", 930.8, 1200),
    Broken("n32 fault current not stated", AIR, {f"{SOURCES}.name=utility.fault_current": GONE}, "PWR-021"),
    Broken("n70 CDUs that change sources in 5 s", LIQUID, {f"{LOOP}.supplies": GONE, f"{LOOP}.fed_by": ["ups-a", "ups-b"], f"{LOOP}.transfer": "5 s"}, "COOL-015", 5, 0),
    Broken("n70 transfer not stated", LIQUID, {f"{LOOP}.supplies": GONE, f"{LOOP}.fed_by": ["ups-a", "ups-b"]}, "COOL-015"),
    Broken("n70 air handlers that change sources in a minute", AIR, {f"{HALL_AIR}.fed_by": ["ups-a", "ups-b"], f"{HALL_AIR}.transfer": "60 s"}, "COOL-015", 65, 14.92),
)  # fmt: skip


THIRTY = {"length": "20 m", "parallel": 30, "cross_section": "10 mm2", "material": "copper"}
THIN = {"length": "20 m", "parallel": 6, "cross_section": "2.5 mm2", "material": "aluminium"}
NEC = {"standard": "nec", "temperature": "75 °C", "ambient": "30 °C", "circuits": 1}
WARMER = {"design_dry_bulb": "35 °C", "plant.*.outdoor_temperature": "40 °C"}
NEWER = (
    Broken("panels of 480 V above circuits of 415 V", AIR, {f"{SOURCES}.kind=rpp.circuit.voltage": "480 V"}, "PWR-030", 15.66, 10),
    Broken("UPSs of 480 V above panels of 415 V", AIR, {f"{SOURCES}.kind=ups.voltage": "480 V"}, "PWR-030", 15.66, 10),
    Broken("a utility of 13.8 kV straight into UPSs", AIR, {f"{SOURCES}.name=utility.voltage": "13800 V"}, "PWR-030", 3225.3, 10),
    Broken("air of 70 °C behind the racks", AIR, {f"{HALL_AIR}.temperature_rise": "46 K"}, "PWR-031", 70, 60),
    Broken("cables for 10 °C in a hall of 24 °C", AIR, {"power.cabling.ambient": "10 °C"}, "PWR-031", 10, 24),
    Broken("UPSs of 2 MW that carry 10 MW for a minute", LIQUID, {f"{SOURCES}.kind=ups.overload": "10 MW"}, "PWR-032", 10e6, 3e6),
    Broken("30 conductors of 10 mm2 in parallel", AIR, {f"{SOURCES}.kind=rpp.conductors": THIRTY, "power.cabling": NEC}, "PWR-033", 10, 53.5),
    Broken("aluminium of 2.5 mm2", AIR, {f"{FEEDS}.conductors": THIN}, "PWR-033", 2.5, 10),
    Broken("chilled water that warms up by 40 K", AIR, {"facility_water.0.warming": "40 K"}, "COOL-019", 58, 22),
    Broken("chilled water that warms up by 12 K", AIR, {"facility_water.0.warming": "12 K"}, "COOL-019", 30, 22),
    Broken("warm water that warms up by 30 K", LIQUID, {"facility_water.name=warm.warming": "30 K"}, "COOL-019"),
    Broken("water as warm as the air outside", LIQUID, WARMER, "COOL-020", 0, 2.8),
    Broken("chillers that cool for an hour without power", AIR, {"plant.0.rides_through": "1 h"}, "COOL-021", 3600, 30),
    Broken("CDUs that pump for an hour without power", LIQUID, {f"{LOOP}.rides_through": "1 h"}, "COOL-021", 3600, 30),
    Broken("one phase of 240 V for PDUs of three phases", AIR, {f"{FEEDS}.circuit.voltage": "240 V", f"{FEEDS}.circuit.phases": 1}, "PWR-030"),
    Broken("CDUs that change sources in no time", LIQUID, {f"{LOOP}.supplies": GONE, f"{LOOP}.fed_by": ["ups-a", "ups-b"], f"{LOOP}.transfer": "0 s"}, "COOL-021", 0, 0.004),
    Broken("PG25 that freezes at -60 °C", LIQUID, {"design_coldest": "-40 °C", "facility_water.name=warm.freezing_point": "-60 °C"}, "COOL-021", -60, -10),
    Broken("water that freezes at -40 °C", LIQUID, {"design_coldest": "-26 °C", "facility_water.name=warm.fluid": "water", "facility_water.name=warm.freezing_point": "-40 °C"}, "COOL-021", -40, 0),
    Broken("racks of 10 kg on their way", AIR, {f"{GROUPS}.shipping.weight": "10 kg"}, "RACK-015", 10, 150),
)  # fmt: skip
"""Halls that set 0.4 accepts, found on 2026-11-27 and 2026-11-28."""


@cache
def hall_text(template: str, case: str) -> str:
    """Return the full form of a template with the answers of one of its cases, as JSON."""
    source = open_template(parse_source(template))
    with TemporaryDirectory(prefix="rackwright-hall-") as made:
        folder = Path(made)
        write_cluster(make_cluster(source, folder, read_cases(source)[case], RELEASED), folder)
        data = yaml.safe_load(full_yaml(load_plan(folder / BLUEPRINT), template))
    return json.dumps(data, default=str)


def chosen(node: Any, step: str) -> Iterator[tuple[Any, Any]]:
    """Yield each container with the key of what ``step`` names in it: a key, a place, ``*`` or ``name=value``."""
    if isinstance(node, list):
        for place, entry in enumerate(node):
            key, _, wanted = step.partition("=")
            if step in ("*", str(place)) or (wanted and entry.get(key) == wanted):
                yield node, place
    else:
        yield node, step


def changed(data: Any, path: str, value: Any) -> None:
    """Set ``value`` at each place of ``path``; at least one is there."""
    *steps, last = path.split(".")
    nodes = [data]
    for step in steps:
        nodes = [
            holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
            for node in nodes
            for holder, key in chosen(node, step)
        ]
    places = [found for node in nodes for found in chosen(node, last)]
    assert places, path
    for holder, key in places:
        if value is GONE:
            del holder[key]
        else:
            holder[key] = deepcopy(value)


def judged(hall: tuple[str, str], changes: Mapping[str, Any], policy_set: str = "0.4") -> Report:
    data = json.loads(hall_text(*hall))
    data |= {"policy_set": policy_set, "stage": "run", "profile": "production"}
    for path, value in changes.items():
        changed(data["sites"][0], path, value)
    return check_plan(load_data(data))


@pytest.mark.parametrize("hall", [AIR, LIQUID, GB300], ids=lambda hall: hall[0])
@pytest.mark.parametrize("policy_set", ["0.4", "0.5"])
def test_the_halls_are_green(hall: tuple[str, str], policy_set: str) -> None:
    report = judged(hall, {}, policy_set)
    assert [r.message for r in report.results if r.blocks] == []
    assert report.exit_code is ExitCode.CLEAN


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_broken_hall_is_refused_by_its_number(broken: Broken) -> None:
    report = judged(broken.hall, broken.changes)
    assert report.exit_code in (ExitCode.VIOLATION, ExitCode.UNKNOWN)
    found = [r for r in report.results if r.policy == broken.rule and r.blocks]
    assert found, [(r.policy, r.message) for r in report.results if r.blocks]
    if broken.limit is not None:
        numbers = [(r.value, r.limit) for r in found if r.outcome is Outcome.FAIL]
        assert pytest.approx((broken.value, broken.limit), rel=0.005) in numbers
    if "not stated" in broken.name and "cabling" not in broken.name:
        assert any(r.outcome is Outcome.UNKNOWN and r.missing for r in found)


@pytest.mark.parametrize(
    "broken",
    [one for one in BROKEN if one.name in ("n01 60 A on 4 mm2", "n03 peaks above an overload of 1.2 MW")],
    ids=lambda broken: broken.name,
)  # fmt: skip
def test_verdict_by_set_03_says_that_set_04_refuses(broken: Broken) -> None:
    report = judged(broken.hall, broken.changes, "0.3")
    assert report.exit_code is ExitCode.CLEAN
    text = render_text(report)
    assert re.search(
        r"ok for run by policy set 0.3 alone(, on \d+ example values?)?; policy set 0.4 blocks it for ",
        text,
    )
    assert broken.rule in text


@pytest.mark.parametrize("broken", NEWER, ids=lambda broken: broken.name)
def test_hall_that_set_04_accepts_is_refused_by_set_05(broken: Broken) -> None:
    report = judged(broken.hall, broken.changes, "0.5")
    assert report.exit_code is ExitCode.VIOLATION
    found = [r for r in report.results if r.policy == broken.rule and r.blocks]
    assert found, [(r.policy, r.message) for r in report.results if r.blocks]
    if broken.limit is not None:
        numbers = [(r.value, r.limit) for r in found if r.outcome is Outcome.FAIL]
        assert pytest.approx((broken.value, broken.limit), rel=0.005, abs=0.01) in numbers


def test_every_hall_of_the_review_is_broken_here() -> None:
    named = {broken.name.split()[0] for broken in BROKEN}
    assert named == {
        *("n01", "n80", "n06", "n83", "n39", "n03", "n84", "n02c", "n04b", "n58", "n15", "n73"),
        *("n14", "n79", "n05", "n16", "n27", "n17", "n18", "n31", "n86", "n09", "n32", "n70"),
    }
