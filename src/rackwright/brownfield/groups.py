"""Node groups and switch tiers: equal devices, with the racks and units in which they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from rackwright.brownfield.halls import FoundRack, height_of, natural
from rackwright.brownfield.names import ordered_hostlist
from rackwright.brownfield.records import FoundDevice, SourceNotice
from rackwright.model.hardware import Entry
from rackwright.model.standing import UnitShare
from rackwright.plan.hosts import numbered

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RackShare:
    """Devices of a group in one rack, in the order of their names."""

    rack: str
    devices: tuple[FoundDevice, ...]

    @property
    def units(self) -> tuple[float, ...]:
        """Lowest unit of each device."""
        return tuple(device.low or 0.0 for device in self.devices)


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """Devices of one node group or tier.

    Attributes:
        shares: in the order in which racks are filled.
    """

    entry: Entry
    shares: tuple[RackShare, ...]

    @property
    def count(self) -> int:
        """Number of devices."""
        return sum(len(share.devices) for share in self.shares)

    @property
    def devices(self) -> Iterator[FoundDevice]:
        """All devices, in the order in which racks are filled."""
        return (device for share in self.shares for device in share.devices)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosts or switches, in the order in which racks are filled."""
        return tuple(name for device in self.devices for name in device.names)

    def names_or(self, stem: str, each: int) -> tuple[str, ...]:
        """Return the names, with numbers behind ``stem`` for devices without one.

        Args:
            stem: the prefix of the names.
            each: hosts or switches in one device.
        """
        taken = set(self.names)
        numbers = numbered(stem, 2 * self.count * each, 1)
        free = (name for name in numbers if name not in taken)
        return tuple(
            name for device in self.devices for name in device.names or tuple(islice(free, each))
        )

    def without_names(self, what: str) -> Iterator[SourceNotice]:
        """Yield a notice about the devices without a name."""
        nameless = [device for device in self.devices if not device.names]
        if nameless:
            some = "" if len(nameless) == self.count else f"{len(nameless):,} of "
            text = f"no file has names for {some}the {self.count:,} {what}"
            yield SourceNotice(text, nameless[0].at)

    @property
    def _unit_share(self) -> UnitShare | None:
        """Part of their units that its devices take, which are of one product; None for all of them."""
        shares = {device.share for device in self.devices} - {None}
        if not shares or "half-width" in shares:
            return "half-width" if shares else None
        faces = {device.share or device.face for device in self.devices}
        if faces <= {"front", ""}:
            return "front"
        return "rear" if faces == {"rear"} else "half-depth"

    @property
    def place(self) -> dict[str, Any]:
        """Fields of a blueprint that state the racks and units."""
        most = max(len(share.devices) for share in self.shares)
        racks = ordered_hostlist([share.rack for share in self.shares])
        said = {"racks": racks, "per_rack": most}
        first = self.shares[0].units
        step = height_of(self.entry)
        part = self._unit_share
        if part is not None:
            said["unit_share"] = part
        across = 2 if part in {"half-width", "half-depth"} else 1
        alike = tuple(first[0] + index // across * step for index in range(most))
        full = all(len(share.devices) == most for share in self.shares[:-1])
        if full and all(share.units == alike[: len(share.units)] for share in self.shares):
            return {**said, "start_unit": f"{first[0]:g} U"}
        by_units: dict[tuple[float, ...], list[str]] = {}
        for share in self.shares:
            by_units.setdefault(share.units, []).append(share.rack)
        units = {
            ordered_hostlist(names): [f"{unit:g} U" for unit in stated]
            for stated, names in by_units.items()
        }
        return {**said, "units": units}


def groups_of(racks: Sequence[FoundRack], keys: Mapping[int, K]) -> dict[K, DeviceGroup]:
    """Return the devices with equal keys, by their keys in the order in which they are met.

    Args:
        racks: in the order of the halls.
        keys: of the devices that are to be told, by ``id``: what one group says of all it has,
            their product among that.
    """
    found: dict[K, dict[str, list[FoundDevice]]] = {}
    entries: dict[K, Entry] = {}
    for rack in racks:
        for device, entry in rack.devices:
            if id(device) in keys:
                key = keys[id(device)]
                found.setdefault(key, {}).setdefault(rack.name, []).append(device)
                entries[key] = entry
    return {key: DeviceGroup(entries[key], _shares(by_rack)) for key, by_rack in found.items()}


def _shares(by_rack: Mapping[str, Sequence[FoundDevice]]) -> tuple[RackShare, ...]:
    """Return the racks in the order of their names of hosts, one that is less full as the last."""
    made = [RackShare(rack, _in_order(devices)) for rack, devices in by_rack.items()]
    made.sort(key=lambda share: _order(share.devices[0], share.rack))
    most = max(len(share.devices) for share in made)
    fewer = [share for share in made if len(share.devices) < most]
    if len(fewer) == 1 and len({share.units[0] for share in made}) == 1:
        made.sort(key=lambda share: len(share.devices) < most)
    return tuple(made)


def _in_order(devices: Sequence[FoundDevice]) -> tuple[FoundDevice, ...]:
    upwards = sorted(devices, key=lambda device: device.low or 0.0)
    return tuple(
        sorted(upwards, key=lambda device: natural(device.names[0] if device.names else ""))
    )


def _order(device: FoundDevice, rack: str) -> tuple[tuple[str, int], ...]:
    return natural(device.names[0] if device.names else rack)
