"""Health of links over time: flaps, symbol errors, retrains, power and temperature of optics. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rackwright.catalog.fault_table import FaultTable
from rackwright.nodelife.signs.detect import detect
from rackwright.nodelife.signs.recordings import Recording, Sample
from rackwright.nodelife.worklist import HandTask, WorkItem, worklist
from rackwright.plan.model import Plan

COUNTERS: Mapping[str, str] = {
    "port.link_downed": "flaps",
    "port.symbol_error": "symbol errors",
    "port.link_error_recovery": "retrains",
}
FALL_DB = 2.0
"""Fall of the received power within the recording that is a sign of dirt or of a dying laser, in dB. Judgement."""
_ORDER = ("bad", "degraded", "good", "unknown")


@dataclass(frozen=True, slots=True)
class LinkHealth:
    """Health of one port over a recording.

    Attributes:
        verdict: ``bad`` where a fault takes the node out, ``degraded`` where one is for the worklist,
            ``good``, or ``unknown`` with fewer than two samples.
        growth: growth of each counter over the recording.
        seconds: length of the recording, without times in which the clock went back.
        power_db: change of the received power in dB; None if unknown.
        temperature_c: highest temperature of the optic, in °C; None if unknown.
        reasons: faults, by id.
    """

    node: str
    port: str
    verdict: str
    growth: Mapping[str, float]
    seconds: float
    power_db: float | None
    temperature_c: float | None
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """Numbers on one line."""
        parts = [f"{value:g} {name}" for name, value in self.growth.items() if value]
        if self.power_db is not None and self.power_db <= -FALL_DB:
            parts.append(f"received power fell by {-self.power_db:.1f} dB")
        if self.temperature_c is not None:
            parts.append(f"{self.temperature_c:g} °C")
        return f"{', '.join(parts) or 'no error'} in {self.seconds / 3600:.1f} h"


def link_health(
    table: FaultTable, recordings: Mapping[str, Sequence[Sample]]
) -> tuple[LinkHealth, ...]:
    """Return the health of each port of the recordings of nodes, the worst first."""
    found = []
    for node, samples in recordings.items():
        ports: dict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            if sample.name.startswith("port."):
                ports[sample.device].append(sample)
        found += [_judge(table, node, port, series) for port, series in ports.items()]
    return tuple(sorted(found, key=lambda one: (_ORDER.index(one.verdict), one.node, one.port)))


def _judge(table: FaultTable, node: str, port: str, samples: Sequence[Sample]) -> LinkHealth:
    events = detect(table, Recording(samples=tuple(samples)))
    faults = sorted({event.fault for event in events})
    powers = [float(s.value) for s in samples if s.name == "port.optic_rx_power_dbm"]
    heats = [float(s.value) for s in samples if s.name == "port.optic_temperature_c"]
    fall = powers[-1] - powers[0] if len(powers) > 1 else None
    if any(table.faults[fault].severity.leaves_service for fault in faults):
        verdict = "bad"
    elif faults or (fall is not None and fall <= -FALL_DB):
        verdict = "degraded"
    else:
        times = {sample.at for sample in samples}
        verdict = "good" if len(times) > 1 else "unknown"
    return LinkHealth(
        node,
        port,
        verdict,
        {text: _growth(samples, name) for name, text in COUNTERS.items()},
        _length(samples),
        fall,
        max(heats, default=None),
        tuple(faults),
    )


def _growth(samples: Iterable[Sample], name: str) -> float:
    values = [float(sample.value) for sample in samples if sample.name == name]
    return sum(late - early if late >= early else late for early, late in pairwise(values))


def _length(samples: Sequence[Sample]) -> float:
    times = [sample.at for sample in samples]
    return sum(max(0.0, late - early) for early, late in pairwise(times))


def link_work(plan: Plan, links: Iterable[LinkHealth]) -> tuple[WorkItem, ...]:
    """Return the work on bad and degraded links, with rack, unit and the cable's label at both ends."""
    tasks = [
        HandTask(
            node=link.node,
            action="clean or replace",
            reason=f"{link.verdict}: {link.text}",
            part="cable",
            slot=link.port,
            port=link.port.partition("/")[0],
        )
        for link in links
        if link.verdict in {"bad", "degraded"}
    ]
    return worklist(plan, tasks)
