"""What a change says of its own hardware, and asks for, that its base has not approved.

A blueprint grants itself what nobody can see: a cap on the power of nodes, a source that needs no
redundancy, a budget. Such claims and settings are the base's until a change is merged; where the
change is stricter, that holds. Hardware is the head's: ``rackwright.model.classes`` says which field
is what.

Things are matched by what they are called, racks by their names, wherever they stand. One that the
base does not have is held by what the base says of things of its kind that are gone, for it may be
one of them by another name. Where there is none either, what it grants itself is left out; what
would be unknown without a word on it is taken, and told: nothing new could be judged otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args, get_origin

from rackwright.model.aws import AwsSite
from rackwright.model.base import Model
from rackwright.model.classes import CLASSES, Fields
from rackwright.model.cluster import Blueprint
from rackwright.model.milder import Absent, Direction, Milder
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import OnPremSite, RackGroup
from rackwright.model.reliability import JobPart, JobProfile
from rackwright.policy.base_approval.strictest import strictest
from rackwright.spec.tree import Path

Identity = tuple[Any, ...] | frozenset[str]
Chain = tuple[Any, ...]
Things = Sequence[Mapping[str, Any]]

_OF_A_REGION = (AwsSite, "limits")
"""What AWS says of an account in a region, of all sites there."""
_ASKED = (JobProfile, JobPart)
"""Entries that an owner asks for, so that one more is stricter."""


@dataclass(frozen=True)
class RefusedClaim:
    """A claim or setting of a change that does not hold.

    Attributes:
        path: where it stands in the change, or would stand.
        now: what the change says, as it is written; None where it says nothing.
        was: what holds.
        is_new: the base does not have the thing that it is about.
    """

    path: Path
    now: Any
    was: Any
    is_new: bool


@dataclass(frozen=True)
class Taken:
    """A thing that is new, and what is said of it that nobody has approved.

    Attributes:
        path: the thing.
        names: the fields, from the thing.
    """

    path: Path
    names: tuple[str, ...]


@dataclass(frozen=True)
class Claims:
    """A change as far as its base lets it speak for itself.

    Attributes:
        data: the document to be judged; the head's own where all of it holds.
    """

    data: Any
    kept: tuple[RefusedClaim, ...] = ()
    taken: tuple[Taken, ...] = ()


def hold_claims(head: Any, base: Any) -> Claims:
    """``head`` with the claims and settings that ``base`` has approved.

    Args:
        head: the document of the change, which is a blueprint.
        base: that of the base; None where there is none, and then nothing of the head's is
            approved.
    """
    if head == base or not isinstance(head, Mapping):
        return Claims(head)
    walk = _Walk(head, base if isinstance(base, Mapping) else None)
    data = walk.model(Blueprint, head, None if walk.base is None else [walk.base], ())
    kept = tuple(walk.kept)
    taken = tuple(Taken(path, tuple(names)) for path, names in walk.taken.items())
    return Claims(data if kept else head, kept, taken)


@dataclass(frozen=True)
class _Thing:
    """An entry of a list of the base.

    Attributes:
        chain: what it and all that it is part of are called.
    """

    model: type[Model]
    chain: Chain
    identity: Identity
    item: Mapping[str, Any]


@dataclass
class _Walk:
    head: Mapping[str, Any]
    base: Mapping[str, Any] | None
    kept: list[RefusedClaim] = field(default_factory=list)
    taken: dict[Path, list[str]] = field(default_factory=dict)
    _gone: Sequence[_Thing] | None = None
    _racks: Things = ()
    """The rack groups of the base that the site in hand may have."""

    def model(
        self, model: type[Model], head: Mapping[str, Any], bases: Things | None, path: Path
    ) -> dict[str, Any] | None:
        """One thing as it may be judged; None where nothing of it may.

        Args:
            model: what it is.
            head: the document's part.
            bases: what the base has in its place; none at all where a statement is new, and None
                where a thing is.
            path: where it stands.
        """
        fields, made = CLASSES[model], dict(head)
        if bases and all(base == head for base in bases):
            return made
        outer = self._racks
        if model is OnPremSite:
            self._racks = [group for base in bases or () for group in _rack_groups(base)]
        for name, rule in {**fields.claims, **fields.settings}.items():
            if rule.direction is Direction.APART:
                continue
            if not self._leaf(model, name, rule, made, bases, path):
                return None
        for name in (*fields.parts.split(), *fields.statements.split(), *fields.asked.split()):
            if inner := granting(model, name):
                known = self._region(head) if (model, name) == _OF_A_REGION else None
                self._inside(inner, name, fields, made, known or bases, path)
        self._racks = outer
        return made

    def _region(self, site: Mapping[str, Any]) -> Things | None:
        """The sites of the base in the region of a site that the base does not have, if any."""
        sites = list(_mappings((self.base or {}).get("sites")))
        if any(one.get("name") == site.get("name") for one in sites):
            return None
        return [one for one in sites if one.get("region") == site.get("region")]

    def _leaf(
        self,
        model: type[Model],
        name: str,
        rule: Milder,
        made: dict[str, Any],
        bases: Things | None,
        path: Path,
    ) -> bool:
        """Put what holds of one field; False where the thing cannot be without it."""
        now = made.get(name)
        if bases is None:
            if now is None:
                return True
            if rule.absent in {Absent.UNKNOWN, Absent.ELSEWHERE} or _required(model, name):
                self._take((*path, name))
                return True
            if rule.absent is Absent.MILD:
                return True  # whoever asks for more is judged so
            was = strictest(model, name, rule, now, [None])
        else:
            was = strictest(model, name, rule, now, [base.get(name) for base in bases] or [None])
        if was is now or was == now:
            return True
        if was is None and _required(model, name):
            if bases:  # the base is no blueprint there
                self._take((*path, name))
                return True
            return False
        self.kept.append(RefusedClaim((*path, name), now, was, bases is None))
        if was is None:
            del made[name]
        else:
            made[name] = was
        return True

    def _take(self, path: Path) -> None:
        """Note what is taken of something new, by the thing that it is part of."""
        ends = [n for n, part in enumerate(path) if isinstance(part, int)]
        end = ends[-1] + 1 if ends else 1
        names = ".".join(str(part) for part in path[end:])
        self.taken.setdefault(path[:end], []).append(names)

    def _inside(
        self,
        models: tuple[type[Model], ...],
        name: str,
        fields: Fields,
        made: dict[str, Any],
        bases: Things | None,
        path: Path,
    ) -> None:
        """Put what holds of the models in one field."""
        now = made.get(name)
        there = None if bases is None else [b[name] for b in bases if b.get(name) is not None]
        is_thing = name in fields.parts.split()
        if isinstance(now, list) or (now is None and any(isinstance(b, list) for b in there or ())):
            entries = self._entries(models, now or [], there, (*path, name), is_thing=is_thing)
            if entries != (now or []):
                made[name] = entries
        elif name == "sites" and not is_thing:  # the rates of single sites
            self._by_key(models[0], name, made, there, path)
        else:
            self._single(models, name, made, there, path, is_thing=is_thing)

    def _single(
        self,
        models: tuple[type[Model], ...],
        name: str,
        made: dict[str, Any],
        there: Sequence[Any] | None,
        path: Path,
        *,
        is_thing: bool,
    ) -> None:
        now = made.get(name)
        if now is not None and not isinstance(now, Mapping):
            return
        if now is None and (is_thing or not there):
            return  # what it says goes with it
        model = _model_of(models, now or {})
        known: Things | None = there and [
            b for b in there if isinstance(b, Mapping) and _same(model, now, b)
        ]
        if not known:
            known = None if is_thing or there is None else []
        found = self.model(model, now or {}, known, (*path, name))
        if found is None:
            self.kept.append(RefusedClaim((*path, name), now, None, is_new=False))
            del made[name]
        elif not found and now and known == []:
            del made[name]  # an empty one would be judged as something that is asked for
        elif found != (now or {}):
            made[name] = found

    def _by_key(
        self,
        model: type[Model],
        name: str,
        made: dict[str, Any],
        there: Sequence[Any] | None,
        path: Path,
    ) -> None:
        """Statements by what they are about."""
        now = made.get(name) or {}
        versions = [b for b in there or () if isinstance(b, Mapping)]
        found = {}
        for key in dict.fromkeys([*now, *(key for version in versions for key in version)]):
            bases: Things | None = [v[key] for v in versions if isinstance(v.get(key), Mapping)]
            if not bases and (there is None or not _has_site(self.base or {}, key)):
                gone = [v[old] for v in versions for old in v if not _has_site(self.head, old)]
                bases = [base for base in gone if isinstance(base, Mapping)] or None
            kept = self.model(model, now.get(key) or {}, bases, (*path, name, key))
            if kept or key in now:
                found[key] = kept or {}
        if found != now:
            made[name] = found

    def _entries(
        self,
        models: tuple[type[Model], ...],
        now: Sequence[Any],
        there: Sequence[Any] | None,
        path: Path,
        *,
        is_thing: bool,
    ) -> list[Any]:
        """The entries of a list, and what is restored of those that are gone."""
        listed = [b for version in there or () if isinstance(version, list) for b in version]
        before = [b for b in listed if isinstance(b, Mapping)]
        made: list[Any] = []
        met: set[Identity] = set()
        for number, item in enumerate(now):
            if not isinstance(item, Mapping):
                made.append(item)
                continue
            model = _model_of(models, item)
            identity = identity_of(model, item)
            met.add(identity)
            at = (*path, number)
            bases = self._counterparts(model, item, before, is_thing=is_thing)
            found = self.model(model, item, bases, at)
            if found is None and bases == []:  # a statement that the base does not make
                self.kept.append(RefusedClaim(at, item, None, is_new=False))
                continue
            made.append(item if found is None else found)
        if not is_thing:
            for item in before:
                model = _model_of(models, item)
                if identity_of(model, item) not in met:
                    met.add(identity_of(model, item))
                    made += self._restored(model, item, (*path, len(made)))
        return made

    def _counterparts(
        self,
        model: type[Model],
        item: Mapping[str, Any],
        before: Things,
        *,
        is_thing: bool,
    ) -> Things | None:
        """What the base has in the place of an entry, or what of it is gone."""
        identity = identity_of(model, item)
        if isinstance(identity, frozenset):
            same = [b for b in self._racks if identity & _racks_of(b)]
        else:
            same = [b for b in before if identity_of(model, b) == identity]
        if same or self.base is None or model in _ASKED:
            return same or None
        if not is_thing and _is_there(item, self.base):
            return []  # nothing was said of it
        gone = [thing for thing in self._gone_things() if thing.model is model]
        alike = [thing.item for thing in gone if thing.identity == identity]
        return alike or [thing.item for thing in gone] or None

    def _restored(
        self, model: type[Model], item: Mapping[str, Any], path: Path
    ) -> Iterator[dict[str, Any]]:
        """What holds of an entry that a change leaves out, though nothing is built without it."""
        if model in _ASKED:
            restored = self._where_it_is(item)
            if "parts" in item:
                parts = [self._where_it_is(part) for part in _mappings(item["parts"])]
                restored["parts"] = [p for p in parts if _is_there(p, self.head)]
                if not restored["parts"]:
                    return
            elif not _is_there(restored, self.head):
                return
            self.kept.append(RefusedClaim(path, None, restored, is_new=False))
            yield restored
            return
        if not _is_there(item, self.head):
            return
        bare = {name: item[name] for name in CLASSES[model].identity if name in item}
        found = self.model(model, bare, [item], path)
        if found and found != bare:
            yield found

    def _where_it_is(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """An entry about a node group, by the name that a group which is gone may have now."""
        if _is_there(item, self.head):
            return dict(item)
        before = set(_groups(self.base or {}))
        fresh = [place for place in _groups(self.head) if place not in before]
        fresh.sort(key=lambda place: place[1] != item.get("group"))
        return (
            {**item, **dict(zip(("site", "group"), fresh[0], strict=True))} if fresh else {**item}
        )

    def _gone_things(self) -> Sequence[_Thing]:
        """The things of the base that the head does not have where they were."""
        if self._gone is None:
            here = {(thing.model, thing.chain) for thing in _things(Blueprint, self.head, ())}
            racks = {
                (thing.chain[1], name)
                for thing in _things(Blueprint, self.head, ())
                if isinstance(thing.identity, frozenset)
                for name in thing.identity
            }
            self._gone = [
                thing
                for thing in _things(Blueprint, self.base or {}, ())
                if (
                    not any((thing.chain[1], name) in racks for name in thing.identity)
                    if isinstance(thing.identity, frozenset)
                    else (thing.model, thing.chain) not in here
                )
            ]
        return self._gone


def _things(model: type[Model], item: Mapping[str, Any], chain: Chain) -> Iterator[_Thing]:
    """Every entry of a list, inside and out, that can claim something."""
    fields = CLASSES[model]
    for name in (*fields.parts.split(), *fields.statements.split(), *fields.asked.split()):
        models, value = granting(model, name), item.get(name)
        if not models:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, Mapping):
                continue
            inner = _model_of(models, child)
            where = (*chain, name)
            if isinstance(value, list):
                identity = identity_of(inner, child)
                where = (*where, identity)
                yield _Thing(inner, where, identity, child)
            yield from _things(inner, child, where)


def _groups(document: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The node groups of a document, each with its site."""
    for site in _mappings(document.get("sites")):
        for group in _mappings(site.get("node_groups")):
            yield site.get("name"), group.get("name")


def _has_site(document: Mapping[str, Any], name: str) -> bool:
    return any(site.get("name") == name for site in _mappings(document.get("sites")))


def _is_there(item: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether a document has the node group that an entry is about, if it is about one."""
    group, site = item.get("group"), item.get("site")
    return group is None or any(
        group == name and site in {None, place} for place, name in _groups(document)
    )


def identity_of(model: type[Model], item: Mapping[str, Any]) -> Identity:
    """What tells an entry from the others of its list."""
    if model is RackGroup:
        return _racks_of(item)
    return tuple(_hashable(item.get(name)) for name in CLASSES[model].identity)


def _same(model: type[Model], now: Any, base: Mapping[str, Any]) -> bool:
    return now is None or identity_of(model, now) == identity_of(model, base)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else str(value)


def _racks_of(group: Mapping[str, Any]) -> frozenset[str]:
    try:
        return frozenset(expand_hostlist(str(group.get("racks", ""))))
    except ValueError:  # of a base that is no blueprint
        return frozenset()


def _rack_groups(site: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rack groups of a site, whatever row they are in."""
    for hall in _mappings(site.get("halls")):
        for row in _mappings(hall.get("rows")):
            yield from _mappings(row.get("rack_groups"))


def _mappings(value: Any) -> Iterable[Mapping[str, Any]]:
    entries = value if isinstance(value, list) else ()
    return [child for child in entries if isinstance(child, Mapping)]


def _required(model: type[Model], name: str) -> bool:
    return model.model_fields[name].is_required()


@cache
def granting(model: type[Model], name: str) -> tuple[type[Model], ...]:
    """The models in a field, if any of them has claims or settings, or holds one that has."""
    inner = tuple(models_in(model.model_fields[name].annotation))
    return inner if any(map(_grants, inner)) else ()


@cache
def _grants(model: type[Model]) -> bool:
    fields = CLASSES[model]
    rules = (*fields.claims.values(), *fields.settings.values())
    if fields.asked or any(rule.direction is not Direction.APART for rule in rules):
        return True
    names = (*fields.parts.split(), *fields.statements.split())
    return any(granting(model, name) for name in names)


def models_in(annotation: Any) -> Iterator[type[Model]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def _model_of(models: tuple[type[Model], ...], item: Mapping[str, Any]) -> type[Model]:
    """The one of several models that a document's part is; they differ in a fixed word."""
    for model in models:
        for name in ("provider", "kind"):
            info = model.model_fields.get(name)
            if (
                len(models) > 1
                and info is not None
                and get_origin(info.annotation) is Literal
                and item.get(name) in get_args(info.annotation)
            ):
                return model
    return models[0]
