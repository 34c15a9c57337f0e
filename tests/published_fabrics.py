"""Published fabrics with the products of the catalogue: what documents say, and what the plan works out.

The published numbers of NVIDIA's designs are those that the calculator holds (``calculator.published``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from calculator.published import B200, B300, B300_XDR, DESIGNS, H100, H100_LARGER, LLAMA, Design
from fabric_bisection import bisection
from fabric_factories import a_fabric, a_tier, layout_of, some_cables, top_of_rack
from factories import CATALOGUE, some_nodes
from known import known
from rackwright.model.hardware import Node
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout, connected
from rackwright.plan.fabric.ports import needed_switches, oversubscription

GB200 = (
    "NVIDIA DGX SuperPOD Reference Architecture with DGX GB200, abstract, DGX SuperPOD Architecture and "
    "Network Fabrics"
)
SOURCES = (H100, H100_LARGER, B200, B300_XDR, B300, GB200, LLAMA)
"""In the order of their letters in the table."""
LETTERS = "ABCDEFG"
TIERS = ("leaf", "spine", "core")
MADE_OF = {
    H100: ("DGX H100", "dgx-h100", "qm9700"),
    H100_LARGER: ("DGX H100", "dgx-h100", "qm9700"),
    B200: ("DGX B200", "dgx-b200", "qm9700"),
    B300_XDR: ("DGX B300, XDR", "dgx-b300", "q3400-ra"),
    B300: ("DGX B300, Ethernet, two planes", "dgx-b300", "sn5600"),
}
"""Name of a design, its node and its switch, by source."""
MISPRINTED = {1296: 9216}
"""GPUs that a table prints for as many nodes of 8 GPUs."""
A_POD: Mapping[str, Any] = {
    # A leaf of 64 ports, a chassis of 220 and one of 224, all of 400 Gbps: nobody has published which.
    "sn5600": {"rate": {"value": "400 Gbps", "source": "x"}},
    "sn5610": {"radix": 220, "rate": {"value": "400 Gbps", "source": "x"}},
    "sn4600c": {"radix": 224, "rate": {"value": "400 Gbps", "source": "x"}},
}


@dataclass(frozen=True)
class Published:
    """A fabric that somebody has published.

    Attributes:
        name: what the document calls it, and its size.
        source: document and place.
        gpus: in all, as the document prints them.
        switches: of each tier from the leaves; None for each that the document has no number of.
        cables: from hosts to leaves, and between tiers; the same.
        ratios: downward over upward bandwidth of each tier but the top; the same.
        layout: the same by the plan.
        split: parts of a port in planes of their own, which documents count as one cable.
    """

    name: str
    source: str
    gpus: int
    switches: tuple[int | None, ...]
    cables: tuple[int | None, ...]
    ratios: tuple[float | None, ...]
    layout: Layout = field(repr=False)
    split: int = 1

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Switches of each tier that the plan finds to be needed."""
        return known(needed_switches(self.layout))

    @cached_property
    def cabled(self) -> tuple[int, ...]:
        """Cables of hosts, and above each tier, by the ports that are in use; of a split port one."""
        made = [sum(self.layout.leaf_use)]
        for link in self.layout.links:
            pairs = sum(len(uppers) for _, uppers in connected(self.layout, link))
            made.append(pairs * known(link.parallel))
        return tuple(count // self.split for count in made)

    @cached_property
    def listed(self) -> tuple[int, ...]:
        """The same, counted on the list of cables for those who pull them."""
        kinds = Counter(wire.kind for wire in wires(self.layout))
        made = (kinds["nodes"] + kinds["managers"], kinds["spines"], kinds["cores"])
        return tuple(count // self.split for count in made[: len(self.layout.tiers)])

    @cached_property
    def accelerators(self) -> int:
        """GPUs of its hosts by the catalogue."""
        found = [
            (group, CATALOGUE.get(Node, group.type).accelerators)
            for group in (hosts.group for hosts in self.layout.hosts)
        ]
        return sum(group.count * gpus.count for group, gpus in found if gpus is not None)

    @cached_property
    def oversubscribed(self) -> tuple[float, ...]:
        """Downward over upward bandwidth of each tier but the top."""
        tiers = range(len(self.layout.tiers) - 1)
        return tuple(round(known(oversubscription(self.layout, tier)), 2) for tier in tiers)

    @cached_property
    def bisection_tbps(self) -> float:
        """Bandwidth between the halves of its hosts in Tbps."""
        return known(bisection(self.layout)) / 1000


def of_design(design: Design) -> Published:
    """A fabric of NVIDIA's tables."""
    name, node, switch = MADE_OF[design.source]
    groups = [some_nodes(count=design.nodes, type=node)]
    attached: list[dict[str, Any]] = [{"group": "dgx", "split": design.split}]
    links = [some_cables("dgx", "leaf", name="nodes")]
    if design.managers:
        groups.append(some_nodes("ufm", count=1, type="ufm-ndr", racks="n01", per_rack=1))
        attached.append(
            {"group": "ufm", "interfaces": design.managers, "rate": "400 Gbps", "rails": True}
        )
        links.append(some_cables("ufm", "leaf", name="managers"))
    up, above = design.radix // 2, design.switches[1] // (design.pods * design.split)
    links.append({**some_cables(name="spines", parallel=up // above), **_blocks(design)})
    if len(design.switches) == 3:
        cores = design.switches[2] // above
        links.append(some_cables("spine", "core", name="cores", parallel=up // cores, planes=above))
    tiers = [
        a_tier(tier, count, switch, split=design.split)
        for tier, count in zip(TIERS, design.switches, strict=False)
    ]
    fabric = a_fabric(tiers=tiers, attached=attached, links=links)
    return Published(
        name=f"{name}, {design.nodes:,} nodes",
        source=design.source,
        gpus=MISPRINTED.get(design.nodes, 8 * design.nodes),
        switches=design.switches,
        cables=design.cables,
        ratios=(1.0,) * (len(design.switches) - 1),
        layout=layout_of(fabric, groups=groups),
        split=design.split,
    )


def _blocks(design: Design) -> dict[str, int]:
    if design.split > 1:
        return {"planes": design.split}
    return {"pods": design.pods} if design.pods > 1 else {}


def pods(count: int) -> Published:
    """Pods of 192 racks with two servers of eight GPUs and a switch each, as published for Llama 3."""
    racks = f"r[0001-{192 * count:04d}]"
    tiers = [
        a_tier("leaf", 192 * count, "sn5600", racks=racks, per_rack=1),
        a_tier("spine", 16 * count, "sn5610"),
    ]
    links = [
        some_cables("dgx", "leaf", name="nodes"),
        some_cables(name="spines", parallel=1, pods=count),
    ]
    if count > 1:
        tiers[1]["oversubscription"] = 7
        tiers.append(a_tier("core", 16, "sn4600c"))
        links.append(some_cables("spine", "core", name="cores", parallel=28, planes=16))
    fabric = top_of_rack(tiers=tiers, links=links)
    groups = [some_nodes(count=384 * count, racks=racks, per_rack=2)]
    return Published(
        name=f"Llama 3, {count} pod{'s' if count > 1 else ''}",
        source=LLAMA,
        gpus=3072 * count,
        switches=(192 * count, *(None,) * (len(tiers) - 1)),
        cables=(None,) * len(tiers),
        ratios=(1.0, 7.0)[: len(tiers) - 1],
        layout=layout_of(fabric, groups=groups, catalogue=CATALOGUE.patched(A_POD)),
    )


def nvl72() -> Published:
    """Eight racks with 18 trays of four ports, as a scalable unit of several.

    The document says in words: each unit has four groups, one for each rail, of 8 leaves, one for each
    rack, and 6 spines; non-blocking, below 6 groups of cores. The 18 cables of a leaf are 3 to each spine.
    """
    groups = [some_nodes("nvl", count=8, type="gb200-nvl72")]
    links = [
        some_cables("nvl", "leaf", name="nodes"),
        some_cables(name="spines", parallel=3, planes=4),
    ]
    fabric = a_fabric(32, 24, attached=[{"group": "nvl"}], unit_hosts=18, links=links)
    return Published(
        name="DGX GB200 NVL72, 8 racks",
        source=GB200,
        gpus=576,
        switches=(4 * 8, 4 * 6),
        cables=(None, None),
        ratios=(1.0,),
        layout=layout_of(fabric, groups=groups),
    )


def _all() -> Iterator[Published]:
    yield from map(of_design, DESIGNS)
    yield nvl72()
    yield pods(1)
    yield pods(8)


PUBLISHED = tuple(sorted(_all(), key=lambda one: SOURCES.index(one.source)))


def table() -> str:
    """The table of ``docs/fabrics.md``, and its sources with their letters."""
    pairs = ("GPUs", "Switches", "Cables", "Down to up")
    columns = ["Design", *(f"{what}{also}" for what in pairs for also in ("", ", computed"))]
    columns += ["Between halves, computed", "Source"]
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for one in PUBLISHED:
        numbers = (
            (one.gpus,), (one.accelerators,), one.switches, one.needed, one.cables, one.cabled,
            one.ratios, one.oversubscribed,
        )  # fmt: skip
        halves = f"{one.bisection_tbps:,.1f} Tbps"
        letter = LETTERS[SOURCES.index(one.source)]
        cells = [one.name, *map(_text, numbers), halves, letter]
        rows.append(f"| {' | '.join(cells)} |")
    sources = [f"- {letter}: {text}" for letter, text in zip(LETTERS, SOURCES, strict=True)]
    return "\n".join([*rows, "", *sources, ""])


def _text(numbers: Sequence[float | None]) -> str:
    return " / ".join("–" if number is None else f"{number:,.10g}" for number in numbers)
