"""Snapshot of a NetBox, in one file that ``init --from`` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.netbox.client import NetBox

LISTS: Mapping[str, str] = {
    "devices": "dcim/devices",
    "racks": "dcim/racks",
    "cables": "dcim/cables",
    "power_feeds": "dcim/power-feeds",
    "ip_addresses": "ipam/ip-addresses",
}
"""Lists of a snapshot, by their names in the file."""
_OF_SITE = frozenset({"devices", "racks", "cables", "power_feeds"})
"""Lists that NetBox filters by site."""
_CHANGING = frozenset({"last_updated", "created", "url", "display_url"})
"""Fields that differ from one NetBox or day to the next, and state nothing of what stands."""


def pull(netbox: NetBox, site: str | None = None) -> dict[str, Any]:
    """Return what stands in a site, or in all.

    Args:
        netbox: asked.
        site: name or slug of the site.

    Raises:
        NetBoxError: it does not answer with all of it.
        UsageError: there is no such site.
    """
    filters: dict[str, str | int] = {}
    if site is not None:
        filters["site_id"] = _site_id(netbox, site)
    made: dict[str, Any] = {"netbox": {"site": site}}
    for name, path in LISTS.items():
        rows = netbox.all(path, **(filters if name in _OF_SITE else {}))
        if name == "ip_addresses" and site is not None:
            devices = {row["id"] for row in made["devices"]}
            rows = [row for row in rows if _device_of(row) in devices]
        made[name] = [_steady(row) for row in sorted(rows, key=lambda row: row.get("id", 0))]
    return made


def written(snapshot: Mapping[str, Any]) -> str:
    """Return a snapshot as text, equal for equal contents."""
    return json.dumps(snapshot, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _site_id(netbox: NetBox, site: str) -> int:
    sites = netbox.all("dcim/sites")
    for row in sites:
        if site in {row.get("name"), row.get("slug")}:
            return int(row["id"])
    shown = ", ".join(f"'{visible(str(row.get('name')))}'" for row in sites[:20]) or "none"
    raise UsageError(f"NetBox has no site '{visible(site)}'", hint=f"its sites are {shown}")


def _device_of(address: Mapping[str, Any]) -> int | None:
    assigned = address.get("assigned_object")
    device = assigned.get("device") if isinstance(assigned, dict) else None
    return device.get("id") if isinstance(device, dict) else None


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(part) for key, part in value.items() if key not in _CHANGING}
    if isinstance(value, list):
        return [_steady(part) for part in value]
    return value
