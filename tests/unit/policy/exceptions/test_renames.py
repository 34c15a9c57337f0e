"""A rule that has another id now: whatever a team wrote under the old one still holds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from first_set import name_first_set
from rackwright.cli import main
from rackwright.errors import PolicyLoadError, SpecErrors
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import former_ids, load_pack, load_packs
from rackwright.render.blueprints import find_template, write_blueprint

RULE = '''
from collections.abc import Iterator
from typing import ClassVar
from rackwright.plan.model import Plan, Subject
from rackwright.policy.api import Finding, Measure, Policy, Severity

class Mine(Policy):
    """Mine."""
    id: ClassVar[str] = "{id}"
    title: ClassVar[str] = "Mine"
    severity: ClassVar[Severity] = Severity.LOW
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "own"
    {formerly}
    most: int = 5

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        at = Subject("site sjc1", ("sites", 0))
        yield Measure(at, value=7, limit=self.most, unit="boxes", what="boxes")
'''
NOTE = "the policy 'ACME-001' is 'ACME-007' now"


def write_rule(pack: Path, policy_id: str, formerly: str = "") -> Path:
    folder = pack / "own"
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{policy_id.lower().replace('-', '')}_mine"
    line = f"formerly: ClassVar[tuple[str, ...]] = {formerly}" if formerly else ""
    stem.with_suffix(".py").write_text(RULE.format(id=policy_id, formerly=line))
    stem.with_suffix(".md").write_text(f"# {policy_id}: Mine\n\nIt counts boxes.\n")
    stem.with_suffix(".examples.yaml").write_text("[]\n")
    return pack


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return write_rule(tmp_path / "pack", "ACME-007", "('ACME-001', 'ACME-002')")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A blueprint that says nothing of policies."""
    write_blueprint(find_template("hybrid-h100"), tmp_path / "site", {})
    monkeypatch.chdir(tmp_path)
    path = name_first_set(Path("site/blueprint.yaml"))
    text, _, _ = path.read_text().partition("\npolicies:\n")
    path.write_text(f"{text}\n")
    return path


def check(site: Path, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", str(site), "--pack", "pack", "--only", "ACME-007",
                 "--output", "json=out.json", *more])  # fmt: skip
    return code, json.loads(Path("out.json").read_text())


def renamed(document: dict[str, Any]) -> list[str]:
    return [
        "{file}:{line}:{column} {message}".format(**notice["location"], message=notice["message"])
        for notice in document["hygiene"]["notices"]
        if notice["kind"] == "renamed"
    ]


def waive(site: Path, policy: str, name: str = "W-1") -> None:
    waivers = site.parent / "policies/waivers.yaml"
    waivers.parent.mkdir(exist_ok=True)
    waivers.write_text(
        f"waivers:\n  - id: {name}\n    policy: {policy}\n    match: {{site: sjc1}}\n"
        "    up_to: 8 boxes\n    limit: 5 boxes\n    reason: the boxes leave soon\n    owner: me\n"
        "    ticket: T-1\n    expires: 2026-12-01\n"
    )


def test_the_table_is_made_of_the_packs(pack: Path) -> None:
    assert former_ids(load_packs((pack,))) == {"ACME-001": "ACME-007", "ACME-002": "ACME-007"}
    assert former_ids(load_packs()) == {}


@pytest.mark.parametrize(
    ("other", "formerly", "message"),
    [
        ("ACME-001", "", (r"'ACME-001', a former id of 'ACME-007' in '.*acme007.*', is used twice: "
         r"'.*acme001_mine.py' has that id")),
        ("ACME-009", "('ACME-002',)", (r"'ACME-002', a former id of 'ACME-009' in '.*acme009.*', is "
         r"used twice: '.*acme007_mine.py' has it, as 'ACME-007'")),
        ("ACME-009", "('PWR-001',)", r"'PWR-001', a former id of 'ACME-009' .*pwr001_feed_cap"),
        ("ACME-009", "('ACME-009',)", "'formerly' of 'ACME-009' is not a tuple of other ids"),
        ("ACME-009", "'ACME-003'", "'formerly' of 'ACME-009' is not a tuple of other ids"),
        ("ACME-009", "('acme3',)", "'formerly' of 'ACME-009' is not a tuple of other ids"),
    ],
)  # fmt: skip
def test_an_id_is_never_given_again(pack: Path, other: str, formerly: str, message: str) -> None:
    write_rule(pack, other, formerly)
    with pytest.raises(PolicyLoadError, match=message):
        load_packs((pack,))


def test_a_pack_is_refused_by_itself_as_well(pack: Path) -> None:
    write_rule(pack, "ACME-002")
    with pytest.raises(PolicyLoadError, match="used twice"):
        load_pack(pack)


@pytest.mark.parametrize("policy", ["ACME-001", "ACME-002", "ACME-007"])
def test_a_waiver_holds_under_either_id(pack: Path, site: Path, policy: str) -> None:
    assert check(site)[0] == 5
    waive(site, policy)
    code, document = check(site, "--today", "2026-11-21")
    assert (code, document["counts"]["waived"]) == (0, 1)
    text = (
        f"site/policies/waivers.yaml:3:13 the policy '{policy}' is 'ACME-007' now, in the waiver "
    )
    expected = [] if policy == "ACME-007" else [f"{text}'W-1'; write the new id"]
    assert renamed(document) == expected
    assert not [n for n in document["hygiene"]["notices"] if n["problem"]]


def test_writing_the_new_id_changes_no_approved_waiver(pack: Path, site: Path) -> None:
    waive(site, "ACME-001")
    for command in (["init", "-q"], ["add", "site"], ["-c", "user.name=a", "-c", "user.email=a@b",
                    "commit", "-qm", "x"]):  # fmt: skip
        subprocess.run(["git", *command], check=True)
    waive(site, "ACME-007")
    code, document = check(site, "--base-ref", "HEAD", "--today", "2026-11-21")
    assert code == 0
    assert {n["kind"] for n in document["hygiene"]["notices"]} == {"expiring"}


def test_a_baseline_matches_and_is_brought_up_to_date(
    pack: Path, tmp_path: Path, site: Path
) -> None:
    old = write_rule(tmp_path / "old", "ACME-001")
    assert main(["baseline", "create", str(site), "--pack", str(old)]) == 0
    file = site.parent / "policies/baseline.json"
    assert [entry["policy"] for entry in json.loads(file.read_text())["entries"]] == ["ACME-001"]
    code, document = check(site)
    assert code == 0
    (result,) = (r for r in document["results"] if r["policy"] == "ACME-007")
    assert result["baseline_state"] == "unchanged"
    assert renamed(document) == [
        (
            f"site/policies/baseline.json:6:17 {NOTE}, in 1 entry of the baseline; "
            "'rackwright baseline update' writes the new id"
        )
    ]
    assert main(["baseline", "update", str(site), "--pack", "pack"]) == 0
    (entry,) = json.loads(file.read_text())["entries"]
    assert (entry["policy"], entry["fingerprint"]) == ("ACME-007", result["fingerprint"])
    assert renamed(check(site)[1]) == []


def test_an_entry_under_both_ids_permits_one_failure(
    pack: Path, tmp_path: Path, site: Path
) -> None:
    file = site.parent / "policies/baseline.json"
    assert main(["baseline", "create", str(site), "--pack", "pack"]) == 0
    both = json.loads(file.read_text())
    file.unlink()
    old = write_rule(tmp_path / "old", "ACME-001")
    assert main(["baseline", "create", str(site), "--pack", str(old)]) == 0
    both["entries"] += json.loads(file.read_text())["entries"]
    file.write_text(json.dumps(both))
    assert main(["baseline", "update", str(site), "--pack", "pack"]) == 0
    assert [e["policy"] for e in json.loads(file.read_text())["entries"]] == ["ACME-007"]


def test_settings_of_the_blueprint_hold(pack: Path, site: Path) -> None:
    text = site.read_text()
    site.write_text(text + "policies:\n  ACME-001: {parameters: {most: 9}}\n")
    line = text.count("\n") + 2
    code, document = check(site)
    assert code == 0
    note = f"site/blueprint.yaml:{line}:3 {NOTE}, in 'policies'; write the new id"
    assert renamed(document) == [note]
    site.write_text(text + "policies:\n  ACME-001: {parameters: {mots: 9}}\n")
    with pytest.raises(SpecErrors, match=rf"blueprint.yaml:{line}:27: .*mots"):
        check_blueprint(site, packs=(pack,))


def test_settings_under_both_ids_are_refused(pack: Path, site: Path) -> None:
    text = "policies:\n  ACME-007: {parameters: {most: 9}}\n  ACME-001: {parameters: {most: 8}}\n"
    site.write_text(site.read_text() + text)
    with pytest.raises(SpecErrors, match="'ACME-001' is 'ACME-007' now, and 'ACME-007' is given"):
        check_blueprint(site, packs=(pack,))


def test_what_the_base_approves_under_the_old_id_is_approved(pack: Path, site: Path) -> None:
    text = site.read_text()
    site.write_text(text + "policies:\n  ACME-001: {parameters: {most: 9}}\n")
    for command in (["init", "-q"], ["add", "site"], ["-c", "user.name=a", "-c", "user.email=a@b",
                    "commit", "-qm", "x"]):  # fmt: skip
        subprocess.run(["git", *command], check=True)
    site.write_text(text + "policies:\n  ACME-007: {parameters: {most: 9}}\n")
    code, document = check(site, "--base-ref", "HEAD")
    assert (code, document["hygiene"]["notices"]) == (0, [])
    site.write_text(text + "policies:\n  ACME-007: {parameters: {most: 10}}\n")
    code, document = check(site, "--base-ref", "HEAD")
    assert [n["kind"] for n in document["hygiene"]["notices"]] == ["lowered"]


def test_the_command_line_takes_the_old_id(
    pack: Path, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = f"note: {NOTE}\n"
    printed = []
    for command in (["explain", "acme-001"], ["policy", "show", "ACME-001"]):
        assert main([*command, "--pack", "pack"]) == 0
        shown = capsys.readouterr()
        assert shown.err == note
        assert "ACME-007" in shown.out
        printed.append(shown.out)
    assert "formerly     ACME-001, ACME-002\n" in printed[-1]
    assert main(["check", str(site), "--pack", "pack", "--only", "ACME-001"]) == 5
    shown = capsys.readouterr()
    assert shown.err == note
    assert shown.out.startswith("ACME-007 ")
    assert main(["waivers", "add", str(site), "--pack", "pack", "--policy", "ACME-001", "--match",
                 "site=sjc1", "--up-to", "8 boxes", "--reason", "the boxes leave soon", "--owner",
                 "me", "--ticket", "T-1", "--today", "2026-11-21", "--expires", "2026-12-01",
                 ]) == 0  # fmt: skip
    assert capsys.readouterr().err == note
    assert "policy: ACME-007\n" in (site.parent / "policies/waivers.yaml").read_text()


def test_sarif_names_former_ids(pack: Path, site: Path) -> None:
    check(site, "--output", "sarif=out.sarif")
    (rule,) = json.loads(Path("out.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["deprecatedIds"]) == ("ACME-007", ["ACME-001", "ACME-002"])


def test_the_text_says_where(pack: Path, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waive(site, "ACME-001")
    check(site, "--today", "2026-11-21", "--strict-waivers")
    out = capsys.readouterr().out
    assert f"site/policies/waivers.yaml:3:13  ACME-001 renamed: {NOTE}" in out


def test_crossguard_takes_the_old_id(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The level of a configuration that was written for the old id; the new id has the last word."""
    from pulumi.runtime.proto import analyzer_pb2

    from rackwright.crossguard.server import Analyzer

    analyzer = Analyzer(packs=(pack,))

    def configured(**levels: analyzer_pb2.EnforcementLevel.ValueType) -> int:
        config = {
            name.replace("_", "-"): analyzer_pb2.PolicyConfig(enforcementLevel=level)
            for name, level in levels.items()
        }
        request = analyzer_pb2.ConfigureAnalyzerRequest(policyConfig=config)
        analyzer.Configure(request, None)
        return analyzer._effective("ACME-007", analyzer_pb2.MANDATORY)

    advisory, disabled = analyzer_pb2.ADVISORY, analyzer_pb2.DISABLED
    assert configured(ACME_007=analyzer_pb2.MANDATORY, ACME_001=advisory) == advisory
    assert capsys.readouterr().err == f"note: {NOTE}, in the pack's configuration\n"
    assert configured(ACME_007=disabled, ACME_001=advisory) == disabled
    assert configured(ACME_007=advisory) == advisory
