"""Work for hands in the hall: which part, in which rack and unit, at which end of which cable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.plan.fabric.cables import host_wires
from rackwright.plan.model import Plan
from rackwright.render.sheets import Stand, cable_labels, port_name, stands


@dataclass(frozen=True, slots=True)
class HandTask:
    """Something that no program can do.

    Attributes:
        node: name of the host or switch.
        action: like ``reseat``, ``swap`` or ``look at``.
        reason: what was seen.
        part: kind of the part: ``gpu``, ``dimm``, ``psu``; empty for the node itself.
        slot: where the node has it.
        serial: number of the part that is to go.
        port: of the node, where a cable is meant.
        since: seconds since the epoch; None if unknown.
    """

    node: str
    action: str
    reason: str
    part: str = ""
    slot: str = ""
    serial: str = ""
    port: str = ""
    since: float | None = None


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A task with its place.

    Attributes:
        unit: lowest rack unit of the device; None where the plan does not place it.
        cable: label of the cable at this end, with the other end behind the stroke; empty where none is meant.
    """

    task: HandTask
    site: str = ""
    hall: str = ""
    row: str = ""
    rack: str = ""
    unit: float | None = None
    cable: str = ""

    @property
    def place(self) -> str:
        """Rack and unit in words, as far as known."""
        if not self.rack:
            return "place unknown"
        return f"{self.rack} U{self.unit:g}" if self.unit is not None else self.rack

    def as_data(self) -> dict[str, Any]:
        """Return the data for JSON; unknown values are left out."""
        task = self.task
        known = {
            "site": self.site, "hall": self.hall, "row": self.row, "rack": self.rack, "unit": self.unit,
            "node": task.node, "action": task.action, "part": task.part, "slot": task.slot,
            "serial": task.serial, "port": task.port, "cable": self.cable, "reason": task.reason,
            "since": task.since,
        }  # fmt: skip
        return {name: value for name, value in known.items() if value not in ("", None)}

    def __str__(self) -> str:
        """Return place, action, part, cable and reason on one line."""
        task = self.task
        part = " ".join(
            word for word in (task.part.upper() if len(task.part) < 5 else task.part, task.slot) if word
        )  # fmt: skip
        what = f"{task.action} {part} of {task.node}" if part else f"{task.action} {task.node}"
        serial = f" (serial {task.serial})" if task.serial else ""
        cable = f", cable {self.cable}" if self.cable else ""
        return f"{self.place}: {what}{serial}{cable}: {task.reason}"


def worklist(plan: Plan, tasks: Iterable[HandTask]) -> tuple[WorkItem, ...]:
    """Return the tasks with their places, in the order of a walk: site, hall, row, rack, from the top."""
    wanted = list(tasks)
    places = {(host.site, host.name): host.place for host in plan.hosts if host.place is not None}
    sites = {host.name: host.site for host in plan.hosts}
    racked = {site.name: stands(plan, site) for site in plan.onprem}
    cables = cables_of(plan, {task.node for task in wanted if task.port})
    made = []
    for task in wanted:
        site = sites.get(task.node) or next(
            (name for name, known in racked.items() if task.node in known), ""
        )
        place = places.get((site, task.node))
        stand: Stand | None = racked.get(site, {}).get(task.node)
        rack = stand.rack if stand is not None else "" if place is None else place.rack
        made.append(
            WorkItem(
                task=task,
                site=site,
                hall="" if place is None else place.hall,
                row="" if place is None else place.row,
                rack=rack,
                unit=None if stand is None else stand.unit,
                cable=cables.get((task.node, task.port), ""),
            )
        )
    return tuple(
        sorted(
            made,
            key=lambda one: (
                one.site,
                one.hall,
                one.row,
                one.rack,
                -(one.unit or 0),
                one.task.node,
            ),
        )
    )


def cables_of(plan: Plan, nodes: Iterable[str]) -> Mapping[tuple[str, str], str]:
    """Return the label of the cable at each port of the nodes, by node and port.

    A port is known by its number and by the name that the catalogue has for it.
    """
    wanted, found = set(nodes), dict[tuple[str, str], str]()
    if not wanted:
        return found
    for site in plan.onprem:
        known = stands(plan, site)
        for planned in site.fabrics:
            if planned.layout is None:
                continue
            for wire in host_wires(planned.layout):
                if wire.lower in wanted:
                    label, _ = cable_labels(planned.layout, wire, known)
                    found[wire.lower, str(port_name(planned.layout, wire))] = label
                    found.setdefault((wire.lower, str(wire.lower_port)), label)
    return found
