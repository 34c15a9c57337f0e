"""The parts of a site at random, each drawn by one seed.

The numbers of products are made up, so that no two terms of a sum are alike and none is round.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from calculator.things import (
    Air,
    Circuit,
    Feed,
    Frame,
    Hall,
    Loop,
    Machine,
    NodeGroup,
    Number,
    Pdu,
    Product,
    RackGroup,
    Site,
    Source,
    Supplies,
    Unit,
)

PLUGS = ((208.0, 3, "delta"), (400.0, 3, "wye"), (415.0, 3, "wye"), (240.0, 1, "wye"))


class Maker:
    """Makes the parts of one site."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)

    def number(self, low: float, high: float) -> float:
        """With three digits after the point."""
        return round(self.random.uniform(low, high), 3)

    def maybe(self, number: Number, chance: float = 0.06) -> Number:
        """The number, or unknown."""
        return None if self.random.random() < chance else number

    def one_of(self, *choices: object) -> object:
        return self.random.choice(choices)

    def frame(self) -> Frame:
        return Frame(
            id="frame", height=float(self.random.choice((42, 48, 52))), width=self.number(0.6, 0.8),
            depth=self.number(1.1, 1.3), weight=self.maybe(self.number(100, 200)),
        )  # fmt: skip

    def supplies(self) -> Supplies:
        count = self.random.choice((2, 4, 5, 6, 6, 8, 12))
        full = self.random.randint(max(1, count // 2), count)
        inlet = self.random.choice(("C14", "C20", "C20"))
        degraded = self.random.choice((None, max(1, full - 1), max(1, count // 2)))
        return Supplies(
            count=count, inlet=inlet, full=self.random.choice((full, full, full, None)),
            degraded=None if degraded is None else min(degraded, full),
            degraded_power=self.random.choice((None, None, self.number(1500, 8000))),
        )  # fmt: skip

    def server(self, name: str, medium: str = "air", inlet: str | None = None) -> Product:
        power = self.number(2000, 15000)
        known = self.random.random() > 0.03
        cold = medium != "air"
        accelerators = self.random.choice((0, 4, 8, 8))
        supplies = Supplies(count=1, inlet=inlet) if inlet else self.supplies()
        return Product(
            id=name, height=self.random.choice((1.0, 2.0, 4.0, 8.0)),
            weight=self.maybe(self.number(20, 170)), power=power if known else None,
            peak=self.maybe(self.number(1.05, 1.5) * power) if accelerators and known else None,
            heat=self.random.choice((None, round(power * self.number(0.9, 1.15), 2))),
            medium=medium, airflow=self.random.choice((None, self.number(200, 1600))),
            liquid_heat=self.maybe(power * self.number(0.5, 0.85)) if medium == "hybrid" else None,
            flow=self.random.choice((None, self.number(1, 30))) if cold else None,
            supplies=supplies if self.random.random() > 0.04 else None,
            accelerators=accelerators, tdp=self.maybe(power * 0.6 / max(1, accelerators), 0.3),
            ports=8,
        )  # fmt: skip

    def whole_rack(self, included: bool = True) -> Product:
        power = self.number(90_000, 150_000)
        return Product(
            id="nvl72", height=float(self.random.choice((40, 42, 48))),
            weight=self.maybe(self.number(1300, 1700)), power=power, peak=power * self.number(1.05, 1.4),
            medium="hybrid", liquid_heat=self.maybe(power * self.number(0.8, 0.9)),
            airflow=self.random.choice((None, self.number(1000, 3000))),
            flow=self.random.choice((None, self.number(50, 250))),
            supplies=Supplies(count=8, inlet="hardwired"), accelerators=72, tdp=1200.0, hosts=18,
            whole_rack=True, rack_included=included, ports=72,
        )  # fmt: skip

    def pdu(self) -> Pdu:
        voltage, phases, wiring = self.random.choice(PLUGS)
        return Pdu(
            id="pdu", voltage=voltage, current=float(self.random.choice((30, 32, 60, 63, 100))),
            phases=phases, wiring=wiring, c13=self.random.choice((6, 12, 24)),
            c19=self.random.choice((6, 12, 24)), height=self.maybe(self.random.choice((0.0, 0.0, 2.0))),
            weight=self.maybe(self.number(5, 20)),
        )  # fmt: skip

    def feeds(self, count: int, pdu: Pdu | None, pdus: int = 1) -> tuple[Feed, ...]:
        """Feeds A, B, C … of the panels of that letter, each on a circuit of its own."""
        continuous = self.random.random() < 0.25
        circuit = Circuit(
            voltage=pdu.voltage if pdu else 415.0, phases=pdu.phases if pdu else 3,
            current=float(self.random.choice((32, 50, 60, 80)) if pdu else 300.0),
            continuous=continuous,
        )  # fmt: skip
        return tuple(
            Feed(name=name, source=f"panel-{name.lower()}", pdu=pdu, pdus=pdus, circuit=circuit)
            for name in "ABCD"[:count]
        )

    def lanes(self, count: int, *, losses: bool) -> tuple[Source, ...]:
        """A utility, then UPS and panel of each lane; at times a generator, transformers or a reserve."""
        efficiency = self.number(0.9, 0.98) if losses else None
        top = ("utility", "generator") if self.random.random() < 0.5 else ("utility",)
        made = [
            Source(name=kind, kind=kind, capacity=self.maybe(self.number(1e5, 1e6))) for kind in top
        ]
        parents = top
        if self.random.random() < 0.4:
            made.append(
                Source(
                    name="transformer",
                    kind="transformer",
                    fed_by=top,
                    capacity=self.number(1e5, 1e6),
                    efficiency=0.985 if losses else None,
                )
            )
            parents = ("transformer",)
        reserve = self.random.random() < 0.3
        if reserve:
            made.append(
                Source(
                    name="ups-r", kind="ups", fed_by=parents, capacity=2e5, efficiency=efficiency
                )
            )
        own = self.random.random() < 0.3
        for lane in "abcd"[:count]:
            above = parents
            if own:
                above = (f"transformer-{lane}",)
                made.append(
                    Source(
                        name=above[0],
                        kind="transformer",
                        fed_by=parents,
                        capacity=3e5,
                        efficiency=0.98 if losses else None,
                    )
                )
            modules = (self.random.randint(2, 5), self.number(5e4, 2e5), 1)
            made.append(
                Source(
                    name=f"ups-{lane}",
                    kind="ups",
                    fed_by=above,
                    modules=modules,
                    efficiency=efficiency,
                )
            )
            circuit = Circuit(
                voltage=415.0, current=self.number(200, 800), phases=3,
                continuous=self.random.random() < 0.3,
            )  # fmt: skip
            fed_by = (f"ups-{lane}", "ups-r") if reserve else (f"ups-{lane}",)
            kind = self.random.choice(("rpp", "panel", "busway"))
            made.append(Source(name=f"panel-{lane}", kind=kind, fed_by=fed_by, circuit=circuit))
        return tuple(made)

    def air(self) -> Air:
        unit = Unit(
            id="crah", capacity=self.number(5e4, 5e5), flow=self.maybe(self.number(5e3, 5e4)),
            power=self.number(2e3, 9e3),
        )  # fmt: skip
        return Air(
            unit=unit, count=self.random.randint(1, 6), inlet=self.number(18, 30),
            rise=self.maybe(self.number(8, 18)),
            containment=self.random.choice(("hot-aisle", "cold-aisle", "none")),
        )  # fmt: skip

    def loop(self, name: str = "loop-1") -> Loop:
        unit = Unit(
            id="cdu", capacity=self.number(3e5, 2e6), flow=self.maybe(self.number(500, 3000)),
            power=self.number(2e3, 2e4),
        )  # fmt: skip
        return Loop(
            name=name, unit=unit, count=self.random.randint(1, 4),
            fluid=self.random.choice(("water", "pg25")), rise=self.number(5, 12),
            supply=self.maybe(self.number(14, 45)),
        )  # fmt: skip

    def site(
        self,
        design: str,
        groups: tuple[RackGroup, ...],
        nodes: tuple[NodeGroup, ...],
        loops: tuple[Loop, ...] = (),
    ) -> Site:
        """A site around racks, its plant described by entries, by a PUE or not at all."""
        described = self.random.choice(("entries", "pue", "nothing"))
        lanes = max(len(group.feeds) for group in groups)
        air, plant = self.air(), None
        if described == "entries":
            air = replace(air, fed_by=("panel-a", "panel-b"))
            loops = tuple(
                loop if loop.in_rack else replace(loop, fed_by=("panel-b", "panel-a"))
                for loop in loops
            )
            plant = (
                Machine(
                    name="chillers", count=self.random.randint(1, 4), power=self.number(1e4, 9e4),
                    fed_by=("utility",),
                ),
            )  # fmt: skip
        return Site(
            seed=self.seed, design=design, derate=self.random.choice((0.8, 0.8, 1.0, 0.75)),
            power_factor=self.random.choice((0.9, 0.95, 1.0)),
            sources=self.lanes(max(lanes, 2), losses=described == "entries"),
            halls=(Hall(name="hall-1", air=self.random.choice((air, air, air, None))
                        if described != "entries" else air, groups=groups),),
            groups=nodes, loops=loops, plant=plant,
            altitude=self.maybe(self.number(0, 3000)),
            pue=self.number(1.05, 1.6) if described == "pue" else None,
        )  # fmt: skip

    def racks(self, letter: str, most: int = 4) -> tuple[str, ...]:
        return tuple(f"{letter}{n:02d}" for n in range(1, self.random.randint(1, most) + 1))

    def aisle(self) -> Number:
        return self.maybe(self.number(0.3, 0.9))
