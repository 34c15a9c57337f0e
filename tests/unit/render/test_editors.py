"""What lies beside a blueprint for editors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from catalogue_team import SERVER, a_server, write
from ci_team import git
from cli_support import run_here
from rackwright.catalog.loader import load_catalogue
from rackwright.errors import UsageError
from rackwright.reading.loader import load_tree
from rackwright.render.editors import PRODUCTS, blueprint_schema, write_schema
from rackwright.templates.making import MODELINE, SCHEMA
from short_forms import SHORT
from template_support import write_files

TEAM = "catalogue: [{path: hardware}]\n"


def offered(schema: dict[str, Any], name: str, field: str) -> list[str]:
    """The ids that an editor offers for a field."""
    return list(schema["definitions"][name]["properties"][field].get("examples", ()))


def team(top: Path) -> Path:
    """A folder whose configuration lists a product of the team."""
    write(top, SERVER, a_server())
    return write_files(top, {"rackwright.yaml": TEAM})


def test_each_field_that_holds_an_id_offers_some() -> None:
    """A field that is new and says that it holds one is told here, until it is in the table."""
    schema = blueprint_schema(Path("blueprint.yaml"))
    named = {
        (name, field)
        for name, definition in schema["definitions"].items()
        for field, held in definition.get("properties", {}).items()
        if re.match(r"Catalogue id|(EC2 i|I)nstance type\b|Id of the product", held["description"])
    }
    assert named == {(name, field) for name, fields in PRODUCTS.items() for field in fields}
    empty = {("MechanicalPlant", "product")}  # no document gave a chiller or dry cooler whole
    assert {one for one in named if not offered(schema, *one)} == empty


def test_names_of_a_blueprint_are_offered_for_its_field() -> None:
    schema = blueprint_schema(Path("blueprint.yaml"))
    data = load_tree(SHORT / "dgx-h200.yaml").data
    assert data["sites"][0]["node_groups"][0]["type"] in offered(schema, "NodeGroup", "type")
    assert data["sites"][0]["power"]["pdu"] in offered(schema, "SitePower", "pdu")
    everything = offered(schema, "ProductFact", "product")
    assert everything == sorted(load_catalogue().keys)


def test_ids_of_the_team_are_offered_and_others_are_valid(tmp_path: Path) -> None:
    schema = blueprint_schema(team(tmp_path) / "blueprint.yaml")
    assert {"acme-8x", "dgx-h100"} <= set(offered(schema, "NodeGroup", "type"))
    bare = blueprint_schema(Path("blueprint.yaml"))
    assert "acme-8x" not in offered(bare, "NodeGroup", "type"), "two schemas share nothing"
    data = load_tree(SHORT / "dgx-h200.yaml").data
    data["sites"][0]["node_groups"][0]["type"] = "bought-tomorrow"
    assert list(Draft7Validator(schema).iter_errors(data)) == []


def test_schema_export_reads_the_configuration_beside_its_folder(tmp_path: Path) -> None:
    """So a folder of schemas of a cluster below the repository's has the ids of the repository."""
    git(team(tmp_path), "init", "--quiet")
    (tmp_path / "site").mkdir()
    for where, path in ((tmp_path, "site/.schemas"), (tmp_path / "site", ".schemas")):
        assert run_here(where, "schema", "export", "--output", path).code == 0
        assert '"acme-8x"' in (tmp_path / "site" / SCHEMA).read_text()
        assert '"acme-8x"' in run_here(where, "schema", "export").out
    (tmp_path / "rackwright.yaml").write_text("catalog: []\n")
    run_here(tmp_path, "schema", "export").refused("rackwright.yaml:1:1", "catalog")
    assert run_here(tmp_path, "schema", "export", "--kind", "team").code == 0, "it helps to mend it"


def test_init_writes_the_schema_that_its_first_line_names(tmp_path: Path) -> None:
    git(team(tmp_path), "init", "--quiet")
    made = run_here(tmp_path, "init", "room", "--template", "lab", "--example")
    assert made.code == 0, made.err
    assert made.out == "room/blueprint.yaml\n", "what is generated is not for 'git add'"
    assert (tmp_path / "room/blueprint.yaml").read_text().startswith(MODELINE)
    assert '"acme-8x"' in (tmp_path / "room" / SCHEMA).read_text()
    seen = git(tmp_path, "status", "--porcelain", "--untracked-files=all", "room")
    assert ".schemas" not in seen
    assert "room/blueprint.yaml" in seen


def schemas(folder: Path) -> Iterator[str]:
    """The files beside the blueprint that are for editors."""
    return (path.name for path in sorted((folder / ".schemas").iterdir()))


def test_a_schema_of_before_is_written_over(tmp_path: Path) -> None:
    write_files(tmp_path, {"blueprint.yaml": MODELINE, SCHEMA: "{}\n", "theirs.json": "theirs\n"})
    write_schema(tmp_path)
    assert list(schemas(tmp_path)) == [".gitignore", "blueprint.schema.json"]
    assert "urn:rackwright:blueprint:v1" in (tmp_path / SCHEMA).read_text()
    (tmp_path / SCHEMA).unlink()
    (tmp_path / SCHEMA).symlink_to(tmp_path / "theirs.json")
    write_schema(tmp_path)
    assert (tmp_path / "theirs.json").read_text() == "theirs\n"
    assert "urn:rackwright:blueprint:v1" in (tmp_path / SCHEMA).read_text()


def test_no_link_is_followed_and_nothing_is_written_that_no_line_names(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"a/blueprint.yaml": MODELINE, "theirs/x": "", "b/blueprint.yaml": "{}\n"}
    )
    (tmp_path / "a/.schemas").symlink_to(tmp_path / "theirs")
    (tmp_path / "c").mkdir()
    for name in "abc":
        write_schema(tmp_path / name)
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["x"]
    assert not (tmp_path / "b/.schemas").exists()
    assert not (tmp_path / "c/.schemas").exists()


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    write_files(tmp_path, {"blueprint.yaml": MODELINE, ".schemas": "a file\n"})
    with pytest.raises(UsageError, match=r"\.schemas' cannot be written: file exists"):
        write_schema(tmp_path)
