"""``rackwright diff`` in a real git repository, as a pull request would have it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_team import git
from cli_support import Ended, run_here
from first_set import name_first_set
from rackwright.render.blueprints import find_template, write_blueprint

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Team:
    """A team's repository: ``main`` holds a blueprint that passes."""

    top: Path

    def git(self, *arguments: str) -> str:
        return git(self.top, *arguments)

    def propose(self, branch: str, change: Callable[[str], str]) -> None:
        """A branch from main with one commit; main stays checked out."""
        self.git("checkout", "--quiet", "-b", branch, "main")
        file = self.top / "demo" / "blueprint.yaml"
        text = file.read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        file.write_text(changed, encoding="utf-8")
        self.git("commit", "--quiet", "--all", "--message", branch)
        self.git("checkout", "--quiet", "main")

    def diff(self, *arguments: str) -> Ended:
        return run_here(self.top, "diff", *arguments)

    def document(self, *arguments: str) -> dict[str, Any]:
        done = self.diff(*arguments, "--json")
        found: dict[str, Any] = json.loads(done.out)
        refused = any(update["action"] == "refused" for update in found["updates"])
        assert bool(done.err) == refused
        assert found["exit_code"] == done.code
        return found


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = Team(tmp_path / "team")
    made.top.mkdir()
    made.git("init", "--quiet", "--initial-branch=main")
    write_blueprint(find_template("hybrid-h100"), made.top / "demo", {})
    name_first_set(made.top / "demo" / "blueprint.yaml")
    made.git("add", ".")
    made.git("commit", "--quiet", "--message", "first")
    return made


BLUEPRINT = "demo/blueprint.yaml"
DGX = '- {name: dgx, role: compute, type: dgx-h100, count: 32, name_digits: 2, racks: "c[01-08]", per_rack: 4}'
EXTRA = "- {name: extra, role: compute, type: dgx-h100, count: 1, racks: c01, per_rack: 1}"


def one_node_more(text: str) -> str:
    return text.replace(DGX, f"{DGX}\n      {EXTRA}")


def test_one_node_in_a_full_rack_is_refused_with_its_budgets(team: Team) -> None:
    team.propose("topic", one_node_more)
    found = team.document("main..topic", BLUEPRINT)
    assert found["exit_code"] == 5
    assert found["head"]["commit"] == team.git("rev-parse", "topic")
    (power,) = [b for b in found["budgets"] if b["policy"] == "RACK-002"]
    assert power["subject"] == "sjc1 rack c01"
    # Four and five DGX H100 at 10.2 kW in a rack that is cooled for 45 kW.
    assert (power["before"], power["after"], power["limit"]) == (40800, 51000, 45000)
    assert (power["headroom_before"], power["headroom"]) == (4200, -6000)
    assert power["blocks"]
    (blocking,) = [f for f in found["findings"]["new"] if f["after"]["blocks"]]
    assert blocking["policy"] == "RACK-002"
    assert blocking["after"]["location"]["file"] == f"topic:{BLUEPRINT}"
    assert found["findings"]["fixed"] == []
    product = {"site": "sjc1", "kind": "node", "product": "dgx-h100", "before": 32, "after": 33}
    assert found["hardware"] == [product]
    (hosts,) = found["hosts"]
    assert (hosts["group"], hosts["added"], hosts["removed"]) == ("extra", "extra-1", "")
    assert [(u["path"], u["action"]) for u in found["updates"]] == [
        ("sites.sjc1.node_groups.extra", "in place")
    ]
    back = team.document("topic..main", BLUEPRINT)
    assert back["exit_code"] == 0
    assert "RACK-002" in {f["policy"] for f in back["findings"]["fixed"]}
    assert [u["action"] for u in back["updates"]] == ["drain"]


def test_the_comment_and_the_text_show_the_same_budget(team: Team) -> None:
    team.propose("topic", one_node_more)
    done = team.diff(
        "main...topic", BLUEPRINT, "--format", "comment", "--output", "text=out/diff.txt"
    )
    assert done.code == 5
    assert done.out.startswith(
        "<!-- rackwright:pr:demo-blueprint.yaml -->\n### rackwright: atlas: 1 blocking"
    )
    assert "| 40.8 kW | **51 kW** | 45 kW | **-6 kW** | RACK-002 blocks |" in done.out
    text = (team.top / "out" / "diff.txt").read_text(encoding="utf-8")
    assert "40.8 kW" in text
    assert "RACK-002 blocks" in text


ORDERED = {"feeds", "fabrics", "tiers", "sites", "partitions"}
"""Lists whose order says something."""


def reordered(text: str) -> str:
    """The same document, without comments, with mappings and named lists turned round.

    Feeds, fabrics and tiers stay: power supplies and switches are dealt out in their order. So do sites and
    partitions, in whose order Slurm's files have nodes and partitions.
    """

    def turn(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: turn(item, name) for name, item in reversed(list(value.items()))}
        if isinstance(value, list):
            items = [turn(item) for item in value]
            named = items and all(isinstance(item, dict) and "name" in item for item in items)
            return items[::-1] if named and key not in ORDERED else items
        return value

    return yaml.safe_dump(turn(yaml.safe_load(text)), sort_keys=False, allow_unicode=True)


@pytest.mark.parametrize(
    "change",
    [reordered, lambda text: text.replace("\n\n", "\n\n\n# a word\n")],
    ids=["reordered", "comments"],
)
def test_a_file_that_is_only_reordered_is_no_change(
    team: Team, change: Callable[[str], str]
) -> None:
    team.propose("topic", change)
    found = team.document("main..topic", BLUEPRINT)
    assert found["exit_code"] == 0
    assert found["empty"]
    parts = ("budgets", "costs", "hardware", "hosts", "files", "updates")
    assert {name: found[name] for name in parts} == {name: [] for name in parts}
    assert found["findings"] == {
        "new": [],
        "regressions": [],
        "fixed": [],
        "unchanged": found["findings"]["unchanged"],
    }
    assert not any(finding["blocks"] for finding in found["findings"]["unchanged"])
    assert team.diff("main..topic", BLUEPRINT).out == ("atlas, main → topic: nothing changes\n")


def test_another_order_of_feeds_is_told_with_what_it_moves(team: Team) -> None:
    def swap(text: str) -> str:
        feeds = [
            re.search(rf"- {{name: {x}, source: rpp-{x.lower()},.*?}}}}\n", text, re.DOTALL)
            for x in "AC"
        ]
        first, last = [feed[0] for feed in feeds if feed is not None]
        return text.replace(first, "-\n").replace(last, first).replace("  -\n", f"  {last}", 1)

    team.propose("topic", swap)
    found = team.document("main..topic", BLUEPRINT)
    assert found["exit_code"] == 0
    assert found["budgets"]
    assert {(u["path"].rpartition(".")[2], u["action"]) for u in found["updates"]} == {
        ("(order)", "review")
    }


def test_replacing_storage_is_refused_although_every_policy_passes(team: Team) -> None:
    team.propose("topic", lambda text: text.replace("cidr: 10.20.0.0/16", "cidr: 10.60.0.0/16"))
    found = team.document("main..topic", BLUEPRINT)
    assert found["exit_code"] == 5
    assert found["head"]["exit_code"] == 0
    actions = {update["path"]: update["action"] for update in found["updates"]}
    assert actions["sites.cloud.network.cidr"] == "refused"
    refused = [path for path, action in actions.items() if action == "refused"]
    accepted = [f"--accept={path}" for path in refused]
    found = team.document("main..topic", BLUEPRINT, *accepted)
    assert found["exit_code"] == 0
    done = team.diff("main..topic", BLUEPRINT, "--accept", "sites.cloud.network.nat")
    assert done.code == 2
    assert "nothing is refused at" in done.err


def test_the_working_tree_layers_and_the_checkout_itself(team: Team) -> None:
    team.propose("topic", lambda text: text.replace("contract: 550 kW", "contract: 540 kW"))
    (team.top / "demo" / "five-per-rack.yaml").unlink()  # the head is topic, not the disk
    found = team.document("main..topic", BLUEPRINT, "--layer", "demo/five-per-rack.yaml")
    assert [u["path"] for u in found["updates"]] == ["sites.sjc1.power.contract"]
    assert found["base"]["exit_code"] == found["head"]["exit_code"] == 5
    (team.top / BLUEPRINT).write_text(
        one_node_more((team.top / BLUEPRINT).read_text(encoding="utf-8")), encoding="utf-8"
    )
    dirty = team.git("status", "--porcelain")
    found = team.document("main", BLUEPRINT)
    assert found["head"] == {**found["head"], "revision": "working tree", "commit": None}
    assert found["exit_code"] == 5
    assert team.git("status", "--porcelain") == dirty
    assert team.git("rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_a_new_and_a_deleted_blueprint(team: Team) -> None:
    empty = team.git(
        "commit-tree", "-m", "empty", team.git("hash-object", "-wt", "tree", "/dev/null")
    )
    found = team.document(f"{empty}..main", BLUEPRINT)
    assert found["exit_code"] == 0
    assert found["base"]["exit_code"] is None
    assert {u["action"] for u in found["updates"]} == {"in place"}
    assert all(budget["before"] is None for budget in found["budgets"])
    gone = team.document(f"main..{empty}", BLUEPRINT)
    assert gone["exit_code"] == 5  # a file system with its data would go
    done = team.diff(f"{empty}..{empty}", BLUEPRINT)
    assert done.code == 2
    assert "there is no 'demo/blueprint.yaml' at" in done.err


def test_a_waiver_of_the_change_itself_does_not_count(team: Team) -> None:
    waivers = team.top / "demo" / "policies" / "waivers.yaml"
    waivers.parent.mkdir()
    waivers.write_text(
        """waivers:
  - id: one-more
    policy: RACK-002
    match: {site: sjc1, rack: c01}
    up_to: 51 kW
    reason: a node on loan for a week of tests
    owner: team@example.com
    ticket: OPS-1
    expires: 2026-11-27
""",
        encoding="utf-8",
    )
    team.propose("topic", one_node_more)
    team.git("checkout", "--quiet", "topic")
    team.git("add", ".")
    team.git("commit", "--quiet", "--message", "waived by itself")
    done = team.document("main..topic", BLUEPRINT, "--today", "2026-11-21")
    assert done["exit_code"] == 5
    team.git("checkout", "--quiet", "main")
    team.git("checkout", "topic", "--", "demo/policies/waivers.yaml")
    team.git("commit", "--quiet", "--message", "approved")
    done = team.document("main..topic", BLUEPRINT, "--today", "2026-11-21")
    assert done["exit_code"] == 0
    (power,) = [b for b in done["budgets"] if b["policy"] == "RACK-002"]
    assert (power["outcome"], power["headroom"], power["blocks"]) == ("waived", -6000, False)


def test_mistakes_and_bad_usage_end_with_two(team: Team) -> None:
    team.propose("topic", lambda text: text.replace("pue: 1.35", "pue: 0.5"))
    done = team.diff("main..topic", BLUEPRINT)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"topic:{BLUEPRINT}:")
    for arguments in (["main..nowhere"], ["--pager..main"], ["main..topic", "--layer", "x.yaml"]):
        done = team.diff(*arguments, BLUEPRINT)
        assert (done.code, done.out) == (2, "")
        assert "Traceback" not in done.err
