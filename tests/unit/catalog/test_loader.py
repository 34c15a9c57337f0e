"""Looking products up, and refusing entries that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalogue_entries import all_entries
from rackwright.catalog.loader import Catalogue, UnknownEntryError, load_catalogue
from rackwright.errors import SpecErrors
from rackwright.model.connections import Connector
from rackwright.model.hardware import Node, Pdu, Switch, fact_value
from rackwright.model.racks import RackType

CONNECTOR = """\
kind: connector
id: {id}
vendor: Somebody
name: Quick
flow: {{value: 9 L/min, source: {cited}}}
sources:
  sheet: {{title: A data sheet, date: 2026-11-21, confidence: official}}
{more}"""


def a_folder(
    tmp_path: Path,
    *,
    file: str = "quick",
    entry_id: str = "quick",
    cited: str = "sheet",
    more: str = "",
) -> Catalogue:
    folder = tmp_path / "team" / "connectors"
    folder.mkdir(parents=True)
    text = CONNECTOR.format(id=entry_id, cited=cited, more=more)
    (folder / f"{file}.yaml").write_text(text)
    return load_catalogue([folder.parent])


def connector(catalogue: Catalogue, entry_id: str = "quick") -> Connector:
    return catalogue.get(Connector, entry_id)


def test_a_teams_entry_stands_beside_the_built_in_ones(tmp_path):
    catalogue = a_folder(tmp_path)
    assert fact_value(connector(catalogue).flow) == 9
    assert connector(catalogue) is connector(catalogue), "an entry is read once"
    assert catalogue.get(Node, "dgx-h100").id == "dgx-h100"


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(UnknownEntryError) as caught:
        load_catalogue().get(Node, "dgx-h1000")
    assert caught.value.summary == "there is no node 'dgx-h1000' in the catalogue"
    assert caught.value.hint == (
        "did you mean 'dgx-h100'? A product of your own: 'rackwright catalogue new nodes/dgx-h1000'"
    )
    assert caught.value.code == "catalogue-unknown"


def test_an_id_of_another_kind_is_unknown():
    with pytest.raises(UnknownEntryError, match="there is no switch 'dgx-h100'"):
        load_catalogue().get(Switch, "dgx-h100")
    with pytest.raises(UnknownEntryError) as caught:
        load_catalogue().get(Pdu, "zzzzzz")
    assert caught.value.hint is not None
    listed = caught.value.hint.removeprefix("the catalogue has: ").partition(". ")[0]
    assert listed.split(", ") == list(load_catalogue().ids(Pdu))
    assert caught.value.hint.endswith("'rackwright catalogue new pdus/zzzzzz'")


@pytest.mark.parametrize("entry_id", ["../nodes/dgx-h100", "nodes/dgx-h100", "", "dgx-h100.yaml"])
def test_an_id_is_no_path(entry_id):
    with pytest.raises(UnknownEntryError):
        load_catalogue().get(Node, entry_id)


def test_no_entry_shadows_another_silently(tmp_path):
    with pytest.raises(SpecErrors) as caught:
        a_folder(tmp_path, file="uqd04", entry_id="uqd04")
    (error,) = caught.value.errors
    builtin = load_catalogue().source_of(Connector, "uqd04")
    assert error.summary == (f"the connector 'uqd04' has the id of the connector in '{builtin}'")
    own = tmp_path / "team" / "connectors" / "uqd04.yaml"
    assert str(error.location).startswith(f"{own}:2:")
    assert error.hint == "give it another id, which is also its file's name"


def test_an_id_of_another_kind_is_taken_as_well(tmp_path):
    with pytest.raises(SpecErrors, match="the connector 'dgx-h100' has the id of the node in"):
        a_folder(tmp_path, file="dgx-h100", entry_id="dgx-h100")


def test_one_id_in_two_team_folders(tmp_path):
    one = a_folder(tmp_path / "one")
    assert connector(one).id == "quick"
    a_folder(tmp_path / "two")
    with pytest.raises(SpecErrors, match=f"has the id of the connector in '{tmp_path}/one/"):
        load_catalogue([tmp_path / "one" / "team", tmp_path / "two" / "team"])


def test_a_file_is_called_like_its_entry(tmp_path):
    catalogue = a_folder(tmp_path, entry_id="quicker")
    with pytest.raises(SpecErrors, match=r"quick\.yaml:2:\d+: .* describes 'quicker'") as caught:
        connector(catalogue)
    assert caught.value.errors[0].hint == "call the file 'quicker.yaml'"


def test_a_source_that_is_not_listed(tmp_path):
    with pytest.raises(SpecErrors, match="the source 'blog' is cited but not listed"):
        connector(a_folder(tmp_path, cited="blog"))


def test_a_source_that_nothing_cites(tmp_path):
    more = "  blog: {title: A blog, date: 2026-01-01, confidence: estimate}\n"
    with pytest.raises(SpecErrors, match="the source 'blog' is listed but no number cites it"):
        connector(a_folder(tmp_path, more=more))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("flw: 1\n", "unknown key 'flw'"),
        ("max_fluid: 60 °C\n", "'60 °C' is not a mapping"),
        ("max_fluid: {value: 60, source: sheet}\n", "'60' has no unit"),
        ("max_fluid: {value: 60 °C}\n", "'source' is missing"),
        ("max_fluid: {value: 60 kW, source: sheet}\n", "'kW' is not a unit of temperature"),
    ],
)
def test_an_entry_is_judged_like_a_blueprint(tmp_path, more, message):
    with pytest.raises(SpecErrors) as caught:
        connector(a_folder(tmp_path, more=more))
    (error,) = caught.value.errors
    assert message in error.summary
    assert error.location is not None
    assert error.location.line == 8


def test_a_wrong_entry_hurts_only_those_who_ask_for_it(tmp_path):
    catalogue = a_folder(tmp_path, more="flw: 1\n")
    assert catalogue.get(Node, "dgx-h100").id == "dgx-h100"
    with pytest.raises(SpecErrors):
        list(all_entries(catalogue))


def test_the_wrong_kind_in_a_folder(tmp_path):
    folder = tmp_path / "nodes"
    folder.mkdir()
    (folder / "quick.yaml").write_text(CONNECTOR.format(id="quick", cited="sheet", more=""))
    with pytest.raises(SpecErrors, match="kind: 'connector' is not 'node'"):
        load_catalogue([tmp_path]).get(Node, "quick")


def test_patches_change_numbers_and_make_them_unknown():
    original = load_catalogue()
    patched = original.patched(
        {"dgx-h100": {"max_power": {"value": "11 kW", "source": "example"}, "weight": None}}
    )
    node = patched.get(Node, "dgx-h100")
    assert (fact_value(node.max_power), node.weight) == (11_000, None)
    assert fact_value(node.height) == 8, "what is not named stays"
    assert "resellers" in node.sources
    assert fact_value(original.get(Node, "dgx-h100").max_power) == 10_200


def test_patches_reach_into_parts_and_drop_sources_that_nothing_cites_any_more():
    catalogue = load_catalogue().patched(
        {"dgx-h100": {"power_supplies": {"full_performance": None}, "accelerators": None}}
    )
    node = catalogue.get(Node, "dgx-h100")
    assert node.power_supplies is not None
    assert (node.power_supplies.count, node.power_supplies.full_performance) == (6, None)
    assert node.accelerators is None
    assert "tdp" not in node.sources


def test_patches_add_up_and_the_later_one_wins_for_its_entry():
    catalogue = load_catalogue().patched({"dgx-h100": {"weight": None}})
    catalogue = catalogue.patched({"dgx-h200": {"weight": None}})
    assert catalogue.get(Node, "dgx-h100").weight is None
    assert catalogue.get(Node, "dgx-h200").weight is None
    again = catalogue.patched({"dgx-h100": {"height": None}})
    assert again.get(Node, "dgx-h100").weight is not None


def test_a_patch_is_judged_like_an_entry():
    with pytest.raises(SpecErrors, match="has no unit"):
        load_catalogue().patched({"dgx-h100": {"weight": {"value": 5, "source": "example"}}}).get(
            Node, "dgx-h100"
        )
    with pytest.raises(SpecErrors, match="unknown key 'wieght'"):
        load_catalogue().patched({"dgx-h100": {"wieght": {"value": "5 kg", "source": "x"}}}).get(
            Node, "dgx-h100"
        )


@pytest.mark.parametrize(("gross", "payload"), [("1400 kg", 1400), ("1500 kg", 1400)])
def test_a_rack_may_weigh_at_least_its_content_with_itself(gross, payload):
    patch = {"rack-mgx-48u": {"gross_rating": {"value": gross, "source": "ocp-quoted"}}}
    rack = load_catalogue().patched(patch).get(RackType, "rack-mgx-48u")
    assert fact_value(rack.static_rating) == payload
    assert fact_value(rack.gross_rating) == float(gross.split()[0])


def test_a_rack_that_may_weigh_less_with_itself_than_its_content_is_refused():
    patch = {"rack-mgx-48u": {"gross_rating": {"value": "1399 kg", "source": "ocp-quoted"}}}
    with pytest.raises(SpecErrors, match="below the 1400 kg of content"):
        load_catalogue().patched(patch).get(RackType, "rack-mgx-48u")
