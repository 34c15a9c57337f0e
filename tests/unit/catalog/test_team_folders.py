"""A team's own catalogue folders: nothing in them is shadowed, or passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.catalog.loader import FOLDERS, UnknownEntryError, load_catalogue
from rackwright.errors import SpecErrors
from rackwright.model.hardware import Node, Switch
from rackwright.model.instances import Instance

NODE = """\
kind: node
id: {id}
vendor: Acme
name: Acme node
max_power: {{value: 9.1 kW, source: sheet}}
sources:
  sheet: {{title: Acme data sheet, date: 2026-01-02, confidence: official}}
"""


def a_team(folder: Path, name: str = "acme-8x", text: str | None = None) -> Path:
    (folder / "nodes").mkdir(parents=True, exist_ok=True)
    path = folder / "nodes" / f"{name}.yaml"
    path.write_text(text if text is not None else NODE.format(id=name), encoding="utf-8")
    return folder


def test_only_the_entries_asked_for_are_read(tmp_path):
    catalogue = load_catalogue([a_team(tmp_path, "broken", "kind: [")])

    assert catalogue.get(Node, "dgx-h100").id == "dgx-h100"
    with pytest.raises(SpecErrors, match=r"broken\.yaml:2:1"):
        catalogue.get(Node, "broken")


@pytest.mark.parametrize(
    ("kind", "asked", "meant"),
    [
        (Node, "dgx-h10", "dgx-h100"),
        (Switch, "QM9700", "qm9700"),
        (Instance, "p5.48xl", "p5.48xlarge"),
    ],
)
def test_an_unknown_id_is_an_error_with_the_nearest_one(kind, asked, meant):
    for look in (load_catalogue().get, load_catalogue().source_of):
        with pytest.raises(UnknownEntryError) as error:
            look(kind, asked)
        assert f"'{asked}'" in error.value.summary
        assert (error.value.hint or "").startswith(
            f"did you mean '{meant}'? A product of your own: "
        )


def test_a_team_entry_never_shadows_another(tmp_path):
    a_team(tmp_path, "dgx-h100")

    with pytest.raises(SpecErrors) as error:
        load_catalogue([tmp_path])

    assert f"{tmp_path}/nodes/dgx-h100.yaml:2:" in str(error.value)
    assert str(load_catalogue().source_of(Node, "dgx-h100")) in str(error.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SpecErrors, match="no catalogue folder"):
        load_catalogue([tmp_path / "missing"])


def test_a_misspelled_kind_is_refused(tmp_path):
    (tmp_path / "node").mkdir()

    with pytest.raises(SpecErrors) as error:
        load_catalogue([tmp_path])

    assert error.value.errors[0].hint == "did you mean 'nodes'?"


def test_what_would_not_be_read_is_refused_all_at_once(tmp_path):
    (a_team(tmp_path) / "nodes" / "other.yml").write_text("kind: node\n", encoding="utf-8")
    (tmp_path / "acme-9x.yaml").write_text("kind: node\n", encoding="utf-8")
    (tmp_path / "nodes" / "more").mkdir()
    (tmp_path / "nodes" / "link.yaml").symlink_to(tmp_path / "acme-9x.yaml")
    (tmp_path / "pdus").symlink_to(tmp_path / "nodes")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "README.md").write_text("Ours.\n", encoding="utf-8")

    with pytest.raises(SpecErrors) as error:
        load_catalogue([tmp_path])

    told = {
        (Path(one.location.file).name, one.summary.rpartition("' ")[2])
        for one in error.value.errors
        if one.location
    }
    assert told == {
        ("other.yml", "is not read"),
        ("acme-9x.yaml", "is not read"),
        ("more", "is not read"),
        ("link.yaml", "is a link"),
        ("pdus", "is a link"),
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("source: sheet", "source: elsewhere", "'elsewhere' is cited but not listed"),
        (
            "max_power: {value: 9.1 kW, source: sheet}\n",
            "",
            "'sheet' is listed but no number cites",
        ),
        ("value: 9.1 kW, source: sheet", "value: 9.1 kW", "source"),
        ("9.1 kW", "9100", "has no unit"),
        ("9.1 kW", "9.1 kg", "not a unit of power"),
        ("max_power", "max_powr", "max_power"),
        ("kind: node", "kind: switch", "node"),
        ("confidence: official", "confidence: certain", "official"),
        ("date: 2026-01-02, ", "", "date"),
    ],
)
def test_a_number_without_a_foundation_is_refused(tmp_path, old, new, message):
    text = NODE.format(id="acme-8x")
    assert old in text
    catalogue = load_catalogue([a_team(tmp_path, text=text.replace(old, new))])

    with pytest.raises(SpecErrors) as error:
        catalogue.get(Node, "acme-8x")

    assert message in str(error.value)
    assert "acme-8x.yaml:" in str(error.value)


def test_a_patch_of_an_unknown_product_is_refused():
    with pytest.raises(UnknownEntryError) as error:
        load_catalogue().patched({"dgx-h10": {"max_power": None}})

    assert error.value.hint == "did you mean 'dgx-h100'?"


def test_every_folder_has_products_but_those_that_no_document_gave_whole():
    catalogue = load_catalogue()

    empty = {name for name, kind in FOLDERS.items() if not catalogue.ids(kind)}
    assert empty == {"transformers", "chillers", "dry-coolers"}
