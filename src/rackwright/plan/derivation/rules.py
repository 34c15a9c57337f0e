"""The rules of derivation, by name: what each gives, and from what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAME = "fabric.name"
ROLE = "fabric.role"
TECHNOLOGY = "fabric.technology"
RATE = "fabric.rate"
RAILS = "fabric.rails"
GROUPS = "fabric.groups"
SWITCH = "fabric.switch"
SPLIT = "fabric.split"
UNIT = "fabric.unit"
TIERS = "fabric.tiers"
COUNT = "fabric.count"
LINKS = "fabric.links"
PARALLEL = "fabric.parallel"
PODS = "fabric.pods"
MANAGERS = "fabric.subnet-managers"
ENGINE = "fabric.routing-engine"
PREFIX = "fabric.prefix"
UTILITY = "power.utility"
SOURCES = "power.sources"
FEEDS = "power.feeds"
PER_RACK = "racks.per-rack"
NODE_RACKS = "racks.nodes"
NETWORK_RACKS = "racks.network"
RACK_GROUPS = "racks.groups"
HALL = "racks.hall"

RULES: Final[Mapping[str, str]] = {
    NAME: "A fabric is called by its role.",
    ROLE: "A fabric is for compute, where no other role is written.",
    TECHNOLOGY: "The technology of a fabric is that of its switches.",
    RATE: "Links of nodes run at the rate of a port of the switches.",
    RAILS: "`rail-optimized` puts each interface of a host on a leaf of its own, `fat-tree` does not.",
    GROUPS: "The node groups with the role `compute` are on the fabric.",
    SWITCH: "Technology and rate choose the switch: InfiniBand at 200 Gbps `qm8700`, 400 Gbps `qm9700`, "
    "800 Gbps `q3400-ra`; Ethernet at 100 Gbps `sn4600c`, 200, 400 and 800 Gbps `sn5610`.",
    SPLIT: "A port of a switch that is a whole number of times faster than the fabric is split into as many.",
    UNIT: "A scalable unit has as many hosts as a leaf has ports for, at the fabric's oversubscription.",
    TIERS: "A `fat-tree` whose interfaces fit one switch has one leaf. Otherwise leaves have spines, and "
    "spines have cores where no number of spines takes an equal number of cables from each leaf.",
    COUNT: "The fewest switches of a tier by the arithmetic of NET-001, which is asked; of leaves more where a "
    "host would find no port, of cores more where cables would not spread evenly.",
    LINKS: "Each node group is cabled to the leaves, each tier to the one above.",
    PARALLEL: "The uplinks of a switch, divided by the switches above that it is cabled to.",
    PODS: "Below cores, leaves and spines are cut into pods of half a spine's ports, and cores into as many "
    "planes as a pod has spines.",
    MANAGERS: "Of an InfiniBand fabric, two leaves have subnet managers, where they are of a product that "
    "`fabric.switch` chooses; of others it is unknown if they can have one.",
    ENGINE: "A fat tree of InfiniBand is routed by `ftree`.",
    PREFIX: "The first prefix of `network` with an address for each interface of the hosts on the fabric.",
    UTILITY: "A utility of the capacity that is written.",
    SOURCES: "Each feed has its own elements of `feed_path`, each fed by the one before it, the first by the "
    "utility.",
    FEEDS: "A rack has each feed, from the last element of its path, with the end that is said of these racks, "
    "else of the site.",
    PER_RACK: "The most units that fit into a rack: its height, its `power_limit`, and its circuits after the "
    "loss of any feed or PDU. Where the racks are written, the units divided by them.",
    NODE_RACKS: "Nodes with the role `compute` or `storage` fill racks `c01`, `c02`, … in the order written, "
    "after those that are written.",
    NETWORK_RACKS: "Switches, and nodes with other roles, are spread over the fewest racks `n01`, `n02`, … that "
    "hold them, at least two where there are two of anything, after those that are written.",
    RACK_GROUPS: "The racks of nodes and those of the network are two groups, as `racks` and `network` say; "
    "`rack-48u`, cooled by air, where nothing is said.",
    HALL: "All racks stand in the first row, `row-1`, of the first hall, `hall-1`, that has no racks written.",
}
"""What each rule of set 1 does. A rule that is released keeps its name and what it gives."""


def rules_table() -> str:
    """Return the rules as a table of Markdown."""
    rows = [f"| `{name}` | {text} |" for name, text in RULES.items()]
    return "\n".join(["| Rule | Derived value |", "|---|---|", *rows, ""])
