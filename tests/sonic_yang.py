"""SONiC's ``config_db.json`` as data of its YANG models, which ``yanglint`` of Debian reads.

The models are those of SONiC's sources, which no package has: ``SONIC_YANG_MODELS`` names a folder with
them, where one is at hand (``src/sonic-yang-models``, its templates rendered).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "SONIC_YANG_MODELS"
_NUMBERS = {"int8", "int16", "int32", "uint8", "uint16", "uint32"}


def models() -> Path | None:
    """Return the folder of models; None where there is none."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def lint(folder: Path, tables: Mapping[str, Mapping[str, Any]], scratch: Path) -> str:
    """Return what yanglint says of a ``config_db.json``; nothing where it accepts it."""
    from pyang import context, repository

    known = context.Context(repository.FileRepository(str(folder)))
    data: dict[str, Any] = {}
    for path in sorted(folder.glob("sonic-*.yang")):
        text = path.read_text(encoding="utf-8")
        if not any(f"container {table} " in text for table in tables):
            continue
        module = known.add_module(str(path), text)
        known.validate()
        for top in _children(module, "container"):
            for table in _children(top, "container"):
                if table.arg in tables:
                    place = data.setdefault(f"{module.arg}:{top.arg}", {})
                    place[table.arg] = _table(table, tables[table.arg])
    found = {name for place in data.values() for name in place}
    assert found == set(tables), f"no model has {sorted(set(tables) - found)}"
    file = scratch / "config.json"
    file.write_text(json.dumps(data))
    every = map(str, sorted(folder.glob("sonic-*.yang")))  # conditions refer to other modules
    command = ["yanglint", "-p", str(folder), "-t", "config", *every, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _children(statement: Any, keyword: str) -> Iterator[Any]:
    return (one for one in getattr(statement, "i_children", ()) if one.keyword == keyword)


def _table(table: Any, rows: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    fixed = {one.arg: one for one in _children(table, "container")}
    lists = list(_children(table, "list"))
    for key, row in rows.items():
        if key in fixed:
            made[key] = _row(fixed[key], row)
            continue
        parts = key.split("|")
        for one in lists:
            names = one.search_one("key").arg.split()
            if len(names) == len(parts):
                keys = dict(zip(names, parts, strict=True))
                made.setdefault(one.arg, []).append(_row(one, keys | dict(row)))
                break
        else:
            raise AssertionError(f"{table.arg} has no list for {key}")
    return made


def _row(place: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    leaves = {one.arg: one for one in place.i_children}
    inner = [one for one in place.i_children if one.keyword == "list"]
    made: dict[str, Any] = {}
    for name, value in row.items():
        if name in leaves:
            made[name] = _value(leaves[name], value)
        elif len(inner) == 1:  # a map: each pair is an entry of the inner list
            made.setdefault(inner[0].arg, []).append(_pair(inner[0], name, value))
        else:
            made[name] = value  # yanglint tells of it
    return made


def _pair(inner: Any, name: str, value: str) -> dict[str, Any]:
    (key,) = inner.search_one("key").arg.split()
    leaves = {one.arg: one for one in inner.i_children}
    (other,) = (one for one in leaves if one != key)
    return {key: _value(leaves[key], name), other: _value(leaves[other], value)}


def _value(leaf: Any, value: str) -> Any:
    kind = _base(leaf.search_one("type"))
    if leaf.keyword == "leaf-list":
        return [value]
    if kind == "boolean":
        return value == "true"
    return int(value) if kind in _NUMBERS and value.isdecimal() else value


def _base(kind: Any) -> str:
    while getattr(kind, "i_typedef", None) is not None:
        kind = kind.i_typedef.search_one("type")
    if kind.arg == "leafref":
        target = getattr(kind.parent, "i_leafref_ptr", None)
        return "string" if target is None else _base(target[0].search_one("type"))
    return str(kind.arg)
