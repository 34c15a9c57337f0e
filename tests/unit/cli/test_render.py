"""``render``: writes what changed, shows what differs, and spares what it did not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.names import ZONE_HEADER
from rackwright.render.slurm import HEADER

BLUEPRINT = str(builtin_pack() / "fixtures" / "slurm.yaml")
ADDRESSES = (Path(__file__).parents[2] / "golden" / "names" / "layer.yaml").read_text("utf-8")
FILES = {"slurm.conf", "gres.conf", "cgroup.conf", "topology.conf"}


def render(folder: Path, *more: str, layer: str | None = None) -> int:
    arguments = ["render", BLUEPRINT, "--output", str(folder), *more]
    if layer is not None:
        path = folder.parent / "layer.yaml"
        path.write_text(layer)
        arguments += ["--layer", str(path)]
    return main(arguments)


def test_the_files_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert render(out) == 0
    assert {path.name for path in (out / "slurm").iterdir()} == FILES
    assert capsys.readouterr().out.count("written: ") == len(FILES)
    stamps = {path: path.stat().st_mtime_ns for path in (out / "slurm").iterdir()}
    assert render(out) == 0
    assert capsys.readouterr().out.count("unchanged: ") == len(FILES)
    assert {path: path.stat().st_mtime_ns for path in (out / "slurm").iterdir()} == stamps


def test_a_difference_is_shown_and_not_written_under_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    render(out)
    capsys.readouterr()
    before = (out / "slurm" / "slurm.conf").read_text()
    layer = "scheduler: {mpi: pmix}\n"
    assert render(out, "--diff", "--check", layer=layer) == 0
    shown = capsys.readouterr()
    changed = [
        line
        for line in shown.out.splitlines()
        if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    ]
    assert changed == ["-MpiDefault=none", "+MpiDefault=pmix"]
    assert shown.out.startswith("--- a/slurm/slurm.conf\n+++ b/slurm/slurm.conf\n")
    assert "would be written: " in shown.err
    assert (out / "slurm" / "slurm.conf").read_text() == before
    assert render(out, "--diff", layer=layer) == 0
    assert "MpiDefault=pmix" in (out / "slurm" / "slurm.conf").read_text()
    capsys.readouterr()
    assert render(out, "--diff", layer=layer) == 0
    assert capsys.readouterr().out == ""


def test_a_file_that_is_no_longer_generated_goes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(out, layer='scheduler: {version: "25.05"}\n')
    assert (out / "slurm" / "topology.yaml").exists()
    (out / "slurm" / "notes.txt").write_text("mine\n")
    render(out)
    assert not (out / "slurm" / "topology.yaml").exists()
    assert (out / "slurm" / "notes.txt").exists()


def test_a_file_of_others_is_spared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "out" / "slurm" / "slurm.conf"
    own.parent.mkdir(parents=True)
    own.write_text("ClusterName=mine\n")
    assert render(tmp_path / "out") == 2
    assert "was not generated, so it is not overwritten" in capsys.readouterr().err
    assert own.read_text() == "ClusterName=mine\n"
    assert {path.name for path in own.parent.iterdir()} == {"slurm.conf"}
    assert render(tmp_path / "out", "--check", "--diff") == 0
    assert "-ClusterName=mine" in capsys.readouterr().out


def test_unknown_value_is_reported_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = "scheduler: {partitions: [{name: gpu, groups: [dgy]}]}\n"
    assert render(tmp_path / "out", layer=layer) == 2
    told = capsys.readouterr().err
    assert "layer.yaml:1:" in told
    assert "there is no group of compute nodes 'dgy'" in told
    assert "did you mean 'dgx'?" in told
    assert not (tmp_path / "out").exists()


def test_a_blueprint_without_a_scheduler_is_bad_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    air = str(builtin_pack() / "fixtures" / "air.yaml")
    assert main(["render", air, "--output", str(tmp_path)]) == 2
    assert "has no scheduler" in capsys.readouterr().err


def test_every_file_carries_the_mark_by_which_it_is_known(tmp_path: Path) -> None:
    render(tmp_path / "out")
    texts = [path.read_text() for path in (tmp_path / "out" / "slurm").iterdir()]
    assert all(text.startswith(HEADER) for text in texts)


def test_names_are_written_beside_them_where_addresses_are_declared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert render(out, layer=ADDRESSES) == 0
    made = {path.name: path.read_text() for path in (out / "names").iterdir()}
    assert {"hosts", "zones.conf", "kea-subnet4.json", "db.sjc1.example.com"} < set(made)
    for name, text in made.items():
        assert text.startswith(ZONE_HEADER if name.startswith("db.") else HEADER), name
    assert {path.name for path in (out / "slurm").iterdir()} == FILES


def test_a_zone_that_is_no_longer_there_goes_and_one_of_others_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(out, layer=ADDRESSES)
    (out / "names" / "db.local").write_text("; mine\n")
    render(out, layer=ADDRESSES.replace("sjc1.example.com", "sjc.example.com"))
    names = {path.name for path in (out / "names").iterdir()}
    assert "db.sjc1.example.com" not in names
    assert {"db.sjc.example.com", "db.local"} < names
    render(out)
    assert {path.name for path in (out / "names").iterdir()} == {"db.local"}


def test_names_need_no_scheduler(tmp_path: Path) -> None:
    network = (
        "{name: mgmt, kind: management, prefix: 10.0.0.0/24, ranges: [{of: dgx, first: 10.0.0.1}]}"
    )
    layer = tmp_path / "layer.yaml"
    air = builtin_pack() / "fixtures" / "air.yaml"
    site = load_plan(air).plan.onprem[0].spec.name
    addresses = f"{{domain: example.com, networks: [{network}]}}"
    layer.write_text(f"sites: [{{name: {site}, addresses: {addresses}}}]\n")
    out = tmp_path / "out"
    assert main(["render", str(air), "--layer", str(layer), "--output", str(out)]) == 0
    assert [path for path in out.rglob("*") if path.is_file()] == [out / "names" / "hosts"]


def test_a_prefix_that_is_too_small_is_told_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = ADDRESSES.replace("10.21.0.0/25", "10.21.0.0/26").replace("10.21.0.126", "10.21.0.62")
    assert render(tmp_path / "out", layer=layer) == 2
    told = capsys.readouterr().err
    line = 1 + layer[: layer.index("10.21.0.16")].count("\n")
    assert f"layer.yaml:{line}:" in told
    assert "the 64 hosts of 'dgx' need 64 addresses from 10.21.0.16 on" in told
    assert "10.21.0.0/26 has 47 of them" in told
    assert "make the network 10.21.0.0/25" in told
    assert not (tmp_path / "out").exists()
