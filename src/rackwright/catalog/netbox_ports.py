"""Network ports of NetBox's device types: what a node has by role, and radix and uplinks of a switch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from rackwright.errors import Location, SpecError, SpecErrors, UsageError
from rackwright.model.base import Model

SOURCE = "netbox"


_ETHERNET = re.compile(r"(\d{1,4})gbase-.+", re.ASCII)
_MEGABITS = re.compile(r"(10|100|1000)base-.+", re.ASCII)
_INFINIBAND = {"qdr": 40, "fdr": 56, "edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}
"""Gbit/s of four lanes."""
_CAGES = (
    ("osfp", "OSFP"), ("qsfpdd", "QSFP-DD"), ("qsfp112", "QSFP112"), ("qsfp56", "QSFP56"),
    ("qsfp28", "QSFP28"), ("qsfpp", "QSFP+"), ("sfp28", "SFP28"), ("sfpp", "SFP+"),
)  # fmt: skip

_MANAGING = re.compile(
    r"(fnm|mgmt(eth)?|meth|management|oob|me|em|fxp)[-_ /]?\d*(/\d+)*", re.IGNORECASE
)
"""Names of ports of a switch that carry no data, in files that do not mark them."""
_MANAGES = re.compile(r"\s*(management|mgmt|oob|out-of-band)\b", re.IGNORECASE)
"""Beginning of the descriptions of such ports."""
_UPLINK = re.compile(r"uplink", re.IGNORECASE)


def _as_text(value: Any) -> Any:
    """Return a number as text, as NetBox does: ports are called ``1``, and models ``5900``."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_as_text), Field(min_length=1, max_length=200)]


class LibraryPart(Model):
    """A thing of NetBox's; what is not asked for is passed over."""

    model_config = ConfigDict(extra="ignore")


class Interface(LibraryPart):
    """A port of a network."""

    name: Text
    type: Text
    mgmt_only: bool = False
    description: Any = None


def fact(value: Any, note: str | None = None) -> dict[str, Any]:
    """Return a fact of the file."""
    return {"value": value, "source": SOURCE} | ({"note": note} if note else {})


def network_ports(
    interfaces: Sequence[Interface],
    folder: str,
    roles: Mapping[str, str],
    left: list[str],
    path: Path,
) -> dict[str, Any]:
    """Return the network ports of a node, or what a switch is.

    Raises:
        UsageError: a role is given to a type of interface that the device does not have.
        SpecErrors: a switch has no interface whose rate is known.
    """
    if folder == "switches":
        return _switch(interfaces, left, path)
    groups = Counter((one.type, _role(one, roles)) for one in interfaces)
    for pattern in sorted(roles):
        if not any(_is_meant(one, pattern) for one in interfaces):
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
            port = {"role": role, "count": count, "rate": fact(rate), "technology": technology}
            cage = cage_of(kind)
            ports.append(port | ({"cage": cage} if cage else {}))
    return {"ports": ports} if ports else {}


def _switch(interfaces: Sequence[Interface], left: list[str], path: Path) -> dict[str, Any]:
    """Return the ports of a switch: those that are most in number are its radix.

    Raises:
        SpecErrors: the device has no interface whose rate is known.
    """
    managing = [one for one in interfaces if one.mgmt_only or _manages(one)]
    groups = Counter(one.type for one in interfaces if one not in managing)
    left += [f"interfaces: '{one.name}' is for management" for one in managing if not one.mgmt_only]
    known = {kind: found for kind in groups if (found := rate_of(kind)) is not None}
    left += [
        f"interfaces: the rate of type '{kind}' is not known"
        for kind in sorted(set(groups) - set(known))
    ]
    ranked = sorted(known, key=lambda kind: (-groups[kind], -_gigabits(known[kind][0]), kind))
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
        "rate": fact(rate, f"of {groups[first]} ports of type '{first}'"),
    }
    uplinks = next(
        (kind for kind in others if _leads_upwards(interfaces, kind, first, known)), None
    )
    if uplinks is not None:
        made["uplinks"] = {"count": groups[uplinks], "rate": fact(known[uplinks][0])}
    left += [
        f"interfaces: {groups[kind]} of type '{kind}' are neither the most nor uplinks"
        for kind in others
        if kind != uplinks
    ]
    return made


def _manages(interface: Interface) -> bool:
    """Return True for a port that is called or described as one for management."""
    described = _MANAGES.match(str(interface.description or ""))
    return described is not None or _MANAGING.fullmatch(interface.name) is not None


def _leads_upwards(
    interfaces: Sequence[Interface], kind: str, most: str, known: Mapping[str, tuple[str, str]]
) -> bool:
    """Return True for ports that are called uplinks, and for those that are faster than the others.

    Slower ports beside fast ones are for hosts of another network, or for time and management.
    """
    named = any(_UPLINK.search(one.name) for one in interfaces if one.type == kind)
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
