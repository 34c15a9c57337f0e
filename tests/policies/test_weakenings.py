"""No change of a refused site passes by what it says of itself, judged against its base.

Changes are drawn over the whole schema: every field, whether the site has it or not, both ways, and
deletion; alone and several at once. Where a refused site passes with a change, hardware changes; and
where more changes than hardware, it passes with the hardware alone. ``RACKWRIGHT_EXAMPLES=many`` tries
more of them; ``every`` tries every change of every example, and many more at once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest

from examples import EVERY, MANY
from omissions import POLICIES, Refused, field_of
from rackwright.errors import RackwrightError
from rackwright.exit_codes import ExitCode
from rackwright.model.cluster import Blueprint
from rackwright.plan.load import load_data
from rackwright.policy.base_approval.approval import Approval, asked_by
from rackwright.policy.check import check_plan
from refused import FAULTS, a_faulty_site, refused_by
from weakenings import (
    APART,
    Change,
    FieldClass,
    accepts,
    by_hardware,
    changed_fields,
    changes_of,
    documents,
    every_change,
    judged_by_the_base,
    renamed,
    several,
    takes_back,
    things,
)

pytestmark = pytest.mark.sweep
EACH = 4 if MANY else 1
"""Changes of each refused example that are tried, where not every one is."""
ASKED = {*APART, "stage"}
"""Keys by which a blueprint asks to be checked."""
EACH_FAULT = 16 if MANY else 8
TOGETHER = 20_000 if EVERY else 200 if MANY else 40


def weakened(sites: Sequence[Refused], most: int, measured: Callable[[str], None]) -> Iterator[str]:
    """The changes that make a refused site pass, and are none of hardware."""
    verdicts: Counter[str] = Counter()
    seeded = random.Random(3)
    for site in sites:
        changes = changes_of(site)
        seeded.shuffle(changes)
        tried = 0
        for change in changes:
            if change.of_hardware:
                continue
            data = change.apply(site.data)
            if by_hardware(site, data) or takes_back(site, data):
                continue
            tried += 1
            if not EVERY and tried > most:
                break
            verdict = judged_by_the_base(site, data)
            if verdict is None:
                verdicts["no blueprint"] += 1
            elif verdict:
                verdicts["passes"] += 1
                yield f"{site.name}: {change.name} at {field_of(change.path)}"
            elif accepts(site, data):
                verdicts["would pass by itself"] += 1
            else:
                verdicts["refused"] += 1
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert verdicts["refused"]


@pytest.mark.parametrize("family", sorted({policy.family for policy in POLICIES}))
def test_no_example_passes_by_a_claim_or_setting_of_the_change(
    family: str, measured: Callable[[str], None]
) -> None:
    policies = [policy for policy in POLICIES if policy.family == family]
    sites = [site for policy in policies for site in refused_by(policy)]
    assert list(weakened(sites, EACH, measured)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_no_complete_site_passes_by_a_claim_or_setting_of_the_change(
    fault: str, tmp_path: FilePath, measured: Callable[[str], None]
) -> None:
    site = a_faulty_site("hybrid-h100", FAULTS[fault], tmp_path)
    assert list(weakened([site], EACH_FAULT, measured)) == []


def test_several_changes_at_once_pass_by_their_hardware(measured: Callable[[str], None]) -> None:
    """Where several pass together, those of hardware pass alone."""
    seeded = random.Random(4)
    sites = [site for policy in POLICIES for site in refused_by(policy)]
    known: dict[int, list[Change]] = {}
    verdicts: Counter[str] = Counter()
    found = []
    while sum(verdicts.values()) < TOGETHER:
        site = seeded.choice(sites)
        changes = several(seeded, known.setdefault(id(site), changes_of(site)))
        data, hardware = site.data, site.data
        for change in changes:
            alone = change.apply(site.data)
            data = change.apply(data)
            if by_hardware(site, alone):
                hardware = change.apply(hardware)
        verdict = judged_by_the_base(site, data)
        if verdict is None:
            continue
        if verdict and not accepts(site, hardware):
            found.append(f"{site.name}: {[(c.name, c.path, c.value) for c in changes]}")
        verdicts["passes by its hardware" if verdict else "refused"] += 1
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert found == []
    assert len(verdicts) == 2


def test_no_change_passes_whose_merge_is_refused(measured: Callable[[str], None]) -> None:
    """Every field of a complete cluster, both ways and left out, and how it asks to be judged."""
    base = documents()[-2]
    seeded = random.Random(6)
    changes = [*every_change(base)]
    tried = changes if EVERY else seeded.sample(changes, 600 if MANY else 60)
    verdicts: Counter[str] = Counter()
    then = load_data(base)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
    assert check_plan(then).exit_code is ExitCode.CLEAN
    found = []
    for change in tried:
        try:
            head = load_data(change.apply(base))
        except RackwrightError:
            verdicts["no blueprint"] += 1
            continue
        try:
            passes = check_plan(head, approval=approval).exit_code is ExitCode.CLEAN
            merged = check_plan(head).exit_code is ExitCode.CLEAN
        except RackwrightError:
            verdicts["refused in words"] += 1
            continue
        verdicts[
            f"{'passes' if passes else 'refused'}, merged {'passes' if merged else 'fails'}"
        ] += 1
        if passes and not merged:
            found.append(f"{change.name} at {field_of(change.path)} = {change.value!r}")
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert found == []
    assert verdicts["refused, merged fails"]
    assert verdicts["passes, merged passes"]


def is_hardware(before: Any, after: Any) -> bool:
    """True if a change changes hardware."""
    return FieldClass.HARDWARE in {kind for _, kind in changed_fields(before, after)}


def asked_otherwise(base: Any, refusing: Iterable[str]) -> list[Change]:
    """Changes by which a blueprint asks to be checked by less."""
    off = {"enforcement": "disabled", "reason": "the rule is wrong here"}
    settings = [
        (("policies",), {**base.get("policies", {}), **dict.fromkeys(refusing, off)}),
        (("profile",), "lab"),
        (("policy_set",), "0.1"),
        (("stage",), "concept"),
    ]
    return [Change(path, value, ((Blueprint, path[0]),)) for path, value in settings]


def test_no_change_of_any_field_passes_but_by_hardware_and_none_fails_once_merged(
    tmp_path: FilePath, measured: Callable[[str], None]
) -> None:
    """The whole gate: several changes of one refused cluster, of settings and of names as well."""
    seeded = random.Random(7)
    verdicts: Counter[str] = Counter()
    found = []
    for number, fault in enumerate(
        FAULTS.values() if MANY else seeded.sample([*FAULTS.values()], 3)
    ):
        base = a_faulty_site("hybrid-h100", fault, tmp_path / str(number)).data
        then = load_data(base)
        approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
        refused = check_plan(then)
        assert refused.exit_code is not ExitCode.CLEAN
        refusing = {result.policy for result in refused.results if result.blocks}
        changes = [*every_change(base)]
        settings = asked_otherwise(base, refusing)
        for _ in range(TOGETHER if EVERY else 40 if MANY else 10):
            data = hardware = base
            drawn = several(seeded, [*seeded.sample(changes, 4), *settings])
            for change in drawn:
                data = change.apply(data)
                if change.path[0] not in ASKED and is_hardware(base, change.apply(base)):
                    hardware = change.apply(hardware)
            if seeded.random() < 0.3:
                name = seeded.choice(things(base))
                data, hardware = (renamed(one, name, f"{name}x") for one in (data, hardware))
            try:
                head = load_data(data)
                passes = check_plan(head, approval=approval).exit_code is ExitCode.CLEAN
                merged = check_plan(head).exit_code is ExitCode.CLEAN
                alone = passes and check_plan(load_data(hardware)).exit_code is ExitCode.CLEAN
            except RackwrightError:
                verdicts["refused in words"] += 1
                continue
            verdicts["passes" if passes else "refused, merged passes" if merged else "refused"] += 1
            if passes and not (merged and alone):
                found.append([(c.name, c.path, c.value) for c in drawn])
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert found == []
    assert verdicts["refused"]
    assert verdicts["refused, merged passes"], "some change would have approved itself"


def test_renamed_entry_keeps_its_claims(measured: Callable[[str], None]) -> None:
    """Some things get other names, and what is said of them changes in the same pull request."""
    seeded = random.Random(5)
    sites = [site for policy in POLICIES for site in refused_by(policy)]
    known: dict[int, list[Change]] = {}
    verdicts: Counter[str] = Counter()
    found = []
    while sum(verdicts.values()) < TOGETHER:
        site = seeded.choice(sites)
        names = things(site.data)
        every = known.setdefault(id(site), changes_of(site))
        some = seeded.sample(every, min(len(every), 40))
        claims = [c for c in some if not by_hardware(site, c.apply(site.data))]
        if len(claims) < 2:
            continue
        data, hardware = site.data, site.data
        changes = several(seeded, claims)
        for change in changes:
            data = change.apply(data)
        if takes_back(site, data):
            continue
        drawn = seeded.sample(names, seeded.randint(1, min(3, len(names))))
        for name in drawn:
            data, hardware = (renamed(one, name, f"{name}x") for one in (data, hardware))
        if accepts(site, hardware) is not False:
            continue
        verdict = judged_by_the_base(site, data)
        if verdict is None:
            continue
        if verdict:
            found.append(f"{site.name}: {drawn} {[(c.name, c.path, c.value) for c in changes]}")
        by_itself = bool(accepts(site, data))
        verdicts["would pass by itself" if by_itself and not verdict else "refused"] += 1
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert found == []
    assert verdicts["refused"]
