"""Zero-touch provisioning: the file that a switch fetches when it first boots, and its DHCP option."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rackwright.model.switching import SwitchSystem
from rackwright.plan.hosts import switch_names
from rackwright.plan.model import Plan
from rackwright.plan.switches.records import SwitchConfig

FIRST_FILES: Mapping[SwitchSystem, str] = {
    "cumulus": "ztp.sh",
    "eos": "startup-config",
    "nvos": "ztp.json",
    "sonic": "ztp.json",
}
"""File that the DHCP server names to a switch of each system; Linux with FRR fetches none."""

_CUMULUS_OPTION = 239
"""DHCP option of the URL of a script for Cumulus Linux, which has no name of its own."""


def ztp_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files that provision one switch, by name, without their headers."""
    url = switch.ztp_url
    if url is None:
        return {}
    here = f"{url}/{switch.name}"
    match switch.system:
        case "cumulus":
            return {"ztp.sh": _SCRIPT.format(url=f"{here}/startup.yaml")}
        case "nvos":
            known = {"01-startup-file": {"url": f"{here}/startup.yaml", "clear-config": True}}
            return {"ztp.json": _json(known)}
        case "sonic":
            sections: dict[str, Any] = {
                "01-configdb-json": {
                    "url": {"source": f"{here}/config_db.json"},
                    "clear-config": False,  # the switch keeps its own platform and address
                }
            }
            if switch.administrators:
                sections["02-accounts"] = {"plugin": {"url": f"{here}/accounts.sh"}}
            return {"ztp.json": _json(sections)}
        case "eos" | "frr":
            return {}


def _json(sections: Mapping[str, Any]) -> str:
    return f"{json.dumps({'ztp': sections}, indent=2)}\n"


_SCRIPT = """\
# CUMULUS-AUTOPROVISIONING
set -eu
curl --fail --silent --show-error --output /tmp/startup.yaml '{url}'
nv config replace /tmp/startup.yaml
nv config apply --assume-yes
nv config save
"""


def boot_options(plan: Plan) -> Mapping[str, Mapping[str, Any]]:
    """Return the DHCP option of each switch that is provisioned when it first boots, as Kea has it."""
    found: dict[str, Mapping[str, Any]] = {}
    for site in plan.onprem:
        for planned in site.fabrics:
            switching = planned.fabric.switching
            if switching is None or switching.ztp_url is None:
                continue
            for tier, count in zip(planned.fabric.tiers, planned.switches, strict=True):
                system = tier.system or switching.system
                if (name := FIRST_FILES.get(system)) is not None:
                    for switch in switch_names(planned.fabric, tier, count):
                        found[switch] = _option(system, f"{switching.ztp_url}/{switch}/{name}")
    return found


def _option(system: SwitchSystem, url: str) -> Mapping[str, Any]:
    if system == "cumulus":
        data = url.encode().hex()
        return {"code": _CUMULUS_OPTION, "csv-format": False, "data": data, "always-send": True}
    return {"name": "boot-file-name", "data": url, "always-send": True}
