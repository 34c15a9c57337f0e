"""Tasks of a newcomer, typed one after the other: 64 DGX H200 from a template to concept, design and build."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import yaml

from cli_support import Ended, run_here
from rackwright.exit_codes import ExitCode

TYPED = {
    "nodes": "64",
    "altitude": "30 m",
    "contract": "1100 kW",
    "utility": "1200 kW",
    "pue": "1.3",
    "ups_modules": "6",
    "ups_module": "100 kW",
    "panel_current": "800 A",
    "handlers": "9",
    "floor_load": "1500 kg/m2",
    "floor_point": "700 kg",
}
"""What an engineer knows on the first day."""
DESIGN = """
sites:
  - name: hall1
    design_dry_bulb: 38 °C
    pue_budget: 1.4
    plant: [{name: ch, kind: chiller, count: 6, capacity: 200 kW, water: chilled, rejects_to: outdoors,
             outdoor_temperature: 40 °C, fed_by: [utility], restart: 2 min}]
    facility_water: [{name: chilled, fluid: water, supply_temperature: 18 °C, volume: 60 m3, warming: 4 K}]
    halls:
      - name: hall-1
        air: {water: chilled, fed_by: [utility], restart: 5 s, volume: 1600 m3}
        trays: {height: 2.7 m, section: {width: 600 mm, depth: 100 mm}}
    racks: {blanking: true, cable_allowance: 100 mm, cable_weight: 40 kg}
    power:
      conductors: {length: 25 m, parallel: 1, cross_section: 16 mm2, material: copper}
      cabling: {standard: iec, installation: tray, temperature: 90 °C, ambient: 40 °C, circuits: 3}
      feed_path:
        - {kind: ups, modules: {count: 6, capacity: 100 kW, spare: 1}, overload: 700 kW, recharge: 50 kW,
           short_circuit_rating: 35 kA, voltage_tolerance: 1 %}
        - {kind: rpp, circuit: {voltage: 415 V, current: 800 A, phases: 3}, short_circuit_rating: 35 kA,
           conductors: {length: 20 m, parallel: 2, cross_section: 240 mm2, material: copper}}
      sources: [{name: utility, fault_current: 15 kA}]
    fabric:
      mtu: 4096
      tiers: [{name: leaf, air_direction: front-to-back}, {name: spine, air_direction: front-to-back}]
      links:
        - {name: nodes, length: 20 m, cable: mma4z00, lower_shell: flat-top, upper_shell: finned-top,
           bend_space: 80 mm, fibre: OM4, diameter: 3 mm}
        - {name: spines, length: 10 m, cable: mma4z00, lower_shell: finned-top, upper_shell: finned-top,
           bend_space: 80 mm, fibre: OM4, diameter: 3 mm}
reliability:
  node_failures_per_1000_days: 6.5
  jobs: [{name: l, parts: [{site: hall1, group: dgx, hosts: 32}], restart: 10 min, checkpoint_interval: 60 min,
          checkpoint_stall: 60 s, target: 80 %}]
"""


def typed(folder: Path, *arguments: str) -> Ended:
    ended = run_here(folder, *arguments)
    assert "Traceback" not in ended.err
    return ended


def asked(ended: Ended) -> int:
    """Return the number of questions that block."""
    found = re.search(r"unknown, blocks: (\d+) question", ended.out)
    return int(found[1]) if found else 0


def values(data: object) -> int:
    if isinstance(data, dict):
        return sum(map(values, data.values()))
    return sum(map(values, data)) if isinstance(data, list) else 1


def test_64_h200_from_a_first_day_to_what_is_built(tmp_path: Path) -> None:
    words = [word for key, value in TYPED.items() for word in ("--set", f"{key}={value}")]
    assert typed(tmp_path, "init", "site", "--template", "onprem-h200", *words).code == 0
    assert len(TYPED) <= 30

    concept = typed(tmp_path, "check", "site")
    assert concept.code == ExitCode.CLEAN, concept.out
    assert ": ok for concept" in concept.out.splitlines()[-1]
    assert len(concept.out.splitlines()) <= 40
    assert asked(concept) == 0

    design = typed(tmp_path, "check", "site", "--stage", "design", "--todo", "todo.csv")
    assert design.code == ExitCode.UNKNOWN
    assert 20 <= asked(design) <= 40
    with (tmp_path / "todo.csv").open() as file:
        owners = {row["who can answer"] for row in csv.DictReader(file) if row["blocks"] == "yes"}
    assert owners == {"facility team", "network team", "you"}

    (tmp_path / "site/design.yaml").write_text(DESIGN)
    blueprint = tmp_path / "site/blueprint.yaml"
    text = blueprint.read_text().replace("stage: concept", "stage: design\nlayers: [design.yaml]")
    blueprint.write_text(text)
    answered = typed(tmp_path, "check", "site")
    assert asked(answered) == 0, answered.out
    assert answered.code == ExitCode.CLEAN, answered.out
    assert ": ok for design" in answered.out.splitlines()[-1]
    assert values(yaml.safe_load(DESIGN)) < 100

    refused = typed(tmp_path, "configure", "site", "--check")
    assert refused.code == ExitCode.USAGE

    build = typed(tmp_path, "check", "site", "--stage", "build")
    assert build.code == ExitCode.UNKNOWN
    assert "operations.catalogue_digest" in build.out
    assert 15 <= asked(build) <= 40
    assert asked(build) + asked(design) < 80
