"""Switches, tiers, hosts and links of a network, by the cables that tools have seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from rackwright.brownfield.cabling.files import device_of, neighbour_tables, text_of
from rackwright.brownfield.names import by_spelling, host_of, short_of
from rackwright.brownfield.records import FoundCable, FoundNetwork, SourceNotice, refused
from rackwright.errors import Location, UsageError
from rackwright.harmless import counted
from rackwright.plan.fabric.discovered.dump import Discovery
from rackwright.plan.fabric.discovered.exports import is_list, is_tables, read_subnet
from rackwright.plan.fabric.discovered.listings import is_link_list, is_report
from rackwright.plan.fabric.discovered.lldp import best_neighbour, is_lldp_text
from rackwright.plan.fabric.discovered.lldp_records import SeenInterface
from rackwright.plan.fabric.discovered.port_numbers import is_management

_SWITCH = re.compile(r"(?:[A-Za-z0-9]+;)?([^:;/ ]+)(?::([A-Za-z0-9-]+))?")
"""Description of a managed switch: ``MF0;leaf-01:MQM9700/U1``."""
_BY_GUID = re.compile(r" ?\(((?:lid )?[0-9a-f]+)\)$")
"""The key behind a description that several devices have."""
_OTHER_SIGNS = re.compile(r"[^A-Za-z0-9._-]+")
_FRONT_PORT = re.compile(
    r"(swp|etp|ethernet|eth\d+/|et\d+(/|$)|et-|xe-|ge-|te \d|\d+ge\d|(twenty|forty|fifty|hundred|twohundred|fourhundred|eighthundred)?\w*gig)\S*( \d\S*)?",
    re.IGNORECASE,
)
"""Names that switches give to their ports, and hosts do not."""
_SUBNET_WORDS = re.compile(r'^(Switch|Ca)\s+\d+\s+"', re.MULTILINE)
_LLDP_WORDS = re.compile(
    r'"(lldp|lldpNeighbors|interfaceStatuses|ROW_nbor(?:_detail)?|lldp-neighbor-information)"\s*:'
)
_UFM_WORDS = re.compile(r'"(source_guid|peer_guid|active_width)"\s*:')
_LOOKED_AT = 200_000
"""Characters of a file in which its kind is looked for."""
_MANY_MORE = 4
"""Times as many hosts as on a switch above them that the leaves have at least."""
TIERS = ("leaf", "spine", "core")
"""Names of tiers, from the hosts upwards."""


def is_subnet(text: str) -> bool:
    """Return True for the output of ibnetdiscover, iblinkinfo, ibdiagnet or UFM."""
    start = text[:_LOOKED_AT]
    return (
        is_tables(start)
        or is_list(start)
        or bool(_SUBNET_WORDS.search(start))
        or is_report(start)
        or is_link_list(start)
        or (start.lstrip()[:1] in {"[", "{"} and bool(_UFM_WORDS.search(start)))
    )


def is_neighbours(text: str) -> bool:
    """Return True for neighbours of LLDP."""
    start = text[:_LOOKED_AT]
    return is_lldp_text(start) or (
        start.lstrip()[:1] in {"[", "{"} and bool(_LLDP_WORDS.search(start))
    )


def read_network(path: Path, text: str | None = None) -> FoundNetwork:
    """Return the network in a dump, or in a folder with a file of neighbours for each switch.

    Raises:
        SpecErrors: a file is cut off, or is of another kind.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    at = Location(str(path), 1, 1)
    try:
        if text is None:
            files = sorted(one for one in path.iterdir() if one.is_file() and one.name[0] != ".")
            read = [(one, text_of(one)) for one in files]
        else:
            read = [(path, text)]
        if read and all(is_subnet(part) for _, part in read):
            return _of_subnets([read_subnet(part) for _, part in read], at)
        return _of_neighbours(read, at)
    except UsageError as error:
        raise refused(str(error.args[0] if error.args else error), at, error.hint) from None
    except OSError as error:
        raise refused(f"it cannot be read: {error.strerror}", at) from None
    except ValueError as error:
        raise refused(
            f"this dump of cables cannot be read: {error}", at, "write it again, whole"
        ) from None


def _of_subnets(found: Sequence[Discovery], at: Location) -> FoundNetwork:
    switches: dict[str, str] = {}
    cables: dict[frozenset[tuple[str, str]], FoundCable] = {}
    nameless: set[str] = set()
    occupied: set[str] = set()
    for discovery in found:
        known = _switch_names(discovery)
        switches |= dict(known.values())
        for (device, port), (far, far_port) in discovery.links.items():
            ends = []
            for text, number in ((device, port), (far, far_port)):
                if text in known:
                    ends.append((known[text][0], str(number)))
                    continue
                words = re.split(r"[ _/]", _BY_GUID.sub("", text), maxsplit=1)
                # Hosts that all call an adapter alike have one name, such as 'localhost HCA-1'.
                alike = len(words) > 1 and _BY_GUID.search(text) is not None
                name = None if text in discovery.unset or alike else host_of(words[0])
                if name is None:
                    nameless.add(text)
                    occupied |= {known[end][0] for end in (device, far) if end in known}
                    break
                ends.append((name, words[1] if len(words) > 1 else str(number)))
            if len(ends) == 2:
                cables.setdefault(frozenset(ends), FoundCable(*ends[0], *ends[1]))
    left_out = tuple(_without_names(nameless, at))
    if any(one.reporting is not None for one in found):
        text = "devices are named by their neighbours alone: the dump ends early, or was limited to some hops"
        left_out = (*left_out, SourceNotice(text, at))
    return FoundNetwork(
        at, "infiniband", switches, tuple(cables.values()), left_out, frozenset(occupied)
    )


def _switch_names(discovery: Discovery) -> dict[str, tuple[str, str]]:
    """Return the name and the model of each switch by its description.

    Descriptions that begin alike, as firmware gives them, are told apart by what follows, or by the GUID.
    """
    read: dict[str, tuple[str, str]] = {}
    for text in discovery.switches:
        match = _SWITCH.match(text)
        read[text] = (match[1], match[2] or "") if match is not None else (text, "")
    counts = Counter(name for name, _ in read.values())
    made = {}
    for text, (name, model) in read.items():
        if counts[name] > 1 or host_of(name) is None:
            guid = _BY_GUID.search(text)
            name = f"{name}-{guid[1]}" if guid is not None else text  # noqa: PLW2901
        made[text] = (_OTHER_SIGNS.sub("-", name).strip("-._") or "switch", model)
    return made


def _without_names(nameless: set[str], at: Location) -> Iterator[SourceNotice]:
    if nameless:
        first = min(nameless)
        text = f"left out: {counted(len(nameless), 'device')} without the name of a host, such as '{first}'"
        yield SourceNotice(text, at)


def _of_neighbours(read: Iterable[tuple[Path, str]], at: Location) -> FoundNetwork:
    """Return the network that files of neighbours tell.

    Raises:
        ValueError: a file is of another kind, or there is no file.
        SpecErrors: no device is a switch.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    devices: dict[str, dict[str, SeenInterface]] = {}
    for path, text in read:
        for device, interfaces in neighbour_tables(text):
            name = short_of(device or device_of(path))
            devices[name] = {**devices.get(name, {}), **interfaces}
    if not devices:
        raise ValueError("the folder has no file")
    cables: dict[frozenset[tuple[str, str]], FoundCable] = {}
    fronts: dict[str, Counter[bool]] = {}
    nameless: set[str] = set()
    occupied: set[str] = set()
    for device, interfaces in devices.items():
        for interface in interfaces.values():
            port = interface.names[0]
            best = best_neighbour(interface, lambda name: short_of(name) in devices)
            if best is None or is_management(port):
                continue
            far = host_of(short_of(best.device)) if best.named else None
            if far is None:
                nameless.add(best.device)
                occupied.add(device)
                fronts.setdefault(device, Counter())[bool(_FRONT_PORT.fullmatch(port))] += 1
                continue
            far_port = best.ports[0] if best.ports else ""
            for name, text in ((device, port), (far, far_port)):
                if text:
                    fronts.setdefault(name, Counter())[bool(_FRONT_PORT.fullmatch(text))] += 1
            ends = ((device, port), (far, far_port or f"to {port}"))
            cables.setdefault(frozenset(ends), FoundCable(*ends[0], *ends[1]))
    switches = {name: "" for name, counts in fronts.items() if counts[True] > counts[False]}
    if not switches:
        raise refused(
            "no device of these files is a switch by the names of its ports", at,
            "name each file like the device that it is of, as 'leaf-01.json'",
        )  # fmt: skip
    left_out = tuple(_without_names(nameless, at))
    return FoundNetwork(
        at, "ethernet", switches, tuple(cables.values()), left_out, frozenset(occupied)
    )


@dataclass(frozen=True)
class NetworkView:
    """Networks of one technology together.

    Attributes:
        switches: models of switches by their names; empty where none is stated.
        levels: of switches, counted from 1 at the hosts; those that no host is below have none.
        hosts: number of interfaces by the names of hosts.
        links: number of cables by pairs of switches, the lower one first.
    """

    technology: str
    at: Location
    switches: Mapping[str, str]
    levels: Mapping[str, int]
    hosts: Mapping[str, int]
    links: Mapping[tuple[str, str], int]

    def tier(self, name: str) -> str | None:
        """Return the name of the tier of a switch; None if it is none of this network."""
        known = self._spelled
        spelled = known.get(name.lower()) or known.get(short_of(name).lower(), "")
        level = self.levels.get(spelled)
        if level is None:
            return None
        return TIERS[level - 1] if level <= len(TIERS) else f"tier-{level}"

    @property
    def _spelled(self) -> Mapping[str, str]:
        return by_spelling(self.switches)


def without_left_out(
    networks: Iterable[FoundNetwork],
    names: Mapping[str, str | None],
    node_of: Callable[[str], str | None],
    notices: list[SourceNotice],
) -> list[FoundNetwork]:
    """Return networks without the cables of devices that are not in the blueprint.

    Args:
        networks: as the sources have them.
        names: names in the blueprint by those in the sources; None for devices that are left out.
        node_of: name of a node of Slurm; None for other devices.
        notices: the number of cables that are left out is added.
    """
    gone = _spellings(name for name, to in names.items() if to is None)
    gone -= _spellings(to for to in names.values() if to is not None)

    def name_of(name: str, technology: str | None) -> str | None:
        # An inventory lists every device: one that is not in it, or not in the blueprint, is left out.
        if technology is None:
            return names.get(name) or node_of(name)
        return None if name.lower() in gone else name

    made = []
    for network in networks:
        cables, occupied = [], set(network.occupied)
        for cable in network.cables:
            device = name_of(cable.device, network.technology)
            far = name_of(cable.far, network.technology)
            if device is not None and far is not None:
                cables.append(replace(cable, device=device, far=far))
            else:
                occupied.update({device or "", far or ""} & set(network.switches))
        if count := len(network.cables) - len(cables):
            text = f"left out: {counted(count, 'cable')} of devices that are left out"
            notices.append(SourceNotice(text, network.at))
        made.append(replace(network, cables=tuple(cables), occupied=frozenset(occupied)))
    return made


def _spellings(names: Iterable[str]) -> set[str]:
    return {text for name in names for text in (name.lower(), short_of(name).lower())}


def views_of(networks: Iterable[FoundNetwork], known: Mapping[str, str]) -> list[NetworkView]:
    """Return the networks of each technology as one.

    Args:
        networks: as the sources have them.
        known: technologies of switches in racks, by their names.
    """
    by_technology: dict[str, list[FoundNetwork]] = {}
    for network in networks:
        if network.technology is not None:
            by_technology.setdefault(network.technology, []).append(network)
            continue
        for technology in dict.fromkeys(known.values()):
            own = {name: "" for name, word in known.items() if word == technology}
            cables = tuple(one for one in network.cables if {one.device, one.far} & set(own))
            part = replace(network, technology=technology, switches=own, cables=cables)
            by_technology.setdefault(technology, []).append(part)
    return [_view(technology, parts) for technology, parts in by_technology.items()]


def _above(lowest: set[str], beside: Mapping[str, set[str]], switches: set[str]) -> set[str]:
    """Return the switches that a few hosts are on, like a manager of the fabric, and that are above the leaves.

    All switches beside such a one have hosts, and most have many more.
    """
    found = set()
    for name in lowest:
        near = beside[name] & switches
        if len(near) > 1 and near <= lowest:
            usual = median(len(beside[other] - switches) for other in near)
            if usual >= _MANY_MORE * len(beside[name] - switches):
                found.add(name)
    return found


def _view(technology: str, parts: list[FoundNetwork]) -> NetworkView:
    switches = {name: model for part in parts for name, model in part.switches.items()}
    cables = list(dict.fromkeys(cable for part in parts for cable in part.cables))
    hosts: dict[str, set[str]] = {}
    beside: dict[str, set[str]] = {name: set() for name in switches}
    for cable in cables:
        for one, port, other in (
            (cable.device, cable.port, cable.far),
            (cable.far, cable.far_port, cable.device),
        ):
            if one in switches:
                beside[one].add(other)
            elif other in switches:
                hosts.setdefault(one, set()).add(port)
    occupied = frozenset[str]().union(*(part.occupied for part in parts))
    lowest = {name for name, others in beside.items() if others - set(switches) or name in occupied}
    levels = dict.fromkeys(lowest - _above(lowest - occupied, beside, set(switches)), 1)
    last, level = set(levels), 1
    while last:
        level += 1
        last = {
            other
            for name in last
            for other in beside[name]
            if other in switches and other not in levels
        }
        levels |= dict.fromkeys(last, level)
    links: Counter[tuple[str, str]] = Counter()
    for cable in cables:
        pair = sorted((cable.device, cable.far), key=lambda name: levels.get(name, 0))
        if set(pair) <= set(levels):
            links[pair[0], pair[1]] += 1
    counts = {name: len(ports) for name, ports in hosts.items()}
    return NetworkView(technology, parts[0].at, switches, levels, counts, links)
