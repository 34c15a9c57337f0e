"""References to waivers in comments of the blueprint: checked, and waiving nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rackwright.cli import main
from rackwright.policy import references
from rackwright.policy.references import with_references
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.spec.comments import MOST_COMMENTS

GROUP = "              - racks: c[01-08]"
DGX = "      - {name: dgx,"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A blueprint with five nodes in a rack, which one waiver covers."""
    monkeypatch.chdir(tmp_path)
    write_blueprint(find_template("hybrid-h100"), Path("site"), {})
    file = Path("site/blueprint.yaml")
    text = file.read_text()
    assert text.count("per_rack: 4}") == text.count(GROUP) == text.count(DGX) == 1
    file.write_text(text.replace("per_rack: 4}", "per_rack: 5}"))
    waive()
    return file


def waive(policy: str = "RACK-002", expires: str = "2026-11-25", bound: str = "52 kW") -> None:
    file = Path("site/policies/waivers.yaml")
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f"waivers:\n  - id: W-1\n    policy: {policy}\n    match: {{site: sjc1}}\n"
        f"    up_to: {bound}\n    reason: the doors come soon\n    owner: me\n    ticket: T-1\n"
        f"    expires: {expires}\n"
    )


def put(site: Path, old: str, new: str) -> int:
    """Change a line; its number."""
    text = site.read_text()
    assert text.count(old) == 1
    site.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def check(site: Path, *more: str) -> tuple[int, list[str], list[dict[str, Any]]]:
    """The exit code, what is said about references, and the results that are waived."""
    code = main(["check", str(site), "--only", "RACK-002", "--today", "2026-11-21",
                 "--output", "json=out.json", *more])  # fmt: skip
    document = json.loads(Path("out.json").read_text())
    said = [
        "{file}:{line}:{column} {id} {message}".format(**n["location"], **{k: n[k] for k in ("id", "message")})
        for n in document["hygiene"]["notices"]
        if n["kind"] == "reference"
    ]  # fmt: skip
    return code, said, [r for r in document["results"] if r["waiver"]]


def test_the_waived_finding_says_where_the_reference_is(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = put(site, GROUP, f"{GROUP}  # waiver: W-1, until the doors come")
    code, said, waived = check(site, "--show-waived", "--output", "sarif=out.sarif",
                               "--strict-waivers")  # fmt: skip
    assert (code, said) == (0, [])
    column = len(GROUP) + 3
    place = {"file": "site/blueprint.yaml", "line": line, "column": column}
    assert [result["waiver"]["reference"] for result in waived] == [place]
    assert f"; referred to at site/blueprint.yaml:{line}:{column}\n" in capsys.readouterr().out
    (suppressed,) = [s for r in json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
                     for s in r.get("suppressions", [])]  # fmt: skip
    assert suppressed["location"]["physicalLocation"]["region"]["startLine"] == line


def test_above_the_line_and_several_for_it(site: Path) -> None:
    line = put(site, GROUP, f"              # waiver: W-9\n              # waiver: W-1\n\n{GROUP}")
    code, said, waived = check(site)
    assert code == 0
    text = "the comment refers to a waiver that does not exist; did you mean 'W-1'?"
    assert said == [f"site/blueprint.yaml:{line}:15 W-9 {text}"]
    assert waived[0]["waiver"]["reference"]["line"] == line + 1


def test_it_waives_nothing_by_itself(site: Path) -> None:
    Path("site/policies/waivers.yaml").unlink()
    line = put(site, GROUP, f"{GROUP}  # waiver: W-1")
    code, said, waived = check(site)
    assert (code, waived) == (5, [])
    place = f"site/blueprint.yaml:{line}:{len(GROUP) + 3}"
    assert said == [f"{place} W-1 the comment refers to a waiver that does not exist"]
    assert check(site, "--no-waivers")[:2] == (5, [])


def test_an_expired_waiver(site: Path) -> None:
    waive(expires="2026-11-20")
    put(site, GROUP, f"{GROUP}  # waiver: W-1")
    code, (said,), waived = check(site)
    assert (code, waived) == (5, [])
    assert said.endswith("W-1 the comment refers to a waiver that expired on 2026-11-20")


@pytest.mark.parametrize("day", ["2026-11-25", "2026-11-26"])
def test_the_last_day_counts(site: Path, day: str) -> None:
    put(site, GROUP, f"{GROUP}  # waiver: W-1")
    assert bool(check(site, "--today", day)[1]) == (day == "2026-11-26")


def test_a_waiver_that_covers_nothing_here(site: Path) -> None:
    """The finding is about the racks, not about the nodes in them."""
    line = put(site, DGX, f"      # waiver: W-1\n{DGX}")
    code, said, waived = check(site, "--strict-waivers")
    assert code == 7
    assert said == [
        (f"site/blueprint.yaml:{line}:7 W-1 the comment refers to a waiver that covers no finding at "
        "this place")
    ]  # fmt: skip
    assert waived[0]["waiver"]["reference"] is None


def test_a_waiver_below_the_finding_covers_nothing(site: Path) -> None:
    waive(bound="46 kW")
    put(site, GROUP, f"{GROUP}  # waiver: W-1")
    code, (said,), _ = check(site)
    assert code == 5
    assert said.endswith("covers no finding at this place")


def test_a_rule_that_does_not_judge_leaves_its_reference_alone(site: Path) -> None:
    put(site, GROUP, f"{GROUP}  # waiver: W-1")
    main(["check", str(site), "--only", "RACK-001", "--output", "json=out.json"])
    notices = json.loads(Path("out.json").read_text())["hygiene"]["notices"]
    assert not [notice for notice in notices if notice["kind"] == "reference"]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# waiver:", "waiver the comment names no waiver; write it like '# waiver: W-2026-014'"),
        ("# waiver: ?", "waiver the comment names no waiver; write it like '# waiver: W-2026-014'"),
        ("#   waiver:   W-2   # x", "W-2 the comment refers to a waiver that does not exist; did "),
    ],
)
def test_what_names_no_waiver(site: Path, comment: str, said: str) -> None:
    put(site, GROUP, f"{GROUP}  {comment}")
    (found,) = check(site)[1]
    assert f" {said}" in found


def test_a_comment_at_the_end_is_about_nothing(site: Path) -> None:
    site.write_text(site.read_text() + "\n# waiver: W-1\n")
    (said,) = check(site)[1]
    assert said.endswith("W-1 the comment refers to a waiver that is about no value of the "
                         "blueprint here")  # fmt: skip


def test_a_reference_in_a_layer(site: Path) -> None:
    layer = Path("site/layer.yaml")
    layer.write_text(
        "sites:\n  - name: sjc1\n    node_groups:\n      - name: dgx\n        per_rack: 6 # waiver: W-1\n"
    )
    (said,) = check(site, "--layer", str(layer))[1]
    assert said.startswith("site/layer.yaml:5:21 W-1 ")


def test_a_proposed_waiver_may_be_referred_to(site: Path) -> None:
    Path("site/policies/waivers.yaml").unlink()
    for command in (["init", "-q"], ["add", "site"], ["-c", "user.name=a", "-c", "user.email=a@b",
                    "commit", "-qm", "x"]):  # fmt: skip
        subprocess.run(["git", *command], check=True)
    waive()
    put(site, GROUP, f"{GROUP}  # waiver: W-1")
    code, said, waived = check(site, "--base-ref", "HEAD")
    assert (code, said, waived) == (5, [], [])


def test_references_are_bounded(site: Path) -> None:
    site.write_text("# waiver: a\n" * 2000 + site.read_text())
    said = check(site)[1]
    assert len(said) == MOST_COMMENTS + 1
    assert "site/blueprint.yaml:1:1 waiver more than 1,000 comments refer to waivers" in said[0]


def test_without_a_comment_nothing_is_parsed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("the text was parsed")

    monkeypatch.setattr(references, "marked_comments", never)
    assert check(site)[0] == 0


def test_a_report_without_hygiene_stays_as_it_is() -> None:
    from datetime import date

    from rackwright.policy.waiving import Waivers
    from rackwright.spec.tree import Item, Tree
    from report_factories import MIXED

    tree = Tree(Item(None, "<inputs>", 1, 1), {}, ("<inputs>",))
    assert with_references(MIXED, tree, Waivers(), date(2026, 11, 21)) is MIXED
