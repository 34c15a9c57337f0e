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
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from rackwright.catalog.describe import lacking
from rackwright.catalog.loader import FOLDERS, NOUNS
from rackwright.catalog.netbox_kinds import ImportKind, kind_of, what_to_state
from rackwright.catalog.netbox_ports import (
    SOURCE,
    Interface,
    LibraryPart,
    Text,
    fact,
    network_ports,
)
from rackwright.errors import Location, SpecError, SpecErrors, UsageError
from rackwright.harmless import counted, visible
from rackwright.model.hardware import ID, Entry, Pdu
from rackwright.reading.loader import Loaded, load, load_text, load_tree
from rackwright.reading.suggest import did_you_mean

STATED = "stated"
"""Source of facts that are given beside the file."""

_WORDS = {
    "nodes": "node",
    "switches": "switch",
    "racks": "rack",
    "pdus": "pdu",
    "cdus": "cdu",
    "power-shelves": "power-shelf",
}
_STATED_KINDS = ("pdus", "cdus", "power-shelves", "racks")
_OUTLETS = ("C13", "C19", "C39")
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
_SUPPLY_BAY = re.compile(
    r"\b(psu?|power|pem)[ _-]?(supply|module)?[ _-]?\w?\d*\b|power supply", re.IGNORECASE
)
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class PowerPort(LibraryPart):
    """Power inlet of a device."""

    name: Text
    type: Text | None = None
    maximum_draw: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Watts."""


class PowerOutlet(LibraryPart):
    """Outlet of a PDU."""

    type: Text | None = None


class ModuleBay(LibraryPart):
    """A place for a module."""

    name: Text


class DeviceType(LibraryPart):
    """The fields of a device type that have a counterpart."""

    manufacturer: Text
    model: Text
    slug: Text | None = None
    u_height: Annotated[float, Field(ge=0, le=100)] | None = None
    airflow: Text | None = None
    is_full_depth: bool | None = None
    weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    weight_unit: Literal["kg", "g", "lb", "oz"] | None = None
    power_outlets: Annotated[
        tuple[PowerOutlet, ...], Field(alias="power-outlets", max_length=200)
    ] = ()
    power_ports: Annotated[tuple[PowerPort, ...], Field(alias="power-ports", max_length=100)] = ()
    interfaces: Annotated[tuple[Interface, ...], Field(max_length=2000)] = ()
    module_bays: Annotated[tuple[ModuleBay, ...], Field(alias="module-bays", max_length=1000)] = ()


class RackDimensions(LibraryPart):
    """The fields of a rack type that have a counterpart."""

    manufacturer: Text
    model: Text
    slug: Text | None = None
    u_height: Annotated[float, Field(gt=0, le=100)]
    outer_width: Annotated[float, Field(gt=0, le=100_000)] | None = None
    outer_depth: Annotated[float, Field(gt=0, le=100_000)] | None = None
    outer_unit: Literal["mm", "in"] | None = None
    weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    max_weight: Annotated[float, Field(gt=0, le=100_000)] | None = None
    weight_unit: Literal["kg", "g", "lb", "oz"] | None = None


class SupplyModule(LibraryPart):
    """The module type of a power supply."""

    model: Text
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
    facts: Mapping[str, str] | None = None,
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
        facts: of the entry, by the names of its fields, which a device type does not state; ``C13``, ``C19`` and ``C39`` are
            the ratings of outlets of a PDU.
        day: when the file was read.
        title: where it is from, for people who look for it again.

    Raises:
        SpecErrors: the file is no device type, or makes no entry.
        UsageError: an interface is given a role that it cannot have, a fact is of no field, or the id is none.
    """
    chosen, data = _chosen_kind(path, folder or ("nodes" if roles else None))
    kind = FOLDERS[chosen]
    bays = data.get("device-bays")
    if chosen == "nodes" and isinstance(bays, list) and bays and "hosts" not in (facts or {}):
        message = f"it is a chassis with {counted(len(bays), 'bay')}: a device type does not state the hosts in them"
        hint = f"state how many operating systems it has, like --fact 'hosts={len(bays)}'"
        raise SpecErrors([SpecError(message, hint=hint, location=Location(str(path), 1, 1))])
    loaded: Loaded[RackDimensions] | Loaded[DeviceType]
    left: list[str] = []
    if chosen == "racks":
        loaded = load(path, RackDimensions)
        made = _rack(loaded.value, left)
    else:
        loaded = load(path, DeviceType)
        module = None if supply is None else load(supply, SupplyModule).value
        made = _body(loaded.value, left, module, kind)
        if chosen in {"nodes", "switches"}:
            made |= network_ports(loaded.value.interfaces, chosen, roles or {}, left, path)
        elif chosen == "pdus":
            made |= _outlets(loaded.value, facts or {}, left)
    made |= _stated(kind, facts or {})
    lost = [name for name in made if name not in kind.model_fields]
    left += [f"{name}: a {NOUNS[kind]} has no such field" for name in lost]
    made = {name: value for name, value in made.items() if name not in lost}
    needed = [
        name
        for name, info in kind.model_fields.items()
        if info.is_required() and name not in Entry.model_fields and name != "kind"
    ]
    if chosen in _STATED_KINDS and (missing := [name for name in needed if name not in made]):
        message, hint = what_to_state(chosen, missing, data)
        raise SpecErrors([SpecError(message, hint=hint, location=Location(str(path), 1, 1))])
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
        "sources": {
            **({SOURCE: source} if _cites(made, SOURCE) else {}),
            **(
                {STATED: source | {"title": f"Stated at the import of '{slug}'"}}
                if _cites(made, STATED)
                else {}
            ),
        },
    }
    known = {info.alias or key for key, info in type(device).model_fields.items()}
    others = sorted(key for key in loaded.tree.data if key not in known)
    left += [f"{key}: it has no counterpart" for key in others]
    entry = load_text(render(document), kind, name=str(path)).value
    return Imported(chosen, entry, document, tuple(left), tuple(lacking(entry)))


def _chosen_kind(path: Path, folder: ImportKind | None) -> tuple[ImportKind, Mapping[str, Any]]:
    """Return the kind of product that a file makes, and the document.

    Raises:
        SpecErrors: it makes none, or another one than is asked for.
    """
    tree = load_tree(path)
    data = tree.data if isinstance(tree.data, dict) else {}
    found, why, hint = kind_of(data, asked=folder is not None)
    devices = {"nodes", "switches"}
    other = found != folder and not {found, folder} <= devices
    if found is None or (folder is not None and other):
        message = why or f"it is one of '{found}', and not of '{folder}'"
        raise SpecErrors(
            [SpecError(message, hint=hint or None, location=Location(str(path), 1, 1))]
        )
    return folder or found, data


def _outlets(device: DeviceType, facts: Mapping[str, str], left: list[str]) -> dict[str, Any]:
    """Return the outlets of a PDU whose rating is given."""
    counts = Counter(str(one.type) for one in device.power_outlets)
    made = []
    for kind, count in counts.items():
        name = kind.rpartition("-")[2].upper()
        if name in _OUTLETS and name in facts:
            made.append(
                {"type": name, "count": count, "rating": {"value": facts[name], "source": STATED}}
            )
        elif name in _OUTLETS:
            left.append(
                f"power-outlets: {count} of type '{kind}'; --fact '{name}=10 A' states the rating of one"
            )
        else:
            left.append(f"power-outlets: {count} of type '{kind}' have no counterpart")
    return {"outlets": made} if made else {}


def _stated(kind: type[Entry], facts: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an entry that are given beside the file.

    Raises:
        UsageError: the entry has no such field.
    """
    made: dict[str, Any] = {}
    for name, value in facts.items():
        if kind is Pdu and name in _OUTLETS:
            continue
        if (info := kind.model_fields.get(name)) is None or name in Entry.model_fields:
            hint = did_you_mean(name, set(kind.model_fields) - set(Entry.model_fields))
            raise UsageError(f"a {NOUNS[kind]} has no fact '{visible(name)}'", hint=hint)
        if "Fact[" in str(info.annotation):
            made[name] = {"value": value, "source": STATED}
        else:
            made[name] = int(value) if value.isascii() and value.isdigit() else value
    return made


def _rack(rack: RackDimensions, left: list[str]) -> dict[str, Any]:
    """Return the facts that a rack type states of an empty rack."""
    made = {"height": fact(f"{rack.u_height:g} U")}
    for field, measure in (("width", rack.outer_width), ("depth", rack.outer_depth)):
        if measure is not None and rack.outer_unit is None:
            left.append(f"outer_{field}: it has no 'outer_unit'")
        elif measure is not None:
            scale = 0.001 if rack.outer_unit == "mm" else 0.0254
            made[field] = fact(f"{measure * scale:.6g} m")
    unit = "lb" if rack.weight_unit == "oz" else rack.weight_unit
    scale = 1 / 16 if rack.weight_unit == "oz" else 1
    for field, value in (("weight", rack.weight), ("static_rating", rack.max_weight)):
        if value is not None and unit is None:
            left.append(f"{field}: it has no 'weight_unit'")
        elif value is not None:
            made[field] = fact(f"{value * scale:.6g} {unit}")
    return made


def render(document: Mapping[str, Any]) -> str:
    """Return an entry as YAML."""
    return yaml.safe_dump(
        document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110
    )


def _cites(value: Any, source: str) -> bool:
    """Return True if a fact of the entry has the source."""
    if isinstance(value, Mapping):
        return value.get("source") == source or any(_cites(one, source) for one in value.values())
    return isinstance(value, list) and any(_cites(one, source) for one in value)


def _body(
    device: DeviceType, left: list[str], module: SupplyModule | None, kind: type[Entry]
) -> dict[str, Any]:
    """Return height, weight, air and power supplies."""
    made: dict[str, Any] = {}
    if device.u_height:
        made["height"] = fact(f"{device.u_height:g} U")
    elif device.u_height == 0 and kind is Pdu:
        made["height"] = fact("0 U")
    elif device.u_height == 0:
        left.append("u_height: it is 0, so that the device takes no units of a rack")
    if device.weight is not None and device.weight_unit is None:
        left.append("weight: it has no 'weight_unit'")
    elif device.weight is not None and device.weight_unit == "oz":
        made["weight"] = fact(f"{device.weight / 16:.6g} lb", f"{device.weight:g} oz")
    elif device.weight is not None:
        made["weight"] = fact(f"{device.weight:g} {device.weight_unit}")
    if device.is_full_depth is not None and "full_depth" in kind.model_fields:
        made["full_depth"] = device.is_full_depth
    if device.airflow in _AIRFLOW:
        made["airflow_direction"] = _AIRFLOW[device.airflow]
    elif device.airflow:
        left.append(f"airflow: '{device.airflow}' is none of {', '.join(_AIRFLOW)}")
    if "power_supplies" not in kind.model_fields:
        return made
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
        made["rating"] = fact(f"{draw} W", "maximum_draw of each power port")
    elif draws != {None}:
        left.append("power-ports.maximum_draw: it is not the same of all ports")
    return {"power_supplies": made}
