"""The plan agrees with a calculator that shares no code with it (``tests/calculator``)."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict

import pytest

from calculator.compare import Difference, differences, plan_of
from calculator.drawn import HAS
from calculator.fabric import Wiring
from calculator.fabrics import FABRICS, ratio_at_each, with_fabric
from calculator.maker import Maker
from calculator.mutations import MUTATIONS, Mutation, mutated
from calculator.published import DESIGNS as DESIGNS_PUBLISHED
from calculator.published import EXAMPLES, Design, Example, site_of
from calculator.sites import DESIGNS, a_site
from calculator.smaller import described, smallest
from calculator.things import Site
from examples import MANY

SITES = int(os.environ.get("RACKWRIGHT_SITES", "5000" if MANY else "100"))
BLOCKS = 20 if MANY else 4
"""Parts of the sites that workers share."""
TRIED = 400
"""Sites among which one must show a mutation; the first ones show most."""
OFTEN = MUTATIONS if MANY else MUTATIONS[::2]
SAID = 6


def told(site: Site, found: list[Difference]) -> str:
    """A failure in words: the seed, the numbers, and the smallest site that has one of them."""
    what = {difference.what for difference in found}
    small = smallest(site, lambda less: any(one.what in what for one in differences(less)))
    lines = [f"seed {site.seed} ({site.design}):", *map(str, found[:SAID])]
    return "\n".join([*lines, "the smallest such site:", described(small)])


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_plan_agrees_with_the_calculator(block: int) -> None:
    seeds = range(block, SITES, BLOCKS)
    assert seeds
    for seed in seeds:
        site = a_site(seed)
        found = differences(site)
        assert not found, told(site, found)


def test_every_design_is_among_the_sites() -> None:
    """Each of racks and each of fabrics comes up before the first hundred sites are over."""
    designs = {a_site(seed).design for seed in range(100)}
    assert len(designs) == len(DESIGNS) + len(FABRICS)


@pytest.mark.parametrize("design", HAS)
def test_a_design_is_really_drawn(design: str) -> None:
    """Seen in the parts of sites that ``make test`` tries, whatever the sites are called."""
    assert any(HAS[design](a_site(seed)) for seed in range(100)), design


def test_spines_of_more_than_half_their_ports_downwards_use_no_port_twice() -> None:
    """The calculator had their uplinks at half the ports, where cables from leaves were already."""
    large = 0
    for seed in range(60):
        site = with_fabric(Maker(seed), ratio_at_each)
        (fabric,) = site.fabrics
        wiring = Wiring(site, fabric)
        large += wiring.below(1) > fabric.tiers[1].radix // 2
        ends = Counter(
            end
            for cable in wiring.all_cables()
            for end in ((cable.lower, cable.lower_port), (cable.upper, cable.upper_port))
        )
        assert max(ends.values()) == 1, ends.most_common(1)
        assert differences(site) == []
    assert large


def test_a_seed_makes_the_same_site_again() -> None:
    assert a_site(17) == a_site(17)
    assert a_site(17) != a_site(19)


def differs() -> int | None:
    """The first seed whose site the plan has otherwise."""
    return next((seed for seed in range(TRIED) if _differs(a_site(seed))), None)


def _differs(site: Site) -> bool:
    try:
        return bool(differences(site))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return True  # the plan stumbles over its own formula


@pytest.mark.sweep
@pytest.mark.parametrize("mutation", OFTEN, ids=str)
def test_a_wrong_formula_is_caught(mutation: Mutation) -> None:
    with mutated(mutation):
        assert differs() is not None


def test_a_mutation_leaves_nothing_behind() -> None:
    site = a_site(0)
    before = [asdict(racks) for racks in plan_of(site).onprem[0].racks]
    with mutated(MUTATIONS[0]):
        pass
    assert [asdict(racks) for racks in plan_of(site).onprem[0].racks] == before


def test_there_are_enough_mutations_and_each_fits_the_plan() -> None:
    assert len(OFTEN) >= 20
    for mutation in (*MUTATIONS, MUTATIONS[0]):
        with mutated(mutation):
            pass
        assert str(mutation)


def test_a_failure_shows_the_smallest_site() -> None:
    """With a wrong formula, what is printed has the seed, both numbers and a site of one server."""
    with mutated(next(one for one in MUTATIONS if one.function == "footprint")):
        site = next(site for site in map(a_site, range(0, TRIED, 2)) if differences(site))
        text = told(site, differences(site))
    assert f"seed {site.seed} " in text
    assert "footprint_m2" in text
    assert "count: 1" in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.source[:40]}: {one.inputs}")
def test_the_calculator_has_the_numbers_of_public_documents(example: Example) -> None:
    assert len(example.computed) == len(example.published)
    assert example.computed == pytest.approx(example.published, rel=0, abs=example.within)


def test_there_are_thirty_public_examples() -> None:
    assert len(EXAMPLES) >= 30
    assert len({example.source for example in EXAMPLES}) >= 10


@pytest.mark.sweep
@pytest.mark.parametrize(
    "design", DESIGNS_PUBLISHED if MANY else DESIGNS_PUBLISHED[::6], ids=lambda one: f"{one.nodes}"
)
def test_the_plan_has_published_fabrics_cable_by_cable(design: Design) -> None:
    assert differences(site_of(design)) == []
