"""Entries made of NetBox's device types: what such a file says, and what it leaves open.

NetBox keeps height, weight, power ports and interfaces of a device. It does not know what the device
draws as a whole: ``maximum_draw`` is that of one port. What has no exact counterpart is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import ConfigDict, Field

from rackwright.catalog.describe import lacking
from rackwright.catalog.loader import FOLDERS
from rackwright.catalog.netbox_kinds import ImportKind, kind_of
from rackwright.errors import Location, SpecError, SpecErrors, UsageError
from rackwright.model.base import Model
from rackwright.model.hardware import ID, Entry
from rackwright.reading.loader import Loaded, load, load_text, load_tree

SOURCE = "netbox"

_WORDS = {"nodes": "node", "switches": "switch", "racks": "rack"}
_INLETS = {
    "iec-60320-c14": "C14",
    "iec-60320-c20": "C20",
    "iec-60320-c22": "C22",
    "hardwired": "hardwired",
    "dc-terminal": "hardwired",
}
_AIRFLOW = {
    "front-to-rear": "front-to-back",
    "rear-to-front": "back-to-front",
    "left-to-right": "left-to-right",
    "right-to-left": "right-to-left",
    "side-to-rear": "side-to-back",
    "rear-to-side": "back-to-side",
    "passive": "passive",
}
_ETHERNET = re.compile(r"(\d{1,4})gbase-.+", re.ASCII)
_MEGABITS = re.compile(r"(10|100|1000)base-.+", re.ASCII)
_INFINIBAND = {"qdr": 40, "fdr": 56, "edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}
"""Gbit/s of four lanes."""
_CAGES = (
    ("osfp", "OSFP"), ("qsfpdd", "QSFP-DD"), ("qsfp112", "QSFP112"), ("qsfp56", "QSFP56"),
    ("qsfp28", "QSFP28"), ("qsfpp", "QSFP+"), ("sfp28", "SFP28"), ("sfpp", "SFP+"),
)  # fmt: skip

_SUPPLY_BAY = re.compile(
    r"\b(psu?|power|pem)[ _-]?(supply|module)?[ _-]?\w?\d*\b|power supply", re.IGNORECASE
)
_UPLINK = re.compile(r"uplink", re.IGNORECASE)
_NO_SLUG = re.compile(r"[^a-z0-9]+")

_Text = Annotated[str, Field(min_length=1, max_length=200)]


class _Part(Model):
    """A thing of NetBox's; what is not asked for is passed over."""

    model_config = ConfigDict(extra="ignore")


class PowerPort(_Part):
    """Power inlet of a device."""

    name: _Text
    type: _Text | None = None
    maximum_draw: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Watts."""


class Interface(_Part):
    """A port of a network."""

    name: _Text
    type: _Text
    mgmt_only: bool = False


class ModuleBay(_Part):
    """A place for a module."""

    name: _Text


class DeviceType(_Part):
    """The fields of a device type that have a counterpart."""

    manufacturer: _Text
    model: _Text
    slug: _Text | None = None
    u_height: Annotated[float, Field(ge=0, le=100)] | None = None
    airflow: _Text | None = None
    weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    weight_unit: Literal["kg", "g", "lb", "oz"] | None = None
    power_ports: Annotated[tuple[PowerPort, ...], Field(alias="power-ports", max_length=100)] = ()
    interfaces: Annotated[tuple[Interface, ...], Field(max_length=2000)] = ()
    module_bays: Annotated[tuple[ModuleBay, ...], Field(alias="module-bays", max_length=1000)] = ()


class RackDimensions(_Part):
    """The fields of a rack type that have a counterpart."""

    manufacturer: _Text
    model: _Text
    slug: _Text | None = None
    u_height: Annotated[float, Field(gt=0, le=100)]
    outer_width: Annotated[float, Field(gt=0, le=100_000)] | None = None
    outer_depth: Annotated[float, Field(gt=0, le=100_000)] | None = None
    outer_unit: Literal["mm", "in"] | None = None
    weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    max_weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    weight_unit: Literal["kg", "g", "lb", "oz"] | None = None


class SupplyModule(_Part):
    """The module type of a power supply."""

    model: _Text
    power_ports: Annotated[
        tuple[PowerPort, ...], Field(alias="power-ports", min_length=1, max_length=8)
    ]


@dataclass(frozen=True)
class Imported:
    """An entry made of a device type.

    Attributes:
        folder: of the catalogue, by its kind.
        entry: it, read and valid.
        document: its YAML, as plain data.
        left: what the device type says and the entry does not, with the reason.
        lacks: unknown facts, by the names of the entry's fields.
    """

    folder: ImportKind
    entry: Entry
    document: Mapping[str, Any]
    left: tuple[str, ...]
    lacks: tuple[str, ...]


def import_device(
    path: Path,
    folder: ImportKind | None = None,
    *,
    supply: Path | None = None,
    entry_id: str | None = None,
    roles: Mapping[str, str] | None = None,
    day: date,
    title: str | None = None,
) -> Imported:
    """Return the entry that the device type in ``path`` makes.

    Args:
        path: a file of NetBox's device-type library.
        folder: what kind of product it is; absent, what the file has tells it, or roles that nodes alone have.
        supply: the module type of its power supplies, where it has bays for them.
        entry_id: its id; absent, the slug, or maker and model where there is none.
        roles: of interfaces of a node, by NetBox's type or by their names, which may have ``*`` and ``[0-7]``;
            those without one are left out.
        day: when the file was read.
        title: where it is from, for people who look for it again.

    Raises:
        SpecErrors: the file is no device type, or makes no entry.
        UsageError: an interface is given a role that it cannot have, or the id is none.
    """
    chosen = _chosen_kind(path, folder or ("nodes" if roles else None))
    loaded: Loaded[RackDimensions] | Loaded[DeviceType]
    left: list[str] = []
    if chosen == "racks":
        loaded = load(path, RackDimensions)
        made = _rack(loaded.value, left, path)
    else:
        loaded = load(path, DeviceType)
        module = None if supply is None else load(supply, SupplyModule).value
        made = {
            **_body(loaded.value, left, module),
            **_ports(loaded.value, chosen, roles or {}, left, path),
        }
    device = loaded.value
    slug = device.slug or _NO_SLUG.sub("-", f"{device.manufacturer} {device.model}".lower()).strip(
        "-"
    )
    name = entry_id or slug.lower()
    if not re.fullmatch(ID, name):
        raise UsageError(f"'{name}' cannot be an id", hint="name another one with '--id'")
    source = {
        "title": title or f"NetBox device type '{slug}'",
        "date": day.isoformat(),
        "confidence": "secondary",
    }
    document = {
        "kind": _WORDS[chosen],
        "id": name,
        "vendor": device.manufacturer.strip(),
        "name": device.model.strip(),
        **made,
        "sources": {SOURCE: source} if _cites(made) else {},
    }
    known = {info.alias or key for key, info in type(device).model_fields.items()}
    others = sorted(key for key in loaded.tree.data if key not in known)
    left += [f"{key}: it has no counterpart" for key in others]
    entry = load_text(render(document), FOLDERS[chosen], name=str(path)).value
    return Imported(chosen, entry, document, tuple(left), tuple(lacking(entry)))


def _chosen_kind(path: Path, folder: ImportKind | None) -> ImportKind:
    """Return the kind of product that a file makes.

    Raises:
        SpecErrors: it makes none, or another one than is asked for.
    """
    tree = load_tree(path)
    data = tree.data if isinstance(tree.data, dict) else {}
    found, why, hint = kind_of(data, asked=folder is not None)
    racks = (found == "racks") != (folder == "racks")
    if found is None or (folder is not None and racks):
        message = why or f"it is one of '{found}', and not of '{folder}'"
        raise SpecErrors(
            [SpecError(message, hint=hint or None, location=Location(str(path), 1, 1))]
        )
    return folder or found


def _rack(rack: RackDimensions, left: list[str], path: Path) -> dict[str, Any]:
    """Return what a rack type says of an empty rack.

    Raises:
        SpecErrors: it does not say the measures outside.
    """
    if rack.outer_width is None or rack.outer_depth is None or rack.outer_unit is None:
        raise SpecErrors(
            [
                SpecError(
                    "the rack type does not say its outer width and depth",
                    hint="add 'outer_width', 'outer_depth' and 'outer_unit' from its data sheet",
                    location=Location(str(path), 1, 1),
                )
            ]
        )
    scale = 0.001 if rack.outer_unit == "mm" else 0.0254
    made = {
        "height": _fact(f"{rack.u_height:g} U"),
        "width": _fact(f"{rack.outer_width * scale:.6g} m"),
        "depth": _fact(f"{rack.outer_depth * scale:.6g} m"),
    }
    unit = "lb" if rack.weight_unit == "oz" else rack.weight_unit
    scale = 1 / 16 if rack.weight_unit == "oz" else 1
    for field, value in (("weight", rack.weight), ("static_rating", rack.max_weight)):
        if value is not None and unit is None:
            left.append(f"{field}: it has no 'weight_unit'")
        elif value is not None:
            made[field] = _fact(f"{value * scale:.6g} {unit}")
    return made


def render(document: Mapping[str, Any]) -> str:
    """Return an entry as YAML."""
    return yaml.safe_dump(
        document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110
    )


def _fact(value: Any, note: str | None = None) -> dict[str, Any]:
    return {"value": value, "source": SOURCE} | ({"note": note} if note else {})


def _cites(value: Any) -> bool:
    """Return True if the entry has a fact that needs a source."""
    if isinstance(value, Mapping):
        return "source" in value or any(map(_cites, value.values()))
    return isinstance(value, list) and any(map(_cites, value))


def _body(device: DeviceType, left: list[str], module: SupplyModule | None) -> dict[str, Any]:
    """Return height, weight, air and power supplies."""
    made: dict[str, Any] = {}
    if device.u_height:
        made["height"] = _fact(f"{device.u_height:g} U")
    elif device.u_height == 0:
        left.append("u_height: it is 0, so that the device takes no units of a rack")
    if device.weight is not None and device.weight_unit is None:
        left.append("weight: it has no 'weight_unit'")
    elif device.weight is not None and device.weight_unit == "oz":
        made["weight"] = _fact(f"{device.weight / 16:.6g} lb", f"{device.weight:g} oz")
    elif device.weight is not None:
        made["weight"] = _fact(f"{device.weight:g} {device.weight_unit}")
    if device.airflow in _AIRFLOW:
        made["airflow_direction"] = _AIRFLOW[device.airflow]
    elif device.airflow:
        left.append(f"airflow: '{device.airflow}' is none of {', '.join(_AIRFLOW)}")
    ports = device.power_ports
    bays = [bay for bay in device.module_bays if _SUPPLY_BAY.search(bay.name)]
    if module is not None and bays and not ports:
        ports = tuple(module.power_ports[0] for _ in bays)
    elif bays and not ports:
        named = ", ".join(bay.name for bay in bays)
        left.append(
            f"module-bays: {len(bays)} for power supplies ({named}); --supply FILE names their module type"
        )
    elif module is not None:
        left.append(f"--supply: the device has no bay for '{module.model}'")
    if len(device.module_bays) > len(bays):
        left.append(
            f"module-bays: {len(device.module_bays) - len(bays)} for other modules have no counterpart"
        )
    made |= _supplies(ports, left)
    return made


def _supplies(ports: Sequence[PowerPort], left: list[str]) -> dict[str, Any]:
    """Return the power supplies, if all are alike."""
    kinds = {port.type for port in ports}
    draws = {port.maximum_draw for port in ports}
    if not ports:
        return {}
    (kind,) = kinds if len(kinds) == 1 else (None,)
    if kind not in _INLETS:
        named = ", ".join(sorted(str(one) for one in kinds))
        left.append(f"power-ports: {len(ports)} of {named}; known are equal ones of {', '.join(_INLETS)}")  # fmt: skip
        return {}
    made: dict[str, Any] = {"count": len(ports), "inlet": _INLETS[kind]}
    (draw,) = draws if len(draws) == 1 else (None,)
    if draw is not None:
        made["rating"] = _fact(f"{draw} W", "maximum_draw of each power port")
    elif draws != {None}:
        left.append("power-ports.maximum_draw: it is not the same of all ports")
    return {"power_supplies": made}


def _ports(
    device: DeviceType, folder: str, roles: Mapping[str, str], left: list[str], path: Path
) -> dict[str, Any]:
    """Return the network ports of a node, or what a switch is.

    Raises:
        UsageError: a role is given to a type of interface that the device does not have.
        SpecErrors: as ``_switch``.
    """
    if folder == "switches":
        return _switch(device, left, path)
    groups = Counter((one.type, _role(one, roles)) for one in device.interfaces)
    for pattern in sorted(roles):
        if not any(_is_meant(one, pattern) for one in device.interfaces):
            raise UsageError(f"the device has no interface of the type or name '{pattern}'")
    ports = []
    for (kind, role), count in groups.items():
        known = rate_of(kind)
        if role is None and known is not None:
            hint = f"'--role {kind}=compute' (or storage, management) takes them"
            left.append(f"interfaces: {count} of type '{kind}' have no role; {hint}")
        elif known is None:
            left.append(f"interfaces: the rate of type '{kind}' is not known")
        else:
            rate, technology = known
            port = {"role": role, "count": count, "rate": _fact(rate), "technology": technology}
            cage = cage_of(kind)
            ports.append(port | ({"cage": cage} if cage else {}))
    return {"ports": ports} if ports else {}


def _switch(device: DeviceType, left: list[str], path: Path) -> dict[str, Any]:
    """Return the ports of a switch: those that are most in number are its radix.

    Raises:
        SpecErrors: the device has no interface whose rate is known.
    """
    groups = Counter(one.type for one in device.interfaces if not one.mgmt_only)
    known = {kind: found for kind in groups if (found := rate_of(kind)) is not None}
    left += [
        f"interfaces: the rate of type '{kind}' is not known"
        for kind in sorted(set(groups) - set(known))
    ]
    ranked = sorted(known, key=lambda kind: (-groups[kind], kind))
    if not ranked:
        raise SpecErrors(
            [
                SpecError(
                    "the device has no interface whose rate is known, so it is no switch",
                    hint="import it into 'nodes', or write the entry yourself: 'catalogue new'",
                    location=Location(str(path), 1, 1),
                )
            ]
        )
    first, *others = ranked
    rate, technology = known[first]
    made: dict[str, Any] = {
        "technology": technology,
        "radix": groups[first],
        "rate": _fact(rate, f"of {groups[first]} ports of type '{first}'"),
    }
    uplinks = next((kind for kind in others if _leads_upwards(device, kind, first, known)), None)
    if uplinks is not None:
        made["uplinks"] = {"count": groups[uplinks], "rate": _fact(known[uplinks][0])}
    left += [
        f"interfaces: {groups[kind]} of type '{kind}' are neither the most nor uplinks"
        for kind in others
        if kind != uplinks
    ]
    return made


def _leads_upwards(
    device: DeviceType, kind: str, most: str, known: Mapping[str, tuple[str, str]]
) -> bool:
    """Return True for ports that are called uplinks, and for those that are faster than the others.

    Slower ports beside fast ones are for hosts of another network, or for time and management.
    """
    named = any(_UPLINK.search(one.name) for one in device.interfaces if one.type == kind)
    return named or _gigabits(known[kind][0]) > _gigabits(known[most][0])


def _gigabits(rate: str) -> float:
    number, unit = rate.split()
    return float(number) * (0.001 if unit == "Mbps" else 1)


def _role(interface: Interface, roles: Mapping[str, str]) -> str | None:
    """Return the role of an interface: by its name before its type."""
    if interface.mgmt_only:
        return "management"
    named = next((role for pattern, role in roles.items() if _is_called(interface, pattern)), None)
    return named or roles.get(interface.type)


def _is_called(interface: Interface, pattern: str) -> bool:
    return fnmatchcase(interface.name, pattern)


def _is_meant(interface: Interface, pattern: str) -> bool:
    return interface.type == pattern or _is_called(interface, pattern)


def rate_of(kind: str) -> tuple[str, str] | None:
    """Return the rate and the technology of a type of interface; None where it has none."""
    if found := _ETHERNET.fullmatch(kind):
        return f"{int(found[1])} Gbps", "ethernet"
    if found := _MEGABITS.fullmatch(kind):
        return f"{int(found[1])} Mbps", "ethernet"
    rate = _INFINIBAND.get(kind.removeprefix("infiniband-"))
    return (f"{rate} Gbps", "infiniband") if rate and kind.startswith("infiniband-") else None


def cage_of(kind: str) -> str | None:
    """Return the cage that the name of a type of interface ends with."""
    return next((cage for end, cage in _CAGES if kind.endswith(end)), None)
