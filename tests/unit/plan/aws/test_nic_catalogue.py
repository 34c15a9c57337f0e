"""The layout of every instance type of the catalogue."""

from __future__ import annotations

import pytest
import yaml

from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance
from rackwright.plan.aws.nic import NoEfaError, efa_count, nic_layout
from rackwright.resources import bundled

TYPES = {
    found.instance_type: found
    for path in sorted((bundled("inventory") / "catalog" / "instances").glob("*.yaml"))
    for found in [Instance.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))]
}

# Cards that carry EFA; card 0 at device 1, the others at device 0 unless EVEN_TWICE says so.
CARDS = {
    "p3dn.24xlarge": range(1),
    "p4d.24xlarge": range(4),
    "p4de.24xlarge": range(4),
    "p5.4xlarge": range(1),
    "p5.48xlarge": range(32),
    "p5e.48xlarge": range(32),
    "p5en.48xlarge": range(16),
    "p6-b200.48xlarge": range(8),
    "p6-b300.48xlarge": range(1, 17),
    "p6e-gb200.36xlarge": range(1, 17),
    "g6e.24xlarge": range(2),
    "g6e.48xlarge": range(4),
    "g7e.24xlarge": range(2),
    "g7e.48xlarge": range(4),
    "g4dn.metal": range(1),
    "g5.48xlarge": range(1),
    "g6.48xlarge": range(1),
    "trn1.32xlarge": range(8),
    "trn1n.32xlarge": range(16),
    "trn2.48xlarge": range(16),
    "trn2u.48xlarge": range(16),
    "hpc7a.12xlarge": range(2),
    "hpc7a.24xlarge": range(2),
    "hpc7a.48xlarge": range(2),
    "hpc7a.96xlarge": range(2),
    "hpc8a.96xlarge": range(2),
}
EVEN_TWICE = {"p6e-gb200.36xlarge"}


@pytest.mark.parametrize("name", sorted(CARDS))
def test_known_layouts(name):
    twice = name in EVEN_TWICE

    def device(card: int) -> int:
        return 1 if card == 0 or (twice and card % 2 == 0) else 0

    efa = [(nic.card, nic.device) for nic in nic_layout(TYPES[name]) if nic.is_efa]

    assert efa == [(card, device(card)) for card in CARDS[name]]


def test_every_type_of_the_catalogue_is_judged_here():
    """A type that is added needs a row above, unless it has no EFA."""
    without_efa = set()
    for name, found in TYPES.items():
        try:
            nic_layout(found)
        except NoEfaError:
            without_efa.add(name)

    assert set(TYPES) - without_efa == set(CARDS)
    assert all(TYPES[name].accelerators is None for name in without_efa)


def test_the_catalogues_count_is_that_of_the_cards():
    known = {name: entry for name, entry in TYPES.items() if entry.cards and entry.efa_interfaces}
    assert known
    assert {name: efa_count(nic_layout(entry)) for name, entry in known.items()} == {
        name: fact_value(entry.efa_interfaces) for name, entry in known.items()
    }
