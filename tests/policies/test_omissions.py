"""Leaving something out never makes a refused site pass.

Every example that a policy refuses, and complete sites with one fault each, lose what they hold: any
key and any entry of a list. What is left is no blueprint, or is refused still, or there is less
hardware. By default each field is tried once in each family of policies, and pairs are a sample, both
chosen by a fixed seed; ``RACKWRIGHT_EXAMPLES=many`` tries more, and ``every`` everything.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest

from examples import EVERY, MANY
from omissions import (
    EXPLAINED,
    POLICIES,
    Refused,
    explains,
    field_of,
    is_explained,
    paths,
    plan_of,
    verdict_of,
    without,
)
from rackwright.reading.tree import Path
from refused import FAULTS, GROUP, a_faulty_site, refused_by

pytestmark = pytest.mark.sweep
PAIRS = 3_000 if EVERY else 1_000 if MANY else 150
TIMES = 4 if MANY else 1
"""How often each field is tried in a family of policies, where not everything is."""
FIELDS = 120 if MANY else 40
"""Fields of each complete site that are tried, where not every one is."""

Case = tuple[Refused, Path]


def by_field(sites: Sequence[Refused]) -> Mapping[str, Sequence[Case]]:
    found: dict[str, list[Case]] = {}
    for site in sites:
        for path in paths(site.data):
            found.setdefault(field_of(path), []).append((site, path))
    return found


def singles(sites: Sequence[Refused], most: int | None = None) -> Iterator[Case]:
    """Every deletion, or some of each field; of ``most`` fields, if there are more."""
    seeded = random.Random(1)
    fields = by_field(sites)
    names = [*fields]
    if not EVERY and most is not None and most < len(names):
        names = seeded.sample(names, most)
    for name in names:
        cases = fields[name]
        yield from cases if EVERY else seeded.sample(cases, min(TIMES, len(cases)))


def passes(
    cases: Iterator[tuple[Refused, Sequence[Any]]], measured: Callable[[str], None]
) -> list[str]:
    """The omissions after which a refused site passes."""
    verdicts: Counter[str] = Counter()
    found = []
    for site, omitted in cases:
        verdict = verdict_of(site, omitted)
        if verdict == "passes":
            names = [field_of(path) for path in omitted]
            found.append(f"{site.name}: without {' and '.join(names)}")
        verdicts[verdict] += 1
    measured(", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))
    assert verdicts["refused"]
    return found


@pytest.mark.parametrize("family", sorted({policy.family for policy in POLICIES}))
def test_no_example_passes_without_a_part(family: str, measured: Callable[[str], None]) -> None:
    policies = [policy for policy in POLICIES if policy.family == family]
    sites = [site for policy in policies for site in refused_by(policy)]
    cases = ((site, [path]) for site, path in singles(sites))
    assert passes(cases, measured) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_no_complete_site_with_a_fault_passes_without_a_part(
    fault: str, tmp_path: FilePath, measured: Callable[[str], None]
) -> None:
    site = a_faulty_site("hybrid-h100", FAULTS[fault], tmp_path)
    cases = ((site, [path]) for _, path in singles([site], FIELDS))
    assert passes(cases, measured) == []


def test_a_small_circuit_that_is_left_out_is_unknown(tmp_path: FilePath) -> None:
    circuit = (*GROUP, "feeds", 0, "circuit")
    small = {"voltage": "415 V", "current": "20 A", "phases": 3}
    site = a_faulty_site("hybrid-h100", {circuit: small}, tmp_path)
    assert site.verdict([("sites", 1, *circuit)]) == "refused"


@pytest.mark.skipif(not MANY, reason="it takes minutes")
def test_every_explanation_is_needed(tmp_path: FilePath) -> None:
    sites = [site for policy in POLICIES for site in refused_by(policy)]
    sites += [a_faulty_site("hybrid-h100", f, tmp_path / n) for n, f in FAULTS.items()]
    fields = by_field(sites)

    def is_needed(key: str) -> bool:
        return any(
            site.verdict([path]) == "passes"
            for name in fields
            if explains(key, name)
            for site, path in fields[name]
        )

    assert [key for key in EXPLAINED if not is_needed(key)] == []


def test_no_example_passes_without_two_parts(measured: Callable[[str], None]) -> None:
    """A sample by a fixed seed of pairs of fields whose absence explains nothing."""
    seeded = random.Random(2)
    sites = [site for policy in POLICIES for site in refused_by(policy)]
    needed: set[str] = set()

    def draw(site: Refused) -> Path:
        """A part that a site is a blueprint without."""
        while True:
            path = seeded.choice([*paths(site.data)])
            name = field_of(path)
            if name in needed or is_explained(name):
                continue
            if plan_of(without(site.data, path), site.catalogue) is not None:
                return path
            needed.add(name)

    def cases() -> Iterator[tuple[Refused, Sequence[Path]]]:
        for _ in range(PAIRS):
            site = seeded.choice(sites)
            one, other = draw(site), draw(site)
            inside = one[: len(other)] == other or other[: len(one)] == one
            yield site, [min(one, other, key=len)] if inside else [one, other]

    assert passes(cases(), measured) == []
