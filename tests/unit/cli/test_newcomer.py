"""Tasks of a newcomer, typed one after the other: 64 DGX H200 from the README to concept, design and build."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import yaml

from cli_support import Ended, run_here
from rackwright.exit_codes import ExitCode
from suites import ROOT

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

CONCEPT = """
sites:
  - name: sjc1
    altitude: 30 m
    pue: 1.3
    halls: [{name: hall-1, floor: {uniform: 1500 kg/m2, concentrated: 700 kg, rolling: 700 kg}}]
    racks: {aisle_depth: 0.6 m}
"""
"""Answers to what the README's blueprint leaves open, by the facility team."""
BUILD = """
sites:
  - name: sjc1
    allow_common: true
    halls:
      - {name: hall-1, delivery: {height: 2.4 m, width: 1.2 m, rating: 1500 kg, rolling: 700 kg, slope: 0 %}}
    racks: {shipping: {height: 2.3 m, width: 0.6 m, weight: 200 kg}}
    fabric:
      m_key: true
      sa_key: true
      routing_run: {date: 2026-11-25, engine: ftree, balance: 1.0, fabric: 24c7ba9b5dcad011}
    security:
      management_isolated: true
      management_tls: true
      default_credentials_replaced: true
      credentials_per_device: true
      secure_boot: true
      infiniband: {m_key_protection_level: 2, congestion_key: true, node_key: true, vendor_key: true,
                   limited_membership: true}
operations:
  health_checks: true
  drain_on_xids: [48, 63, 64, 74, 79, 92, 94, 95, 119, 120]
  burn_in: {duration: 72 h, facility_informed: true}
  software:
    - {name: metal, sites: [sjc1], kernel: 6.8.0-60-generic, driver: 595.112.07, fabric_manager: 595.112.07,
       nccl: 2.30.4-1, ofed: {version: 3.2.1, kernel: 6.8.0-60-generic}}
  firmware:
    - {type: dgx-h200, versions: {bios: set-1, bmc: set-1, gpu: set-1, nic: set-1, nvswitch: set-1},
       enforced: true}
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
    with (tmp_path / "todo.csv").open(encoding="utf-8-sig") as file:
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


def test_readme_leads_from_an_empty_folder_to_what_is_built(tmp_path: Path) -> None:
    """64 H200 by the README alone: its 15 lines, then what each stage asks for."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r'```yaml title="blueprint.yaml"\n(.*?)```', readme, re.DOTALL)
    blueprint = tmp_path / "blueprint.yaml"

    def at(stage: str, *layers: str) -> None:
        names = ", ".join(f"{name}.yaml" for name in layers)
        stated = f"stage: {stage}\nlayers: [{names}]" if layers else f"stage: {stage}"
        blueprint.write_text(text.replace("stage: concept", stated), encoding="utf-8")

    for name, layer in (("facility", CONCEPT), ("design", DESIGN), ("build", BUILD)):
        (tmp_path / f"{name}.yaml").write_text(layer.replace("hall1", "sjc1"), encoding="utf-8")
    at("concept")
    first = typed(tmp_path, "check")
    assert (first.code, asked(first)) == (ExitCode.UNKNOWN, 6)
    assert len(first.out.splitlines()) <= 40

    at("concept", "facility")
    concept = typed(tmp_path, "check", "--output", "html=hall.html")
    assert concept.code == ExitCode.CLEAN, concept.out
    assert ": ok for concept" in concept.out.splitlines()[-1]
    assert len(concept.out.splitlines()) <= 40
    assert "<svg" in (tmp_path / "hall.html").read_text(encoding="utf-8")
    assert 0 < asked(typed(tmp_path, "check", "--stage", "design")) <= 50

    at("design", "facility", "design")
    design = typed(tmp_path, "check")
    assert design.code == ExitCode.CLEAN, design.out
    assert ": ok for design" in design.out.splitlines()[-1]
    build = typed(tmp_path, "check", "--stage", "build")
    assert build.code == ExitCode.UNKNOWN
    assert 0 < asked(build) <= 40

    at("build", "facility", "design", "build")
    unpinned = typed(tmp_path, "check")
    assert (unpinned.code, asked(unpinned)) == (ExitCode.UNKNOWN, 1)
    shown = typed(tmp_path, "check", "--only", "IAC-004", "--verbose").out
    digest = re.search(r"sha256:[0-9a-f]{64}", shown)
    assert digest, shown
    (tmp_path / "pin.yaml").write_text(f"operations: {{catalogue_digest: '{digest[0]}'}}\n")
    at("build", "facility", "design", "build", "pin")
    built = typed(tmp_path, "check")
    assert built.code == ExitCode.CLEAN, built.out
    assert ": ok for build" in built.out.splitlines()[-1]
