"""Generated files of two plans: what differs, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diff_factories import changed
from factories import some_nodes
from rackwright.diff.generated import MOST_LINES, TOO_LONG, compare_files, load_generators
from rackwright.errors import UsageError
from rackwright.plan.model import Plan

SCHEDULER: dict[str, Any] = {
    "kind": "slurm",
    "version": "25.05",
    "controllers": [{"host": "head-1", "address": "10.0.0.1"}],
    "partitions": [{"name": "train", "groups": ["dgx"]}],
    "topology": {"plugin": "flat"},
    "nodes": [{"groups": ["dgx"], "cpus": 224, "memory": "1900 GiB", "gres": "gpu:h100:8"}],
}


def plans(change: Any = lambda _: None, **more: Any) -> tuple[Plan, Plan]:
    before, after = changed(change, **more)
    return before.plan, after.plan


def names(plan: Plan) -> Mapping[str, str]:
    """A file with the counts of all node groups."""
    groups = [group for site in plan.onprem for group in site.spec.node_groups]
    return {"counts": "".join(f"{group.name} {group.count}\n" for group in groups)}


def fewer(data: dict[str, Any]) -> None:
    data["sites"][0]["node_groups"][0]["count"] = 3


def test_a_file_that_changes_is_shown_as_a_unified_diff() -> None:
    found = compare_files(*plans(fewer), [names])
    (file,) = found.changes
    assert (file.name, file.added, file.removed) == ("counts", 1, 1)
    assert file.diff == ("--- a/counts", "+++ b/counts", "@@ -1 +1 @@", "-dgx 4", "+dgx 3")
    assert compare_files(*plans(), [names]).changes == ()


def test_files_that_come_and_go() -> None:
    before, _ = plans()
    (come,) = compare_files(None, before, [names]).changes
    assert come.diff[:2] == ("--- /dev/null", "+++ b/counts")
    (gone,) = compare_files(before, None, [names]).changes
    assert gone.diff[:2] == ("--- a/counts", "+++ /dev/null")


def test_file_that_one_side_cannot_generate_is_not_shown_as_removed() -> None:
    def fails_with_three(plan: Plan) -> Mapping[str, str]:
        if plan.onprem[0].spec.node_groups[0].count == 3:
            raise UsageError("there is no 'x'")
        return names(plan)

    found = compare_files(*plans(fewer), [fails_with_three])
    assert found.changes == ()
    assert found.problems == ("head: there is no 'x'",)


def test_the_files_of_slurm_are_compared() -> None:
    generator, *_ = load_generators()
    before, after = plans(fewer, scheduler=SCHEDULER)
    assert "slurm/slurm.conf" in generator(before)
    found = compare_files(before, after)
    assert found.problems == ()
    files = {file.name: "\n".join(file.diff) for file in found.changes}
    assert "-NodeName=dgx-[1-4]" in files["slurm/slurm.conf"]
    assert "+NodeName=dgx-[1-3]" in files["slurm/slurm.conf"]


def test_the_variables_of_groups_and_hosts_are_compared() -> None:
    def weaker(data: dict[str, Any]) -> None:
        data["sites"][0]["halls"][0]["rows"][0]["rack_groups"][0]["cooling"]["power_limit"] = "9 kW"

    found = {file.name: file.diff for file in compare_files(*plans(weaker)).changes}
    assert set(found) == {"inventory/groups/rack_lab_c01"}
    assert found["inventory/groups/rack_lab_c01"][-1] == "+rackwright_rack_power_limit_w: 9000"
    (hosts,) = compare_files(*plans(fewer)).changes
    assert (hosts.name, hosts.added, hosts.removed) == ("inventory/hosts", 0, 1)
    assert hosts.diff[-1].startswith("-dgx-4: {")


def test_without_a_scheduler_there_are_no_files_of_slurm_and_no_problem() -> None:
    found = compare_files(*plans(fewer))
    assert ({file.name for file in found.changes}, found.problems) == ({"inventory/hosts"}, ())
    before, after = plans(lambda data: data.update(scheduler=SCHEDULER))
    assert "slurm/slurm.conf" in {file.name for file in compare_files(before, after).changes}


def test_a_scheduler_that_names_no_nodes_is_a_problem_of_the_head() -> None:
    def rename(data: dict[str, Any]) -> None:
        data["sites"][0]["node_groups"] = [some_nodes("other")]

    found = compare_files(*plans(rename, scheduler=SCHEDULER))
    assert not [file for file in found.changes if file.name.startswith("slurm/")]
    assert found.problems
    assert found.problems[0].startswith("head: ")


def test_a_huge_file_is_counted_only() -> None:
    texts = iter(["a\n" * MOST_LINES, "b\n" + "a\n" * (MOST_LINES - 1)])
    (file,) = compare_files(*plans(), [lambda _: {"f": next(texts)}]).changes
    assert (file.added, file.removed, file.diff) == (1, 1, (TOO_LONG,))
