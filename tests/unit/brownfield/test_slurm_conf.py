"""A ``slurm.conf`` as people write it, and as we do."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from brownfield_support import elevations_of, take_over
from rackwright.brownfield.reading import read_standing
from rackwright.brownfield.records import FoundCluster
from rackwright.brownfield.slurm_files.lines import expand_nodes
from rackwright.errors import SpecErrors
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm
from rackwright.resources import bundled

FIXTURE = bundled("policies") / "fixtures" / "slurm.yaml"
STANDING = """\
# Site: Nantes
ClusterName=Atlas
SlurmctldHost=ctl1(10.0.0.1)
slurmctldhost=ctl2.example.com
TopologyPlugin=topology/tree
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db
SchedulerType=sched/backfill   # the default
NodeName=DEFAULT Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 \\
    RealMemory=2051000 State=UNKNOWN
NodeName=gpu[001-004],gpu006 Gres=gpu:H100:8(S:0-1) Feature=ib,nvme Weight=10
NodeName=gpu005 Gres=gpu:h100:8,shard:64 RealMemory=1000000 TmpDisk=100
nodename=big[1-2]x[01-02] CPUs=96
PartitionName=DEFAULT MaxTime=2-00:00:00
PartitionName=train Nodes=gpu[001-006] Default=YES PriorityTier=10 AllowGroups=ml
PartitionName=All Nodes=ALL State=drain MaxNodes=UNLIMITED
"""


def cluster(folder: Path, text: str) -> FoundCluster:
    path = folder / "slurm.conf"
    path.write_text(text, "utf-8")
    found = read_standing(path).slurm
    assert found is not None
    return found


def test_lines_are_read_as_slurm_reads_them(tmp_path: Path) -> None:
    found = cluster(tmp_path, STANDING)
    assert (found.name, found.topology, found.database) == ("Atlas", "tree", "db")
    assert found.controllers == (("ctl1", "10.0.0.1"), ("ctl2.example.com", None))
    first, fifth, big = found.nodes
    assert first.names == ("gpu001", "gpu002", "gpu003", "gpu004", "gpu006")
    assert (first.cpus, first.memory, first.gres, first.weight) == (
        224,
        2_051_000,
        "gpu:H100:8",
        10,
    )
    assert (first.sockets, first.threads) == (2, 2)
    assert first.features == ("ib", "nvme")
    assert (first.at.line, fifth.at.line) == (11, 12)
    assert (fifth.cpus, fifth.memory, fifth.gres) == (224, 1_000_000, "gpu:h100:8")
    assert big.names == ("big1x01", "big1x02", "big2x01", "big2x02")
    assert big.cpus == 224  # slurmctld counts by the shape where both are said
    train, every = found.partitions
    assert train.fields == {
        "default": True, "max_time": "2-00:00:00", "priority_tier": 10, "extra": {"AllowGroups": "ml"},
    }  # fmt: skip
    assert len(every.nodes) == 10
    assert every.fields == {"max_time": "2-00:00:00", "state": "DRAIN"}


def test_options_without_a_field_are_carried_as_extra(tmp_path: Path) -> None:
    found = cluster(tmp_path, STANDING)
    fifth = found.nodes[1]
    assert (fifth.other_gres, fifth.extra) == (("shard:64",), (("TmpDisk", "100"),))
    assert found.settings["extra"] == {"SchedulerType": "sched/backfill"}


def test_options_that_render_writes_otherwise_are_told_with_their_values(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(
        "ClusterName=a\nSelectType=select/linear\nFastSchedule=1\nNodeName=n1\n", "utf-8"
    )
    told = [one.text for one in read_standing(path).notices]
    assert "'FastSchedule=1' is no option of Slurm's any more" in told
    assert any("SelectType=select/linear" in text for text in told)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", ["has no 'SelectType'", "memory is not counted"]),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n", []),
        ("SelectType=select/cons_res\nSelectTypeParameters=CR_CPU\n", ["counts other than cores", "memory is not"]),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\n", ["counts other than cores"]),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,CR_LLN\n", ["memory is not", "has cr_lln"]),
        ("SelectType=select/linear\n", ["gives jobs whole nodes"]),
    ],
)  # fmt: skip
def test_other_selection_of_resources_is_told(lines: str, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(
        f"ClusterName=a\nSlurmctldHost=c\n{lines}NodeName=n1\nPartitionName=p Nodes=ALL\n", "utf-8"
    )
    told = [one.text for one in read_standing(path).notices]
    assert len(told) == len(words), told
    for text, word in zip(told, words, strict=True):
        assert word in text


def test_whole_nodes_of_select_linear_are_exclusive_partitions(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(
        "ClusterName=a\nSelectType=select/linear\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
        "PartitionName=q Nodes=ALL OverSubscribe=FORCE:2\nPartitionName=r Nodes=ALL OverSubscribe=NO\n",
        "utf-8",
    )
    found = read_standing(path).slurm
    assert found is not None
    assert [one.fields.get("exclusive") for one in found.partitions] == [True, None, True]


TOPOLOGY = """\
- topology: main
  cluster_default: true
  {kind}
- topology: other
  cluster_default: false
  flat: true
"""


@pytest.mark.parametrize(
    ("kind", "plugin", "words"),
    [
        ("tree: {switches: [{switch: s1, nodes: n1}]}", "tree", ["the topology 'other'"]),
        ("block: {block_sizes: [1], blocks: [{block: b1, nodes: n1}]}", "block",
         ["the topology 'other'", "not taken over: the block of the topology 'main'"]),
        ("flat: true", "flat", ["the topology 'other'"]),
        ("torus3d: {}", "flat", ["the topology 'other'", "'main'"]),
    ],
)  # fmt: skip
def test_topology_yaml_goes_before_the_plugin_and_loses_nothing_in_silence(
    kind: str, plugin: str, words: list[str], tmp_path: Path
) -> None:
    """A tree in topology.yaml was dropped where slurm.conf names no plugin, and a block always."""
    (tmp_path / "topology.yaml").write_text(TOPOLOGY.format(kind=kind))
    text = "ClusterName=a\nSlurmctldHost=c\nNodeName=n1\nPartitionName=p Nodes=ALL Topology=main\n"
    made = take_over(tmp_path, {"slurm.conf": text})
    topology = made.data["scheduler"]["topology"]
    assert topology["plugin"] == plugin
    assert ("switches" in topology) == (plugin == "tree")
    told = "\n".join(one.text for one in made.notices)
    for word in (*words, "'Topology=main' is left out"):
        assert word in told


def test_topology_conf_that_slurm_does_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=n1\n")
    text = "ClusterName=a\nSlurmctldHost=c\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    made = take_over(tmp_path, {"slurm.conf": text})
    assert any("the switches beside it are left out" in one.text for one in made.notices)


def test_nodes_that_stand_in_no_sheet_are_groups_without_racks(tmp_path: Path) -> None:
    made = take_over(tmp_path, {"slurm.conf": STANDING})
    assert made.data["name"] == "atlas"
    (site,) = made.data["sites"]
    assert [(one["name"], one["count"], one["host_names"]) for one in site["node_groups"]] == [
        ("gpu", 5, "gpu[001-004,006]"),
        ("gpu-set2", 1, "gpu005"),
        ("big1x", 2, "big1x[01-02]"),
        ("big2x", 2, "big2x[01-02]"),
    ]
    scheduler = made.data["scheduler"]
    assert scheduler["controllers"] == [
        {"host": "ctl1", "address": "10.0.0.1"},
        {"host": "ctl2", "address": "ctl2.example.com"},
    ]
    assert scheduler["accounting"] == {"host": "db", "address": "db", "enforce": []}
    assert [one["groups"] for one in scheduler["partitions"]] == [
        ["gpu", "gpu-set2"],
        ["gpu", "gpu-set2", "big1x", "big2x"],
    ]
    assert scheduler["nodes"][0] == {
        "groups": ["gpu"], "cpus": 224, "sockets": 2, "threads_per_core": 2, "memory": "2051000 MiB",
        "gres": "gpu:H100:8",
        "features": ["ib", "nvme"], "weight": 10,
    }  # fmt: skip
    asked = {(blank.name, blank.sample) for blank in made.blanks}
    assert {"version", "halls", "type", "racks", "per_rack"} <= {name for name, _ in asked}
    (types,) = {sample for name, sample in asked if name == "type" and "h100" in sample}
    assert "dgx-h100" in types.split(" | ")
    assert [one["name"] for one in scheduler["partitions"]] == ["train", "All"]


def test_our_own_file_gives_the_node_groups_that_it_is_of(tmp_path: Path) -> None:
    plan = load_plan(FIXTURE).plan
    files = {"slurm.conf": render_slurm(plan)["slurm.conf"]}
    scheduler, slurm = take_over(tmp_path, files).data["scheduler"], plan.slurm
    assert slurm is not None
    groups = {nodes.group: nodes for nodes in slurm.nodes}
    made = take_over(tmp_path, files)
    found = {one["name"]: one for site in made.data["sites"] for one in site["node_groups"]}
    assert {name: one["count"] for name, one in found.items()} == {
        name: nodes.count for name, nodes in groups.items()
    }
    assert not any("host_names" in one for one in found.values())
    assert {one["name"]: one["groups"] for one in scheduler["partitions"]} == {
        one.partition.name: [nodes.group for nodes in one.sets] for one in slurm.partitions
    }
    said = {group: one for one in scheduler["nodes"] for group in one["groups"]}
    for name, nodes in groups.items():
        assert (said[name]["cpus"], said[name]["memory"]) == (nodes.cpus, f"{nodes.memory} MiB")
        assert said[name].get("gres") == (None if nodes.gres is None else str(nodes.gres))


def test_slurm_and_a_sheet_of_the_same_hosts_are_one_blueprint(tmp_path: Path) -> None:
    plan = load_plan(FIXTURE).plan
    conf = render_slurm(plan)["slurm.conf"]
    made = take_over(tmp_path, {"elevations.csv": elevations_of(plan), "slurm.conf": conf})
    (site,) = made.data["sites"]
    for group in site["node_groups"]:
        assert "racks" in group
    assert not {"racks", "per_rack", "name"} & {blank.name for blank in made.blanks}
    compute = [one["name"] for one in site["node_groups"] if one["role"] == "compute"]
    assert {name for one in made.data["scheduler"]["partitions"] for name in one["groups"]} == set(
        compute
    )


def test_files_that_are_included_are_read_beside_it(tmp_path: Path) -> None:
    (tmp_path / "nodes.conf").write_text("NodeName=n[1-2] CPUs=4\n", "utf-8")
    text = "ClusterName=a\nInclude nodes.conf\nPartitionName=p Nodes=ALL\n"
    found = cluster(tmp_path, text)
    assert (found.nodes[0].names, Path(found.nodes[0].at.file).name) == (("n1", "n2"), "nodes.conf")


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("NodeName=n@[1-2] CPUs=4", "the node 'n@1' is not a host name", 2),
        ("NodeName=n1\nPartitionName=p Nodes=ALL MaxTime=soon", "'soon' is not a time limit", 3),
        ("NodeName=n[1-2] NodeAddr=a[1-3]", "'nodeaddr' has 3 words for 2 nodes", 2),
        (
            "NodeName=n1\nNodeSet=s Nodes=n2\nPartitionName=p Nodes=n1",
            "the node set 's' has the node 'n2'",
            3,
        ),
        ("NodeName=n[2-1]", "the range '2-1' runs backwards", 2),
        ("NodeName=n[1-999999999]", "of more than 100,000 nodes", 2),
        ("NodeName=n[1-400]x[1-400]", "stands for more than 100,000 nodes", 2),
        ("NodeName=n[1-2", "is no list of nodes", 2),
        ("NodeName=n[1,1]", "names a node twice", 2),
        ("NodeName=n1\nNodeName=n1\nPartitionName=p Nodes=ALL", "is described at", 3),
        ("NodeName=n1 CPUs=two", "'cpus' is 'two', which is no whole number", 2),
        ("NodeName=n1\nPartitionName=p Nodes=n2", "which is in no 'NodeName'", 3),
        ("NodeName=n1", "the cluster has no partition with nodes", 1),
        ("NodeName=n1\nPartitionName=7 Nodes=ALL", "cannot be one of a blueprint", 3),
        ("what is this", "this line is not 'Key=Value …'", 2),
        ("Include /etc/passwd", "is included, which is not beside this file", 2),
        ("Include ../secret", "is included, which is not beside this file", 2),
        ("Include slurm.conf", "more than 20 files are included", 2),
        ("Include gone.conf", "cannot be read: no such file", 0),
    ],
)
def test_ambiguous_setting_is_refused_at_its_line(
    text: str, words: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"slurm.conf": f"ClusterName=a\n{text}\n"})
    (error,) = caught.value.errors
    assert words in error.summary
    assert (error.location.line if error.location else 0) == line


def test_two_clusters_are_no_blueprint(tmp_path: Path) -> None:
    conf = "ClusterName=a\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    with pytest.raises(SpecErrors, match=r"second 'slurm\.conf'"):
        take_over(tmp_path, {"slurm.conf": conf, "other.conf": conf.replace("n1", "n2")})


def test_lists_of_nodes_keep_their_order_and_width() -> None:
    assert expand_nodes("b[9-11],a[08,10]-ib") == ("b9", "b10", "b11", "a08-ib", "a10-ib")


_HEAD = "ClusterName=big\nSlurmctldHost=ctl\n"
_NODES = "".join(
    f"NodeName=node{n:05d} CPUs=128 RealMemory=1000000 State=UNKNOWN\n" for n in range(16_000)
)
_PARTITION = "PartitionName=p Nodes=ALL\n"
_COMMENT, _CONTINUED = "# twenty-one letters\n", "  \\\n"
MEBIBYTE = {
    "a line for each node": f"{_HEAD}{_NODES}{_PARTITION}",
    "comments": f"{_HEAD}{_COMMENT * 50_000}NodeName=n1\n{_PARTITION}",
    "one list of nodes": f"{_HEAD}NodeName={','.join(f'node{n:05d}' for n in range(99_000))}\n{_PARTITION}",
    "features": f"{_HEAD}NodeName=n1 Features={','.join(f'f{n:05d}' for n in range(60_000))}\n{_PARTITION}",
    "accelerators": f"{_HEAD}NodeName=n1 Gres={','.join(f'gpu:t{n:05d}:1' for n in range(60_000))}\n{_PARTITION}",
    "blanks": f"{_HEAD}NodeName=n1{' ' * 1_000_000}CPUs=4\n{_PARTITION}",
    "continued": f"{_HEAD}NodeName=n1\nPartitionName=p {_CONTINUED * 90_000} Nodes=ALL\n",
}  # fmt: skip


@pytest.mark.parametrize("text", MEBIBYTE.values(), ids=MEBIBYTE)
def test_time_of_large_file_grows_with_its_size(text: str, tmp_path: Path) -> None:
    """A MiB takes below 3 s of processor time; quadratic time is minutes."""
    began = process_time()
    made = take_over(tmp_path, {"slurm.conf": text})
    assert process_time() - began < 30
    assert made.data["scheduler"]["partitions"][0]["name"] == "p"


def test_file_of_too_many_lines_is_refused_with_its_cure(tmp_path: Path) -> None:
    text = f"{_HEAD}{_COMMENT * 100_000}NodeName=n1\n{_PARTITION}"
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"slurm.conf": text})
    (error,) = caught.value.errors
    assert str(error.location).endswith("slurm.conf:100001:1")
    assert "more than 100,000 lines" in error.summary
    assert "name nodes in ranges" in (error.hint or "")
