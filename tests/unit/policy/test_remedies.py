"""An unknown says which field of which file would make it known."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from catalogue_team import SERVER, a_server, write
from factories import a_blueprint, a_site, some_nodes
from rackwright.catalog.loader import load_catalogue
from rackwright.plan.load import LoadedPlan, load_data, load_plan
from rackwright.plan.missing import Missing, ProductField
from rackwright.policy.unknowns import Remedies

OWN = ProductField("acme-8x", "weight")


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedPlan:
    """A blueprint in a file, with a product of the team that nobody has weighed."""
    write(tmp_path, SERVER, a_server(weight=None, connector=None))
    path = tmp_path / "blueprint.yaml"
    site = a_site(node_groups=[some_nodes(type="acme-8x")])
    path.write_text(yaml.safe_dump(a_blueprint(site), sort_keys=False), "utf-8")
    return load_plan(path, catalogue=load_catalogue((tmp_path / "hardware",)))


def fix(loaded: LoadedPlan, *missing: str) -> str | None:
    return Remedies(loaded.plan, loaded.tree.locate, loaded.names).fix(missing)


def test_a_field_of_the_blueprint_is_told_with_the_line_where_it_belongs(
    loaded: LoadedPlan,
) -> None:
    name = loaded.plan.onprem[0].spec.name
    place = loaded.tree.locate(("sites", 0, "pue"))
    assert fix(loaded, Missing("x", ("sites", 0, "pue"))) == f"set 'sites.{name}.pue' ({place})"
    assert place.file.endswith("blueprint.yaml")


def test_a_number_of_a_team_s_product_belongs_in_its_entry_or_in_facts(
    loaded: LoadedPlan, tmp_path: Path
) -> None:
    entry, facts = tmp_path / SERVER, loaded.tree.locate(("facts",))
    assert fix(loaded, Missing("x", OWN)) == (
        f"set 'weight' in the entry of 'acme-8x' ({entry}), "
        f"or state 'weight' of 'acme-8x' in 'facts' ({facts})"
    )


def test_field_that_facts_cannot_set_needs_a_catalogue_entry(loaded: LoadedPlan) -> None:
    for product, name, kind in (
        ("qm9700", "power_supplies.count", "switches"),
        ("trn2.48xlarge", "cards", "instances"),
        ("m99.metal", "vcpus", "instances"),  # which is in no catalogue
    ):
        text = fix(loaded, Missing("x", ProductField(product, name)))
        assert text == (
            f"describe '{product}' in a catalogue of your own, with '{name}' "
            f"('rackwright catalogue new {kind}/ID')"
        )


def test_each_of_several_ways_does_and_each_thing_is_told_once(loaded: LoadedPlan) -> None:
    both = Missing("x", ("sites", 0, "pue"), ("sites", 0, "altitude"))
    one, other = (fix(loaded, Missing("x", field)) for field in both.fields)
    assert fix(loaded, both, both) == f"{one}, or {other}"
    assert fix(loaded, *(Missing("x", field) for field in both.fields)) == f"{one}; {other}"


def test_a_text_without_fields_has_no_fix(loaded: LoadedPlan) -> None:
    assert fix(loaded, "whatever") is None


def test_a_blueprint_that_is_no_file_is_told_without_a_place() -> None:
    plain = load_data(a_blueprint(a_site()))
    text = fix(plain, Missing("x", ("sites", 0, "pue"), ProductField("dgx-h100", "liquid.heat")))
    assert text is not None
    assert "' in the blueprint" in text
    assert "<" not in text
