"""The tree of Slurm's accounts: what is asked of sacctmgr where they are absent, otherwise, or as wanted.

Answers have the form that sacctmgr of Slurm 22.05, 24.11 and 26.05 prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from role_cases import failure_of, play_cases, role_tasks, write_program

TREE = [
    {"name": "research", "share": 3},
    {"name": "vision", "parent": "research", "max_gpus": 64},
]
NONE = "root||1||\nroot||1||root"
AS_WANTED = f"{NONE}\nresearch|root|3||\nvision|research|1|cpu=8,gres/gpu=64|\nvision||1||ada"
PROGRAM = """\
case "$*" in
*show*) cat {folder}/tree; test -e {folder}/later && cp {folder}/later {folder}/tree; exit 0;;
*) echo "$@" >> {folder}/asked;;
esac"""
ADD = "--immediate add account"
SET = "--immediate modify account where name=vision cluster=small set"
CASES: dict[str, tuple[str, list[dict[str, Any]], list[str], str]] = {
    "absent": (
        NONE,
        TREE,
        [
            f"{ADD} research Cluster=small Parent=root Fairshare=3",
            f"{ADD} vision Cluster=small Parent=research Fairshare=1 GrpTRES=gres/gpu=64",
        ],
        "",
    ),
    "as-wanted": (AS_WANTED, TREE, [], ""),
    # slurmdbd says that nothing is modified where the parent that it has is said again.
    "another-share": (
        AS_WANTED.replace("research|1|", "research|5|"),
        TREE,
        [f"{SET} Fairshare=1"],
        "",
    ),
    "another-parent": (
        AS_WANTED.replace("vision|research", "vision|root"),
        TREE,
        [f"{SET} Parent=research"],
        "",
    ),
    "a-limit-too-many": (
        AS_WANTED,
        [TREE[0], {"name": "vision", "parent": "research"}],
        [f"{SET} GrpTRES=gres/gpu=-1"],
        "",
    ),
    "a-name-that-cannot-be": (NONE, [{"name": "Big team"}], [], "the account 'Big team'"),
    "a-parent-that-is-not-there": (NONE, [{"name": "a", "parent": "b"}], [], "a parent that is in"),
    "not-as-wanted-afterwards": (
        NONE,
        [{"name": "research"}],
        [f"{ADD} research Cluster=small Parent=root Fairshare=1"],
        "slurmdbd has the account 'research' as",
    ),
}
AFTERWARDS = {
    "another-share": AS_WANTED,
    "another-parent": AS_WANTED,
    "absent": AS_WANTED,
    "a-limit-too-many": AS_WANTED.replace(",gres/gpu=64", ""),
    "not-as-wanted-afterwards": f"{NONE}\nresearch|root|2||",
}


def test_only_what_differs_is_asked_for(tmp_path: Path) -> None:
    hosts = {}
    for name, (there, tree, _, _) in CASES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "tree").write_text(there + "\n")
        if name in AFTERWARDS:
            (folder / "later").write_text(AFTERWARDS[name] + "\n")
        write_program(folder / "sacctmgr", PROGRAM.format(folder=folder))
        hosts[name] = {
            "case_folder": str(folder),
            "case_tasks": "tree",
            "users_cluster": "small",
            "users_tree": tree,
        }
    said = play_cases(tmp_path, hosts, role_tasks("users", ["tree"]))
    for name, (_, _, wanted, reason) in CASES.items():
        asked = tmp_path / name / "asked"
        assert (asked.read_text().splitlines() if asked.exists() else []) == wanted, (name, said)
        told = " ".join(failure_of(said, name).split())
        assert reason in told if reason else told == "", (name, said)
