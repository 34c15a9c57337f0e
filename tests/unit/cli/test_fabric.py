from __future__ import annotations

import csv
import io

import pytest

from rackwright.cli import main
from rackwright.cli.fabric import COLUMNS
from rackwright.exit_codes import ExitCode
from rackwright.policy.packs import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
FABRIC = str(FIXTURES / "fabric.yaml")


def test_the_list_of_cables(capsys):
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


def test_the_fabric_as_ibsim_reads_it(capsys):
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
def test_a_fabric_that_cannot_be_shown(words, message, capsys):
    assert main(["fabric", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def layered(tmp_path, text):
    layer = tmp_path / "layer.yaml"
    layer.write_text(f"sites:\n  - name: sjc1\n    {text}\n")
    return ["--layer", str(layer)]


def test_hosts_without_a_port_are_told(tmp_path, capsys):
    layer = layered(tmp_path, "node_groups: [{name: dgx, count: 32}]")
    assert main(["fabric", "cables", FABRIC, *layer]) == ExitCode.USAGE
    assert "2 hosts of the fabric 'compute' have no port" in capsys.readouterr().err


def test_subnets_are_routed_one_by_one(tmp_path, capsys):
    layer = layered(tmp_path, "fabrics: [{name: compute, subnets: 8}]")
    assert main(["fabric", "route", FABRIC, *layer]) == ExitCode.USAGE
    assert "is 8 subnets" in capsys.readouterr().err


def test_an_engine_must_be_chosen(tmp_path, capsys):
    layer = layered(tmp_path, "fabrics: [{name: compute, routing_engine: null}]")
    assert main(["fabric", "route", FABRIC, *layer]) == ExitCode.USAGE
    assert "no routing engine is chosen" in capsys.readouterr().err
