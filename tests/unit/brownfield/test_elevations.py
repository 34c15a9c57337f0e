"""Sheets of elevations as people keep them, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from brownfield_support import take_over
from cli_support import run_here
from rackwright.brownfield.elevations import unquoted
from rackwright.brownfield.names import ordered_hostlist
from rackwright.errors import SpecErrors
from rackwright.model.names import expand_hostlist

BY_HAND = "\ufeffRack;Unit;Model;Hostname\r\nR1;U1;DGX H100;gpu01\r\nR1;U9;NVIDIA DGX H100;gpu02\r\nR2;1,0;dgx-h100;gpu03\r\n"


def test_a_sheet_that_people_keep_is_read(tmp_path: Path) -> None:
    made = take_over(tmp_path, {"racks.csv": BY_HAND})
    (site,) = made.data["sites"]
    (group,) = site["node_groups"]
    assert group == {
        "name": "gpu", "type": "dgx-h100", "count": 3, "racks": "R[1-2]", "per_rack": 2,
        "start_unit": "1 U", "host_names": "gpu[01-03]", "role": "compute",
    }  # fmt: skip
    assert [(hall["name"], row["name"]) for hall in site["halls"] for row in hall["rows"]] == [
        ("hall-1", "row-1")
    ]


def test_halls_and_rows_lost_their_capitals(tmp_path: Path) -> None:
    text = "site,hall,row,rack,unit,model\nsjc1,DH_2,Row B,R1,1,dgx-h100\n"
    made = take_over(tmp_path, {"racks.csv": text})
    (site,) = made.data["sites"]
    assert [(hall["name"], row["name"]) for hall in site["halls"] for row in hall["rows"]] == [
        ("DH_2", "Row-B")
    ]
    assert "the row 'Row B' is called 'Row-B'" in [str(notice) for notice in made.notices]


def test_uneven_racks_are_one_group_and_other_supplies_another(tmp_path: Path) -> None:
    text = "rack,lowest_unit,product,name,group,kind,supplies\n"
    for rack, count in (("c1", 3), ("c2", 2), ("c3", 3), ("c4", 1)):
        for place in range(count):
            supplies = "A:6 B:0" if rack == "c3" else "A:3 B:3"
            text += f"{rack},{1 + 8 * place},dgx-h100,{rack}-{place + 1},gpu,node,{supplies}\n"
    made = take_over(tmp_path, {"racks.csv": text})
    shown = [
        (one["name"], one["racks"], one["count"], one.get("units"), one.get("psus_per_feed"))
        for one in made.data["sites"][0]["node_groups"]
    ]
    assert shown == [
        (
            "gpu",
            "c[1-2,4]",
            6,
            {"c1": ["1 U", "9 U", "17 U"], "c2": ["1 U", "9 U"], "c4": ["1 U"]},
            None,
        ),
        ("gpu-set2", "c3", 3, None, {"A": 6, "B": 0}),
    ]


def test_a_height_that_is_not_the_products_is_told(tmp_path: Path) -> None:
    text = "rack,from unit,to unit,model\nc1,1,8,dgx-h100\nc1,9,14,dgx-h100\n"
    told = [str(notice) for notice in take_over(tmp_path, {"racks.csv": text}).notices]
    (one,) = [text for text in told if "U high" in text]
    assert one.endswith(
        "racks.csv:3:1: U9 to U14 in the file; 'dgx-h100' is 8 U high, and takes U9 to U16"
    )
    assert "where no file names a hall, it is called 'hall-1'" in told
    assert any("no file has names for the 2 hosts of 'dgx-h100'" in text for text in told)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("c1,,dgx-h100,a", "'a' has no unit in its rack"),
        ("c1,zero,dgx-h100,a", "'zero' is no rack unit"),
        ("c1,0,dgx-h100,a", "'0' is no rack unit"),
        ("c1,1,,a", "this row has no product"),
        (",1,dgx-h100,a", "this row has no rack"),
        ("c1,1,dgx-h100,b@a", "'b@a' is no name of a host"),
        ("c1,1,gb200-nvl72,a", "names 1 host; one 'gb200-nvl72' has 18"),
        ("c1,1,dgx-h100,a-1 … b-2", "does not say which names are between"),
        ("c1,1,dgx-h10,a", "did you mean 'dgx-h100'?"),
        ("c1,1,dgx-h100,a,x", "has more cells than there are columns"),
    ],
)
def test_a_row_that_is_no_device_is_refused_at_its_line(
    row: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"racks.csv": f"rack,unit,product,name\n{row}\n"})
    (error,) = caught.value.errors
    assert words in str(error)
    assert error.location is not None
    assert error.location.line == 2


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "the file is empty"),
        (b"\x00\x01\x02", "is no text"),
        (b"rack,unit,product\nc1,1,dgx\x00h100\n", "elevations:2:1: the character 0 is no text"),
        (b"\x7fELF\x02\x01", "the character 127 is no text"),
        (b"rack,unit,product\n\xe9\n", "elevations:2:1: the file is not UTF-8"),
        ("rack,unit,product\n".encode("utf-16"), "the file is UTF-16"),
        (b"rack,unit,product\n" + b"x" * (16 * 2**20), "the file is larger"),
        (b'rack,unit,product\n"c1,1,dgx-h100\n', "this is no sheet"),
        (b"rack,rack,product\n", "its first line names each column once"),
        (b"rack,unit,product\n", "no file says what stands in any rack"),
        (b"[]", "no file says what stands in any rack"),
        (b"who,what\na,b\n", "this is no sheet of elevations"),
        (b"{", "a value is missing here"),
        (b'{"results": 3}', "this is no list of devices"),
        (b"[1, 2]", "this is no device"),
        (b"[" * 5000, "nested more than 64 deep"),
        (b"NodeName=a[1-99999999999] CPUs=1\n", "is no range"),
        (b"rack,unit,product\n" + b"c1,1," + b"y" * 200_000 + b"\n", "this is no sheet"),
    ],
)
def test_hostile_files_are_refused_in_words(raw: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "elevations").write_bytes(raw)
    ended = run_here(tmp_path, "init", "site", "--from", "elevations")
    ended.refused(words)
    assert not (tmp_path / "site").exists()


def test_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    for name in (".", "gone.csv"):
        run_here(tmp_path, "init", "site", "--from", name).refused("cannot be read")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "racks.csv", "--template", "lab"), "--template has no effect with --from"),
        (("--from", "racks.csv", "--set", "name=a"), "--set has no effect with --from"),
        (("--from", "racks.csv", "--product", "x"), "'x' is not NAME=ID"),
        (("--template", "lab", "--leave-out", "x"), "--leave-out has no effect without --from"),
        (("--from", "racks.csv", "--site", "x"), "no device is in the site 'x'"),
    ],
)
def test_arguments_without_effect_are_refused(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "racks.csv").write_text(BY_HAND, "utf-8")
    run_here(tmp_path, "init", "site", *arguments).refused(words)
    run_here(tmp_path, "init", "--from", "racks.csv").refused("a folder is needed")


def test_cells_that_were_kept_from_being_formulas_are_what_they_were() -> None:
    assert (unquoted("'=x"), unquoted("'  -1"), unquoted("'a"), unquoted("a")) == (
        "=x",
        "  -1",
        "'a",
        "a",
    )


def test_short_lists_keep_their_order() -> None:
    for names in (("c3", "c1", "c2"), ("a", "b01", "b02", "a1"), ("n9", "n10"), ("x",)):
        assert expand_hostlist(ordered_hostlist(names)) == names
    assert ordered_hostlist(("c3", "c1", "c2")) == "c[3,1-2]"


def test_faces_of_devices_of_full_depth_are_no_shares(tmp_path: Path) -> None:
    """Sheets of others have a face for every device."""
    text = "rack,lowest_unit,kind,product,name,face\n" + "".join(
        f"r1,{low},{kind},{product},{name},{face}\n"
        for low, kind, product, name, face in (
            (2, "node", "DGX H100", "n1", "Front"),
            (40, "switch", "QM9700", "l1", "Rear"),
            (42, "switch", "SN2201", "m1", "left"),
            (42, "switch", "SN2201", "m2", "right"),
        )
    )
    (site,) = take_over(tmp_path, {"racks.csv": text}).data["sites"]
    tiers = {tier["type"]: tier for fabric in site["fabrics"] for tier in fabric["tiers"]}
    assert "unit_share" not in site["node_groups"][0]
    assert [tiers[name].get("unit_share") for name in ("qm9700", "sn2201")] == [None, "half-width"]
