"""CSV sheets of rack positions and power sources, as facility teams keep them.

A column is the path of a field: ``racks``, ``feeds.A.source``, ``modules.capacity``. An empty cell says
nothing. A row of positions names its ``hall`` and ``row``; with ``like`` it takes the other fields of
the position of that name. A row of sources takes its parents as ``fed_by``, with blanks between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rackwright.design.items import made
from rackwright.design.model import DesignDocument
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.names import compress_hostlist, expand_hostlist, hostlist_size
from rackwright.model.onprem import MOST_RACKS
from rackwright.reading.loader import Loaded, load_tree, validate
from rackwright.reading.sheet_reader import Row, read_sheet
from rackwright.reading.tree import Item, KeyValue, Tree, to_data

_WHOLE = re.compile(r"-?\d{1,15}")
_DECIMAL = re.compile(r"-?\d{1,15}\.\d{1,15}")
_FEED = "feeds"
_LISTED = "fed_by"


def load_wanted(
    path: Path,
    layers: Sequence[Path] = (),
    *,
    positions: Sequence[Path] = (),
    sources: Sequence[Path] = (),
) -> Loaded[DesignDocument]:
    """Read the wish for a facility, with the additions of sheets.

    Args:
        path: the document.
        layers: files over it.
        positions: sheets of rack positions.
        sources: sheets of power sources.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    tree = load_tree(path, layers=layers)
    for file in sources:
        _add_sources(tree, read_sheet(file).rows)
    for file in positions:
        _add_positions(tree, read_sheet(file).rows)
    files = (*tree.files, *map(str, (*sources, *positions)))
    return validate(Tree(tree.root, to_data(tree.root), files), DesignDocument)


def _add_sources(tree: Tree, rows: Sequence[Row]) -> None:
    """Put power sources behind those of a facility."""
    listed = _list_at(tree, ("facility", "power"), "sources")
    for at, cells in rows:
        fields: dict[str, Any] = {}
        for column, cell in cells.items():
            value = cell.split() if column == _LISTED else _scalar(cell)
            _put(fields, column.split("."), value, at)
        listed.append(made(fields, at))


def _add_positions(tree: Tree, rows: Sequence[Row]) -> None:
    """Put rack positions into the rows of a facility; those that are equal are one rack group.

    Raises:
        SpecErrors: a row lacks a column, or has one that is no field.
    """  # noqa: DOC501 - _refused() makes the SpecErrors
    known = _patterns(tree)
    last: tuple[object, Item] | None = None
    for at, cells in rows:
        for column in ("hall", "row", "racks"):
            if column not in cells:
                raise _refused(f"this row has no '{column}'", at)
        fields: dict[str, Any] = {}
        like = cells.get("like")
        if like is not None:
            if like not in known:
                raise _refused(f"'like' names '{like}', which is no position of the document", at)
            fields |= known[like]
        feeds = {feed["name"]: dict(feed) for feed in fields.pop(_FEED, ())}
        for column, cell in cells.items():
            if column in {"hall", "row", "racks", "like"}:
                continue
            first, *rest = column.split(".")
            if first == _FEED:
                name, *field = rest or [""]
                if not field:
                    raise _refused(f"the column '{column}' is not 'feeds.NAME.FIELD'", at)
                _put(feeds.setdefault(name, {"name": name}), field, _scalar(cell), at)
            else:
                _put(fields, [first, *rest], _scalar(cell), at)
        fields[_FEED] = list(feeds.values())
        same = (cells["hall"], cells["row"], repr(fields))
        if last is not None and last[0] == same:
            held = last[1].value["racks"].item
            held.value = f"{held.value},{cells['racks']}"
            continue
        group = made({"racks": cells["racks"], **fields}, at)
        _row_of(tree, cells["hall"], cells["row"], at).append(group)
        last = same, group
    _shorten(tree)


def _shorten(tree: Tree) -> None:
    """Write names that follow each other as ranges."""
    for group in _groups(tree):
        racks = group.value["racks"].item if "racks" in group.value else None
        if racks is None or not isinstance(racks.value, str) or "," not in racks.value:
            continue
        if names := _names(racks.value):
            racks.value = compress_hostlist(names)


def _patterns(tree: Tree) -> Mapping[str, Mapping[str, Any]]:
    """Return the fields of the rack groups of a document, by the names of their positions."""
    found: dict[str, Mapping[str, Any]] = {}
    for group in _groups(tree):
        data = to_data(group)
        found |= dict.fromkeys(_names(str(data.pop("racks", ""))), data)
    return found


def _names(text: str) -> Sequence[str]:
    """Return the names of a host list; none of one of which the model says what is wrong with it."""
    try:
        return expand_hostlist(text) if hostlist_size(text) <= MOST_RACKS else ()
    except ValueError:
        return ()


def _groups(tree: Tree) -> Iterator[Item]:
    for hall in _items(tree.find(("facility", "halls"))):
        for row in _items(_child(hall, "rows")):
            for group in _items(_child(row, "rack_groups")):
                if isinstance(group.value, dict):
                    yield group


def _row_of(tree: Tree, hall: str, row: str, at: Location) -> list[Item]:
    """Return the rack groups of a row, which is made where the hall has none of that name.

    Raises:
        SpecErrors: the document has no such hall.
    """  # noqa: DOC501 - _refused() makes the SpecErrors
    for number, one in enumerate(_items(tree.find(("facility", "halls")))):
        if _name(one) == hall:
            rows = _list_at(tree, ("facility", "halls", number), "rows")
            for place, other in enumerate(rows):
                if _name(other) == row:
                    path = ("facility", "halls", number, "rows", place)
                    return _list_at(tree, path, "rack_groups")
            rows.append(made({"name": row, "rack_groups": []}, at))
            groups: list[Item] = rows[-1].value["rack_groups"].item.value
            return groups
    raise _refused(f"the document has no hall '{hall}'", at)


def _list_at(tree: Tree, path: tuple[str | int, ...], key: str) -> list[Item]:
    """Return a list of a document, which is made where it is absent.

    Raises:
        SpecErrors: something else than a list stands there.
    """  # noqa: DOC501 - _refused() makes the SpecErrors
    around = tree.find(path)
    place = tree.locate(path)
    if around is None or not isinstance(around.value, dict):
        raise _refused(f"'{'.'.join(map(str, path))}' is no mapping of fields", place)
    if key not in around.value:
        around.value[key] = KeyValue(made([], place), place.line, place.column)
    listed = around.value[key].item.value
    if not isinstance(listed, list):
        raise _refused(f"'{key}' is no list", around.value[key].item.location)
    return listed


def _put(fields: dict[str, Any], path: Sequence[str], value: Any, at: Location) -> None:
    for name in path[:-1]:
        inner = fields.setdefault(name, {})
        if not isinstance(inner, dict):
            raise _refused(f"'{name}' is a column and the beginning of another one", at)
        fields[name] = fields = dict(inner)
    fields[path[-1]] = value


def _scalar(cell: str) -> Any:
    if cell in {"true", "false"}:
        return cell == "true"
    if _WHOLE.fullmatch(cell):
        return int(cell)
    return float(cell) if _DECIMAL.fullmatch(cell) else cell


def _items(item: Item | None) -> Sequence[Item]:
    return item.value if item is not None and isinstance(item.value, list) else ()


def _child(item: Item, key: str) -> Item | None:
    return item.value[key].item if isinstance(item.value, dict) and key in item.value else None


def _name(item: Item) -> Any:
    found = _child(item, "name")
    return None if found is None else found.value


def _refused(summary: str, at: Location) -> SpecErrors:
    return SpecErrors([SpecError(summary, location=at)])
