"""Worked examples of public documents, with what the calculator makes of the same numbers.

Each names its document and place. What a document rounds is compared to its last digit; what it gives as a
rule of thumb within the share that stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calculator.cooling import CFM_PER_WATT, coolant, density_ratio
from calculator.fabric import Wiring, needed
from calculator.lines import behind_transformer
from calculator.power import carries, loaded
from calculator.things import (
    Attached,
    Cables,
    Circuit,
    Device,
    Fabric,
    Feed,
    Frame,
    Hall,
    Loop,
    NodeGroup,
    Pdu,
    Product,
    RackGroup,
    Site,
    Source,
    Supplies,
    Tier,
    Unit,
)

B200 = (
    "NVIDIA DGX SuperPOD Reference Architecture with DGX B200, DGX SuperPOD Architecture, "
    "table of larger component counts"
)
B300 = (
    "NVIDIA DGX SuperPOD Reference Architecture with DGX B300 (Spectrum-4 Ethernet, two planes), "
    "DGX SuperPOD Architecture, Table 3"
)
B300_XDR = (
    "NVIDIA DGX SuperPOD Reference Architecture with DGX B300 and Quantum-X800, "
    "DGX SuperPOD Architecture, Table 3"
)
H100 = "NVIDIA DGX SuperPOD Reference Architecture with DGX H100 (RA-11333-001), table of the compute fabric"
H100_LARGER = (
    "NVIDIA DGX SuperPOD Reference Architecture with DGX H100 (RA-11333-001 V11), Table 3, "
    "Larger SuperPOD component counts"
)
LLAMA = "The Llama 3 Herd of Models, arXiv:2407.21783, section 3.3.1"
ISA = "Engineering ToolBox, International Standard Atmosphere, column of relative density"
APC = "Schneider Electric FA156194, 50 A 208 V 3 Phase Rack PDU Load Ratings and Calculations Explained"
UNEVEN = "datacentermd.com, example of nine servers on a 208 V, 30 A POU"
RARITAN = "Raritan PX3-5878, data sheet, input rating"
RPU = "OCP Reservoir and Pumping Unit specification, flow for a rack of 100 kW"
OAI = "OCP OAI Liquid Cooling Guidelines 1.0, section 3.2, flow for each kW at 10 K"
TILES = "Innovative Research, Calculation of Airflow Required for a Given Heat Load (20 °F)"

IAEI = "IAEI magazine, 2018-08-22, available fault current of a transformer of 480 V"
BUSSMANN = "Eaton Bussmann, Selecting Protective Devices, point-to-point method, system A, 480 V"

NET = tuple(f"n{number:02d}" for number in range(1, 10))
"""Racks of switches."""
EARTH = 6_356_766.0
"""Radius in m by which ISO 2533 makes geopotential altitudes of geometric ones, which tables list."""


@dataclass(frozen=True, slots=True)
class Example:
    """What a document says and what is computed from its inputs.

    Attributes:
        source: document and place.
        inputs: in words.
        published: its numbers.
        computed: the same by the calculator.
        within: largest difference, in the unit of the numbers.
    """

    source: str
    inputs: str
    published: tuple[float, ...]
    computed: tuple[float, ...]
    within: float = 0.0


@dataclass(frozen=True, slots=True)
class Design:
    """A published fabric.

    Attributes:
        nodes: number of servers with 8 ports.
        radix: ports of each switch, after splitting.
        switches: of each tier, from the leaves.
        cables: from nodes to leaves, and between tiers, as they are published.
        managers: ports of the fabric managers, on the rails.
        split: parts of a port, in planes of their own.
        pods: blocks of leaves and spines below cores.
    """

    source: str
    nodes: int
    radix: int
    switches: tuple[int, ...]
    cables: tuple[int, ...]
    managers: int = 0
    split: int = 1
    pods: int = 1


DESIGNS = (
    *(Design(H100, 32 * units - 1, 64, (8 * units, spines), (256 * units - 4, 256 * units), managers=4)
      for units, spines in ((1, 4), (2, 8), (3, 16), (4, 16))),
    Design(H100_LARGER, 128, 64, (32, 16), (1024, 1024)),
    Design(H100_LARGER, 256, 64, (64, 32), (2048, 2048)),
    Design(H100_LARGER, 512, 64, (128, 128, 64), (4096, 4096, 4096), pods=4),
    Design(H100_LARGER, 1024, 64, (256, 256, 128), (8192, 8192, 8192), pods=8),
    Design(H100_LARGER, 2048, 64, (512, 512, 256), (16384, 16384, 16384), pods=16),
    Design(B200, 64, 64, (16, 8), (512, 512)),
    Design(B200, 128, 64, (32, 16), (1024, 1024)),
    Design(B200, 256, 64, (64, 32), (2048, 2048)),
    Design(B200, 512, 64, (128, 128, 64), (4096, 4096, 4096), pods=4),
    Design(B200, 1024, 64, (256, 256, 128), (8192, 8192, 8192), pods=8),
    Design(B200, 2048, 64, (512, 512, 256), (16384, 16384, 16384), pods=16),
    Design(B300, 64, 128, (16, 8), (512, 512), split=2),
    Design(B300, 128, 128, (32, 16), (1024, 1024), split=2),
    Design(B300, 256, 128, (64, 32), (2048, 2048), split=2),
    Design(B300, 512, 128, (128, 64), (4096, 4096), split=2),
    Design(B300, 1024, 128, (256, 128), (8192, 8192), split=2),
    Design(B300_XDR, 72, 144, (8, 4), (576, 576)),
    Design(B300_XDR, 144, 144, (16, 8), (1152, 1152)),
    Design(B300_XDR, 288, 144, (32, 18), (2304, 2304)),
    Design(B300_XDR, 576, 144, (64, 36), (4608, 4608)),
    Design(B300_XDR, 1296, 144, (144, 72), (10368, 10368)),
)  # fmt: skip


def site_of(design: Design) -> Site:
    """A site with a published fabric; its power and its racks are of no interest."""
    supplies, nodes = (
        Supplies(count=2, inlet="C20"),
        tuple(f"c{n:04d}" for n in range(1, design.nodes + 1)),
    )
    server = Product(
        id="server", height=1.0, weight=1.0, power=1.0, supplies=supplies, ports=8, rate=800.0
    )
    switch = Product(
        id="switch", height=1.0, weight=1.0, power=1.0, supplies=supplies,
        radix=design.radix // design.split, rate=800.0,
    )  # fmt: skip
    groups = [NodeGroup(name="server", product=server, count=design.nodes, racks=nodes, per_rack=1)]
    attached = [Attached(group="server", split=design.split)]
    if design.managers:
        manager = Product(
            id="manager", height=1.0, weight=1.0, power=1.0, supplies=supplies, ports=design.managers,
            rate=800.0,
        )  # fmt: skip
        groups.append(NodeGroup(name="ufm", product=manager, count=1, racks=("n01",), per_rack=1))
        attached.append(Attached(group="ufm"))
    tiers = tuple(
        Tier(
            name=name,
            product=switch,
            count=count,
            racks=NET,
            per_rack=64,
            split=design.split,
        )
        for name, count in zip(("leaf", "spine", "core"), design.switches, strict=False)
    )
    up, spines = design.radix // 2, design.switches[1] // (design.pods * design.split)
    links = [
        Cables(
            name="spines", lower="leaf", upper="spine", parallel=up // spines, pods=design.pods,
            planes=design.split,
        )
    ]  # fmt: skip
    if len(tiers) == 3:
        cores = design.switches[2] // spines
        links.append(
            Cables(name="cores", lower="spine", upper="core", parallel=up // cores, planes=spines)
        )
    fabric = Fabric(
        name="compute", tiers=tiers, attached=tuple(attached), links=tuple(links), rails=True
    )
    circuit = Circuit(voltage=415.0, current=60.0, phases=3)
    pdu = Pdu(
        id="pdu",
        voltage=415.0,
        current=60.0,
        phases=3,
        wiring="wye",
        c13=0,
        c19=2,
        height=0.0,
        weight=1.0,
    )
    feeds = tuple(
        Feed(name=name, source="utility", pdu=pdu, pdus=1, circuit=circuit) for name in "AB"
    )
    frame = Frame(id="frame", height=42.0, width=0.6, depth=1.2, weight=100.0)
    racks = RackGroup(racks=(*nodes, *NET), frame=frame, feeds=feeds, mode="air")
    return Site(
        seed=0, design=design.source, derate=0.8, power_factor=1.0,
        sources=(Source(name="utility", kind="utility"),),
        halls=(Hall(name="hall-1", air=None, groups=(racks,)),), groups=tuple(groups),
        fabrics=(fabric,),
    )  # fmt: skip


def of_design(design: Design) -> Example:
    """Switches and cables of a published fabric; cables of split ports are counted once."""
    site = site_of(design)
    wiring = Wiring(site, site.fabrics[0])
    cables = [len(wiring.plugged)]
    for tier in range(len(design.switches) - 1):
        link = wiring.between(tier)
        assert link is not None
        cables.append(sum(link.parallel or 0 for _ in wiring.pairs(tier)))
    counted = tuple(number // design.split for number in cables)
    return Example(
        design.source, f"{design.nodes} nodes, switches of {design.radix} ports",
        (*design.switches, *design.cables), (*needed(wiring), *counted),
    )  # fmt: skip


def _pod() -> Example:
    """16 servers of one GPU in each of 192 racks, as many cables up as down."""
    racks = tuple(f"c{n:03d}" for n in range(1, 193))
    server = Product(id="server", height=1.0, weight=1.0, power=1.0, ports=1)
    switch = Product(id="switch", height=1.0, weight=1.0, power=1.0, radix=192)
    leaf = Tier(name="leaf", product=switch, count=192, racks=racks, per_rack=1)
    spine = Tier(name="spine", product=switch, count=16, racks=("n01",), per_rack=16)
    fabric = Fabric(
        name="pod", tiers=(leaf, spine), attached=(Attached(group="gpu"),), top_of_rack=True,
        links=(Cables(name="up", lower="leaf", upper="spine", parallel=1),),
    )  # fmt: skip
    group = NodeGroup(name="gpu", product=server, count=3072, racks=racks, per_rack=16)
    site = Site(
        seed=0, design="pod", derate=1.0, power_factor=1.0, sources=(), halls=(), groups=(group,),
        fabrics=(fabric,),
    )  # fmt: skip
    wiring = Wiring(site, fabric)
    most = max(wiring.taken.values())
    computed = float(needed(wiring)[0]), float(len(wiring.plugged)), most / wiring.up(0)
    inputs = "192 racks of 16 GPUs, a switch in each"
    return Example(LLAMA, inputs, (192.0, 3072.0, 1.0), computed)


def _three_banks() -> Example:
    """Three banks of 208 V with 16 A each, behind a delta."""
    watts = 208.0 * 16.0
    server = Product(
        id="bank", height=1.0, weight=1.0, power=watts, supplies=Supplies(count=1, inlet="C20")
    )
    bank = Device(
        owner="bank", product=server, watts=watts, peak=watts, supplies=(1,), on_bus=False
    )
    pdu = Pdu(
        id="pdu", voltage=208.0, current=50.0, phases=3, wiring="delta", c13=0, c19=3, height=0.0,
        weight=1.0,
    )  # fmt: skip
    feed = Feed(name="A", source="utility", pdu=pdu, pdus=1, circuit=None)
    implied = loaded([bank] * 3, (feed,)).implied[0, 0]
    assert implied is not None
    return Example(APC, "three banks of 208 V, 16 A", (9984.0,), (implied,), within=0.5)


def _rows() -> Iterator[Example]:
    yield from map(of_design, DESIGNS)
    yield _pod()
    for altitude, ratio in (
        (500.0, 0.9529), (1000.0, 0.9075), (1500.0, 0.8638), (2000.0, 0.8217), (2500.0, 0.7812),
        (3000.0, 0.7423),
    ):  # fmt: skip
        computed = density_ratio(EARTH * altitude / (EARTH + altitude))
        assert computed is not None
        yield Example(ISA, f"{altitude:g} m", (ratio,), (computed,), within=0.00006)
    yield _three_banks()
    small = Circuit(voltage=208.0, current=30.0, phases=3)
    yield Example(
        UNEVEN, "208 V × 30 A × √3 × 0.8", (8646.0,), (carries(small, 0.8, 1.0),), within=0.5
    )
    large = Circuit(voltage=415.0, current=60.0, phases=3)
    yield Example(
        RARITAN, "415 V, 60 A at 80 %", (34.5,), (carries(large, 0.8, 1.0) / 1000,), within=0.05
    )
    unit = Unit(id="cdu", capacity=1.0, flow=None, power=None)
    loop = Loop(name="loop", unit=unit, count=1, fluid="pg25", rise=10.0, supply=None)
    for source, watts, flow in ((RPU, 100_000.0, 150.0), (OAI, 1000.0, 1.5)):
        needs = coolant(watts, loop)
        assert needs is not None
        yield Example(source, f"{watts / 1000:g} kW", (flow,), (needs,), within=0.01 * flow)
    airflow = CFM_PER_WATT * 1000 / (20 / 1.8)
    yield Example(TILES, "1 kW at 20 °F", (154.0,), (airflow,), within=0.03 * 154)
    for source, kva, percent, amperes, within in (
        (IAEI, 1500.0, 5.75, 31_374.0, 10.0),
        (BUSSMANN, 1500.0, 3.5, 51_540.0, 10.0),
    ):
        behind = behind_transformer(kva, 480.0, percent)
        yield Example(source, f"{kva:g} kVA, {percent:g} %", (amperes,), (behind,), within=within)


EXAMPLES = tuple(_rows())
