"""``expand``: the full form, the rules behind it, and what a change of intent does to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ci_team import git
from cli_support import Ended, run_here
from rackwright.plan.derivation.rules import RULES
from short_forms import SHORT, a_short_site

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a blueprint in the short form, in a repository."""
    text = (SHORT / "dgx-h200.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", ".")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=base")
    return tmp_path


def expand(folder: Path, *arguments: str) -> Ended:
    return run_here(folder, "expand", "blueprint.yaml", *arguments)


def change(folder: Path, before: str, after: str) -> None:
    path = folder / "blueprint.yaml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_the_full_form_has_a_comment_at_each_derived_value(folder: Path) -> None:
    ended = expand(folder)
    assert (ended.code, ended.err) == (0, "")
    document = json.loads(expand(folder, "--json").out)
    assert yaml.safe_load(ended.out) == document["blueprint"]
    comments = [line.split("  # ", 1)[1] for line in ended.out.splitlines()[1:] if "  # " in line]
    told = [f"{one['rule']}: {one['why']}" for one in document["derived"]]
    assert sorted(comments) == sorted(told)
    head = ended.out.splitlines()[0]
    assert (
        head == f"# blueprint.yaml in full: 22 values as they are written, {len(told)} that follow."
    )


def test_json_says_the_rule_and_the_place_of_each_derived_value(folder: Path) -> None:
    document = json.loads(expand(folder, "--json").out)
    assert document["version"] == 1
    (found,) = [
        one
        for one in document["derived"]
        if one["field"] == "sites.sjc1.fabrics.compute.tiers.spine.count"
    ]
    assert found == {
        "field": "sites.sjc1.fabrics.compute.tiers.spine.count",
        "path": ["sites", 0, "fabrics", 0, "tiers", 1, "count"],
        "value": 8,
        "rule": "fabric.count",
        "why": "16 switches below with 32 uplinks each, on 64 ports, spread evenly",
        "location": {"file": "blueprint.yaml", "line": 15, "column": 22},
    }
    assert {one["rule"] for one in document["derived"]} <= set(RULES)


def test_expanded_blueprint_has_the_same_verdict(folder: Path) -> None:
    (folder / "full.yaml").write_text(expand(folder).out, encoding="utf-8")
    reports = []
    for name in ("blueprint.yaml", "full.yaml"):
        report = json.loads(run_here(folder, "check", name, "--json").out)
        reports.append([(r["policy"], r["subject"], r["outcome"]) for r in report["results"]])
    assert reports[0] == reports[1]
    assert len(reports[0]) > 100


def test_the_diff_of_a_change_of_intent_shows_what_follows(folder: Path) -> None:
    change(folder, "count: 64", "count: 65")
    ended = run_here(folder, "diff", "main", "blueprint.yaml", "--json")
    changed = {
        one["path"]: (one["before"], one["after"]) for one in json.loads(ended.out)["updates"]
    }
    compute = "sites.sjc1.fabrics.compute"
    assert changed["sites.sjc1.node_groups.dgx.count"] == (64, 65)
    assert changed[f"{compute}.tiers.leaf.count"] == (16, 24)
    assert changed[f"{compute}.tiers.spine.count"] == (8, 16)
    assert changed[f"{compute}.links.spines.parallel"] == (4, 2)


def test_going_to_the_short_form_changes_nothing_else(folder: Path) -> None:
    full = expand(folder).out.replace('derive: "1"\n', "")
    short = (folder / "blueprint.yaml").read_text("utf-8")
    (folder / "blueprint.yaml").write_text(full, encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message=full")
    (folder / "blueprint.yaml").write_text(short, encoding="utf-8")
    ended = run_here(folder, "diff", "HEAD", "blueprint.yaml", "--json")
    changes = [one["path"] for one in json.loads(ended.out)["updates"]]
    assert changes == ["derive"]


@pytest.mark.parametrize(
    ("before", "after", "rule", "field"),
    [
        ("power_limit: 45 kW", "power_limit: 60 kW", "RACK-002", "cooling.power_limit"),
        ("oversubscription: 1", "oversubscription: 2", "NET-001", "oversubscription"),
        ("spare: 1}}", "spare: 0}}", "PWR-006", "modules.spare"),
    ],
)
def test_a_weakening_in_the_words_of_the_short_form_is_held_by_the_base(
    folder: Path, before: str, after: str, rule: str, field: str
) -> None:
    change(folder, before, after)
    words = ("check", "blueprint.yaml", "--json", f"--only={rule}", "--base-ref=main")
    report = json.loads(run_here(folder, *words).out)
    lowered = [one["id"] for one in report["hygiene"]["notices"] if one["kind"] == "lowered"]
    assert lowered
    assert all(one.endswith(field) for one in lowered)
    if rule != "PWR-006":
        assert "fail" in {one["outcome"] for one in report["results"]}


def test_the_short_form_hides_no_weakening_of_a_full_base(folder: Path) -> None:
    full = expand(folder).out.replace('derive: "1"\n', "")
    short = (folder / "blueprint.yaml").read_text("utf-8")
    (folder / "blueprint.yaml").write_text(full, encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message=full")
    text = short.replace("power_limit: 45 kW", "power_limit: 60 kW")
    (folder / "blueprint.yaml").write_text(text, encoding="utf-8")
    words = ("check", "blueprint.yaml", "--json", "--only=RACK-002", "--base-ref=HEAD")
    report = json.loads(run_here(folder, *words).out)
    assert "fail" in {one["outcome"] for one in report["results"]}
    assert any(one["id"].endswith("power_limit") for one in report["hygiene"]["notices"])


def test_a_base_from_which_nothing_follows_approves_nothing(folder: Path) -> None:
    """It cannot have been merged by this gate; a change is not judged as if it were a new cluster."""
    good = (folder / "blueprint.yaml").read_text("utf-8")
    change(folder, "preset: rail-optimized", "preset: dragonfly")
    git(folder, "commit", "--quiet", "--all", "--message=broken")
    (folder / "blueprint.yaml").write_text(good, encoding="utf-8")
    words = ("check", "blueprint.yaml", "--only=RACK-002", "--base-ref=HEAD")
    run_here(folder, *words).refused("HEAD:1:1", "'dragonfly' is not one of")


def test_a_patch_changes_nothing_where_a_value_is_derived(folder: Path) -> None:
    """A suggestion about a derived value is no edit of the words that it follows from."""
    change(folder, "oversubscription: 1", "tiers: [{name: spine, count: 3}]")
    report = json.loads(run_here(folder, "check", "blueprint.yaml", "--json", "--only=NET-001").out)
    before = (folder / "blueprint.yaml").read_text("utf-8")
    assert "fail" in {one["outcome"] for one in report["results"]}
    for one in report["results"]:
        if one.get("edit"):
            place = one["edit"]["location"]
            line = before.splitlines()[place["line"] - 1]
            assert line[place["column"] - 1 :].startswith(one["edit"]["old"])


def test_a_short_form_without_a_set_of_rules_is_refused(folder: Path) -> None:
    change(folder, 'derive: "1"\n', "")
    expand(folder).refused(
        "blueprint.yaml:14:5", "no set of rules", "write 'derive: \"1\"' at the top"
    )


def test_the_rules_are_those_of_the_documentation() -> None:
    ended = run_here(ROOT, "expand", "--rules")
    assert ended.out in (ROOT / "docs/short-blueprints.md").read_text("utf-8")
    run_here(ROOT, "expand").refused("'blueprint.yaml' cannot be read")
    run_here(ROOT, "expand", "--rules", "x.yaml").refused("--rules is about no blueprint")


def test_every_rule_gives_something(folder: Path) -> None:
    """Each rule that is documented has given a value to one of a few blueprints."""
    more = "fabrics: [{name: big, preset: rail-optimized, switch: sn5610, rate: 400 Gbps, groups: [dgx]}]"
    nodes = "[{name: dgx, role: compute, type: dgx-h200, count: 1200}]"
    fabric = "{preset: rail-optimized, switch: qm9700, network: 10.0.0.0/8}"
    seen: set[str] = set()
    for text in (a_short_site(fabric, nodes, more=more), a_short_site(fabric, nodes)):
        lines = [line for line in text.splitlines() if "halls:" not in line]
        (folder / "blueprint.yaml").write_text("\n".join(lines), encoding="utf-8")
        seen |= {one["rule"] for one in json.loads(expand(folder, "--json").out)["derived"]}
    assert seen == set(RULES)
