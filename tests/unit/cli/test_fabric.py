from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.cli.commands.fabric import COLUMNS
from rackwright.exit_codes import ExitCode
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
FABRIC = str(FIXTURES / "fabric.yaml")


def test_the_list_of_cables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fabric", "cables", FABRIC]) == ExitCode.CLEAN
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 508  # 31 × 8 nodes, 2 × 2 managers, 8 × 32 leaf to spine
    assert rows[0] == {
        "kind": "nodes",
        "from": "dgx-01",
        "interface": "1",
        "device": "mlx5_0",
        "cage": "OSFP4P2",
        "to": "compute-leaf-1",
        "port": "1",
        "part": "mms4x00-ns",
        "length_m": "30.8",
    }
    assert rows[-1]["to"] == "compute-spine-4"


def test_the_fabric_as_ibsim_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fabric", "net", FABRIC]) == ExitCode.CLEAN
    assert capsys.readouterr().out.startswith('caguid=0x10000\nCa\t1 "dgx-01/1"')


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["net", FABRIC, "--fabric", "storage"], "the fabric 'storage' is not InfiniBand"),
        (["route", FABRIC, "--fabric", "storage"], "the fabric 'storage' is not InfiniBand"),
        (["cables", FABRIC, "--fabric", "backup"], "there is no fabric 'backup'"),
        (["cables", FABRIC, "--site", "nyc1"], "there is no compute fabric"),
        (["cables", str(FIXTURES / "air.yaml")], "there is no compute fabric"),
    ],
)
def test_a_fabric_that_cannot_be_shown(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fabric", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def layered(tmp_path: Path, text: str) -> list[str]:
    layer = tmp_path / "layer.yaml"
    layer.write_text(f"sites:\n  - name: sjc1\n    {text}\n")
    return ["--layer", str(layer)]


def test_each_cable_had_the_length_of_the_longest_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From c01 and c08, eight and one racks of 0.6 m to n01; twice 2.7 m; a metre of slack or a tenth."""
    layer = layered(
        tmp_path,
        "halls: [{name: hall-1, trays: {height: 2.7 m}}]\n"
        "    fabrics: [{name: compute, links: [{name: nodes, route: null}]}]",
    )
    assert main(["fabric", "cables", FABRIC, *layer]) == ExitCode.CLEAN
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    found = {(row["from"], row["to"]): row["length_m"] for row in rows}
    assert found["dgx-01", "compute-leaf-1"] == "11.22"  # (8 × 0.6 + 5.4) × 1.1
    assert found["dgx-01", "compute-leaf-5"] == "11.88"  # in n02
    assert found["dgx-31", "compute-leaf-1"] == "7.0"  # 0.6 + 5.4 + 1
    assert found["compute-leaf-1", "compute-spine-1"] == "30.0"  # as stated


def test_hosts_without_a_port_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = layered(tmp_path, "node_groups: [{name: dgx, count: 32}]")
    assert main(["fabric", "cables", FABRIC, *layer]) == ExitCode.USAGE
    assert "2 hosts of the fabric 'compute' have no port" in capsys.readouterr().err


def test_subnets_are_routed_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = layered(tmp_path, "fabrics: [{name: compute, subnets: 8}]")
    assert main(["fabric", "route", FABRIC, *layer]) == ExitCode.USAGE
    assert "is 8 subnets" in capsys.readouterr().err


def test_an_engine_must_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = layered(tmp_path, "fabrics: [{name: compute, routing_engine: null}]")
    assert main(["fabric", "route", FABRIC, *layer]) == ExitCode.USAGE
    assert "no routing engine is chosen" in capsys.readouterr().err


def test_a_hall_is_compared_with_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fabric", "net", FABRIC]) == ExitCode.CLEAN
    seen = tmp_path / "seen"
    text = capsys.readouterr().out
    seen.write_text(text)
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.UNKNOWN
    assert (
        "cables: their rate is not known\ncompute: every other cable is as planned"
        in capsys.readouterr().out
    )
    text = re.sub(r'(?m)^(\[\d+\].*"\[\d+\])', r"\1 # lid 1 4xNDR", text)
    seen.write_text(text)
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.CLEAN
    assert "compute: every cable is as planned" in capsys.readouterr().out
    seen.write_text("\n\n".join(part for part in text.split("\n\n") if '"dgx-05/4"\t#' not in part))
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.VIOLATION
    printed = capsys.readouterr().out
    assert "dgx-05 port 4 to compute-leaf-4 port 5: there is no link" in printed
    assert "compute: 1 cable is not as planned" in printed
    arguments = ["fabric", "compare", FABRIC, str(seen), "--json"]
    assert main(arguments) == ExitCode.VIOLATION
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "rackwright.cable-comparison/v1"
    (found,) = document["differences"]
    assert found["cable"] == "dgx-05 port 4 to compute-leaf-4 port 5"
    assert document["not_compared"] == []


def test_descriptions_of_a_hall_do_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = tmp_path / "seen"
    seen.write_text(
        'Switch\t1 "S-1"\t# "a\x1b[31m"\n[1]\t"S-2"[1]\nSwitch\t1 "S-2"\t# "b\u202e"\n[1]\t"S-1"[1]\n'
    )
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.USAGE
    printed = capsys.readouterr().err
    assert r"in the plan of 'compute': 'a\x1b[31m', 'b\u202e'" in printed
    assert printed.isascii()


def test_file_of_another_fabric_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = tmp_path / "seen"
    seen.write_text(
        'Switch\t1 "S-1"\t# "x"\n[1]\t"S-2"[1]\nSwitch\t1 "S-2"\t# "y"\n[1]\t"S-1"[1]\n'
    )
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no name of the 2 devices in" in printed.err
    assert "--node-name-map" in printed.err


@pytest.mark.parametrize("text", [None, "", "nonsense"])
def test_a_file_that_is_no_discovery(
    text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = tmp_path / "seen"
    if text is not None:
        seen.write_text(text)
    assert main(["fabric", "compare", FABRIC, str(seen)]) == ExitCode.USAGE
    assert str(seen) in capsys.readouterr().err
