"""Verdicts of gpud's and AzNHC's published rules on the recordings of the fault table, beside ours."""

from __future__ import annotations

import os
from pathlib import Path

import published_rules
from published_rules import NOTHING, fitting, recordings_of, rules_of, takes_out, verdict
from rackwright.catalog.fault_table import builtin_faults
from rackwright.nodelife.signs.detect import detect_in

FAULTS = [fault for fault in builtin_faults().faults.values() if recordings_of(fault)]
PAGE = Path(__file__).parents[4] / "docs/evidence.md"
BEGIN = "| Fault | Rackwright | gpud | AzNHC |\n"


def table() -> str:
    """Return the table of the page."""
    rows = [
        f"| {fault.name} | {fault.severity}: {fault.action} | {verdict('gpud', fault)} | {verdict('AzNHC', fault)} |\n"
        for fault in FAULTS
    ]
    return f"{BEGIN}|---|---|---|---|\n{''.join(rows)}"


def counts() -> str:
    """Return the sentence of the page that counts the rows."""
    seen = {tool: sum(verdict(tool, fault) != NOTHING for fault in FAULTS) for tool in published_rules.tools()}  # fmt: skip
    out = {tool: sum(takes_out(verdict(tool, fault)) for fault in FAULTS) for tool in published_rules.tools()}  # fmt: skip
    ours = sum(fault.severity.leaves_service for fault in FAULTS)
    return (
        f"Of {len(FAULTS)} faults with a recording, gpud's rules notice {seen['gpud']} and AzNHC's {seen['AzNHC']}. "
        f"They take the node out of service for {out['gpud']} and {out['AzNHC']} of them, ours for {ours}."
    )


def test_every_recording_is_printed_beside_the_rules_of_gpud_and_aznhc() -> None:
    made = table()
    print(f"\n{counts()}\n{made}")
    text = PAGE.read_text()
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(text.partition(BEGIN)[0] + made)
        text = PAGE.read_text()
    assert text.endswith(made)
    assert counts() in " ".join(text.split())


def test_every_published_rule_fits_a_recording_or_is_of_an_xid() -> None:
    materials = [material for fault in FAULTS for material in recordings_of(fault)]
    unused = []
    for tool in published_rules.tools():
        used = {rule for material in materials for rule in fitting(tool, material)}
        unused += [rule for rule in rules_of(tool) if rule not in used]
    assert [rule for rule in unused if not rule.find.startswith("Xid")] == []


def test_every_xid_for_which_others_take_a_node_out_is_known_to_us() -> None:
    """AzNHC's list has numbers that NVIDIA's catalogue calls unused: those are a ticket."""
    numbers = {
        number
        for data in published_rules.tools().values()
        for says, listed in data["xids"].items()
        if takes_out(says)
        for number in listed
    }
    assert len(numbers) > 20
    line = "[1.0] NVRM: Xid (PCI:0000:9b:00): {}, pid=1\n"
    assert [n for n in numbers if not detect_in(builtin_faults(), {"kernel": line.format(n)})] == []
