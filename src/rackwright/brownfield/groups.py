"""Node groups and switch tiers that say where devices stand: equal ones, in the same units of each rack.

A group fills its racks in the order written, each but the last with as many units, from one unit
upwards. Devices that stand otherwise are cut into as many groups as it takes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rackwright.brownfield.halls import FoundRack, height_of, natural
from rackwright.brownfield.records import FoundDevice
from rackwright.model.hardware import Entry

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class DeviceRun:
    """Devices above each other in one rack, the lowest first."""

    rack: str
    low: float
    devices: tuple[FoundDevice, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those of its hosts or switches."""
        return tuple(name for device in self.devices for name in device.names)


@dataclass(frozen=True, slots=True)
class DeviceBlock:
    """Runs that one node group or tier tells.

    Attributes:
        runs: in the order in which racks are filled; only the last may be shorter.
    """

    entry: Entry
    runs: tuple[DeviceRun, ...]

    @property
    def count(self) -> int:
        """Number of devices."""
        return sum(len(run.devices) for run in self.runs)

    @property
    def per_rack(self) -> int:
        """Most devices in one rack."""
        return len(self.runs[0].devices)

    @property
    def racks(self) -> tuple[str, ...]:
        """The racks, in the order in which they are filled."""
        return tuple(run.rack for run in self.runs)

    @property
    def low(self) -> float:
        """The lowest unit in each rack."""
        return self.runs[0].low

    @property
    def devices(self) -> Iterator[FoundDevice]:
        """All of them, in the order in which racks are filled."""
        return (device for run in self.runs for device in run.devices)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of its hosts or switches, in the order in which racks are filled."""
        return tuple(name for run in self.runs for name in run.names)


def blocks_of(racks: Sequence[FoundRack], keys: Mapping[int, K]) -> dict[K, list[DeviceBlock]]:
    """Return the blocks of devices with equal keys, by their keys in the order in which they are met.

    Args:
        racks: in the order of the halls.
        keys: of the devices that are to be told, by ``id``: what one group says of all it has,
            their product among that.
    """
    found: dict[K, dict[float, list[DeviceRun]]] = {}
    entries: dict[K, Entry] = {}
    for rack in racks:
        standing: dict[K, list[FoundDevice]] = {}
        for device, entry in rack.devices:
            if id(device) in keys:
                key = keys[id(device)]
                standing.setdefault(key, []).append(device)
                entries[key] = entry
        for key, devices in standing.items():
            for run in _runs(rack.name, devices, height_of(entries[key])):
                found.setdefault(key, {}).setdefault(run.low, []).append(run)
    return {
        key: [block for _, runs in sorted(by_low.items()) for block in _blocks(entries[key], runs)]
        for key, by_low in found.items()
    }


def _runs(rack: str, devices: Sequence[FoundDevice], height: float) -> Iterator[DeviceRun]:
    """Yield the devices of a rack cut where there is something between them."""
    ordered = sorted(devices, key=lambda one: one.low or 0.0)
    run: list[FoundDevice] = []
    for device in ordered:
        if run and device.low != (run[-1].low or 0.0) + height:
            yield DeviceRun(rack, run[0].low or 0.0, tuple(run))
            run = []
        run.append(device)
    yield DeviceRun(rack, run[0].low or 0.0, tuple(run))


def _blocks(entry: Entry, runs: Sequence[DeviceRun]) -> Iterator[DeviceBlock]:
    """Yield the runs from one unit on, by their lengths; each block takes one shorter run as its last."""
    by_length: dict[int, list[DeviceRun]] = {}
    for run in sorted(runs, key=_order):
        by_length.setdefault(len(run.devices), []).append(run)
    for length in sorted(by_length, reverse=True):
        chosen = by_length.pop(length)
        if not chosen:
            continue
        # The one whose names come last, so that names in their order stay so.
        shorter = max((these for these in by_length.values() if these), key=_last, default=None)
        if shorter is not None:
            chosen.append(shorter.pop())
        yield DeviceBlock(entry, tuple(chosen))


def _last(runs: Sequence[DeviceRun]) -> tuple[tuple[str, int], ...]:
    return _order(runs[-1])


def _order(run: DeviceRun) -> tuple[tuple[str, int], ...]:
    return natural(run.names[0] if run.names else run.rack)
