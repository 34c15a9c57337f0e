"""Wrong inputs beside the blueprint: settings, layers, waivers, products, answers and sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WAIVERS = """waivers:
  - id: W-1
    policy: RACK-005
    match: {site: sjc1}
    reason: until the second delivery arrives
    owner: a@example.com
    ticket: X-1
    expires: 2026-12-12
"""
ENTRY = """kind: node
id: acme-8x
vendor: Acme
name: 8X
height: {value: 8 U, source: sheet}
weight: {value: 130 kg, source: sheet}
max_power: {value: 10.2 kW, source: sheet}
sources:
  sheet: {title: 'Acme 8X data sheet', date: 2026-05-02, confidence: official}
"""
CHECK = ("check", "blueprint.yaml")
SETTINGS = (
    "layer: [facility.yaml]\n",
    "layers: [facility.yaml]\n",
    "packs: ./rules\n",
    "packs: [rules]\n",
    "catalogue: [hw]\n",
    "catalog: [{path: hw}]\n",
    "prices: [prices.yaml]\n",
    "tool: {ruff: {}}\n",
    "- packs\n",
    "\tpacks: []\n",
    "packs: [{path: rules, digest: abc}]\n",
    "stage: build\n",
    "policies: {PWR-006: {enforcement: disabled}}\n",
    "defaults: {check: {--color: never}}\n",
    "defaults: {check: {color: null}}\n",
    "defaults: {check: {stage: build}}\n",
    "defaults: {chek: {color: never}}\n",
    "Layers: [facility.yaml]\n",
    "packs: [{path: ${RULES}}]\n",
    "catalogue: hw\n",
)
LAYERS = (
    "",
    "# nothing\n",
    "null\n",
    "42\n",
    "sites:\n  sjc1:\n    altitude: 30 m\n",
    "sites: [{altitude: 30 m}]\n",
    "sites: [{name: SJC1, altitude: 30 m}]\n",
    "sites:\n  - name: sjc1\n    altitude: 30 m\n    altitude: 31 m\n",
    "sites: [{name: sjc1, altitude: 1'200 m}]\n",
    "sites: [{name: sjc1, altitude: '1,2 km'}]\n",
    "sites: [{name: sjc1, altitude: 1,200 m}]\n",
    "sites: [{name: sjc1, pue: 135 %}]\n",
    "sites: [{name: sjc1, power: {contract: 1.1 MVA}}]\n",
    "sites: [{name: sjc1, power: {contract: 1100 kW h}}]\n",
    "sites: [{name: sjc1, power: {contract: 1000-1100 kW}}]\n",
    "sites: [{name: sjc1, power: {contract: ~1100 kW}}]\n",
    "sites: [{name: sjc1, power: {contract: <= 1100 kW}}]\n",
    "sites: [{name: sjc1, racks: {power_limit: 45 kW/rack}}]\n",
    "sites: [{name: sjc1, racks: {aisle_depth: 600}}]\n",
    "sites: [{name: sjc1, racks: {cable_weight: 88 lbs}}]\n",
    "sites: [{name: sjc1, power: !include power.yaml}]\n",
    "sites: [{name: sjc1, <<: *base}]\n",
    "sites: [{name: sjc1, power: {contract: ${contract}}}]\n",
    "a: &a [*a]\n",
    "---\nsites: []\n---\nsites: []\n",
    "operations: {burn_in: {duration: 3}}\n",
    "operations: {burn_in: {duration: P3D}}\n",
    "facts: [{product: dgx-h200, field: peak_power, value: 12 kW}]\n",
    "reliability: {repair_time: 1 d}\nreliability: {repair_time: 2 d}\n",
    "layers: [other.yaml]\n",
    "sites: [{name: sjc1, node_groups: {dgx: {count: 80}}}]\n",
    "sites: [{name: sjc1, node_groups: [{name: dgx, count: 80}, {name: dgx, count: 90}]}]\n",
    "sites: [{name: sjc1, fabrics: [{name: compute, rate: 800 Gbps}]}]\n",
    "sites: [{name: sjc1, halls: [{name: hall-1, trays: {height: 270}}]}]\n",
    "<<<<<<< HEAD\nowner: a@example.com\n=======\nowner: b@example.com\n>>>>>>> b\n",
)
WAIVER_EDITS = (
    ("RACK-005", "RACK-5"),
    ("RACK-005", "rack-005"),
    ("2026-12-12", "12/12/2026"),
    ("2026-12-12", "2026-02-30"),
    ("2026-12-12", "never"),
    ("id: W-1", "id: W 1"),
    ("a@example.com", ""),
    ("until the second delivery arrives", "tbd"),
    ("{site: sjc1}", "sjc1"),
    ("{site: sjc1}", "{}"),
    ("waivers:", "waiver:"),
    ("ticket: X-1", "ticket: 12"),
    ("    expires: 2026-12-12\n", ""),
)
ENTRY_EDITS = (
    ("8 U", "8"),
    ("8 U", "14 in"),
    ("130 kg", "287 lbs"),
    ("10.2 kW", "10.2 kW h"),
    ("10.2 kW", "34,800 BTU/h"),
    ("10.2 kW", "10,2 kW"),
    ("130 kg, source: sheet}", "130 kg, source: sheets}"),
    ("official", "offical"),
    ("kind: node", "kind: server"),
    ("id: acme-8x", "id: Acme 8X"),
    ("{value: 10.2 kW, source: sheet}", "10.2 kW"),
    ("value: 10.2 kW", "value: null"),
    ("vendor: Acme\n", ""),
    ("name: 8X\n", ""),
    ("weight:", "wieght:"),
)
HALL = """altitude: 30 m
contract: 1100 kW
utility: 1200 kW
ups_modules: 6
ups_module: 100 kW
panel_current: 800 A
floor_load: 1500 kg/m2
floor_point: 700 kg
"""
"""Right answers to all but two questions."""
ANSWERS = (
    "altitude: 30 ft\n",
    "altitude: thirty\n",
    "nodes: 8x8\n",
    "nodes: '{{ nodes }}'\n",
    "nodes: 33\n",
    "stage: build\n",
    "contract: 500 kVA\n",
    "contract: 1,100 kW\n",
    "altitude: [30]\n",
    "altitud: 30\n",
    "- altitude: 30\n",
    "altitude: 30 m\ncontract: 1100 kVA\npue: 1,3\nnode: 64\n",
    "template: aws-p5\nnodes: 64\n",
    "answers: {nodes: 64}\n",
    "nodes: six\npue: 130 %\n",
    "supply_air: 76 °F\nair_rise: 14 °C\n",
    "nodes: [64]\n",
    "region: eu-west-1\nhandlers: 9\n",
    f"{HALL}pue: 0.9\nhandlers: 9\n",
    f"{HALL}pue: 1.3\nhandlers: 0\n",
)
SHEETS: tuple[tuple[str, str], ...] = (
    ("e.csv", "rack,unit\nA01,1\n"),
    ("e.csv", "rack,unit,product\nA01,1,dgx-h200\nA01,4,dgx-h200\n"),
    ("e.csv", "rack,unit,product\nA01,top,dgx-h200\n"),
    ("e.csv", ""),
    ("slurm.conf", "ClusterName=x\nNodeName=n[1-3\n"),
    ("main.tf", 'resource "aws_instance" "a" {}\n'),
)


@dataclass(frozen=True)
class WrongFile:
    """Files beside the blueprint, and the command that reads them."""

    files: Mapping[str, str]
    command: tuple[str, ...]


def wrong_files() -> list[WrongFile]:
    """Return all cases."""
    layered = (*CHECK, "--layer", "layer.yaml")
    answered = ("init", "site", "--template", "onprem-h200", "--answers", "answers.yaml")
    own = {"rackwright.yaml": "catalogue: [{path: hw}]\n"}
    return [
        *(WrongFile({"rackwright.yaml": text}, CHECK) for text in SETTINGS),
        *(WrongFile({"layer.yaml": text}, layered) for text in LAYERS),
        *(
            WrongFile({"policies/waivers.yaml": WAIVERS.replace(old, new)}, CHECK)
            for old, new in WAIVER_EDITS
        ),
        *(
            WrongFile(
                {"hw/nodes/acme-8x.yaml": ENTRY.replace(old, new)} | own, ("catalogue", "test")
            )
            for old, new in ENTRY_EDITS
        ),
        *(WrongFile({"answers.yaml": text}, answered) for text in ANSWERS),
        *(WrongFile({name: text}, ("init", "site", "--from", name)) for name, text in SHEETS),
    ]
