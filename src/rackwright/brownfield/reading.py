"""Files of what stands, each read as what it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.brownfield.cabling.networks import is_neighbours, is_subnet, read_network
from rackwright.brownfield.elevations import is_elevations, read_elevations
from rackwright.brownfield.netbox import is_netbox, read_netbox_json, read_netbox_sheet
from rackwright.brownfield.netbox_dumps import is_netbox_dump, read_netbox_dump
from rackwright.brownfield.other_tools import OF_SLURM, OTHERS, error_of_tool
from rackwright.brownfield.records import Found, FoundNetwork, refused
from rackwright.brownfield.slurm_files.beside import NAMES, read_beside
from rackwright.brownfield.slurm_files.conf import is_slurm_conf, read_slurm_conf
from rackwright.errors import Location
from rackwright.reading.sheet_reader import read_text_file, sheet_of


def read_standing(path: Path) -> Found:
    """Return what a file says of what stands.

    Raises:
        SpecErrors: it cannot be read, is none of the kinds that are known, or is wrong.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    if path.is_dir():
        return _of_network(read_network(path))
    text = read_text_file(path)
    start = Location(str(path), 1, 1)
    if path.name in NAMES:
        return read_beside(text, path, read_text_file)
    if not text.strip():
        raise refused("the file is empty", start)
    if is_netbox_dump(text):
        return read_netbox_dump(text, path)
    if (error := error_of_tool(text, path, OF_SLURM)) is not None:
        raise error
    if is_slurm_conf(text) and path.suffix.lower() != ".csv":
        return _with_beside(read_slurm_conf(text, path, read_text_file), path)
    if is_subnet(text) or is_neighbours(text):
        return _of_network(read_network(path, text))
    if (error := error_of_tool(text, path, OTHERS)) is not None:
        raise error
    if text.lstrip()[0] in "[{":
        return read_netbox_json(text, path)
    sheet = sheet_of(text, path)
    if is_netbox(sheet):
        return read_netbox_sheet(sheet)
    if is_elevations(sheet):
        return read_elevations(sheet)
    has = ", ".join(f"'{column}'" for column in sheet.columns[:20])
    raise refused(
        f"this is no sheet of elevations, no export of NetBox and no slurm.conf; its columns are {has}",
        start,
        "a sheet of elevations has the columns 'rack', 'lowest_unit' and 'product'; one of NetBox 'Name', "
        "'Status', 'Manufacturer', 'Type', 'Rack' and 'Position'",
    )


def _of_network(network: FoundNetwork) -> Found:
    return Found(networks=(network,), notices=network.notices)


def _with_beside(found: Found, path: Path) -> Found:
    """Return what a ``slurm.conf`` says with the files that Slurm reads beside it.

    Raises:
        SpecErrors: one of them is wrong.
    """
    files = [path.parent / name for name in NAMES]
    read = [read_standing(file) for file in files if file.is_file()]
    beside = tuple(one for each in read for one in each.beside)
    notices = tuple(notice for each in read for notice in each.notices)
    return replace(found, beside=beside, notices=(*found.notices, *notices))
