"""Claims and requests of a change about its own hardware that its base has not approved.

A blueprint could grant itself invisible exceptions: a cap on the power of nodes, a source that needs no
redundancy, a budget. Such claims and settings are the base's until a change is merged; where the
change is stricter, that holds. Hardware is the head's: each field is marked (``rackwright.model.field_kinds``).

Things are matched by what they are called, racks by their names, wherever they stand. One that the
base does not have is held by what the base says of things of its kind that are gone, for it may be
one of them by another name, and of those that hosts or loads leave, for they may go there. Where
there is none either, what it grants itself is left out; what would be unknown without a word on it
is taken, and told: nothing new could be judged otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rackwright.model.aws import AwsNetwork, AwsSite
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.fabric import Cables, RoutingRun
from rackwright.model.field_kinds import Absent, Direction, Fields, Milder, marked_fields
from rackwright.model.onprem import OnPremSite, RackGroup
from rackwright.model.operations import BurnInResult
from rackwright.model.reliability import JobPart
from rackwright.policy.base_approval.moves import left_things, renamed_groups
from rackwright.policy.base_approval.strictest import strictest
from rackwright.policy.base_approval.things import (
    Identity,
    Thing,
    alike,
    cables_beside,
    cut_racks,
    gone_things,
    granting,
    groups_of,
    has_site,
    identity_of,
    is_account,
    is_built_alike,
    is_same,
    is_there,
    mappings,
    model_of,
    rack_groups_of,
    racks_of,
)
from rackwright.reading.tree import Path

Things = Sequence[Mapping[str, Any]]

_OF_A_REGION = (AwsSite, "limits")
"""What AWS says of an account in a region, of all sites there."""
_COMPARED = 100
"""Things that are compared with one by another name."""
_ZONES = (AwsNetwork, "zone_ids")
"""The zones behind names, which differ from account to account."""


@dataclass(frozen=True)
class RefusedClaim:
    """A claim or setting of a change that does not hold.

    Attributes:
        path: where it stands in the change, or would stand.
        now: what the change says, as it is written; None where it says nothing.
        was: what holds.
        is_new: the base does not have the thing that it is about.
        is_left: the thing is new, and what holds is what the base says of those that something leaves.
    """

    path: Path
    now: Any
    was: Any
    is_new: bool
    is_left: bool = False


@dataclass(frozen=True)
class Taken:
    """A thing that is new, and its claims that are not approved.

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


@dataclass
class _Walk:
    head: Mapping[str, Any]
    base: Mapping[str, Any] | None
    kept: list[RefusedClaim] = field(default_factory=list)
    taken: dict[Path, list[str]] = field(default_factory=dict)
    _racks: Things = ()
    """The rack groups of the base that the site in hand may have."""
    _moved: bool = False
    """Whether the thing in hand is held by what the base says of those that something leaves."""
    _abroad: bool = False
    """True while a site is read that moves to another region or account."""
    _partners: set[int] = field(default_factory=set)
    """The things of the base that entries by other names are paired with."""

    def model(
        self, model: type[Model], head: Mapping[str, Any], bases: Things | None, path: Path
    ) -> dict[str, Any] | None:
        """Return one thing as it may be judged; None where nothing of it may.

        Args:
            model: what it is.
            head: the document's part.
            bases: what the base has in its place; none at all where a statement is new, and None
                where a thing is.
            path: where it stands.
        """
        fields, made = marked_fields(model), dict(head)
        same = bases and all(base == head for base in bases)
        if same and not (self._abroad or self._other_products):  # most things do not change
            return made
        # A statement about another product or place is another statement, not a changed one.
        if bases and fields.about:
            bases = [b for b in bases if all(b.get(n) == head.get(n) for n in fields.about)]
        outer = self._racks
        if model is OnPremSite:
            self._racks = [group for base in bases or () for group in rack_groups_of(base)]
        elif model is AwsSite:
            self._abroad = bool(bases) and not any(is_account(base, head) for base in bases or ())
        for name, rule in {**fields.claims, **fields.settings}.items():
            if rule.direction is Direction.APART:  # ``approval`` holds these, with their reasons
                continue
            if not self._leaf(model, name, rule, made, bases, path):
                return None
        for name in fields.inside:
            if inner := granting(model, name):
                known = self._region(head, bases) if (model, name) == _OF_A_REGION else bases
                self._inside(inner, name, fields, made, known, path)
        self._racks = outer
        return made

    def _region(self, site: Mapping[str, Any], bases: Things | None) -> Things | None:
        """Return the sites of the base in the region of a site; quotas are those of its account.

        Empty where its region or account changes to one of which the base says nothing; None where
        the site and the region are new.
        """
        there = [one for one in bases or () if is_account(one, site)]
        every = mappings((self.base or {}).get("sites"))
        there = there or [one for one in every if is_account(one, site)]
        return there or (None if bases is None else [])

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
        if self._abroad and (model, name) == _ZONES:
            bases = bases and []
        if bases is None:
            if now is None:
                return True
            if rule.absent in {Absent.UNKNOWN, Absent.ELSEWHERE} or _required(model, name):
                self._take((*path, name))
                return True
            if rule.absent is Absent.MILD:
                return True  # a request for more is checked so
            was = strictest(model, name, rule, now, [None])
        else:
            was = strictest(model, name, rule, now, [base.get(name) for base in bases] or [None])
        if was is now or was == now:
            return True
        if was is None and _required(model, name):
            if not bases:
                return False
            was = next((base[name] for base in bases if base.get(name) is not None), None)
            if was is None:  # the base is no blueprint there
                self._take((*path, name))
                return True
        self.kept.append(RefusedClaim((*path, name), now, was, bases is None, self._moved))
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
        is_thing = name in fields.parts
        if isinstance(now, list) or (now is None and any(isinstance(b, list) for b in there or ())):
            entries = self._entries(models, name, fields, now or [], there, (*path, name))
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
        model = model_of(models, now or {})
        if model is RoutingRun and self.base is not None:  # of what is there, it is a statement
            is_thing = not is_built_alike(made, self.head["sites"][path[1]], self.base)
        known: Things | None = there and [
            b for b in there if isinstance(b, Mapping) and is_same(model, now, b)
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
        """Return statements by what they are about."""
        now = made.get(name) or {}
        versions = [b for b in there or () if isinstance(b, Mapping)]
        found = {}
        for key in dict.fromkeys([*now, *(key for version in versions for key in version)]):
            bases: Things | None = [v[key] for v in versions if isinstance(v.get(key), Mapping)]
            if not bases and (there is None or not has_site(self.base or {}, key)):
                left = [thing.item.get("name") for thing in self._left if len(thing.chain) == 2]
                former = [
                    version[old]
                    for version in versions
                    for old in version
                    if old in left or not has_site(self.head, old)
                ]
                bases = [base for base in former if isinstance(base, Mapping)] or None
            kept = self.model(model, now.get(key) or {}, bases, (*path, name, key))
            if kept or key in now:
                found[key] = kept or {}
        if found != now:
            made[name] = found

    def _entries(
        self,
        models: tuple[type[Model], ...],
        name: str,
        fields: Fields,
        now: Sequence[Any],
        there: Sequence[Any] | None,
        path: Path,
    ) -> list[Any]:
        """Return the entries of a list, and what is restored of those that are gone."""
        listed = [b for version in there or () if isinstance(version, list) for b in version]
        before: Things = mappings(listed)
        is_thing, is_asked = name in fields.parts, name in fields.asked
        if is_asked:
            before = self._where_they_are(models, before)
        made: list[Any] = []
        met: set[Identity] = set()
        for number, item in enumerate(now):
            if not isinstance(item, Mapping):
                made.append(item)
                continue
            model = model_of(models, item)
            met.add(identity_of(model, item))
            same = self._same(model, item, before)
            if model is Cables and not same:
                same = cables_beside(item, before, mappings(now))
            if model is BurnInResult and (item["site"], item["group"]) in self._other_products:
                same = []  # of other nodes
            found: list[Mapping[str, Any]] = []
            first = len(self.kept)
            for part, its in cut_racks(item, same) if model is RackGroup else [(item, same)]:
                outer = self._moved
                bases = its or None
                if not is_asked:
                    bases = self._counterparts(model, part, its, is_thing=is_thing)
                judged = self.model(model, part, bases, (*path, number))
                self._moved = outer
                if judged is None and bases == []:  # a statement that the base does not make
                    self.kept.append(RefusedClaim((*path, number), item, None, is_new=False))
                    continue
                found.append(part if judged is None else judged)
            if len(found) > 1:
                told = self.kept[first:]
                self.kept[first:] = [one for n, one in enumerate(told) if one not in told[:n]]
                if all({**one, "racks": ""} == {**found[0], "racks": ""} for one in found):
                    found = [{**found[0], "racks": item["racks"]}]
            made += found
        if not is_thing:
            for item in before:
                model = model_of(models, item)
                if identity_of(model, item) not in met:
                    met.add(identity_of(model, item))
                    at = (*path, len(made))
                    made += (
                        self._asked_still(item, at) if is_asked else self._restored(model, item, at)
                    )
        return made

    @cached_property
    def _other_products(self) -> Sequence[tuple[Any, Any]]:
        """The node groups that are of another product than in the base."""
        before = groups_of(self.base or {})
        return [
            place
            for place, group in groups_of(self.head).items()
            if before.get(place, group).get("type") != group.get("type")
        ]

    def _same(self, model: type[Model], item: Mapping[str, Any], before: Things) -> Things:
        """Return the entries of the base that an entry replaces."""
        identity = identity_of(model, item)
        # A rack group is identified by its racks: groups may be split, joined and renamed.
        if isinstance(identity, frozenset):
            return [b for b in self._racks if identity & racks_of(b)]
        return [b for b in before if identity_of(model, b) == identity]

    def _counterparts(
        self, model: type[Model], item: Mapping[str, Any], same: Things, *, is_thing: bool
    ) -> Things | None:
        """Return the entries of the base that an entry replaces, or the rest of them, and what is left."""
        identity = identity_of(model, item)
        grows = not same
        if isinstance(identity, frozenset):
            grows = not identity <= {name for group in same for name in racks_of(group)}
        if not grows or self.base is None:
            return same or None
        # Otherwise a claim would be loosened by renaming its thing, or by moving a node to another.
        gone = [thing for thing in self._gone if thing.model is model]
        named = [thing for thing in gone if thing.identity == identity]
        gone = named or [thing for thing in gone if _is_of_kind(thing, model, item)] or gone
        if not is_thing and is_there(item, self.base):
            # Nothing was said of it, unless it had another name.
            has_name = "name" in marked_fields(model).identity
            return self._paired(item, gone) if has_name else []
        left = [thing for thing in self._left if _is_of_kind(thing, model, item)]
        self._moved = self._moved or bool(left and not gone)
        return [*same, *self._paired(item, [*gone, *left])] or None

    def _paired(self, item: Mapping[str, Any], things: Sequence[Thing]) -> list[Mapping[str, Any]]:
        """Return things that an entry may be by another name, the most alike that is no other's first.

        Several entries never take their values of one thing: that is more than a name.
        """
        items = [thing.item for thing in things]
        free = [other for other in items if id(other) not in self._partners] or items
        if not free:
            return []
        partner = max(free[:_COMPARED], key=lambda other: alike(other, item))
        self._partners.add(id(partner))
        return [partner, *(other for other in items if other is not partner)]

    def _restored(
        self, model: type[Model], item: Mapping[str, Any], path: Path
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the claims of an entry that a change omits, though nothing is built without it."""
        if not is_there(item, self.head):
            return
        bare = {name: item[name] for name in marked_fields(model).hardware if name in item}
        found = self.model(model, bare, [item], path)
        if found and found != bare:
            yield found

    def _asked_still(self, item: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
        """Yield an entry that an owner asks for and a change omits, as far as its places are there."""
        kept = dict(item)
        if "parts" in item:
            parts = self._where_they_are((JobPart,), mappings(item["parts"]))
            kept["parts"] = [part for part in parts if is_there(part, self.head)]
        if "at" in item:
            kept["at"] = [site for site in item["at"] if has_site(self.head, site)]
        if is_there(kept, self.head) and all(kept.get(name) != [] for name in ("parts", "at")):
            self.kept.append(RefusedClaim(path, None, kept, is_new=False))
            yield kept

    def _where_they_are(self, models: tuple[type[Model], ...], entries: Things) -> Things:
        """Return what is asked for, with the names that renamed groups and sites may have now."""
        sites = {before: now for (before, _), (now, _) in self._renamed.items()}
        found: dict[Identity, dict[str, Any]] = {}
        for entry in entries:
            made = dict(entry)
            if "group" in entry:
                own = entry.get("site"), entry["group"]
                made["site"], made["group"] = self._renamed.get(own, own)
            if isinstance(entry.get("at"), list):
                made["at"] = [
                    site if has_site(self.head, site) else sites.get(site, site)
                    for site in entry["at"]
                ]
            identity = identity_of(model_of(models, made), made)
            if identity in found:  # two groups became one
                hosts = made.get("hosts"), found[identity].get("hosts")
                made["hosts"] = sum(number for number in hosts if isinstance(number, int))
            found[identity] = made
        return list(found.values())

    @cached_property
    def _renamed(self) -> Mapping[Any, Any]:
        """The node groups that are gone, and which of the new ones each may be."""
        return renamed_groups(self.base or {}, self.head)

    @cached_property
    def _gone(self) -> Sequence[Thing]:
        """The things of the base that the head does not have where they were."""
        return gone_things(self.base or {}, self.head)

    @cached_property
    def _left(self) -> Sequence[Thing]:
        """The things of the base that the head has, and that hosts or loads leave in it."""
        gone = {(thing.model, thing.chain) for thing in self._gone}
        left = left_things(self.base or {}, self.head)
        return [thing for thing in left if (thing.model, thing.chain) not in gone]


def _is_of_kind(thing: Thing, model: type[Model], item: Mapping[str, Any]) -> bool:
    return thing.model is model and thing.item.get("kind") == item.get("kind")


def _required(model: type[Model], name: str) -> bool:
    return model.model_fields[name].is_required()
