"""``rackwright faults``: the table, a team's own part of it, and faults in files."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import run_here

OWN = """
sources:
  ops: {title: Our operators, date: 2026-11-27, confidence: judgement}
faults:
  - id: acme-fan-tray
    name: Fan tray of Acme is loose
    subject: cooling
    severity: drain
    signals: [{log: sel, pattern: "Tray (?P<device>\\\\d+) loose"}]
    action: ACTION
    again: [replace]
    source: [ops]
    examples:
      - name: loose
        material: {sel: "Tray 3 loose\\n"}
"""


def team(top: Path, action: str = "reseat") -> None:
    (top / "faults").mkdir()
    (top / "faults/acme.yaml").write_text(OWN.replace("ACTION", action))
    (top / "rackwright.yaml").write_text("faults: [{path: faults}]\n")


def test_list_and_show_have_signs_actions_and_sources(tmp_path: Path) -> None:
    listed = run_here(tmp_path, "faults", "list", "--subject", "nvlink")
    assert listed.code == 0
    assert "nvswitch-fatal" in listed.out
    assert "gpu-hot" not in listed.out
    shown = run_here(tmp_path, "faults", "show", "xid-79")
    assert shown.code == 0
    assert "RESTART_BM / CONTACT_SUPPORT" in shown.out
    assert "cold-cycle -> reseat -> rma" in shown.out
    assert "NVIDIA, Xid error catalogue (2025-10-01, official)" in shown.out
    wrong = run_here(tmp_path, "faults", "show", "gpu-of-bus")
    assert wrong.code == 2
    assert "gpu-off-bus" in wrong.err


def test_own_faults_are_tested_and_found(tmp_path: Path) -> None:
    team(tmp_path)
    tested = run_here(tmp_path, "faults", "test", "faults")
    assert (tested.code, tested.out) == (0, "1 fault, 1 example, 0 failed\n")
    (tmp_path / "sel.txt").write_text("Tray 7 loose\n")
    found = run_here(tmp_path, "faults", "explain", "sel=sel.txt", "--json")
    assert found.code == 5
    (row,) = json.loads(found.out)["faults"]
    assert (row["id"], row["device"], row["action"]) == ("acme-fan-tray", "7", "reseat")


def test_unknown_action_is_refused_with_its_place(tmp_path: Path) -> None:
    team(tmp_path, action="kick")
    refused = run_here(tmp_path, "faults", "test", "faults")
    assert refused.code == 2
    assert "faults/acme.yaml:10:13" in refused.err
    assert "'cold-cycle'" in refused.err


def test_example_that_finds_something_else_fails(tmp_path: Path) -> None:
    team(tmp_path)
    path = tmp_path / "faults/acme.yaml"
    path.write_text(path.read_text().replace('"Tray 3 loose\\n"', '"Tray 3 fine\\n"'))
    tested = run_here(tmp_path, "faults", "test", "faults")
    assert tested.code == 5
    assert "acme-fan-tray 'loose': acme-fan-tray is not found" in tested.out


def test_id_of_a_built_in_fault_is_refused(tmp_path: Path) -> None:
    team(tmp_path)
    path = tmp_path / "faults/acme.yaml"
    path.write_text(path.read_text().replace("acme-fan-tray", "gpu-hot"))
    refused = run_here(tmp_path, "faults", "list")
    assert refused.code == 2
    assert "the fault 'gpu-hot'" in refused.err


def test_source_that_is_cut_is_unknown_and_not_clean(tmp_path: Path) -> None:
    (tmp_path / "gpus.xml").write_text("<nvidia_smi_log><gpu id='0'>")
    found = run_here(tmp_path, "faults", "explain", "nvidia-smi=gpus.xml")
    assert found.code == 6
    assert "not read: nvidia-smi" in found.err
