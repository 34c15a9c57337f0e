"""The blueprint of what stands, and the fields that no file tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rackwright.brownfield.cabling.fabrics import Cabled, with_tier
from rackwright.brownfield.cabling.networks import views_of, without_left_out
from rackwright.brownfield.devices import (
    as_hosts,
    group_name,
    names_after,
    other_height,
    problem_of,
    refuse_twins,
    role_of,
    settle_names,
    uneven_supplies,
    with_role,
)
from rackwright.brownfield.groups import DeviceGroup, groups_of
from rackwright.brownfield.halls import SITE, FoundRack, Halls, in_rows, order_notice, racks_of
from rackwright.brownfield.names import free_name, host_naming, label_of, ordered_hostlist
from rackwright.brownfield.products import Products
from rackwright.brownfield.records import (
    Found,
    FoundCluster,
    FoundDevice,
    SourceNotice,
    refused,
)
from rackwright.brownfield.slurm_files.view import SlurmView, complete, scheduler_of
from rackwright.brownfield.switches import fabrics_of
from rackwright.errors import SpecError, SpecErrors
from rackwright.harmless import counted
from rackwright.model.cluster import Blueprint
from rackwright.model.cooling import RackCooling
from rackwright.model.fabric import Fabric
from rackwright.model.hardware import Entry, Node, Switch
from rackwright.model.intents import PowerIntent
from rackwright.model.onprem import NodeGroup, OnPremSite, RackGroup
from rackwright.model.power import RackFeed, SitePower
from rackwright.policy.policy_sets import RELEASED
from rackwright.render.todo import Blank, ListItem

_FEED_PATH = "[{kind: ups, capacity: 400 kW}, {kind: rpp, circuit: {voltage: 415 V, current: 800 A, phases: 3}}]"
_CIRCUIT = "{voltage: 415 V, current: 60 A, phases: 3}"
_SOURCES = "[{name: utility, kind: utility, capacity: 2 MW}, {name: ups-a, kind: ups, fed_by: [utility], capacity: 400 kW}]"
_HALLS = (
    "[{name: hall-1, rows: [{name: row-1, rack_groups: [{racks: 'c[01-16]', type: rack-48u, "
    "cooling: {mode: air}}]}]}]"
)


_SITES: tuple[str | ListItem, ...] = ("sites",)


class NodeKey(NamedTuple):
    """Properties that the nodes of one group share."""

    base: str
    entry: str
    role: str | None
    slurm: Hashable
    supplies: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TakenOver:
    """A blueprint of what stands.

    Attributes:
        data: the document, which is none before its blanks are filled in.
        blanks: facts that no source states.
        notices: what is told and not in it, or is called otherwise.
    """

    data: Mapping[str, Any]
    blanks: tuple[Blank, ...]
    notices: tuple[SourceNotice, ...]


def make_blueprint(
    found: Sequence[Found], products: Products, *, only: str | None = None
) -> TakenOver:
    """Return the blueprint of what files say.

    Args:
        found: what each of them says.
        products: the catalogue, by the names of the files.
        only: the site to take over, by its name in the files; absent, all.

    Raises:
        SpecErrors: a product is not known, or what stands cannot be told.
    """
    return _Maker(products, only).make(found)


@dataclass
class _Maker:
    """Blueprint under construction."""

    products: Products
    only: str | None
    notices: list[SourceNotice] = field(default_factory=list)
    blanks: list[Blank] = field(default_factory=list)

    def make(self, found: Sequence[Found]) -> TakenOver:
        """Return the blueprint.

        Raises:
            SpecErrors: nothing stands anywhere, or what stands cannot be told.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        self.notices += [notice for one in found for notice in one.notices]
        slurm = _only_cluster([one.slurm for one in found if one.slurm is not None])
        beside = [file for one in found for file in one.beside]
        if slurm is not None:
            slurm = complete(slurm, beside, self.notices)
        elif beside:
            raise refused("this file completes a 'slurm.conf', which is not named", beside[0].at,
                          "name the 'slurm.conf' with --from too")  # fmt: skip
        view = SlurmView(slurm)
        listed = [device for one in found for device in one.devices]
        devices = settle_names(listed, view)
        known = self._known(devices)
        switches = {
            name: entry.technology
            for device, entry in known
            if isinstance(entry, Switch)
            for name in device.names
        }
        networks = views_of(
            without_left_out(
                (network for one in found for network in one.networks),
                names_after(listed, devices, known),
                view.spelled,
                self.notices,
            ),
            switches,
        )
        known = [(with_tier(device, networks), entry) for device, entry in known]
        racks = racks_of(known, self.notices)
        if not racks and slurm is None and not networks:
            why = "no file says what stands in any rack"
            if devices and not known:
                why = f"all {len(devices):,} devices are left out: no file has one whose product is known"
            raise SpecErrors(
                [
                    SpecError(
                        why,
                        hint="--map FILE says which products they are; --from takes several files",
                    ),
                    *(
                        SpecError(notice.text)
                        for notice in self.notices
                        if "not known" in notice.text
                    ),
                ]
            )
        refuse_twins(racks)
        by_site: dict[str, list[FoundRack]] = {}
        for rack in racks:
            by_site.setdefault(rack.site, []).append(rack)
        cluster = None if slurm is None or slurm.name is None else label_of(slurm.name)
        if not by_site:
            by_site[cluster or SITE] = []
        name = cluster
        if name is None:
            self.blanks.append(Blank((), Blueprint, "name"))
        standing = {name for rack in racks for device, _ in rack.devices for name in device.names}
        sites = []
        unordered: list[str] = []
        if racks and len(by_site) > 1 and (absent := view.absent(standing)):
            count = sum(map(len, absent.values()))
            text = (
                f"{count:,} nodes of Slurm's that stand in no rack are put into '{racks[0].site}'"
            )
            self.notices.append(SourceNotice(text))
        if not racks:
            text = "no file says where the nodes stand: the site is called after the cluster"
            self.notices.append(SourceNotice(text))
        for index, (site, these) in enumerate(by_site.items()):
            made = self._site(site, these, view, standing if index == 0 else None, unordered)
            here = (*_SITES, ListItem("name", site))
            cabled = Cabled(
                here, made, self.products, index == 0, standing, self.blanks, self.notices
            )
            for network in networks:
                cabled.add(network)
            sites.append(made)
        self.notices += order_notice(unordered)
        data: dict[str, Any] = {"apiVersion": "rackwright/v1"}
        data |= {} if name is None else {"name": name}
        data |= {"derive": "1", "policy_set": RELEASED, "sites": sites}
        if slurm is not None:
            scheduler, blanks = scheduler_of(view, slurm, name, self.notices)
            data["scheduler"] = scheduler
            self.blanks += blanks
        return TakenOver(data, tuple(self.blanks), tuple(self.notices))

    def _known(self, devices: Sequence[FoundDevice]) -> list[tuple[FoundDevice, Entry]]:
        """Return the devices with their products.

        Raises:
            SpecErrors: products that are not known, each at the first place.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        known: list[tuple[FoundDevice, Entry]] = []
        errors: dict[str, SpecError] = {}
        left: dict[str, int] = {}
        unknown: Counter[str] = Counter()
        elsewhere = 0
        changed: dict[str, str] = {}
        for device in devices:
            if (
                self.only is not None
                and device.place is not None
                and device.place.site != self.only
            ):
                elsewhere += 1
                continue
            if self.products.is_left_out(device):
                left[device.product[-1]] = left.get(device.product[-1], 0) + 1
                continue
            if device.product[-1] in errors:
                continue
            entry = self.products.find(device)
            if isinstance(entry, SpecError) and self.products.leave_out_unknown:
                unknown[device.product[-1]] += 1
            elif isinstance(entry, SpecError):
                errors[device.product[-1]] = entry
            elif (problem := problem_of(device, entry)) is not None:
                errors[str(device.at)] = problem
            else:
                named = as_hosts(device, changed)
                known.append((with_role(named, self.products.role_of(device)), entry))
                self.notices += other_height(device, entry)
        if errors:
            raise SpecErrors(list(errors.values()))
        if self.only is not None and not known:
            raise refused(f"no device is in the site '{self.only}'", None,
                          "write the name as the file has it")  # fmt: skip
        if elsewhere:
            self.notices.append(
                SourceNotice(f"left out: {counted(elsewhere, 'device')} of other sites")
            )
        if unknown:
            shown = ", ".join(f"{name} ({count:,})" for name, count in unknown.most_common(20))
            shown += f", and {len(unknown) - 20:,} more" if len(unknown) > 20 else ""
            text = f"left out: {counted(unknown.total(), 'device')} of {counted(len(unknown), 'unknown product')}: {shown}"
            self.notices.append(SourceNotice(text))
        if changed:
            (was, name), more = next(iter(changed.items())), len(changed) - 1
            rest = f", and {more:,} more in the same way" if more else ""
            text = f"'{was}' is no name of a host: it is called '{name or 'by its group and a number'}'{rest}"
            self.notices.append(SourceNotice(text))
        for product, count in left.items():
            self.notices.append(
                SourceNotice(f"left out as asked: {counted(count, 'device')} '{product}'")
            )
        return known

    def _site(
        self,
        name: str,
        racks: Sequence[FoundRack],
        view: SlurmView,
        standing: set[str] | None,
        unordered: list[str],
    ) -> dict[str, Any]:
        """Return one site; with ``standing``, also the nodes of Slurm that are not among those."""
        here = (*_SITES, ListItem("name", name))
        halls = in_rows(racks, unordered)
        ordered = [rack for rows in halls.values() for these in rows.values() for rack in these]
        feeds = self._feeds(ordered)
        power = self._power(here, ordered, feeds)
        site: dict[str, Any] = {
            "name": name,
            "provider": "onprem",
            **({"power": power} if power else {}),
        }
        if halls:
            site["halls"] = self._halls(here, halls, same_feeds=feeds is not None)
        else:
            self.blanks.append(Blank(here, OnPremSite, "halls", _HALLS))
        groups = self._node_groups(here, ordered, view, standing)
        site["node_groups"] = groups
        fabrics, unnamed = fabrics_of(ordered, self.notices)
        for fabric in unnamed:
            self.blanks.append(Blank((*here, "fabrics", ListItem("name", fabric)), Fabric, "role"))
        return site | ({"fabrics": fabrics} if fabrics else {})

    @staticmethod
    def _feeds(racks: Sequence[FoundRack]) -> tuple[str, ...] | None:
        """Return the feeds that all racks have; empty if unknown, None where they differ.

        Racks of which nothing is said have those of the others.
        """
        said = {rack.feeds for rack in racks if rack.feeds}
        several = any(count > 1 for rack in racks for (feed, _), count in rack.pdus.items() if feed)
        kinds = {entry for rack in racks for feed, entry in rack.pdus if feed}
        if len(said) > 1 or several or len(kinds) > 1:
            return None
        return next(iter(said), ())

    def _power(
        self,
        here: tuple[str | ListItem, ...],
        racks: Sequence[FoundRack],
        feeds: tuple[str, ...] | None,
    ) -> dict[str, Any]:
        """Return the power supply of a site as files state it; the rest stays blank."""
        power = (*here, "power")
        self.blanks += [
            Blank(power, SitePower, "continuous_derate"),
            Blank(power, SitePower, "power_factor"),
        ]
        if feeds is None:
            self.blanks.append(Blank(power, SitePower, "sources", _SOURCES))
            return {}
        said: dict[str, Any] = {}
        if feeds:
            said["feeds"] = list(feeds)
        else:
            self.blanks.append(Blank(power, PowerIntent, "feeds", "[A, B]"))
        self.blanks += [
            Blank(power, PowerIntent, "utility"),
            Blank(power, PowerIntent, "feed_path", _FEED_PATH),
        ]
        pdus = {entry for rack in racks for _, entry in rack.pdus}
        if len(pdus) == 1:
            said["pdu"] = pdus.pop()
        else:
            self.blanks.append(Blank(power, PowerIntent, "pdu", "pdu-415v-60a-24c19"))
            if pdus:
                text = f"racks have PDUs of several products on feeds without a name: {', '.join(sorted(pdus))}"
                self.notices.append(SourceNotice(text))
        self.blanks.append(Blank(power, PowerIntent, "circuit", _CIRCUIT))
        return said

    def _halls(
        self, here: tuple[str | ListItem, ...], halls: Halls, *, same_feeds: bool
    ) -> list[dict[str, Any]]:
        made = []
        for hall, rows in halls.items():
            made_rows = []
            for row, racks in rows.items():
                path = (
                    *here,
                    "halls",
                    ListItem("name", hall),
                    "rows",
                    ListItem("name", row),
                    "rack_groups",
                )
                groups = [
                    self._rack_group(path, these, same_feeds=same_feeds) for these in _alike(racks)
                ]
                made_rows.append({"name": row, "rack_groups": groups})
            made.append({"name": hall, "rows": made_rows})
        return made

    def _rack_group(
        self, path: tuple[str | ListItem, ...], racks: Sequence[FoundRack], *, same_feeds: bool
    ) -> dict[str, Any]:
        first = racks[0]
        names = ordered_hostlist([rack.name for rack in racks])
        said: dict[str, Any] = {} if first.type is None else {"type": first.type}
        if len(first.shelves) == 1:
            ((entry, count),) = first.shelves.items()
            said["shelves"] = {"type": entry, "count": count}
        elif first.shelves:
            text = f"power shelves of several products in '{names}': {', '.join(first.shelves)}"
            self.notices.append(SourceNotice(text, first.first.at))
        item = ListItem("racks", names, said)
        group: dict[str, Any] = {"racks": names, **said}
        if first.type is None:
            self.blanks.append(Blank((*path, item), RackGroup, "type", "rack-48u"))
        if not same_feeds:
            group["feeds"] = self._rack_feeds((*path, item, "feeds"), first)
        self.blanks.append(Blank((*path, item, "cooling"), RackCooling, "mode"))
        return group

    def _rack_feeds(
        self, path: tuple[str | ListItem, ...], rack: FoundRack
    ) -> list[dict[str, Any]]:
        """Return the feeds of racks whose feeds are not those of all; the start of each is unknown."""
        made = []
        for feed in rack.feeds:
            own = [(entry, count) for (name, entry), count in rack.pdus.items() if name == feed]
            said: dict[str, Any] = {"pdu": own[0][0], "pdus": own[0][1]} if own else {}
            if len(own) > 1:
                text = f"feed {feed} of '{rack.name}' ends in PDUs of several products: the first is written"
                self.notices.append(SourceNotice(text, rack.first.at))
            made.append({"name": feed, **said})
            item = ListItem("name", feed, said)
            self.blanks.append(Blank((*path, item), RackFeed, "source", "ups-a"))
            self.blanks.append(Blank((*path, item), RackFeed, "circuit", _CIRCUIT))
        return made

    def _node_groups(
        self,
        here: tuple[str | ListItem, ...],
        racks: Sequence[FoundRack],
        view: SlurmView,
        standing: set[str] | None,
    ) -> list[dict[str, Any]]:
        """Return node groups of the nodes in racks, and of those that Slurm knows and no rack has."""
        keys: dict[int, NodeKey] = {}
        for rack in racks:
            for device, entry in rack.devices:
                if isinstance(entry, Node):
                    base = group_name(device, entry)
                    role = role_of(device, entry, base, view)
                    slurm = view.key_of(device.names)
                    keys[id(device)] = NodeKey(base, entry.id, role, slurm, uneven_supplies(device))
        taken: set[str] = set()
        made: list[dict[str, Any]] = []
        for key, found in groups_of(racks, keys).items():
            group = _group(free_name(key.base, taken), found, dict(key.supplies))
            made.append(group)
            self._placed(here, group, key.role)
            view.told(found.names, group["name"])
            self.notices += found.without_names(f"hosts of '{group['name']}'")
        if standing is not None:
            made += self._unplaced(here, view, standing, taken)
        return made

    def _placed(
        self, here: tuple[str | ListItem, ...], group: dict[str, Any], role: str | None
    ) -> None:
        if role is None:
            path = (*here, "node_groups", ListItem("name", group["name"]))
            self.blanks.append(Blank(path, NodeGroup, "role"))
        else:
            group["role"] = role

    def _unplaced(
        self, here: tuple[str | ListItem, ...], view: SlurmView, standing: set[str], taken: set[str]
    ) -> list[dict[str, Any]]:
        made = []
        for (stem, _), names in view.absent(standing).items():
            name = free_name(label_of(stem) or "node", taken)
            group: dict[str, Any] = {"name": name, "role": "compute", "count": len(names)}
            group |= host_naming(name, names)
            made.append(group)
            view.told(names, name)
            path = (*here, "node_groups", ListItem("name", name))
            fitting = view.products_like(names, self.products.catalogue)
            self.blanks += [
                Blank(path, NodeGroup, "type", " | ".join(fitting[:4]) or "a catalogue id"),
                Blank(path, NodeGroup, "racks", "c[01-16]"),
                Blank(path, NodeGroup, "per_rack", "a number"),
            ]
        return made


def _only_cluster(clusters: Sequence[FoundCluster]) -> FoundCluster | None:
    """Return the cluster, if there is one.

    Raises:
        SpecErrors: there are two.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    if len(clusters) > 1:
        message = "this is a second 'slurm.conf', and a blueprint has one cluster"
        raise refused(message, clusters[1].at, "take each cluster over by itself")
    return clusters[0] if clusters else None


def _group(name: str, found: DeviceGroup, supplies: Mapping[str, int]) -> dict[str, Any]:
    group: dict[str, Any] = {
        "name": name,
        "type": found.entry.id,
        "count": found.count,
        **found.place,
    }
    if found.names:
        each = found.entry.hosts if isinstance(found.entry, Node) else 1
        group |= host_naming(name, found.names_or(name, each))
    return group | ({"psus_per_feed": dict(supplies)} if supplies else {})


def _alike(racks: Sequence[FoundRack]) -> list[list[FoundRack]]:
    """Return racks of a row cut where they are no longer alike."""
    made: list[list[FoundRack]] = []
    for rack in racks:
        if made and made[-1][0].alike == rack.alike:
            made[-1].append(rack)
        else:
            made.append([rack])
    return made
