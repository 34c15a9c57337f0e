"""Files of all switches of a plan, in a folder for each: the same plan gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rackwright.model.names import compress_hostlist
from rackwright.model.switching import SwitchSystem
from rackwright.plan.model import Plan
from rackwright.plan.switches.records import SwitchConfig
from rackwright.render.slurm import HEADER
from rackwright.render.switches.eos import eos_files
from rackwright.render.switches.frr import frr_files
from rackwright.render.switches.nvue import cumulus_files, nvos_files
from rackwright.render.switches.sonic import sonic_files
from rackwright.render.switches.ztp import ztp_files

FILES: Mapping[SwitchSystem, Callable[[SwitchConfig], Mapping[str, str]]] = {
    "cumulus": cumulus_files,
    "eos": eos_files,
    "frr": frr_files,
    "nvos": nvos_files,
    "sonic": sonic_files,
}
"""The files of a switch by its operating system."""

RUNNING: Mapping[SwitchSystem, str] = {
    "cumulus": "startup.yaml",
    "eos": "startup-config",
    "frr": "frr.conf",
    "nvos": "startup.yaml",
    "sonic": "config_db.json",
}
"""The file that a running switch tells its configuration in, by its operating system."""

INDEX, ORDER = "files", "order"
"""The list of the files of switches, since JSON has no place for a header; and the order of bring-up."""


def render_switches(plan: Plan) -> Mapping[str, str]:
    """Return the content of each file by its path in the folder ``switches``; none without switching.

    Raises:
        PlanError: something that the configurations need is missing, unknown or given twice.
    """
    switches = plan.switches
    if not switches:
        return {}
    made = f"{HEADER} '{plan.name}'; change it there.\n"
    files = {
        f"{switch.name}/{name}": _headed(name, text, made)
        for switch in switches
        for name, text in (*FILES[switch.system](switch).items(), *ztp_files(switch).items())
    }
    files[ORDER] = made + "".join(f"{line}\n" for line in _order(plan, switches))
    files[INDEX] = made + "".join(f"{name}\n" for name in sorted(files))
    return files


def _headed(name: str, text: str, made: str) -> str:
    if name.endswith(".json"):
        return text
    if name.endswith(".sh"):
        return f"#!/bin/sh\n{made}{text}"
    return f"{'!' + made[1:] if name == 'startup-config' else made}{text}"


def _order(plan: Plan, switches: tuple[SwitchConfig, ...]) -> Iterator[str]:
    """Yield the switches in the order of their bring-up.

    Management fabrics come first, since the others fetch their files over them; the top tier of a fabric
    comes before those below, so that a leaf that comes up has routes at once.
    """
    roles = {(site.name, one.name): one.fabric.role for site in plan.onprem for one in site.fabrics}
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for switch in switches:
        tiers = groups.setdefault((switch.site, switch.fabric), {})
        tiers.setdefault(switch.tier, []).append(switch.name)
    step = 0
    for key in sorted(groups, key=lambda key: roles[key] != "management"):
        for tier, names in reversed(groups[key].items()):
            step += 1
            yield f"{step} {key[0]} {key[1]} {tier} {compress_hostlist(names)}"
