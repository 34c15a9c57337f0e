"""Files in which tools tell the cables of a hall, read for the fabric that they are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from rackwright.plan.fabric.discovered.dump import Discovery
    from rackwright.plan.fabric.discovered.lldp_records import SeenInterface
    from rackwright.plan.fabric.layout import Layout

LARGEST = 128 * 1024 * 1024
"""Largest file that is read: ibnetdiscover prints about 400 bytes a cable."""
_ENDINGS = re.compile(
    r"[._-](json0?|txt|log|out|text|lldp|lldpctl|neighbou?rs?|interfaces?|status|nvue|eapi|show|table)$",
    re.IGNORECASE,
)
_HINT_SUBNET = (
    "give what 'ibnetdiscover' or 'iblinkinfo' prints on a host of the fabric, ibdiagnet's 'ibdiagnet2.db_csv' or 'ibdiagnet2.lst', or "
    "UFM's answer to '/ufmRest/resources/ports'"
)
_HINT_LLDP = (
    "give a folder with a file for each switch, named like it: of 'lldpctl -f json', 'show lldp table', "
    "'nv show interface -o json' or 'show lldp neighbors detail' of EOS, NX-OS, Junos or OS10, as JSON if it can"
)


def read_cables(layout: Layout, paths: Sequence[Path], names: Path | None) -> Discovery:
    """Return the links that files tell, by the tool that the fabric's technology has.

    Raises:
        UsageError: a file cannot be read, or is of no kind that is known.
    """
    from rackwright.plan.fabric.discovered.dump import plain_guid, read_names

    known = {plain_guid(guid): name for guid, name in layout.fabric.guids.items()}
    if names is not None:
        try:
            known |= read_names(text_of(names))
        except ValueError as error:
            raise UsageError(f"'{names}' is no file of names: {error}") from None
    files = [file for path in paths for file in _files(path)]
    if layout.technology == "ethernet":
        return _neighbours(layout, files, known)
    return _subnet(files, known)


def _files(path: Path) -> list[Path]:
    """Return a file, or the files of a folder.

    Raises:
        UsageError: the folder has none, or cannot be read.
    """
    if not path.is_dir():
        return [path]
    try:
        found = sorted(
            one for one in path.iterdir() if one.is_file() and not one.name.startswith(".")
        )
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None
    if not found:
        raise UsageError(f"the folder '{path}' has no file", hint=_HINT_LLDP)
    return found


def text_of(path: Path) -> str:
    """Return the text of a file; bytes that are no UTF-8 are replaced, as descriptions may have them.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST:
        raise UsageError(f"'{path}' is larger than {LARGEST // 2**20} MiB")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"'{path}' is UTF-16", hint="save it as UTF-8")
    if b"\x00" in raw[:4096]:
        raise UsageError(f"'{path}' is no text", hint="is it compressed? Unpack it first")
    text = raw.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise UsageError(f"'{path}' is empty")
    return text


def _subnet(files: Sequence[Path], names: dict[str, str]) -> Discovery:
    """Return the links of an InfiniBand subnet; those of several files together.

    Raises:
        UsageError: a file is none of ibnetdiscover, iblinkinfo, ibdiagnet or UFM.
    """
    from dataclasses import replace

    from rackwright.plan.fabric.discovered.exports import read_subnet

    found: Discovery | None = None
    for path in files:
        try:
            one = read_subnet(text_of(path), names)
        except ValueError as error:
            raise UsageError(
                f"'{path}' is no dump of a subnet: {error}", hint=_HINT_SUBNET
            ) from None
        if found is not None:
            one = replace(
                one,
                links={**found.links, **one.links},
                rates={**found.rates, **one.rates},
                aggregations=max(found.aggregations, one.aggregations),
                unset=found.unset | one.unset,
                switches=found.switches | one.switches,
                reporting=None
                if found.reporting is None and one.reporting is None
                else _stating(found) | _stating(one),
            )
        found = one
    if found is None:
        raise UsageError("no file is given", hint=_HINT_SUBNET)
    return found


def _stating(found: Discovery) -> frozenset[str]:
    """Return the devices that state their own ports."""
    if found.reporting is not None:
        return found.reporting
    return frozenset(device for device, _ in found.links)


def _neighbours(layout: Layout, files: Sequence[Path], names: dict[str, str]) -> Discovery:
    """Return the links of an Ethernet fabric.

    Raises:
        UsageError: a file is no list of neighbours, or does not say which device it is of.
    """
    from rackwright.plan.fabric.discovered.lldp_records import merge
    from rackwright.plan.fabric.discovered.neighbours import NeighbourTables

    devices: dict[str, dict[str, SeenInterface]] = {}
    for path in files:
        try:
            for device, interfaces in neighbour_tables(text_of(path)):
                known = devices.setdefault(device or device_of(path), {})
                for name, one in interfaces.items():
                    known[name] = merge(known[name], one) if name in known else one
        except ValueError as error:
            raise UsageError(
                f"'{path}' has no neighbours of LLDP: {error}", hint=_HINT_LLDP
            ) from None
    return NeighbourTables(layout, devices, names).discovery()


def neighbour_tables(text: str) -> Iterator[tuple[str, dict[str, SeenInterface]]]:
    """Yield the devices of a file with their interfaces.

    Raises:
        ValueError: it is of another kind.
    """
    from rackwright.plan.fabric.discovered.exports import read_json
    from rackwright.plan.fabric.discovered.lldp import read_lldp_json, read_lldp_text

    if text.lstrip()[0] in "[{":
        for device, interfaces in read_lldp_json(read_json(text)):
            yield device, dict(interfaces)
    else:
        yield "", dict(read_lldp_text(text))


def device_of(path: Path) -> str:
    """Return the name of the device that a file is of: its own without what says how it was written."""
    name = path.name
    while (shorter := _ENDINGS.sub("", name)) not in {name, ""}:
        name = shorter
    return name
