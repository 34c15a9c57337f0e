"""Files beside a ``slurm.conf``: ``gres.conf``, ``topology.conf``, ``topology.yaml``, ``cgroup.conf`` and ``acct_gather.conf``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright.brownfield.names import ordered_hostlist
from rackwright.brownfield.records import Found, SlurmBeside, SourceNotice, refused
from rackwright.brownfield.slurm_files.lines import SlurmLine, SlurmLines, expand_nodes
from rackwright.errors import Location
from rackwright.reading.loader import load_tree

NAMES = ("gres.conf", "topology.conf", "topology.yaml", "cgroup.conf", "acct_gather.conf")
"""Files that Slurm looks for beside its ``slurm.conf``, and that are read or told."""

_CONSTRAINED: Mapping[str, str] = {
    "constraincores": "cores",
    "constrainramspace": "memory",
    "constrainswapspace": "swap",
    "constraindevices": "devices",
}
_KINDS = ("tree", "block", "flat")
"""Topologies of Slurm that a blueprint has."""
_PLUGINS = frozenset({"autodetect", "cgroup/v1", "cgroup/v2"})


def read_beside(text: str, path: Path, read: Callable[[Path], str]) -> Found:
    """Return what one of the files says.

    Raises:
        SpecErrors: a line cannot be understood.
    """
    at = Location(str(path), 1, 1)
    if path.suffix == ".yaml":
        return _from_yaml(path)
    lines = list(SlurmLines(read, path.parent).of(text, path))
    match path.name:
        case "gres.conf":
            return _gres(lines, at)
        case "cgroup.conf":
            return _cgroup(lines, at)
        case "acct_gather.conf":
            return _gathered(lines, at)
        case _:
            return _topology(lines, at)


def _nodes(text: str, at: Location) -> tuple[str, ...]:
    try:
        return expand_nodes(text)
    except ValueError as error:
        raise refused(str(error), at) from None


def _gres(lines: list[SlurmLine], at: Location) -> Found:
    """Return types and detection; device files follow from the number, or from the driver."""
    types: list[tuple[frozenset[str] | None, str]] = []
    detect: list[tuple[frozenset[str] | None, str]] = []
    notices: list[SourceNotice] = []
    for line in lines:
        listed = line.words.get("nodename")
        names = None if listed is None else frozenset(_nodes(listed, line.at))
        way = line.words.get("autodetect", "").lower()
        if way in {"nvml", "nvidia"}:
            detect.append((names, way))
        elif way not in {"", "off"}:
            notices.append(
                SourceNotice(f"'AutoDetect={way}' is written by the vendor of the GPUs", line.at)
            )
        if line.words.get("name", "").lower() == "gpu" and (kind := line.words.get("type")):
            types.append((names, kind))
        files = line.words.get("file") or line.words.get("multiplefiles")
        if files is not None and not re.fullmatch(r"/dev/(nvidia|neuron)(\d+|\[[\d,-]+\])", files):
            notices.append(
                SourceNotice(
                    f"the device files '{files}' are written by number, or by the driver", line.at
                )
            )
    return Found(
        beside=(SlurmBeside(at=at, types=tuple(types), detect=tuple(detect)),),
        notices=tuple(notices),
    )


def _cgroup(lines: list[SlurmLine], at: Location) -> Found:
    """Return what jobs are confined to; what the file does not say is not confined."""
    said: dict[str, Any] = dict.fromkeys(_CONSTRAINED.values(), False)
    others: list[str] = []
    for line in lines:
        for key, value in line.words.items():
            if key in _CONSTRAINED:
                said[_CONSTRAINED[key]] = value.lower() == "yes"
            elif key == "cgroupplugin" and value.lower() in _PLUGINS:
                said["plugin"] = value.lower()
            else:
                others.append(f"{line.spelled[key]}={value}")
    notices = (SourceNotice(f"not taken over: {', '.join(others)}", at),) if others else ()
    return Found(beside=(SlurmBeside(at=at, cgroup=said),), notices=notices)


def _gathered(lines: list[SlurmLine], at: Location) -> Found:
    """Return no more than a notice: a blueprint has nothing of how energy and traffic of jobs are measured."""
    words = [f"{line.spelled[key]}={value}" for line in lines for key, value in line.words.items()]
    text = f"not taken over, keep the file on the hosts: {', '.join(words)}"
    return Found(beside=(SlurmBeside(at=at),), notices=(SourceNotice(text, at),) if words else ())


def _topology(lines: list[SlurmLine], at: Location) -> Found:
    switches: list[dict[str, Any]] = []
    notices: list[SourceNotice] = []
    for line in lines:
        words = line.words
        if line.first != "switchname" or not (words.get("nodes") or words.get("switches")):
            text = ", ".join(f"{line.spelled[key]}={value}" for key, value in words.items())
            notices.append(SourceNotice(f"not taken over: {text}", line.at))
            continue
        switches += _switch(words["switchname"], words.get("nodes"), words.get("switches"), line.at)
    return Found(beside=(SlurmBeside(at=at, switches=tuple(switches)),), notices=tuple(notices))


def _switch(
    names: str, nodes: str | None, children: str | None, at: Location
) -> Iterator[dict[str, Any]]:
    key, below = ("nodes", nodes) if nodes else ("children", children)
    for name in _nodes(names, at):
        yield {"name": name, key: ordered_hostlist(_nodes(below or "", at))}


def _from_yaml(path: Path) -> Found:
    """Return the switches of the cluster's own network; those of others are told.

    Raises:
        SpecErrors: the file is no list of networks.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    at = Location(str(path), 1, 1)
    tree = load_tree(path)
    networks = (
        [one for one in tree.data if isinstance(one, dict)] if isinstance(tree.data, list) else []
    )
    if not networks:
        raise refused("this is not a list of networks, as topology.yaml is", at)
    networks.sort(key=lambda one: one.get("cluster_default") is not True)
    own, *others = networks
    kind = next((kind for kind in _KINDS if kind in own), None)
    notices = [
        SourceNotice(
            f"not taken over: the topology '{one.get('topology')}', as a cluster has one", at
        )
        for one in others
    ]
    if kind not in {"tree", "flat"}:
        shown = kind or ", ".join(map(str, own))
        notices.append(
            SourceNotice(f"not taken over: the {shown} of the topology '{own.get('topology')}'", at)
        )
    switches = tuple(_yaml_switches(own["tree"], at)) if isinstance(own.get("tree"), dict) else ()
    beside = SlurmBeside(at=at, switches=switches, topology=kind or "flat")
    return Found(beside=(beside,), notices=tuple(notices))


def _yaml_switches(tree: Mapping[str, Any], at: Location) -> Iterator[dict[str, Any]]:
    for switch in tree.get("switches") or ():
        if isinstance(switch, dict) and (switch.get("nodes") or switch.get("children")):
            nodes, children = (
                str(switch[key]) if switch.get(key) else None for key in ("nodes", "children")
            )
            yield from _switch(str(switch.get("switch")), nodes, children, at)
