"""``switches``: lists, comparisons with what runs, and waves; and ``diff`` of a change that touches switches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from rackwright.cli import main
from rackwright.diff.generated import compare_files, load_generators, waves_of_switches
from rackwright.exit_codes import ExitCode
from switch_plans import FIXTURE, Layer, a_layer, fabric_of, for_system, plan_of


def files(folder: Path, layer: Layer) -> list[str]:
    """Return the arguments that name the fixture with a layer."""
    path = folder / "layer.yaml"
    path.write_text(yaml.safe_dump(layer), encoding="utf-8")
    return [str(FIXTURE), "--layer", str(path)]


def render(folder: Path, layer: Layer) -> Path:
    assert main(["render", *files(folder, layer), "--output", str(folder / "out")]) == 0
    return folder / "out/switches"


def test_list_has_each_switch_with_its_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["switches", "list", *files(tmp_path, a_layer())]) == ExitCode.CLEAN
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "product", "system", "asn", "loopback", "management", "ports"]
    assert rows[2].split() == [
        *("compute-leaf-03", "sn5610", "frr", "4200000103", "10.255.1.3", "10.20.0.102/24", "8"),
    ]
    assert main(["switches", "list", *files(tmp_path, a_layer()), "--json"]) == ExitCode.CLEAN
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "rackwright.switches/v1"
    assert len(document["switches"]) == 10


@pytest.mark.parametrize("system", ["cumulus", "eos", "frr", "sonic"])
def test_switches_that_run_what_was_rendered_do_not_differ(
    system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = render(tmp_path, for_system(system))
    capsys.readouterr()
    words = ["switches", "compare", *files(tmp_path, for_system(system)), str(running)]
    assert main(words) == ExitCode.CLEAN
    assert capsys.readouterr().out == "0 switches run otherwise, of 10\n"
    waves = ["switches", "waves", *files(tmp_path, for_system(system)), "--running", str(running)]
    assert main(waves) == ExitCode.CLEAN
    assert capsys.readouterr().out == "every switch runs the configuration of 'render'\n"


def test_setting_that_runs_otherwise_is_told_by_switch_and_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = render(tmp_path, for_system("sonic"))
    path = running / "compute-leaf-02/config_db.json"
    path.write_text(path.read_text().replace('"mtu": "9216"', '"mtu": "9100"', 1))
    (running / "compute-leaf-03/config_db.json").unlink()
    capsys.readouterr()
    named = files(tmp_path, for_system("sonic"))
    assert main(["switches", "compare", *named, str(running)]) == ExitCode.VIOLATION
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "compute-leaf-02: PORT > Ethernet256 > mtu: 9100, rendered 9216"
    assert told[1].startswith("compute-leaf-03: no running configuration in ")
    assert main(["switches", "waves", *named, "--running", str(running)]) == ExitCode.CLEAN
    assert capsys.readouterr().out.splitlines() == [
        "1. compute-leaf-02 of sjc1, the first of its product; drain dgx-[03-04], which nothing else joins",
        "2. compute-leaf-03 of sjc1; drain dgx-[05-06], which nothing else joins",
    ]
    path.unlink()
    for other in running.glob("*/config_db.json"):
        other.unlink()
    assert main(["switches", "compare", *named, str(running)]) == ExitCode.USAGE


def test_file_of_another_format_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = tmp_path / "running"
    running.mkdir()
    (running / "compute-leaf-01.txt").write_text("hostname compute-leaf-01\n")
    named = files(tmp_path, for_system("sonic"))
    assert main(["switches", "compare", *named, str(running)]) == ExitCode.USAGE
    assert "is not a configuration of 'sonic'" in capsys.readouterr().err


def test_blueprint_without_switching_has_no_switches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["switches", "list", str(FIXTURE)]) == ExitCode.USAGE
    assert "no fabric of the blueprint has 'switching'" in capsys.readouterr().err


def test_mistake_is_told_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = a_layer()
    fabric_of(layer)["tiers"][1]["loopback"] = "10.255.1.8"
    for words in (["switches", "list"], ["render", "--output", str(tmp_path / "out")]):
        assert main([words[0], *words[1:], *files(tmp_path, layer)]) == ExitCode.USAGE
        told = capsys.readouterr().err
        assert "layer.yaml:" in told
        assert "overlap" in told
        assert "begin at 10.255.1.10" in told


def test_change_of_one_leaf_touches_it_and_its_spines_alone(tmp_path: Path) -> None:
    before, layer = plan_of(tmp_path, a_layer()), a_layer()
    fabric_of(layer)["patches"] = [
        {"node": "dgx-01", "interface": 1, "switch": "compute-leaf-01", "port": 20}
    ]
    after = plan_of(tmp_path, layer)
    found = compare_files(before, after, load_generators())
    assert [change.name for change in found.changes if change.name.startswith("switches")] == [
        "switches/compute-leaf-01/frr.conf",
        "switches/compute-leaf-01/links.ip",
        "switches/compute-leaf-01/qos.dcb",
    ]
    (wave,) = waves_of_switches(found, after)
    assert wave.switches == ("compute-leaf-01",)
    assert wave.cut_off == ("dgx-01", "dgx-02")


def test_switches_that_cannot_be_written_keep_no_other_file_from_being_compared(
    tmp_path: Path,
) -> None:
    layer = a_layer()
    fabric_of(layer)["tiers"][1]["loopback"] = "10.255.1.8"
    layer["sites"][0]["addresses"]["networks"][0]["ranges"][0]["first"] = "10.20.0.20"
    found = compare_files(plan_of(tmp_path, a_layer()), plan_of(tmp_path, layer), load_generators())
    assert "names/hosts" in {change.name for change in found.changes}
    assert [text for text in found.problems if "overlap" in text]
