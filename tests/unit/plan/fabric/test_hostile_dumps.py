"""Damaged dumps of cables are read or refused with a sentence, and nothing else comes of them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lldp_dumps
from fabric_factories import a_fabric, a_tier, layout_of
from lldp_dumps import Seen
from rackwright.brownfield.cabling.files import read_cables
from rackwright.brownfield.reading import read_standing
from rackwright.errors import RackwrightError

SEEN = [Seen(1, "dgx-01", "eth0"), Seen(2, "dgx-02", "eth0"), Seen(33, "compute-spine-1", "swp1")]
PORT = "swp{}".format
UFM = json.dumps(
    [
        {"name": "0000000000000001_1", "peer": "0000000000000002_1", "node_description": "leaf-1:1", "active_width": "IB_4x", "active_speed": "NDR"},
        {"source_guid": "1", "source_port": "1", "destination_guid": "2", "destination_port": "1", "width": "4x"},
    ]
)  # fmt: skip
WRITERS: dict[str, str] = {
    "json": lldp_dumps.lldpctl_json(SEEN, PORT),
    "json0": lldp_dumps.lldpctl_json0(SEEN, PORT),
    "nvue": lldp_dumps.nvue(SEEN, PORT),
    "eapi": lldp_dumps.eapi(SEEN, PORT),
    "ufm": UFM,
}
TEXTS: dict[str, str] = {
    "text": lldp_dumps.lldpctl_text(SEEN, PORT),
    "sonic": lldp_dumps.sonic_tables(SEEN, PORT),
    "ports": "CA     2  1 0x0000000000000002 4x NDR - SW     1  1 0x0000000000000001 ( 'n1 HCA-1' - 'leaf-1' )\n"
    "SW     1  1 0x0000000000000001 4x NDR - CA     2  1 0x0000000000000002 ( 'leaf-1' - 'n1 HCA-1' )\n",
    "links": "CA: n1 HCA-1:\n      0x0000000000000003      2    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>       1    "
    '1[  ] "leaf-1" ( )\nSwitch: 0x0000000000000001 leaf-1:\n           1    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>'
    '       2    1[  ] "n1 HCA-1" ( )\n           1    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )\n',
    "slow": "CA "
    + " " * 20_000
    + "\n"
    + '0x1 "'
    + "a" * 20_000
    + '" 1 1[  ] ==('
    + " " * 20_000
    + ")==>\n",
}
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    "",
    "\x00",
    "é" * 300,
    [],
    [1],
    {},
    {"a": None},
    [[]],
)


def damage(value: Any, chance: random.Random) -> Any:
    """Return a document in which one node is another value, or is gone."""
    made = copy.deepcopy(value)
    here = made
    while isinstance(here, (dict, list)) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = chance.choice(keys)
        if chance.random() < 0.35 or not isinstance(here[key], (dict, list)) or not here[key]:
            if chance.random() < 0.2:
                del here[key]
            else:
                here[key] = chance.choice(VALUES)
            break
        here = here[key]
    return made


def read(text: str, folder: Path) -> None:
    """Read a file as both commands do."""
    path = folder / "compute-leaf-1.json"
    path.write_text(text, "utf-8")
    infiniband = layout_of(nodes=4)
    ethernet = layout_of(
        a_fabric(
            tiers=[a_tier("leaf", 8, "sn5600"), a_tier("spine", 4, "sn5600")], technology="ethernet"
        ),
        nodes=4,
    )
    readers: tuple[Callable[[], object], ...] = (
        lambda: read_cables(infiniband, [path], None),
        lambda: read_cables(ethernet, [path], None),
        lambda: read_standing(path),
    )
    refusals = [told for reader in readers if (told := refusal_of(reader)) is not None]
    assert all(str(path) in told for told in refusals)


def refusal_of(reader: Callable[[], object]) -> str | None:
    """Return the message with which a file is refused; None where it is read."""
    try:
        reader()
    except RackwrightError as error:
        return str(error)
    return None


@pytest.mark.parametrize("form", WRITERS)
def test_document_with_a_wrong_value_anywhere(form: str, tmp_path: Path) -> None:
    chance = random.Random(f"dumps {form}")
    document = json.loads(WRITERS[form])
    for _ in range(60):
        read(json.dumps(damage(document, chance)), tmp_path)


@pytest.mark.parametrize("form", [*WRITERS, *TEXTS])
def test_file_that_is_cut_off_anywhere(form: str, tmp_path: Path) -> None:
    text = {**WRITERS, **TEXTS}[form]
    for end in range(1, len(text), max(1, len(text) // 25)):
        read(text[:end], tmp_path)
