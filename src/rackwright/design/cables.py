"""The cables between the nodes of a layout and their switches: how long they are, by the plan.

To which switch a node is cabled depends on all nodes before it, so their length is no sum over racks. What
is one is the least length: that to the nearest rack in which switches of the lowest tier may stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rackwright.design.classes import RackOption, Survey
from rackwright.design.document import RackLayout
from rackwright.design.judge import Judge
from rackwright.model.fabric import Cables
from rackwright.model.names import expand_hostlist
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import host_wires, routed_length
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.lengths import UNIT_M, CableRoutes
from rackwright.plan.missing import each_once

_CM = 100


@dataclass(frozen=True)
class CableSum:
    """The length of some cables.

    Attributes:
        centimetres: of all of them together; None where one is not known.
        missing: what keeps it from being known.
    """

    centimetres: int | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Attached:
    """The nodes of a layout on one fabric."""

    layout: Layout
    routes: CableRoutes
    attachment: int

    @property
    def group(self) -> str:
        """Name of their node group."""
        return self.layout.hosts[self.attachment].group.name

    @property
    def links(self) -> list[Cables]:
        """The kinds of their cables."""
        return [link for link in self.layout.fabric.links if link.lower == self.group]


def cables_of(judge: Judge, layout: RackLayout) -> CableSum:
    """Return the length of all cables of the nodes of ``layout``, rounded up.

    Raises:
        SpecErrors: its blueprint is not valid.
    """
    (site,) = judge.load(judge.builder.blueprint(layout)).plan.onprem
    metres = 0.0
    for one in _attached(judge, site):
        kinds = {link.name: link for link in one.layout.fabric.links}
        for wire in host_wires(one.layout, one.attachment):
            link = kinds.get(wire.kind)
            length = None if link is None else routed_length(link)
            if length is None:
                length = one.routes.of_wire(wire)
            if length is None:
                return CableSum(None, _missing(one))
            metres += length
    return CableSum(math.ceil(metres * _CM))


def with_cables(judge: Judge, found: Survey) -> Survey | tuple[str, ...]:
    """Return ``found`` with the least length of the cables of each rack; what is missing, where that is not known.

    Raises:
        SpecErrors: the blueprint of a rack is not valid.
    """
    options: list[RackOption] = []
    probes: dict[tuple[int, int], list[_Probe]] = {}
    classes = judge.builder.classes
    for option in found.options:
        key = judge.builder.alike(option.position_class), option.units
        if key not in probes:
            alone = RackLayout(found.product, {key: 1})
            (site,) = judge.load(judge.builder.blueprint(alone)).plan.onprem
            _, rack = classes[key[0]].positions[0]
            probes[key] = [_probe(judge, one, rack) for one in _attached(judge, site)]
        _, rack = classes[option.position_class].positions[0]
        metres = 0.0
        for probe in probes[key]:
            least = _least(probe, rack)
            if least is None:
                return _missing(probe.attached)
            metres += least
        options.append(replace(option, cable_cm=math.floor(metres * _CM)))
    return replace(found, options=tuple(options))


@dataclass(frozen=True)
class _Probe:
    """The nodes of one rack on one fabric.

    Attributes:
        attached: the nodes.
        routes: the ways of cables with all positions, whatever stands there.
        wires: number of their cables.
        edges: of the lowest and the highest of them, in metres; None where unknown.
    """

    attached: _Attached
    routes: CableRoutes
    wires: int
    edges: tuple[float, float] | None


def _probe(judge: Judge, one: _Attached, rack: str) -> _Probe:
    halls = judge.builder.document.facility.halls
    standing = one.routes.standing
    moved = replace(standing, site=standing.site.model_copy(update={"halls": halls}))
    names = [group.name for group in standing.site.node_groups]
    device = (*standing.path, "node_groups", names.index(one.group))
    wires = sum(1 for _ in host_wires(one.layout, one.attachment))
    routes = replace(one.routes, standing=moved)
    return _Probe(one, routes, wires, standing.edges(rack, device))


def _least(probe: _Probe, rack: str) -> float | None:
    """Return the metres of the cables of its nodes if they stood in ``rack``, at least."""
    stated = [routed_length(link) for link in probe.attached.links]
    known = [length for length in stated if length is not None]
    if stated and len(known) == len(stated):
        return probe.wires * min(known)
    lengths = list(_by_trays(probe, rack))
    metres = [length for length in lengths if length is not None]
    return probe.wires * min(metres + known) if metres and len(metres) == len(lengths) else None


def _by_trays(probe: _Probe, rack: str) -> Iterator[float | None]:
    """Yield the metres of a cable to each rack in which switches of the lowest tier may stand, at least."""
    tier = probe.attached.layout.fabric.tiers[0]
    standing = probe.routes.standing
    trays = standing.trays.get(standing.places[rack].hall)
    # Of a switch without a unit nobody knows how high it stands: no cable to it is shorter than at the tray.
    low = 0.0 if trays is None else trays.height
    if tier.start_unit is not None:
        low = (tier.start_unit - 1) * UNIT_M
    for other in expand_hostlist(tier.racks):
        if probe.edges is None:
            yield None
        else:
            yield probe.routes.between(rack, probe.edges, other, (low, low))


def _attached(judge: Judge, site: SitePlan) -> Iterator[_Attached]:
    """Yield the nodes of a layout on each fabric of its site."""
    standing = {group.name for group in judge.builder.document.facility.node_groups}
    for fabric in site.fabrics:
        routes = site.cable_routes(fabric)
        if fabric.layout is not None and routes is not None:
            for number, hosts in enumerate(fabric.layout.hosts):
                if hosts.group.name not in standing:
                    yield _Attached(fabric.layout, routes, number)


def _missing(one: _Attached) -> tuple[str, ...]:
    """Return the missing facts that make the length of some cables unknown."""
    places = {link.name: n for n, link in enumerate(one.layout.fabric.links)}
    path = (*one.routes.fabric_path, "links")
    found = (
        str(text)
        for link in one.links
        for text in one.routes.longest(link, (*path, places[link.name])).missing
    )
    return each_once(found) or ("'trays' of the hall, or 'length' of the cables of the nodes",)
