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
    POLICIES,
    Refused,
    field_of,
    paths,
    plan_of,
    without,
)
from rackwright.spec.tree import Path
from refused import FAULTS, GROUP, a_faulty_site, refused_by

pytestmark = pytest.mark.sweep
PAIRS = 3_000 if EVERY else 1_000 if MANY else 150
TIMES = 4 if MANY else 1
"""How often each field is tried in a family of policies, where not everything is."""
FIELDS = 120 if MANY else 40
"""Fields of each complete site that are tried, where not every one is."""

BUILT = {
    "operations.software[].cuda": "no toolkit is installed on the hosts",
    "operations.software[].slurm": "Slurm is of the scheduler's release",
    "scheduler*": "Slurm is set by what is left, and by the catalogue",
    "sites[].fabrics[].attached[].interfaces": "every interface of the product is cabled",
    "sites[].fabrics[].attached[].rate": "the interfaces run at the rate of the product",
    "sites[].fabrics[].links[]": "nobody knows the cables of the group, as NET-005 says",
    "sites[].fabrics[].links[].count": "all cables of the group are of this kind",
    "sites[].fabrics[].links[].same_rack": "cables to all racks are of this kind",
    "sites[].fabrics[].links[].pod_switches": "pods are equal",
    "sites[].fabrics[].links[].pods": "the switches are cabled as one block",
    "sites[].fabrics[].links[].upper_cable": "both ends get the same transceiver",
    "sites[].fabrics[].patches*": "the cable follows the pattern",
    "sites[].fabrics[].segments*": "no partition, VLAN or range of addresses is given out",
    "sites[].fabrics[].tiers[].asn": "no BGP number is given out",
    "sites[].file_systems[].clients[]": "the group does not mount it",
    "sites[].file_systems[].data_repositories*": "the bucket is not linked",
    "sites[].file_systems[].metadata.data_on_metadata": "whole files lie on the object targets",
    "sites[].file_systems[].management.nids[]": "the server is not reached by that network",
    "sites[].file_systems[].networks": "its servers are on no network of RDMA",
    "sites[].file_systems[].networks[]": "its servers are not on the network",
    "sites[].network.existing*": "a VPC is made, with subnets that are large enough",
    "sites[].network.growth": "the subnet is made with room for a quarter more nodes",
    "sites[].network.ssh_from*": "the network may not reach the login nodes",
    "sites[].node_groups[].efa": "every EFA interface is attached",
    "sites[].node_groups[].metadata_hops": "containers cannot reach the metadata",
    "sites[].node_groups[].placement_group": "the kind of capacity decides, and the group is made",
    "sites[].node_groups[].psus_per_feed": "the supplies are spread evenly over the feeds",
    "sites[].node_groups[].root_device": "the root device of Ubuntu's images is encrypted",
    "sites[].node_groups[].start_unit": "the nodes take the lowest free units",
}
"""Fields that say how something is built, and what is built without them: that is judged then."""

ASKED = {
    "costs": "no cost is asked for",
    "costs.budget_per_hour": "the cluster may cost what it costs in an hour",
    "costs.budget_per_year": "the cluster may cost what it costs in a year",
    "policies*": "the rule holds in full",
    "reliability": "no job and no share of the hosts is asked for",
    "reliability.jobs[].parts[]": "the job does without these hosts",
    "reliability.least_after_site_loss": "no share of the hosts is asked for",
    "sites[].fabrics[].rail_optimized": "no rails are asked for",
    "sites[].halls[].power_limit": "the hall may draw what its sources and its cooling carry",
    "sites[].halls[].rows[].power_limit": "the row may draw what its sources carry",
}
"""Fields by which an owner asks for more than hardware does, and what holds without them."""

GONE = {
    "operations.drain_on_xids[]": "the XID that drained for no reason drains no more",
    "sites[].fabrics[].links[].fibre": "a fibre was stated for copper",
    "owner": "it is a tag of everything, of which there was one too many",
    "sites[].network.endpoints*": "a service without endpoints was named",
    "sites[].tags*": "a password, or a tag that no service takes, stands there no more",
}
"""Fields that are themselves what is refused."""

EXPLAINED = BUILT | ASKED | GONE
"""A star stands for all that begins like this."""


def is_explained(name: str) -> bool:
    """Whether a field may be left out of a refused site, because its absence says something."""
    return any(explains(key, name) for key in EXPLAINED)


def explains(key: str, name: str) -> bool:
    """Whether an entry of the list is about a field."""
    return name.startswith(key[:-1]) if key.endswith("*") else name == key


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
        verdict = site.verdict(omitted)
        names = [field_of(path) for path in omitted]
        if verdict == "passes" and any(map(is_explained, names)):
            verdict = "explained"
        if verdict == "passes":
            found.append(f"{site.name}: without {' and '.join(names)}")
        verdicts[verdict or "no blueprint"] += 1
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
