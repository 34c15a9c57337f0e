"""CSV sheets of positions and sources say what the document would."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from design_factories import a_document, a_facility, a_hall, some_positions
from rackwright.design.sheets import load_wanted
from rackwright.errors import SpecErrors


@pytest.fixture
def wanted(tmp_path: Path) -> Path:
    path = tmp_path / "wanted.yaml"
    document = a_document(a_facility(halls=[a_hall(some_positions("c01"))]))
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return path


def sheet(wanted: Path, text: str, name: str = "sheet.csv") -> Path:
    path = wanted.with_name(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_positions_like_another_one_differ_in_what_they_say(wanted: Path) -> None:
    rows = sheet(
        wanted,
        "hall,row,racks,like,cooling.power_limit,feeds.B.source,feeds.B.pdus\n"
        "hall-1,row-1,c02,c01,,,\n"
        "hall-1,row-1,c03,c01,,,\n"
        "\n"
        "hall-1,row-9,d01,c01,25 kW,rpp-a,2\n",
    )
    facility = load_wanted(wanted, positions=[rows]).value.facility
    (hall,) = facility.halls
    found = {
        group.racks: (
            row.name,
            group.cooling.power_limit,
            group.feeds[1].source,
            group.feeds[1].pdus,
        )
        for row in hall.rows
        for group in row.rack_groups
    }
    assert found == {
        "c01": ("row-1", 45_000.0, "rpp-b", 1),
        "c[02-03]": ("row-1", 45_000.0, "rpp-b", 1),
        "d01": ("row-9", 25_000.0, "rpp-a", 2),
    }


def test_sources_are_put_behind_those_of_the_document(wanted: Path) -> None:
    rows = sheet(
        wanted,
        "name,kind,fed_by,modules.count,modules.capacity,modules.spare,walk_in\n"
        "ups-x,ups,utility ups-a,3,100 kW,1,true\n",
    )
    sources = load_wanted(wanted, sources=[rows]).value.facility.power.sources
    found = sources[-1]
    assert (len(sources), found.name, found.fed_by) == (8, "ups-x", ("utility", "ups-a"))
    assert found.modules is not None
    assert (found.modules.count, found.modules.capacity, found.walk_in) == (3, 100_000.0, True)


def test_a_mistake_in_a_sheet_is_told_at_its_line(wanted: Path) -> None:
    rows = sheet(wanted, "name,kind\nups-x,upps\n")
    with pytest.raises(SpecErrors) as caught:
        load_wanted(wanted, sources=[rows])
    (error,) = caught.value.errors
    assert error.location is not None
    assert (Path(error.location.file).name, error.location.line) == ("sheet.csv", 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "its first line names each column once"),
        ("racks,racks\n", "its first line names each column once"),
        ("hall,row,racks\nhall-1,row-1\n", "this row has no 'racks'"),
        ("hall,row,racks\nhall-1,row-1,d1,more\n", "line 2 has more cells than there are columns"),
        ("hall,row,racks,like\nhall-1,row-1,d1,z9\n", "'like' names 'z9'"),
        ("hall,row,racks,like\nhall-7,row-1,d1,c01\n", "the document has no hall 'hall-7'"),
        ("hall,row,racks,feeds\nhall-1,row-1,d1,A\n", "is not 'feeds.NAME.FIELD'"),
        (
            "hall,row,racks,type,type.x\nhall-1,row-1,d1,a,b\n",
            "'type' is a column and the beginning",
        ),
        ('hall,row,racks\n"hall-1,row-1,d1\n', "this is no sheet"),
    ],
)
def test_invalid_sheet_is_refused(wanted: Path, text: str, words: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        load_wanted(wanted, positions=[sheet(wanted, text)])
    assert words in str(caught.value)


def test_a_sheet_that_is_not_there_is_refused(wanted: Path) -> None:
    with pytest.raises(SpecErrors, match=r"missing\.csv"):
        load_wanted(wanted, positions=[wanted.with_name("missing.csv")])


def test_a_sheet_with_semicolons_is_read(wanted: Path) -> None:
    rows = sheet(
        wanted, "\ufeffhall;row;racks;like;cooling.power_limit\r\nhall-1;row-1;c02;c01;25,5 kW\r\n"
    )
    with pytest.raises(SpecErrors, match=r"25\.5"):
        load_wanted(wanted, positions=[rows])
    rows.write_text(rows.read_text("utf-8").replace("25,5", "25"), "utf-8")
    (hall,) = load_wanted(wanted, positions=[rows]).value.facility.halls
    assert hall.rows[0].rack_groups[1].racks == "c02"


def test_a_sheet_that_is_larger_than_a_file_may_be_is_refused(wanted: Path) -> None:
    text = "hall,row,racks,like\n" + f"hall-1,row-1,c02,c01{' ' * 200}\n" * 80_000
    with pytest.raises(SpecErrors, match="the file is larger: at most 16 MiB are read"):
        load_wanted(wanted, positions=[sheet(wanted, text)])
