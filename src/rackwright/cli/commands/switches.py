"""``switches``: the configured switches, what runs on them otherwise, and the order of their changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text, visible

if TYPE_CHECKING:
    from rackwright.plan.model import Plan
    from rackwright.plan.switches.records import SwitchConfig
    from rackwright.render.switches.drift import Drift

SCHEMA = "rackwright.switches/v1"
ACTIONS = (
    ("list", "list every configured switch with its numbers and addresses"),
    ("compare", "compare what switches run with what 'render' writes, setting by setting"),
    ("waves", "list the order in which switches are changed, so that no job loses two rails or planes"),
)  # fmt: skip


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``switches``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in ACTIONS:
        action = actions.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
        add_blueprint(action, required=name == "compare")
        if name == "compare":
            action.add_argument(
                "running",
                type=Path,
                metavar="FOLDER",
                help="running configurations: a file or folder for each switch, by its name",
            )
        if name == "waves":
            action.add_argument(
                "--running",
                type=Path,
                metavar="FOLDER",
                help="change only switches with another running configuration, or with none here (default: all)",
            )
            action.add_argument(
                "--most", type=int, metavar="N", help="maximum number of switches per wave"
            )
        action.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked of the switches.

    Raises:
        SpecErrors: something that the configurations need is missing, unknown or given twice.
        UsageError: no fabric has ``switching``, or a running configuration cannot be read.
    """  # noqa: DOC501 - locate_problems() makes the SpecErrors
    from rackwright.plan.load import load_plan, locate_problems
    from rackwright.plan.problems import PlanError

    loaded = load_plan(arguments.blueprint, arguments.layer)
    try:
        switches = loaded.plan.switches
    except PlanError as error:
        raise locate_problems(error, loaded.tree) from None
    if not switches:
        raise UsageError(
            "no fabric of the blueprint has 'switching'",
            hint="set 'switching: {system: …}' in a fabric: docs/switches.md",
        )
    if arguments.action == "list":
        return _list(switches, as_json=arguments.json)
    if arguments.action == "compare":
        return _compare(loaded.plan, switches, arguments.running, as_json=arguments.json)
    return _waves(loaded.plan, switches, arguments)


def _list(switches: tuple[SwitchConfig, ...], *, as_json: bool) -> int:
    rows = [
        {
            "name": one.name,
            "site": one.site,
            "fabric": one.fabric,
            "tier": one.tier,
            "product": one.product,
            "system": one.system,
            "asn": one.asn,
            "loopback": None if one.router_id is None else str(one.router_id),
            "management": None if one.management is None else str(one.management),
            "ports": len(one.ports),
        }
        for one in switches
    ]
    if as_json:
        sys.stdout.write(json_text({"schema": SCHEMA, "switches": rows}))
        return ExitCode.CLEAN
    heads = ("name", "product", "system", "asn", "loopback", "management", "ports")
    table = [heads, *(tuple("-" if row[h] is None else str(row[h]) for h in heads) for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(heads))]
    for row in table:
        print("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    return ExitCode.CLEAN


def _compare(plan: Plan, switches: tuple[SwitchConfig, ...], folder: Path, *, as_json: bool) -> int:
    """Tell what runs otherwise; 5 where something does, 6 where a switch has no file.

    Raises:
        UsageError: no switch has a file.
    """
    drifts = _drifts(plan, switches, folder)
    silent = [one.name for one in switches if one.name not in drifts]
    if len(silent) == len(switches):
        raise UsageError(
            f"'{folder}' has a file for no switch of the plan",
            hint=f"name them like {switches[0].name}.txt, or {switches[0].name}/{_running_name(switches[0])}",
        )
    differing = {name: found for name, found in drifts.items() if found}
    if as_json:
        document = {
            "schema": SCHEMA,
            "differences": [
                {"switch": name, "place": d.place, "rendered": d.rendered, "running": d.running}
                for name, found in differing.items()
                for d in found
            ],
            "without_file": silent,
        }
        sys.stdout.write(json_text(document))
    else:
        for name, found in differing.items():
            for drift in found:
                print(f"{name}: {visible(str(drift))}")
        for name in silent:
            print(f"{name}: no running configuration in '{folder}'")
        noun = "switch runs" if len(differing) == 1 else "switches run"
        print(f"{len(differing)} {noun} otherwise, of {len(switches):,}")
    if differing:
        return ExitCode.VIOLATION
    return ExitCode.UNKNOWN if silent else ExitCode.CLEAN


def _running_name(switch: SwitchConfig) -> str:
    from rackwright.render.switches.files import RUNNING

    return RUNNING[switch.system]


def _drifts(
    plan: Plan, switches: tuple[SwitchConfig, ...], folder: Path
) -> Mapping[str, tuple[Drift, ...]]:
    """Return the differences of each switch that has a file.

    Raises:
        UsageError: a file cannot be read, or is not in the format of its system.
    """
    from rackwright.render.switches.drift import compare_running
    from rackwright.render.switches.files import render_switches

    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder")
    rendered = render_switches(plan)
    found: dict[str, tuple[Drift, ...]] = {}
    for switch in switches:
        own = _running_name(switch)
        path = next((one for one in _places(folder, switch.name, own) if one.is_file()), None)
        if path is None:
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            found[switch.name] = compare_running(
                switch.system, rendered[f"{switch.name}/{own}"], text
            )
        except OSError as error:
            raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise UsageError(
                f"'{path}' is not a configuration of '{switch.system}': {error}",
                hint=_HINTS[switch.system],
            ) from None
    return found


_HINTS = {
    "cumulus": "give what 'nv config show' prints",
    "eos": "give what 'show running-config' prints",
    "frr": "give what \"vtysh -c 'show running-config'\" prints",
    "nvos": "give what 'nv config show' prints",
    "sonic": "give /etc/sonic/config_db.json, or what 'show runningconfiguration all' prints",
}


def _places(folder: Path, name: str, own: str) -> Iterator[Path]:
    yield folder / name / own
    yield from (folder / f"{name}.{ending}" for ending in ("json", "yaml", "conf", "cfg", "txt"))


def _waves(plan: Plan, switches: tuple[SwitchConfig, ...], arguments: argparse.Namespace) -> int:
    from rackwright.plan.switches.waves import switch_waves

    if arguments.most is not None and arguments.most < 1:
        raise UsageError(f"'--most {arguments.most}' leaves no switch to change")
    names = {one.name for one in switches}
    if arguments.running is not None:
        drifts = _drifts(plan, switches, arguments.running)
        names = {name for name in names if drifts.get(name, ("no file",))}
    configured = {(one.site, one.fabric) for one in switches}
    fabrics = [
        (site.name, fabric.layout)
        for site in plan.onprem
        for fabric in site.fabrics
        if fabric.layout is not None and (site.name, fabric.name) in configured
    ]
    waves = switch_waves(fabrics, names, arguments.most)
    if arguments.json:
        rows: list[dict[str, Any]] = [
            {
                "site": wave.site,
                "fabric": wave.fabric,
                "tier": wave.tier,
                "switches": list(wave.switches),
                "first": wave.first,
                "cut_off": list(wave.cut_off),
            }
            for wave in waves
        ]
        sys.stdout.write(json_text({"schema": SCHEMA, "waves": rows}))
        return ExitCode.CLEAN
    for number, wave in enumerate(waves, 1):
        print(f"{number}. {visible(str(wave))}")
    if not waves:
        print("every switch runs the configuration of 'render'")
    return ExitCode.CLEAN
