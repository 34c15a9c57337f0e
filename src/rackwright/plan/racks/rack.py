"""One rack, wired: its devices, its circuits, and what each loss does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Device as DeviceEntry
from rackwright.model.hardware import Node, Pdu, Switch
from rackwright.model.onprem import NodeGroup, OnPremSite, RackGroup
from rackwright.model.power import RackFeed
from rackwright.model.racks import RackType
from rackwright.plan.cooling.rear_door import Door, door_of
from rackwright.plan.power.demand import FeedWatts
from rackwright.plan.power.electrical import circuit_capacity
from rackwright.plan.racks.cooling_fixtures import cooling_fixtures
from rackwright.plan.racks.devices import describe_device, place_devices, total
from rackwright.plan.racks.feeds.shelves import shelves_on_feeds
from rackwright.plan.racks.feeds.wiring import (
    CircuitDraw,
    Plug,
    WiredCircuit,
    circuit_loads,
    hangs_anywhere,
    plug_in,
    wire,
)
from rackwright.plan.racks.fixtures import fixtures
from rackwright.plan.racks.placement import AssignedRacks, Load
from rackwright.plan.records.racks import CoolingMode, RackDevice

LostKind = Literal["feed", "pdu"]
Loss = tuple[str, LostKind, frozenset[int]]
"""Name and kind of a loss, and the circuits that it takes, by number."""


@dataclass(frozen=True)
class WiredRack:
    """One rack with its devices on its circuits; its ``RackKind`` is made from it.

    Attributes:
        group: the rack group, as the blueprint has it.
        type: the empty rack.
        devices: what stands or hangs in it.
        pdus: PDU of each feed, None where the circuit ends in the product itself.
        circuits: of all feeds, in their order.
        plugs: power supplies on their outlets.
        normal: load of each circuit while nothing is lost.
        door: rear door; None without one.
        losses: for each single loss, its name, kind and the dead circuits.
    """

    group: RackGroup
    type: RackType
    devices: tuple[RackDevice, ...]
    pdus: tuple[Pdu | None, ...]
    circuits: tuple[WiredCircuit, ...]
    plugs: tuple[Plug, ...]
    normal: tuple[CircuitDraw, ...]
    door: Door | None
    losses: tuple[Loss, ...]
    _draws: dict[frozenset[int], Sequence[CircuitDraw]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _feed_draws: dict[frozenset[int], tuple[FeedWatts, FeedWatts]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def loads_without(self, dead: frozenset[int]) -> Sequence[CircuitDraw]:
        """Return the load of every circuit when those in ``dead`` are lost."""
        if dead not in self._draws:
            self._draws[dead] = circuit_loads(self.devices, self.circuits, self.plugs, dead)
        return self._draws[dead]

    @property
    def uncounted(self) -> Sequence[RackDevice]:
        """Devices of known power with an unknown number of supplies; they may hang on any circuit."""
        return [d for d in self.devices if hangs_anywhere(d) and d.power_w is not None]

    def counted_loads(self, dead: frozenset[int]) -> Sequence[CircuitDraw]:
        """Return the load of every circuit when those in ``dead`` are lost, without what is uncounted."""
        if self.uncounted:
            return circuit_loads(self.devices, self.circuits, self.plugs, dead, counted_only=True)
        return self.loads_without(dead) if dead else self.normal

    def feed_draws(self, dead_feeds: frozenset[int]) -> tuple[FeedWatts, FeedWatts]:
        """Return W on each feed when some are dead, and the same while every device peaks.

        What is ``uncounted`` is left out.
        """
        if dead_feeds not in self._feed_draws:  # shared as well
            self._feed_draws[dead_feeds] = self._drawn(dead_feeds)
        return self._feed_draws[dead_feeds]

    def _drawn(self, dead_feeds: frozenset[int]) -> tuple[FeedWatts, FeedWatts]:
        dead = frozenset(n for n, c in enumerate(self.circuits) if c.feed in dead_feeds)
        loads = self.counted_loads(dead)
        of_feed: list[list[CircuitDraw]] = [[] for _ in self.group.feeds]
        for load, circuit in zip(loads, self.circuits, strict=True):
            of_feed[circuit.feed].append(load)
        return (
            tuple(total(load.load for load in feed) for feed in of_feed),
            tuple(total(load.peak for load in feed) for feed in of_feed),
        )


def build_rack(
    cls: AssignedRacks, loads: Sequence[Load], site: OnPremSite, catalogue: Catalogue
) -> WiredRack:
    """Return the rack that every member of ``cls`` is.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    group = cls.group.spec
    rack_type = catalogue.get(RackType, group.type)
    air = site.halls[cls.group.hall].air
    rise = air.temperature_rise if air else None
    pdus = tuple(catalogue.get(Pdu, feed.pdu) if feed.pdu else None for feed in group.feeds)
    nodes: list[tuple[RackDevice, float | None]] = []
    switches: list[tuple[RackDevice, float | None]] = []
    exact: list[tuple[RackDevice, float]] = []
    for index, count, units in cls.content:
        load = loads[index]
        device = _describe(load, catalogue, rise, group.cooling.mode)
        device = _override_psus(device, load.group, group)
        exact += [(device, unit) for unit in units]
        if not units:
            (switches if load.is_switch else nodes).extend(
                [(device, load.group.start_unit)] * count
            )
    whole = any(_is_whole_rack(loads[one.load], catalogue) for one in cls.content)
    furniture = fixtures(group, pdus, catalogue, shelves_included=whole)
    door = door_of(group.cooling, catalogue)
    furniture += cooling_fixtures(cls.group, door, site, catalogue, rise)
    placed = place_devices(nodes, switches, furniture, rack_type.height.value, exact)
    feeds = [feed.name for feed in group.feeds]
    devices = wire(
        placed, len(feeds), shelves_on_feeds(group.shelves, feeds) if group.shelves else None
    )
    circuits = _circuits(group.feeds, pdus, site)
    plugs = plug_in(devices, circuits)
    return WiredRack(
        group=group,
        type=rack_type,
        devices=tuple(devices),
        pdus=pdus,
        circuits=tuple(circuits),
        plugs=tuple(plugs),
        normal=tuple(circuit_loads(devices, circuits, plugs)),
        door=door,
        losses=tuple(_losses(group.feeds, circuits)),
    )


def _describe(
    load: Load, catalogue: Catalogue, rise: float | None, mode: CoolingMode
) -> RackDevice:
    entry: DeviceEntry
    if isinstance(load.group, NodeGroup):
        entry = catalogue.get(Node, load.group.type)
        cap = load.group.power_cap
    else:
        entry = catalogue.get(Switch, load.group.type)
        cap = None
    return describe_device(
        entry,
        load.group,
        load.path,
        kind="switch" if load.is_switch else "node",
        power_cap=cap,
        temperature_rise=rise,
        on_liquid=mode != "air",
        in_fluid=mode == "immersion",
    )


def _is_whole_rack(load: Load, catalogue: Catalogue) -> bool:
    return not load.is_switch and catalogue.get(Node, load.group.type).whole_rack


def _override_psus(device: RackDevice, group: Any, rack: RackGroup) -> RackDevice:
    chosen = getattr(group, "psus_per_feed", None)
    if not chosen:
        return device
    return replace(device, psus=tuple(chosen.get(feed.name, 0) for feed in rack.feeds) or None)


def _circuits(
    feeds: Sequence[RackFeed], pdus: Sequence[Pdu | None], site: OnPremSite
) -> list[WiredCircuit]:
    found = []
    for index, (feed, pdu) in enumerate(zip(feeds, pdus, strict=True)):
        usable = _usable(feed, pdu, site)
        phases = pdu.phases if pdu else feed.circuit.phases if feed.circuit else 3
        wiring = pdu.wiring if pdu and pdu.phases == 3 else None
        found += [WiredCircuit(index, n, usable, phases, wiring) for n in range(feed.pdus)]
    return found


def _usable(feed: RackFeed, pdu: Pdu | None, site: OnPremSite) -> float | None:
    """Return the smaller of what the PDU and its branch circuit may carry continuously, in W.

    Unknown where the circuit is not stated: a plug does not tell what breaker is behind its socket.
    """
    if feed.circuit is None:
        return None
    c = feed.circuit
    derate = site.power.continuous_derate / 100
    limits = [(c.voltage, c.current, c.phases, 1.0 if c.continuous_rated else derate)]
    if pdu is not None:
        limits.append((pdu.voltage.value, pdu.current.value, pdu.phases, derate))
    factor = site.power.power_factor
    return min(
        circuit_capacity(v, a, phases, derate=d, power_factor=factor) for v, a, phases, d in limits
    )


def _losses(feeds: Sequence[RackFeed], circuits: Sequence[WiredCircuit]) -> list[Loss]:
    found: list[Loss] = []
    for index, feed in enumerate(feeds):
        dead = frozenset(n for n, circuit in enumerate(circuits) if circuit.feed == index)
        found.append((feed.name, "feed", dead))
        if feed.pdus > 1:
            found += [
                (f"{feed.name}/{circuits[n].pdu + 1}", "pdu", frozenset({n})) for n in sorted(dead)
            ]
    return found
