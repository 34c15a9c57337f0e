"""Changes of NetBox towards a plan: objects are created and changed, and none is removed.

Nothing is kept between two runs. Each asks NetBox for what it has, so one that was cut off goes on, and a second one
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.brownfield.products import letters
from rackwright.netbox.client import BATCH, NetBox, NetBoxError
from rackwright.netbox.kinds import KINDS, Key, slug
from rackwright.netbox.wanted import Reference, WantedObject


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that is created, or whose fields change.

    Attributes:
        row: the object in NetBox; None where there is none.
        fields: that change, with what they are and what they become; empty for a new object.
    """

    wanted: WantedObject
    row: Mapping[str, Any] | None = None
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        word, name = KINDS[self.wanted.kind].word, _shown(self.wanted)
        if self.row is None:
            return f"+ {word} {name}"
        told = ", ".join(
            f"{key} {_text(old)} → {_text(new)}" for key, (old, new) in self.fields.items()
        )
        return f"~ {word} {name}: {told}"


@dataclass(frozen=True)
class PlannedChanges:
    """The way from what NetBox has to what is wanted.

    Attributes:
        unchanged: number of objects that are as wanted.
        conflicts: what is otherwise in NetBox and is left to its owners.
    """

    changes: tuple[ObjectChange, ...]
    unchanged: int
    conflicts: tuple[str, ...]


def _shown(wanted: WantedObject) -> str:
    if wanted.kind == "cable":
        _, one, port, other, far_port = wanted.key
        return f"{one} {port} to {other} {far_port}"
    return wanted.key[-1] if len(wanted.key) < 3 else " ".join(wanted.key[1:])


def _text(value: Any) -> str:
    if isinstance(value, Reference):
        return value.key[-1]
    if isinstance(value, dict):
        return str(value.get("display") or value.get("name") or value.get("id"))
    if isinstance(value, float):
        return f"{value:g}"
    return "nothing" if value in (None, "") else str(value)


def _plain(key: Key) -> Key:
    """Return a key as NetBox compares names: capitals are small letters."""
    return tuple(part.casefold() for part in key)


def _as_written(key: Key) -> Key:
    """Return a key with the names that a blueprint has where NetBox's have blanks or capitals."""
    return tuple(map(slug, key))


@dataclass
class _Known:
    """Rows of NetBox by kind and key.

    Attributes:
        alike: keys of rows by kind and by the key that a blueprint would write for them: ``Hall A`` is ``hall-a``.
        wanted: kinds and keys of the plan, whose rows are no others' by another spelling.
    """

    netbox: NetBox
    site: str
    products: Mapping[str, str]
    rows: dict[str, dict[Key, Mapping[str, Any]]] = field(default_factory=dict)
    alike: dict[str, dict[Key, list[Key]]] = field(default_factory=dict)
    wanted: frozenset[tuple[str, Key]] = frozenset()
    site_id: int | None = None

    def load(self, kinds: Iterable[str]) -> None:
        """Read the lists of some kinds, in their order.

        Raises:
            NetBoxError: one does not come whole, or has two objects of one name.
        """
        for name in kinds:
            kind = KINDS[name]
            filters: dict[str, str | int] = {}
            if kind.of_site:
                if self.site_id is None:
                    self.rows[name] = {}
                    continue
                filters["site_id"] = self.site_id
            found: dict[Key, Mapping[str, Any]] = {}
            for row in self.netbox.all(kind.path, **filters):
                key = kind.key(row)
                if key is None or not key[-1]:
                    continue
                if kind.of_site:
                    key = (self.site, *key[1:])
                other = found.setdefault(_plain(key), row)
                if other is not row and name in {"device", "rack", "address"}:
                    raise NetBoxError(
                        f"NetBox has two {kind.path.rpartition('/')[2]} called '{key[-1]}' in '{self.site}'",
                        hint=f"rename or remove one: their numbers are {other.get('id')} and {row.get('id')}",
                    )
            self.rows[name] = found
            for key in found if kind.of_site or name == "site" else ():
                self.alike.setdefault(name, {}).setdefault(_as_written(key), []).append(key)
            if name == "site":
                own = self.find("site", (self.site,))
                self.site_id = None if own is None else own["id"]

    def find(self, wanted_kind: str, key: Key, name: str = "") -> Mapping[str, Any] | None:
        """Return the row of a key; a device type also by the name of its product."""
        rows = self.rows.get(wanted_kind, {})
        row = rows.get(_plain(key))
        near = self.alike.get(wanted_kind, {}).get(_as_written(key), [])
        near = [one for one in near if (wanted_kind, one) not in self.wanted]
        if row is None and len(near) == 1:
            row = rows[near[0]]
        if row is not None or wanted_kind != "type":
            return row
        names = {letters(key[-1]), letters(name)} - {""}
        names |= {letters(text) for text, entry_id in self.products.items() if entry_id == key[-1]}
        return next(
            (
                row
                for row in rows.values()
                if {letters(str(row.get("model"))), letters(str(row.get("slug")))} & names
            ),
            None,
        )


def compare(
    netbox: NetBox, site: str, wanted: Sequence[WantedObject], products: Mapping[str, str]
) -> tuple[PlannedChanges, _Known]:
    """Return the changes that make NetBox have what is wanted.

    Args:
        netbox: asked.
        site: name of the site.
        wanted: its objects, in their order.
        products: ids of the catalogue by the names of device types in NetBox.

    Raises:
        NetBoxError: NetBox does not answer with all of it.
    """
    planned = frozenset((one.kind, _plain(one.key)) for one in wanted)
    known = _Known(netbox, site, products, wanted=planned)
    kinds = {one.kind for one in wanted}
    known.load(kind for kind in KINDS if kind in kinds)
    changes: list[ObjectChange] = []
    conflicts: list[str] = []
    unchanged = 0
    for one in wanted:
        row = known.find(one.kind, one.key, str(one.first.get("model", "")))
        if row is None:
            if one.kind == "cable" and (told := _taken(one, known)):
                conflicts.append(told)
            else:
                changes.append(ObjectChange(one))
            continue
        known.rows[one.kind].setdefault(_plain(one.key), row)
        differing = dict(_differences(one, row, known))
        if differing:
            changes.append(ObjectChange(one, row, differing))
        else:
            unchanged += 1
    return PlannedChanges(tuple(changes), unchanged, tuple(conflicts)), known


def _taken(cable: WantedObject, known: _Known) -> str | None:
    """Return why a cable cannot be made: an end of it has another one."""
    site, *ends = cable.key
    for device, port in (ends[:2], ends[2:]):
        row = known.find("interface", (site, device, port))
        if row is not None and row.get("cable"):
            return (
                f"{device} {port} has another cable in NetBox than {_shown(cable)}: "
                f"number {row['cable'].get('id')}; remove it there if the plan is right"
            )
    return None


def _differences(
    wanted: WantedObject, row: Mapping[str, Any], known: _Known
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name, value in wanted.fields.items():
        if name == "name":  # it was found by its name, which NetBox may spell otherwise
            continue
        found = row.get(name)
        if isinstance(value, Reference):
            target = known.find(value.kind, value.key)
            found_id = found.get("id") if isinstance(found, dict) else found
            if target is None or target.get("id") != found_id:
                yield name, (found, value)
        elif isinstance(found, dict) and "value" in found:
            if found["value"] != value:
                yield name, (found["value"], value)
        elif (
            isinstance(value, str)
            and isinstance(found, str)
            and value.casefold() == found.casefold()
        ):
            continue
        elif isinstance(value, (int, float)) and isinstance(found, (int, float, str)):
            if float(found or 0) != float(value):
                yield name, (found, value)
        elif found != value:
            yield name, (found, value)


def push(changes: PlannedChanges, known: _Known) -> Iterator[tuple[str, int]]:
    """Make the changes, and yield the kind and the number of objects after each request.

    Raises:
        NetBoxError: NetBox refuses, or does not answer. What was made before stays.
    """
    netbox = known.netbox
    for name, kind in KINDS.items():
        own = [change for change in changes.changes if change.wanted.kind == name]
        created = [change for change in own if change.row is None]
        updated = [change for change in own if change.row is not None]
        if name == "device":
            moved = [{"id": change.row["id"], "position": None, "face": ""}
                     for change in updated if change.row is not None and "position" in change.fields]  # fmt: skip
            for part in _parts(moved if len(moved) > 1 else []):
                netbox.update(kind.path, part)
        for changed in _parts(updated):
            netbox.update(kind.path, [_update(change, known) for change in changed])
            yield kind.word, len(changed)
        for new in _parts(created):
            payload = [_creation(change.wanted, known) for change in new]
            for change, row in zip(new, netbox.create(kind.path, payload), strict=True):
                known.rows.setdefault(name, {})[_plain(change.wanted.key)] = row
            yield kind.word, len(new)


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def _update(change: ObjectChange, known: _Known) -> dict[str, Any]:
    made = {name: _value(new, known) for name, (_, new) in change.fields.items()}
    if "position" in made and made["position"] is not None:
        face = (change.row or {}).get("face")
        made["face"] = face["value"] if isinstance(face, dict) and face.get("value") else "front"
    return {"id": (change.row or {})["id"], **made}


def _creation(wanted: WantedObject, known: _Known) -> dict[str, Any]:
    made = {name: _value(value, known) for name, value in {**wanted.first, **wanted.fields}.items()}
    if wanted.kind == "cable":
        site, *ends = wanted.key
        for side, (device, port) in (("a", ends[:2]), ("b", ends[2:])):
            number = _value(Reference("interface", (site, device, port)), known)
            made[f"{side}_terminations"] = [{"object_type": "dcim.interface", "object_id": number}]
    return made


def _value(value: Any, known: _Known) -> Any:
    """Return a field as NetBox takes it: a number for an object.

    Raises:
        NetBoxError: the object is not there.
    """
    if not isinstance(value, Reference):
        return value
    row = known.find(value.kind, value.key)
    if row is None:
        raise NetBoxError(
            f"the {KINDS[value.kind].word} '{value.key[-1]}' is not in NetBox", hint="run it again"
        )
    return row["id"]
