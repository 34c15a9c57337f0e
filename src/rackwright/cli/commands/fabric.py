"""``fabric``: the cables of a fabric, and what a real subnet manager makes of it."""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.cli.options.telling import answer
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text, visible

if TYPE_CHECKING:
    from rackwright.plan.fabric.discovered.differences import CableComparison
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.fabric.lengths import CableRoutes
    from rackwright.plan.model import Plan

COLUMNS = ("kind", "from", "interface", "device", "cage", "to", "port", "part", "length_m")
"""Columns of the list of cables; device and cage are those of a node's interface."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``fabric``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("cables", "list every cable with its ends, as CSV"),
        (
            "compare",
            "compare the cables that ibnetdiscover, iblinkinfo, ibdiagnet, UFM or LLDP saw with the plan",
        ),
        ("net", "write the fabric as ibsim reads it"),
        ("route", "route the fabric with opensm on ibsim; print the record for the blueprint"),
    ):
        action = actions.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
        add_blueprint(action, required=name == "compare")
        action.add_argument("--site", help="site of the fabric, if several have fabrics")
        action.add_argument("--fabric", help="name of the fabric (default: the compute fabric)")
        if name == "compare":
            action.add_argument(
                "discovered",
                type=Path,
                nargs="+",
                metavar="FILE",
                help="output of ibnetdiscover, iblinkinfo, ibdiagnet or UFM; of LLDP a folder with a file for each switch",
            )
            action.add_argument(
                "--node-name-map",
                type=Path,
                metavar="FILE",
                help="names in the plan by GUID or MAC address, as ibnetdiscover takes them",
            )
        if name in {"cables", "compare"}:
            add_json(action, "the cables" if name == "cables" else "the differences")
        if name == "route":
            action.add_argument("--engine", help="routing engine (default: that of the blueprint)")
            action.add_argument("--timeout", type=float, default=600, help="most seconds")
            add_json(action, "the record")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked of the fabric.

    Raises:
        UsageError: no fabric or several are meant, hosts of it have no port, or it is not
            InfiniBand and the action is about routing.
    """
    from rackwright.plan.load import load_plan

    plan = load_plan(arguments.blueprint, arguments.layer).plan
    layout, routes = _choose(plan, arguments.site, arguments.fabric)
    if any(layout.unplaced):
        raise UsageError(
            f"{sum(layout.unplaced)} hosts of the fabric '{layout.fabric.name}' have no port",
            hint="'rackwright check' says why: NET-001 and NET-010",
        )
    if arguments.action == "cables":
        if arguments.json:
            cables = [dict(zip(COLUMNS, row, strict=True)) for row in _rows(layout, routes)]
            sys.stdout.write(json_text({"schema": "rackwright.cables/v1", "cables": cables}))
            return ExitCode.CLEAN
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_rows(layout, routes))
        return ExitCode.CLEAN
    if arguments.action == "compare":
        return _compare(layout, arguments)
    if layout.technology != "infiniband":
        raise UsageError(f"the fabric '{layout.fabric.name}' is not InfiniBand")
    if arguments.action == "net":
        from rackwright.plan.fabric.ibsim import network

        sys.stdout.write(network(layout).text)
        return ExitCode.CLEAN
    return _route(layout, arguments)


def _choose(plan: Plan, site: str | None, fabric: str | None) -> tuple[Layout, CableRoutes]:
    """Return the one fabric with attached nodes that is meant, and the ways of its cables.

    Raises:
        UsageError: none is, or several are.
    """
    attached = [
        (each.site, each.name, each.layout, routes)
        for at in plan.onprem
        for each in at.fabrics
        if site in {None, each.site}
        and (each.name == fabric if fabric is not None else each.fabric.role == "compute")
        and each.layout is not None
        and (routes := at.cable_routes(each)) is not None
    ]
    if len(attached) == 1:
        return attached[0][2:]
    if attached:
        known = ", ".join(f"'{name}' of '{where}'" for where, name, *_ in attached)
        raise UsageError(f"several fabrics match: {known}", hint="name '--site', '--fabric'")
    wanted = f"fabric '{fabric}'" if fabric is not None else "compute fabric"
    raise UsageError(
        f"there is no {wanted} with attached nodes", hint="declare 'attached' in the fabric"
    )


def _rows(layout: Layout, routes: CableRoutes) -> Iterator[tuple[str | int | float, ...]]:
    from rackwright.plan.fabric.cables import routed_length, wires
    from rackwright.plan.fabric.layout import find_host

    kinds = {link.name: link for link in layout.fabric.links}
    for wire in wires(layout):
        link = kinds.get(wire.kind)
        length = None if link is None else routed_length(link)
        if length is None:
            length = routes.of_wire(wire)
        port, index = None, wire.lower_port - 1
        if (host := find_host(layout, wire.lower)) is not None:
            port = layout.hosts[host[0]].port
            index = layout.hosts[host[0]].port_of(index)
        yield (
            wire.kind,
            wire.lower,
            wire.lower_port,
            port.names[index] if port and index < len(port.names) else "",
            port.cages[index] if port and index < len(port.cages) else "",
            wire.upper,
            wire.upper_port,
            "" if link is None or link.cable is None else link.cable,
            "" if length is None else round(length, 2),
        )


def _compare(layout: Layout, arguments: argparse.Namespace) -> int:
    """Tell every cable that is not as planned; 5 when there is one, 6 when some cannot be compared.

    Raises:
        UsageError: a file cannot be read, is none of its kind, or is of another fabric.
    """
    from rackwright.brownfield.cabling.files import read_cables
    from rackwright.plan.fabric.discovered.differences import CableComparison

    paths: Sequence[Path] = arguments.discovered
    discovered = read_cables(layout, paths, arguments.node_name_map)
    compared = CableComparison(layout, discovered)
    if not compared.matched:
        seen = sorted({end[0] for end in discovered.links} or discovered.reporting or ())
        shown = ", ".join(f"'{visible(name)}'" for name in seen[:3])
        raise UsageError(
            f"no name of the {len(seen):,} devices in '{paths[0]}' is in the plan of '{layout.fabric.name}': {shown}",
            hint="is it of this fabric? Otherwise write 'GUID \"name in the plan\"' for each device, "
            "and give it as --node-name-map",
        )
    found = compared.differences()
    left = [row for row in _not_compared(compared, layout.technology) if row[0]]
    code = ExitCode.UNKNOWN if left else ExitCode.CLEAN
    code = ExitCode.VIOLATION if found else code
    if arguments.json:
        document = {
            "schema": "rackwright.cable-comparison/v1",
            "fabric": layout.fabric.name,
            "differences": [
                {"cable": one.cable, "message": one.message, "fix": one.fix} for one in found
            ],
            "not_compared": [
                {"count": count, "reason": text, "fix": fix or None} for count, text, fix in left
            ],
        }
        sys.stdout.write(json_text(document))
        return code
    for difference in found:
        print(f"{visible(difference.cable)}: {visible(difference.message)}")
        print(f"  fix: {visible(difference.fix)}")
    name = layout.fabric.name
    for count, text, fix in left:
        print(f"{name}: {count:,} {visible(text)}")
        if fix:
            print(f"  fix: {fix}")
    noun = "cable is" if len(found) == 1 else "cables are"
    all_others = "every other cable is as planned" if left else "every cable is as planned"
    print(f"{name}: {f'{len(found):,} {noun} not as planned' if found else all_others}")
    return code


def _not_compared(
    compared: CableComparison, technology: str | None
) -> Iterator[tuple[int, str, str]]:
    """Yield numbers of what cannot be compared, with the reason and the fix."""
    unnamed = compared.unnamed
    named = (
        "let rdma-ndd set their descriptions, or name their GUIDs with --node-name-map"
        if technology == "infiniband"
        else "run lldpd on the hosts, or name their MAC addresses with --node-name-map"
    )
    text = f"adapters do not name their host, and their cables are not compared: {unnamed[0] if unnamed else ''}"
    yield len(unnamed), text, named
    yield (
        compared.without_report,
        "cables are not compared: no file is of the devices at their ends",
        "write the dump again, whole: it ends early, or was limited to some hops"
        if technology == "infiniband"
        else "give the files of all switches",
    )
    yield (
        compared.silent,
        "cables are not compared: their port is up, and no neighbour is heard there",
        "run lldpd on the hosts: 'apt-get install lldpd'",
    )
    yield compared.without_rate, "cables: their rate is not known", ""


def _route(layout: Layout, arguments: argparse.Namespace) -> int:
    """Route the fabric; 5 when another engine than the one asked for did it.

    Raises:
        UsageError: the fabric is several subnets, or no routing engine is chosen.
    """
    from rackwright.plan.fabric.cables import digest
    from rackwright.provision.fabric_simulator import route

    if layout.fabric.subnets > 1:
        raise UsageError(
            f"the fabric '{layout.fabric.name}' is {layout.fabric.subnets} subnets",
            hint="declare one of them as a fabric of its own to route it",
        )
    wanted = arguments.engine or layout.fabric.routing_engine
    if wanted is None:
        raise UsageError("no routing engine is chosen", hint="set 'routing_engine' or '--engine'")
    wanted = wanted.removeprefix("ar_")
    routed = route(layout, wanted, timeout_s=arguments.timeout)
    for complaint in routed.complaints:
        print(f"opensm: {complaint}", file=sys.stderr)
    today = dt.datetime.now(tz=dt.UTC).date()
    even = "" if routed.balance is None else f", balance: {routed.balance:.4f}"
    seen = digest(layout)
    record: dict[str, str | float] = {"date": str(today), "engine": routed.engine, "fabric": seen}
    if routed.balance is not None:
        record["balance"] = round(routed.balance, 4)
    answer(
        arguments,
        "routing",
        {"routing_run": record, "wanted": wanted, "complaints": list(routed.complaints)},
        f'routing_run: {{date: {today}, engine: {routed.engine}{even}, fabric: "{seen}"}}\n',
    )
    if routed.engine != wanted:
        print(f"opensm fell back from '{wanted}' to '{routed.engine}'", file=sys.stderr)
        return ExitCode.VIOLATION
    return ExitCode.CLEAN
