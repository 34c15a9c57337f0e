"""Policy settings that a blueprint requests, and those that a base revision has approved.

A change does not approve itself: where its base has the blueprint, the base's ``policies``,
``profile``, ``policy_set`` and ``stage`` hold until it is merged. Where the change asks for more, that holds.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import Location
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint, PolicySetting, Reason
from rackwright.policy.api import Enforcement, Policy, Profile, Stage
from rackwright.policy.base_approval.base_packs import BasePack, State, base_packs
from rackwright.policy.base_approval.former_blueprint import former_path
from rackwright.policy.exception_report import Lowered, Notice, NoticeKind
from rackwright.policy.packs.process import TeamPolicy, team_rules
from rackwright.policy.policy_sets import (
    SETS,
    Regime,
    Standing,
    regime_for,
    standing,
    standing_with,
)
from rackwright.policy.reasons import decided, explained, why
from rackwright.policy.settings import STRENGTH, configure
from rackwright.reading.loader import tree_of, validate
from rackwright.reading.tree import Item, Tree
from rackwright.reading.versions.base import layers_at, read_base
from rackwright.team.base import BaseConfig, base_config

_PROFILES, _STAGES = tuple(Profile), tuple(Stage)


class _Settings(Model):
    """The part of a blueprint that says how it is judged."""

    profile: Profile | None = None
    policy_set: str | None = None
    stage: Stage | None = None
    policies: dict[str, PolicySetting] = {}


@dataclass(frozen=True)
class Asked:
    """Policy settings requested by one revision of a blueprint. Empty by default.

    Attributes:
        tree: where it says so.
        owner: who answers for it.
        reasons: for its fields, by their names.
    """

    settings: Mapping[str, PolicySetting]
    regime: Regime
    tree: Tree | None = None
    owner: str | None = None
    reasons: Mapping[str, Reason] = field(default_factory=dict)

    def standing(self, policy: Policy) -> Standing:
        """Return the standing of ``policy``."""
        return standing_with(policy, self.settings, self.regime)

    def place(self, *path: str) -> Location | None:
        """Return position of the policy settings in the blueprint."""
        return self.tree.locate(path) if self.tree else None


NOTHING = Asked({}, regime_for(None, None))
"""What a blueprint asks for that is silent."""


@dataclass(frozen=True)
class Approval:
    """Policy settings approved by a base revision.

    Attributes:
        ref: its name.
        asked: what its version of the blueprint asks for; None where it has none.
        listed: the packs that it lists.
        isolated: no pack of the change judges, so that all of these do.
        document: its version of the blueprint; None where it has none.
        former: where that is, if the change has it in another file.
        config: its configuration of the team; None where it has none.
    """

    ref: str
    asked: Asked | None
    listed: tuple[BasePack, ...] = ()
    isolated: bool = False
    document: Any = None
    former: Path | None = None
    config: BaseConfig | None = None

    @property
    def packs(self) -> tuple[Path, ...]:
        """The folders of packs that judge as the base has them, and only so."""
        alone = tuple(State) if self.isolated else (State.DROPPED,)
        return tuple(pack.folder for pack in self.listed if pack.folder and pack.state in alone)

    @property
    def edited(self) -> tuple[Path, ...]:
        """The folders of packs that judge as the base has them, and as the change does."""
        edited = () if self.isolated else (State.EDITED,)
        return tuple(pack.folder for pack in self.listed if pack.folder and pack.state in edited)


def asked_by(blueprint: Blueprint, tree: Tree) -> Asked:
    """Return the policy settings that ``blueprint`` requests."""
    regime = regime_for(blueprint.profile, blueprint.policy_set, blueprint.stage)
    return Asked(blueprint.policies, regime, tree, blueprint.owner, blueprint.reasons)


def read_approval(
    blueprint: Path, layers: Sequence[Path], ref: str, *, isolated: bool = False
) -> Approval:
    """Read the policy settings for ``blueprint`` that ``ref`` has approved.

    A layer that the revision does not have changes nothing in it. A blueprint that the change
    renames is that of the revision still.

    Args:
        blueprint: the file.
        layers: files over it.
        ref: a revision of the blueprint's repository.
        isolated: let no pack of the change judge, as ``packs_for``.

    Raises:
        SpecErrors: a file of the revision cannot be read as YAML, or its settings are not valid.
        RackwrightError: the revision cannot be read.
    """
    former = former_path(blueprint, ref)
    config = base_config(blueprint, ref, former)
    listed = base_packs(blueprint, config, isolated=isolated)
    items: dict[Path, Item] = {}
    for path, paths in (
        (blueprint, [former]),
        *((p, [p, _beside(p, blueprint, former)]) for p in layers),
    ):
        found = (read_base(at, ref, blueprint) for at in dict.fromkeys(paths))
        item = next((item for item in found if item is not None), None)
        if item is not None:
            items |= {path: item, **layers_at(item, paths[-1], ref, blueprint)}
    if blueprint not in items:
        return Approval(ref, None, listed, isolated, config=config)
    tree = tree_of(list(items.values()))
    document = tree.data
    if isinstance(document, dict):
        kept = {key: document[key] for key in _Settings.model_fields if key in document}
        tree = Tree(tree.root, kept, tree.files)
    settings = validate(tree, _Settings).value
    regime = regime_for(settings.profile, settings.policy_set, settings.stage)
    asked = Asked(settings.policies, regime, tree)
    elsewhere = None if former == blueprint else former
    return Approval(ref, asked, listed, isolated, document, elsewhere, config)


def _beside(layer: Path, blueprint: Path, former: Path) -> Path:
    """Return the former path of a layer that was moved together with its blueprint."""
    return former.parent / os.path.relpath(layer.absolute(), blueprint.absolute().parent)


@dataclass(frozen=True)
class Judgement:
    """Rules of one judgement.

    Attributes:
        policies: the rules with their parameters.
        standings: enforcement of each rule, by id.
        regime: profile and policy set.
    """

    policies: tuple[Policy, ...]
    standings: Mapping[str, Standing]
    regime: Regime


@dataclass(frozen=True)
class Approved:
    """Both judgements of a change, and what is to be said about its settings.

    Attributes:
        own: the judgement that the change asks for.
        base: the judgement by the rules and settings of its base; ``own`` where nothing differs.
        regime: the stricter profile and policy set of both.
        notices: settings that the change lowers.
        lowered: settings that the blueprint lowers, and that apply.
    """

    own: Judgement
    base: Judgement
    regime: Regime
    notices: tuple[Notice, ...] = ()
    lowered: tuple[Lowered, ...] = ()


def hold(
    classes: Sequence[type[Policy]],
    own: Sequence[Policy],
    head: Asked,
    tree: Tree,
    approval: Approval | None = None,
    only: Collection[str] = (),
) -> Approved:
    """Return the judgements of a change by its own settings and by those of its base.

    Args:
        classes: the rules of the change, and those that it drops.
        own: the same with the parameters of the change.
        head: its settings.
        tree: its document, for places.
        approval: what its base has approved; None lets the change approve itself.
        only: ids of the policies that judge; empty means all.

    Raises:
        PolicyLoadError: a pack of the base cannot be loaded.
    """
    listed = approval.listed if approval else ()
    dropped = {pack.folder for pack in listed if pack.state is State.DROPPED}
    chosen = tuple(
        policy
        for policy in own
        if (not only or policy.id in only)
        and not (isinstance(policy, TeamPolicy) and policy.pack.folder in dropped)
    )
    mine = Judgement(chosen, {one.id: head.standing(one) for one in chosen}, head.regime)
    asked = approval.asked if approval else None
    if approval is None:
        return Approved(mine, mine, head.regime, (), tuple(_lowered(mine, mine, (head,))))
    before = {rule.id: rule for rule in classes if not only or rule.id in only}
    for pack in approval.edited:
        before |= {rule.id: rule for rule in team_rules(pack) if not only or rule.id in only}
    base = asked or head
    place = base.tree or tree
    made = configure([*before.values()], base.settings, place, regime=base.regime, lenient=True)
    theirs = Judgement(made, {one.id: base.standing(one) for one in made}, base.regime)
    regime = Regime(
        max(base.regime.profile, head.regime.profile, key=_PROFILES.index),
        max(base.regime.policy_set, head.regime.policy_set, key=SETS.index),
        max(base.regime.stage, head.regime.stage, key=_STAGES.index),
    )
    held = {type(one): one for one in made}
    pairs = [(held.get(type(one), one), one) for one in chosen]
    return Approved(
        mine,
        mine if theirs == mine else theirs,
        regime,
        tuple(_notices(approval, asked or NOTHING, head, pairs)),
        tuple(_lowered(theirs, mine, (head, base))),
    )


def _notices(
    approval: Approval,
    base: Asked,
    head: Asked,
    policies: Sequence[tuple[Policy, Policy]],
) -> Iterator[Notice]:
    """Yield what the head lowers, of ``policies`` as the base and as the head has each.

    In a blueprint that is new it holds, for there is nothing else.
    """
    ref, new = approval.ref, approval.asked is None

    def effect(stays: str) -> str:
        """``stays`` is what is approved."""
        return decided(ref, stays, is_new=new)

    for pack in approval.listed:
        if text := _pack_text(pack, ref, isolated=approval.isolated):
            yield Notice(NoticeKind.LOWERED, pack.path, "", text, pack.location)
    for name, order in (("profile", _PROFILES), ("policy_set", SETS), ("stage", _STAGES)):
        was, now = getattr(base.regime, name), getattr(head.regime, name)
        if order.index(now) < order.index(was):
            reason = why(head.reasons, name, head.owner)
            text = f"'{now}' in this change{reason}; {effect(_quoted(was))}"
            place = head.place(name) or base.place(name)
            yield Notice(NoticeKind.LOWERED, name, "", text, place)
    for held, wanted in policies:
        policy = held.id
        setting = head.settings.get(policy)
        place = (head if setting else base).place("policies", policy)
        owner = (setting.owner if setting else None) or head.owner
        reason = explained(setting.reason if setting else None, owner)
        was, now = base.standing(held).enforcement, head.standing(wanted).enforcement
        named = _sets(base, policy) or _sets(head, policy)
        if named and STRENGTH[now] < STRENGTH[was]:
            text = f"'{now}' in this change{reason}; {effect(_quoted(was))}"
            yield Notice(NoticeKind.LOWERED, policy, policy, text, place)
        changed = ", ".join(
            f"'{name}'"
            for name in type(held).model_fields
            if getattr(held, name) != getattr(wanted, name)
        )
        if changed:
            text = f"other parameters in this change{reason}: {changed}; {effect('as it is there')}"
            yield Notice(NoticeKind.LOWERED, policy, policy, text, place)


def _pack_text(pack: BasePack, ref: str, *, isolated: bool) -> str:
    """Return the notice about a pack of ``ref``; empty if it checks as before."""
    if pack.state is State.DROPPED:
        rules = "they judge still, until the change is merged"
        if pack.folder is None:
            rules = f"they do not: {pack.why}"
        return f"the pack is not listed in this change; '{ref}' has its rules judge, and {rules}"
    if pack.state is State.EDITED and pack.folder:
        also = "" if isolated else "as the change has them, and "
        until = "until the change is merged"
        return (
            f"the pack is edited in this change; its rules judge {also}as '{ref}' has them, {until}"
        )
    if pack.state is State.EDITED:
        return f"the pack is another one in this change; that of '{ref}' does not judge: {pack.why}"
    return f"the pack does not judge: {pack.why}" if isolated and pack.folder is None else ""


def _sets(asked: Asked, policy: str) -> bool:
    setting = asked.settings.get(policy)
    return setting is not None and setting.enforcement is not None


def _lowered(base: Judgement, own: Judgement, asked: Sequence[Asked]) -> Iterator[Lowered]:
    """Yield the rules that both judgements apply more loosely than the rule itself says."""
    for policy in base.policies:
        itself = standing(policy, base.regime).enforcement
        held = max(
            (
                one.standings[policy.id].enforcement
                for one in (base, own)
                if policy.id in one.standings
            ),
            key=STRENGTH.__getitem__,
        )
        if STRENGTH[held] >= STRENGTH[itself]:
            continue
        for one in asked:
            setting = one.settings.get(policy.id)
            if setting is not None and setting.enforcement == held:
                place = one.place("policies", policy.id)
                yield Lowered(
                    policy.id, policy.title, Enforcement(held), itself, setting.reason or "", place
                )
                break


def _quoted(word: str) -> str:
    return f"'{word}'"
