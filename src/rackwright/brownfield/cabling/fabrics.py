"""Fabrics of a site, completed by the cables that tools have seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rackwright.brownfield.cabling.networks import TIERS, NetworkView
from rackwright.brownfield.names import (
    by_spelling,
    free_name,
    host_naming,
    label_of,
    ordered_hostlist,
    short_of,
    stem_of,
    switch_naming,
)
from rackwright.brownfield.products import Products, letters
from rackwright.brownfield.records import FoundDevice, SourceNotice
from rackwright.brownfield.switches import level_of
from rackwright.catalog.loader import Catalogue
from rackwright.harmless import counted
from rackwright.model.fabric import Fabric, SwitchTier
from rackwright.model.hardware import Node, Switch
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup
from rackwright.plan.hosts import names_of, numbered
from rackwright.render.todo import Blank, ListItem

_SHORTEST = 4
"""Signs of a model from which on it names a product of the catalogue."""


def with_tier(device: FoundDevice, views: Sequence[NetworkView]) -> FoundDevice:
    """Return a switch grouped by the tier that its cables make it, where its source states no role."""
    if device.group and device.kind is None:
        return device
    tiers = (view.tier(name) for view in views for name in device.names[:1])
    tier = next((one for one in tiers if one is not None), None)
    return device if tier is None else replace(device, group=tier)


@dataclass
class Cabled:
    """A site whose fabrics are completed.

    Attributes:
        here: path of the site.
        site: what is known of it, which is added to.
        unplaced: True if devices that are in no rack are added.
        standing: names of devices in racks.
        blanks: what no file states is added.
        notices: what is left out is added.
    """

    here: tuple[str | ListItem, ...]
    site: dict[str, Any]
    products: Products
    unplaced: bool
    standing: set[str]
    blanks: list[Blank]
    notices: list[SourceNotice]

    def add(self, view: NetworkView) -> None:
        """Add the switches, hosts and links of a network."""
        standing = {
            text for name in self.standing for text in (name.lower(), short_of(name).lower())
        }
        if self.unplaced:
            self._hosts(view, standing)
        attached = list(self._attached(view))
        fabric = self._fabric(view.technology)
        if fabric is None:
            if not self.unplaced:
                return
            fabric = {"name": view.technology, "tiers": []}
            self.site.setdefault("fabrics", []).append(fabric)
            path = (*self.here, "fabrics", ListItem("name", view.technology))
            self.blanks.append(Blank(path, Fabric, "role"))
        fabric["technology"] = view.technology
        if self.unplaced:
            self._switches(view, fabric, standing)
        switches = {
            tier["name"]: _switches_of(fabric["name"], tier, view) for tier in fabric["tiers"]
        }
        fabric["tiers"].sort(key=lambda tier: _height(tier["name"], switches[tier["name"]], view))
        if attached:
            fabric["attached"] = attached
        tiers = {name: tier["name"] for tier in fabric["tiers"] for name in switches[tier["name"]]}
        links = list(_links(view, tiers, self.notices))
        if links:
            fabric["links"] = links

    def _fabric(self, technology: str) -> dict[str, Any] | None:
        """Return the fabric of the switches that are in racks."""
        fabrics: list[dict[str, Any]] = self.site.get("fabrics", [])
        return next((one for one in fabrics if one["name"] == technology), None)

    def _hosts(self, view: NetworkView, standing: set[str]) -> None:
        """Add node groups of the hosts that no other file has."""
        groups: list[dict[str, Any]] = self.site.setdefault("node_groups", [])
        spelled = by_spelling(view.hosts)
        told = [name for group in groups for name in _names(group, self.products.catalogue)]
        known = (
            standing | {name.lower() for name in told} | {short_of(name).lower() for name in told}
        )
        taken = {group["name"] for group in groups}
        absent: dict[tuple[str, int], list[str]] = {}
        for name in sorted(view.hosts, key=_natural):
            alone = spelled.get(short_of(name).lower()) == name
            if not {name.lower(), short_of(name).lower() if alone else name.lower()} & known:
                absent.setdefault((stem_of(name), view.hosts[name]), []).append(name)
        for (stem, _), names in absent.items():
            name = free_name(label_of(stem) or "node", taken)
            groups.append({"name": name, "count": len(names), **host_naming(name, names)})
            path = (*self.here, "node_groups", ListItem("name", name))
            self.blanks += [
                Blank(path, NodeGroup, "role", "compute"),
                Blank(path, NodeGroup, "type", "a catalogue id"),
                Blank(path, NodeGroup, "racks", "c[01-16]"),
                Blank(path, NodeGroup, "per_rack", "a number"),
            ]

    def _attached(self, view: NetworkView) -> Iterator[dict[str, Any]]:
        """Yield the node groups on a network, with the interfaces that most of their hosts have there."""
        spelled = by_spelling(view.hosts)
        for group in self.site.get("node_groups", []):
            names = _names(group, self.products.catalogue)
            seen = (
                spelled.get(name.lower()) or spelled.get(short_of(name).lower()) for name in names
            )
            counts = [view.hosts[name] for name in seen if name is not None]
            if not counts:
                continue
            most = max(set(counts), key=counts.count)
            fewer = sum(count != most for count in counts) + len(names) - len(counts)
            if fewer:
                text = (
                    f"{fewer:,} of the {len(names):,} hosts of '{group['name']}' have other than {most} cables in "
                    f"{view.technology}: 'fabric compare' lists them"
                )
                self.notices.append(SourceNotice(text, view.at))
            yield {"group": group["name"], "interfaces": most}

    def _switches(self, view: NetworkView, fabric: dict[str, Any], standing: set[str]) -> None:
        """Add tiers of the switches that are in no rack."""
        absent: dict[tuple[str, str], list[str]] = {}
        for name in sorted(view.levels, key=lambda one: (view.levels[one], _natural(one))):
            if short_of(name).lower() not in standing:
                tier = view.tier(name) or "switch"
                absent.setdefault((tier, view.switches[name]), []).append(name)
        taken = {tier["name"] for tier in fabric["tiers"]}
        for (base, model), names in absent.items():
            tier = free_name(base, taken)
            entry = _switch_of(model, self.products.catalogue)
            said = {} if entry is None else {"type": entry}
            planned = numbered(f"{fabric['name']}-{tier}", len(names))
            own = switch_naming(names, planned)
            fabric["tiers"].append({"name": tier, **said, "count": len(names), **own})
            path = (
                *self.here,
                "fabrics",
                ListItem("name", fabric["name"]),
                "tiers",
                ListItem("name", tier, said),
            )
            if entry is None:
                self.blanks.append(Blank(path, SwitchTier, "type", "a catalogue id"))
            self.blanks += [
                Blank(path, SwitchTier, "racks", "n01"),
                Blank(path, SwitchTier, "per_rack", "a number"),
            ]
        lost = sorted(
            name
            for name in set(view.switches) - set(view.levels)
            if short_of(name).lower() not in standing
        )
        if lost:
            text = f"left out: {counted(len(lost), 'switch')} without a host below: {ordered_hostlist(lost)}"
            self.notices.append(SourceNotice(text, view.at))


def _names(group: Mapping[str, Any], catalogue: Catalogue) -> tuple[str, ...]:
    """Return the names of the hosts of a node group."""
    each = 1
    if "type" in group:
        each = catalogue.get(Node, group["type"]).hosts
    digits = group.get("name_digits", 1)
    return names_of(group["name"], group["count"] * each, group.get("host_names"), digits)


def _switch_of(model: str, catalogue: Catalogue) -> str | None:
    """Return the product that a switch's model names, as MQM9700 does QM9700; None where several do or none."""
    wanted = letters(model)
    found = {
        entry_id
        for entry_id in catalogue.ids(Switch)
        for name in (
            letters(entry_id),
            letters(catalogue.get(Switch, entry_id).name).split("infiniband")[-1],
        )
        if len(wanted) >= _SHORTEST and name and re.fullmatch(rf"m?{re.escape(name)}.*", wanted)
    }
    longest = max(map(len, found), default=0)
    best = [one for one in found if len(one) == longest]
    return best[0] if len(best) == 1 else None


def _switches_of(fabric: str, tier: Mapping[str, Any], view: NetworkView) -> tuple[str, ...]:
    """Return the names that the switches of a tier have in a network."""
    planned = numbered(f"{fabric}-{tier['name']}", tier["count"])
    names = expand_hostlist(tier["switch_names"]) if "switch_names" in tier else planned
    spelled = by_spelling(view.switches)
    found = (spelled.get(name.lower()) or spelled.get(short_of(name).lower()) for name in names)
    return tuple(name for name in found if name is not None)


def _links(
    view: NetworkView, tiers: Mapping[str, str], notices: list[SourceNotice]
) -> Iterator[dict[str, Any]]:
    """Yield the cables between tiers, where equal ones are between all connected switches.

    Args:
        view: the network.
        tiers: tiers by the names of their switches, from the hosts upwards.
        notices: tiers whose cables differ are added.
    """
    order = list(dict.fromkeys(tiers.values()))
    counts: dict[tuple[int, int], set[int]] = {}
    for (one, other), count in view.links.items():
        ends = sorted(order.index(tiers[name]) for name in (one, other) if name in tiers)
        if len(ends) == 2 and ends[0] != ends[1]:
            counts.setdefault((ends[0], ends[1]), set()).add(count)
    for (low, high), parallel in sorted(counts.items()):
        lower, upper = order[low], order[high]
        if len(parallel) > 1:
            text = f"the cables between '{lower}' and '{upper}' differ from switch to switch: state them as 'links'"
            notices.append(SourceNotice(text, view.at))
        else:
            yield {
                "name": f"{lower}-{upper}",
                "lower": lower,
                "upper": upper,
                "parallel": parallel.pop(),
            }


def _height(tier: str, switches: Sequence[str], view: NetworkView) -> int:
    """Return the level of a tier, counted from 1: by its name, else the highest of its switches by their cables."""
    base = re.sub(r"-set\d+$", "", tier)
    if base in TIERS:
        return TIERS.index(base) + 1
    levels = (view.levels[name] for name in switches if name in view.levels)
    return max(levels, default=level_of(tier) + 1)


def _natural(name: str) -> tuple[tuple[int, int | str], ...]:
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in parts)
