"""What others have written for Slurm: forms seen in public files, each with the report that it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from brownfield_support import take_over
from rackwright.errors import SpecErrors
from rackwright.model.queues import Partition
from rackwright.model.scheduler import Controller
from rackwright.model.slurm_lines import Option
from rackwright.render.todo import blank_layer

BEGIN = "ClusterName=found\nSlurmctldHost=ctl\n"


def scheduler_of(folder: Path, text: str, **beside: str) -> dict[str, Any]:
    for name, content in beside.items():
        (folder / name.replace("_", ".")).write_text(content, "utf-8")
    made: dict[str, Any] = take_over(folder, {"slurm.conf": BEGIN + text}).data["scheduler"]
    return made


@pytest.mark.parametrize("time", ["INFINITE", "43200", "30:00", "120:00:00", "7-0", "1-0:0"])
def test_max_time_of_real_files_is_kept_as_it_is(time: str, tmp_path: Path) -> None:
    made = scheduler_of(tmp_path, f"NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL MaxTime={time}\n")
    assert made["partitions"][0]["max_time"] == time


def test_max_time_in_a_default_line_holds_behind_it(tmp_path: Path) -> None:
    text = "NodeName=n1\nPartitionName=DEFAULT MaxTime=INFINITE\nPartitionName=p Nodes=n1\n"
    assert scheduler_of(tmp_path, text)["partitions"][0]["max_time"] == "INFINITE"


def test_node_set_of_parallelcluster_is_its_nodes(tmp_path: Path) -> None:
    text = (
        "NodeName=gpu-st-p5-[1-16] Feature=static,p5\nNodeName=gpu-dy-p5-[1-4] Feature=dynamic\n"
        "NodeSet=gpu_nodes Nodes=gpu-st-p5-[1-16],gpu-dy-p5-[1-4]\nNodeSet=still Feature=static\n"
        "PartitionName=gpu Nodes=gpu_nodes\nPartitionName=some Nodes=still\n"
    )
    first, second = scheduler_of(tmp_path, text)["partitions"]
    assert first["groups"] == ["gpu-st-p5", "gpu-dy-p5"]
    assert second["groups"] == ["gpu-st-p5"]


def test_name_that_is_no_node_set_is_told_with_the_sets(tmp_path: Path) -> None:
    text = "NodeName=n1\nNodeSet=few Nodes=n1\nPartitionName=a3 Nodes=a3\n"
    with pytest.raises(SpecErrors, match=r"no 'NodeName' and no node set \(there are: few\)"):
        scheduler_of(tmp_path, text)


@pytest.mark.parametrize("name", ["test_node1", "HostA", "ip-10-0-91-121.ec2.internal"])
def test_name_of_a_running_node_stays_as_it_is(name: str, tmp_path: Path) -> None:
    made = take_over(
        tmp_path, {"slurm.conf": f"{BEGIN}NodeName={name}\nPartitionName=p Nodes=ALL\n"}
    )
    assert made.data["sites"][0]["node_groups"][0]["host_names"] == name


def test_nodes_of_one_domain_are_one_group(tmp_path: Path) -> None:
    names = ",".join(f"ip-10-0-91-{number}.ec2.internal" for number in (120, 121, 122))
    made = take_over(
        tmp_path, {"slurm.conf": f"{BEGIN}NodeName={names}\nPartitionName=p Nodes=ALL\n"}
    )
    (group,) = made.data["sites"][0]["node_groups"]
    assert (group["count"], group["host_names"]) == (3, names)


def test_absolute_include_is_read_from_its_copy_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/nodes.conf").write_text("NodeName=n[1-2] CPUs=4\n", "utf-8")
    text = "include /opt/slurm/etc/nodes.conf\nPartitionName=p Nodes=ALL\n"
    assert scheduler_of(tmp_path, text)["partitions"][0]["groups"] == ["n"]


def test_option_that_slurm_does_not_have_is_refused_at_its_line(tmp_path: Path) -> None:
    """It was written into the blueprint, which 'check' then refused at a line that nobody had written."""
    text = "NodeName=n1\nMaxJobsPerUser=4\nPartitionName=p Nodes=ALL\n"
    with pytest.raises(SpecErrors, match="has no option 'MaxJobsPerUser'") as caught:
        scheduler_of(tmp_path, text)
    (error,) = caught.value.errors
    assert error.location is not None
    assert (Path(error.location.file).name, error.location.line) == ("slurm.conf", 4)


def test_absolute_include_without_a_copy_says_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        scheduler_of(tmp_path, "include /opt/slurm/etc/nodes.conf\n")
    assert str(tmp_path / "nodes.conf") in (caught.value.errors[0].hint or "")


def test_partition_with_a_dot_or_capitals_keeps_its_name(tmp_path: Path) -> None:
    text = "NodeName=n1\nPartitionName=std.q Nodes=n1\nPartitionName=rocsLong Nodes=n1\n"
    assert [one["name"] for one in scheduler_of(tmp_path, text)["partitions"]] == [
        "std.q",
        "rocsLong",
    ]


def test_untyped_gres_is_kept_and_leads_to_products(tmp_path: Path) -> None:
    text = "NodeName=n[1-2] Gres=gpu:8 CPUs=224\nPartitionName=p Nodes=ALL\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert made.data["scheduler"]["nodes"][0]["gres"] == "gpu:8"
    (types,) = [blank.sample for blank in made.blanks if blank.name == "type"]
    assert "dgx-h100" in (types or "")


def test_users_of_a_partition_are_kept(tmp_path: Path) -> None:
    text = (
        "AccountingStorageType=accounting_storage/slurmdbd\nNodeName=n1 Gres=gpu:2 RealMemory=99000\n"
        "PartitionName=p Nodes=n1 OverSubscribe=EXCLUSIVE AllowAccounts=ml,bio AllowQos=high,normal QOS=part "
        "PreemptMode=REQUEUE DefMemPerGPU=30000 AllowGroups=staff DenyAccounts=x Shared=NO\n"
    )
    made = scheduler_of(tmp_path, text)
    (partition,) = made["partitions"]
    assert {key: value for key, value in partition.items() if key not in {"name", "groups"}} == {
        "exclusive": True,
        "allow_accounts": ["ml", "bio"],
        "allow_qos": ["high", "normal"],
        "qos": "part",
        "preempt_mode": "requeue",
        "memory_per_gpu": "30000 MiB",
        "extra": {"AllowGroups": "staff", "DenyAccounts": "x"},
    }
    assert made["qos"] == [{"name": "part"}, {"name": "high"}]
    assert made["accounting"] == {"host": "ctl", "address": "ctl", "enforce": []}


def test_qos_and_accounts_in_capitals_are_extra(tmp_path: Path) -> None:
    text = "NodeName=n1\nPartitionName=vip Nodes=n1 AllowAccounts=VIP QOS=normal\n"
    extra = scheduler_of(tmp_path, text)["partitions"][0]["extra"]
    assert extra == {"AllowAccounts": "VIP", "QOS": "normal"}


def test_old_names_of_controllers_are_read(tmp_path: Path) -> None:
    text = (
        "ClusterName=beta\nControlMachine=beta\nControlAddr=ebeta\nBackupController=gamma\n"
        "NodeName=n1\nPartitionName=p Nodes=ALL\n"
    )
    made = take_over(tmp_path, {"slurm.conf": text})
    assert made.data["scheduler"]["controllers"] == [
        {"host": "beta", "address": "ebeta"},
        {"host": "gamma", "address": "gamma"},
    ]
    assert "controllers" not in {blank.name for blank in made.blanks}


def test_addresses_and_ports_are_split_with_their_nodes(tmp_path: Path) -> None:
    text = (
        "NodeName=mcr[0-3] NodeAddr=emcr[0-3] Port=[7000-7003]\n"
        "PartitionName=a Nodes=mcr[0-1]\nPartitionName=b Nodes=mcr[2-3]\n"
    )
    assert [one["extra"] for one in scheduler_of(tmp_path, text)["nodes"]] == [
        {"NodeAddr": "emcr[0-1]", "Port": "[7000-7001]"},
        {"NodeAddr": "emcr[2-3]", "Port": "[7002-7003]"},
    ]


def test_shape_of_nodes_is_kept(tmp_path: Path) -> None:
    text = "NodeName=n1 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2\nPartitionName=p Nodes=ALL\n"
    (nodes,) = scheduler_of(tmp_path, text)["nodes"]
    assert (nodes["cpus"], nodes["sockets"], nodes["threads_per_core"]) == (192, 2, 2)


def test_one_cpu_for_each_core_is_carried_as_it_is(tmp_path: Path) -> None:
    text = "NodeName=n1 CPUs=96 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2\nPartitionName=p Nodes=ALL\n"
    (nodes,) = scheduler_of(tmp_path, text)["nodes"]
    assert nodes["cpus"] == 96
    assert nodes["extra"] == {"Sockets": "2", "CoresPerSocket": "48", "ThreadsPerCore": "2"}


def test_files_beside_slurm_conf_complete_it(tmp_path: Path) -> None:
    made = scheduler_of(
        tmp_path,
        "TopologyPlugin=topology/tree\nNodeName=n[1-4] Gres=gpu:8\nPartitionName=p Nodes=ALL\n",
        gres_conf="AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n",
        topology_conf="SwitchName=leaf_[1-2] Nodes=n[1-4] LinkSpeed=1\nSwitchName=Spine Switches=leaf_[1-2]\n",
        cgroup_conf="ConstrainCores=yes\nAllowedRAMSpace=90\n",
    )
    assert made["nodes"][0]["detect"] == "nvml"
    assert made["topology"]["switches"][-1] == {"name": "Spine", "children": "leaf_[1-2]"}
    assert made["cgroup"] == {"cores": True, "memory": False, "swap": False, "devices": False}


def test_gres_conf_with_slurm_conf_is_no_second_cluster(tmp_path: Path) -> None:
    files = {
        "slurm.conf": f"{BEGIN}NodeName=n1 Gres=gpu:8\nPartitionName=p Nodes=ALL\n",
        "gres.conf": "Name=gpu Type=h100 File=/dev/nvidia[0-7]\n",
        "topology.yaml": "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n"
        "    - {switch: s1, nodes: n1}\n",
    }
    made = take_over(tmp_path, files)
    assert made.data["scheduler"]["nodes"][0]["gres"] == "gpu:8"


def test_gres_conf_alone_asks_for_the_slurm_conf(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match=r"completes a 'slurm\.conf', which is not named"):
        take_over(tmp_path, {"gres.conf": "Name=gpu File=/dev/nvidia[0-7]\n"})


def test_cluster_that_runs_keeps_its_shares_and_timeouts(tmp_path: Path) -> None:
    text = (
        "DefMemPerCPU=2048\nSuspendTime=600\nSlurmctldPort=6817\nReturnToService=1\nPrologFlags=Contain,X11\n"
        "ProctrackType=proctrack/pgid\nStateSaveLocation=/var/spool/ctl\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    )
    made = scheduler_of(tmp_path, text)
    assert made["default_shares"] is False
    assert made["extra"] == {
        "DefMemPerCPU": "2048", "SuspendTime": "600", "SlurmctldPort": "6817", "PrologFlags": "x11",
    }  # fmt: skip
    assert made["processes"] == {"tracking": "pgid"}
    assert made["folders"] == {"state": "/var/spool/ctl"}
    assert made["return_to_service"] == 1


def test_line_of_nodes_that_is_wrong_is_told_without_its_consequences(tmp_path: Path) -> None:
    text = "NodeName=c[01-04] ThreadsPerCore=2RealMemory=480000\nPartitionName=x Nodes=c[01-04]\n"
    with pytest.raises(SpecErrors) as caught:
        scheduler_of(tmp_path, text)
    (error,) = caught.value.errors
    assert "'threadspercore' is '2RealMemory=480000'" in error.summary


def test_values_with_blanks_keep_their_quotes(tmp_path: Path) -> None:
    text = (
        'RebootProgram="/bin/systemctl reboot"\n'
        'InteractiveStepOptions="--interactive --pty $SHELL"\n'
        'NodeName=n1 Reason="bad fan"\nPartitionName=p Nodes=ALL JobDefaults="a b"\n'
    )
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text}).data["scheduler"]
    assert made["extra"] == {
        "RebootProgram": '"/bin/systemctl reboot"',
        "InteractiveStepOptions": '"--interactive --pty $SHELL"',
    }
    assert made["nodes"][0]["extra"] == {"Reason": '"bad fan"'}
    assert made["partitions"][0]["extra"] == {"JobDefaults": '"a b"'}
    for value in made["extra"].values():
        assert TypeAdapter(Option).validate_python(value) == value


def test_controller_with_an_underscore_in_its_name_is_one(tmp_path: Path) -> None:
    text = "ClusterName=x\nSlurmctldHost=ubuntu_ctl0\nNodeName=n1\nPartitionName=p Nodes=ALL\n"
    (controller,) = take_over(tmp_path, {"slurm.conf": text}).data["scheduler"]["controllers"]
    assert Controller.model_validate(controller).address == "ubuntu_ctl0"


@pytest.mark.parametrize(
    "line",
    [
        "NodeName=node-[1-{{ groups['nodes'] | length }}] CPUs=160",
        "{% for host in groups.nodes %}",
        "NodeName=localhost REPLACE_IT State=UNKNOWN",
        "NodeName=<your node> CPUs=4",
        "TreeWidth={MAX_NODES}",
    ],
)
def test_template_that_is_not_filled_in_is_told(line: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match="is a placeholder of a template") as caught:
        scheduler_of(tmp_path, f"NodeName=n1\nPartitionName=p Nodes=n1\n{line}\n")
    assert caught.value.errors[0].location is not None
    assert caught.value.errors[0].location.line == 5


def test_variable_in_a_value_is_no_placeholder(tmp_path: Path) -> None:
    text = 'InteractiveStepOptions="--pty ${SHELL}"\nNodeName=n1\nPartitionName=p Nodes=n1\n'
    assert scheduler_of(tmp_path, text)["extra"] == {"InteractiveStepOptions": '"--pty ${SHELL}"'}


def test_missing_blank_between_options_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        scheduler_of(
            tmp_path, "NodeName=n1 ThreadsPerCore=2RealMemory=480000\nPartitionName=p Nodes=n1\n"
        )
    assert caught.value.errors[0].hint == "a blank is missing before 'RealMemory='"


def test_names_of_a_topology_that_are_no_nodes_are_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(
        "SwitchName=top Switches=s[0-2]\nSwitchName=s2 Switches=s1\n"
        "SwitchName=s0 Nodes=n[1-2],old[1-3]\nSwitchName=s1 Nodes=old4\n"
    )
    text = "TopologyPlugin=topology/tree\nNodeName=n[1-2]\nPartitionName=p Nodes=ALL\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert made.data["scheduler"]["topology"]["switches"] == [
        {"name": "top", "children": "s0"},
        {"name": "s0", "nodes": "n[1-2]"},
    ]
    told = [notice.text for notice in made.notices]
    assert "4 names of the topology are no nodes: old[1-4]" in told


def test_nodes_without_real_memory_are_asked_for_it_at_once(tmp_path: Path) -> None:
    text = (
        "ClusterName=c\nSlurmctldHost=ctl\nNodeName=g[1-2] CPUs=224 Gres=gpu:h100:8\nNodeName=c[1-2] CPUs=64\n"
        "NodeName=m1 CPUs=8 RealMemory=64000\nPartitionName=p Nodes=ALL\n"
    )
    made = take_over(tmp_path, {"slurm.conf": text})
    todo = blank_layer(made.blanks, ["x"])
    nodes = yaml.safe_load(todo.text)["scheduler"]["nodes"]
    # A list of a layer replaces that of the blueprint.
    assert nodes == [
        {"groups": ["g"], "cpus": 224, "gres": "gpu:h100:8", "memory": None},
        {"groups": ["c"], "cpus": 64, "memory": None},
        {"groups": ["m"], "cpus": 8, "memory": "64000 MiB"},
    ]
    assert todo.text.count(":  #") == todo.fields
    assert [one.get("memory") for one in made.data["scheduler"]["nodes"]] == [
        None,
        None,
        "64000 MiB",
    ]
    whole = text.replace("CPUs=224", "CPUs=224 RealMemory=2000000").replace(
        "=64\n", "=64 RealMemory=1\n"
    )
    assert "memory" not in {
        blank.name for blank in take_over(tmp_path, {"slurm.conf": whole}).blanks
    }


def test_instances_of_gpus_with_files_of_their_own_are_found_by_the_library(tmp_path: Path) -> None:
    gres = (
        "NodeName=g1 AutoDetect=off Name=gpu Type=a100 File=/dev/nvidia[0-5]\n"
        "NodeName=g1 Name=gpu Type=a100_1g.10gb MultipleFiles=/dev/nvidia6,/dev/nvidia-caps/nvidia-cap66\n"
    )
    text = "NodeName=g1 CPUs=8 RealMemory=9 Gres=gpu:a100:6,gpu:a100_1g.10gb:14\nPartitionName=p Nodes=g1\n"
    (tmp_path / "gres.conf").write_text(gres)
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    (nodes,) = made.data["scheduler"]["nodes"]
    assert (nodes["gres"], nodes["other_gres"]) == ("gpu:a100:6", ["gpu:a100_1g.10gb:14"])
    assert nodes["detect"] == "nvml"
    assert any("'detect: nvml' is written" in one.text for one in made.notices)


@pytest.mark.parametrize(
    ("text", "gres"),
    [
        ("gpu:1g.10gb", "gpu:1g.10gb:1"),
        ("gpu:4090:4", "gpu:4090:4"),
        ("gpu:2", "gpu:2"),
        ("gpu", "gpu:1"),
    ],
)
def test_type_of_gres_may_begin_with_a_digit(text: str, gres: str, tmp_path: Path) -> None:
    made = scheduler_of(tmp_path, f"NodeName=n1 CPUs=4 Gres={text}\nPartitionName=p Nodes=n1\n")
    assert made["nodes"][0]["gres"] == gres


def test_comment_that_ends_in_a_backslash_takes_no_line_with_it(tmp_path: Path) -> None:
    """slurmctld cuts comments off before it joins lines."""
    text = "#NodeName=old \\\nNodeName=n[1-2] \\ # two\n  CPUs=4\n#PartitionName=x \\\nPartitionName=p Nodes=ALL\n"
    made = scheduler_of(tmp_path, text)
    assert made["nodes"][0]["cpus"] == 4
    assert [one["name"] for one in made["partitions"]] == ["p"]


def test_include_with_a_tab_is_read(tmp_path: Path) -> None:
    (tmp_path / "nodes.conf").write_text("NodeName=n1\n", "utf-8")
    assert scheduler_of(tmp_path, "Include\tnodes.conf\nPartitionName=p Nodes=ALL\n")["partitions"]


def test_node_that_a_partition_names_twice_is_in_it_once(tmp_path: Path) -> None:
    text = "NodeName=n[1-4]\nNodeSet=s Nodes=n1,n[1-2]\nPartitionName=p Nodes=n[1-2],n2,s\nPartitionName=q Nodes=n[3-4]\n"
    (first, second) = take_over(tmp_path, {"slurm.conf": BEGIN + text}).data["sites"][0][
        "node_groups"
    ]
    assert (first["count"], second["count"]) == (2, 2)


@pytest.mark.parametrize("word", ["YES", "true", "1", "Up"])
def test_default_partition_in_every_word_of_slurm_is_the_last_one(
    word: str, tmp_path: Path
) -> None:
    text = f"NodeName=n1\nPartitionName=p Nodes=n1 Default=YES\nPartitionName=q Nodes=n1 Default={word}\n"
    made = scheduler_of(tmp_path, text)
    assert [one.get("default", False) for one in made["partitions"]] == [False, True]


def test_many_partitions_of_all_nodes_are_not_counted_as_nodes(tmp_path: Path) -> None:
    """Each name in a partition counted as a node, and 21 partitions of 5,000 nodes were refused."""
    lines = "".join(f"PartitionName=p{number} Nodes=n[1-5000]\n" for number in range(21))
    made = scheduler_of(tmp_path, f"NodeName=n[1-5000]\n{lines}")
    assert len(made["partitions"]) == 21


def test_priority_of_zero_is_one(tmp_path: Path) -> None:
    text = "NodeName=n1\nPartitionName=p Nodes=n1 PriorityTier=0 PriorityJobFactor=0\n"
    (partition,) = scheduler_of(tmp_path, text)["partitions"]
    assert (partition["priority_tier"], partition["priority_factor"]) == (0, 0)
    assert Partition.model_validate(partition).priority_tier == 0


def test_value_that_no_blueprint_takes_is_told(tmp_path: Path) -> None:
    text = "MailProg=/bin/mail\\#2\nNodeName=n1 Reason=fan\\#2\nPartitionName=p Nodes=n1 JobDefaults=\\#\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert "extra" not in made.data["scheduler"]["partitions"][0]
    told = "\n".join(notice.text for notice in made.notices)
    for option in ("MailProg=/bin/mail#2", "Reason=fan#2", "JobDefaults=#"):
        assert option in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("PreemptMode=GANG", "'PreemptMode=GANG' is not taken over"),
        ("TaskPlugin=task/affinity,task/own", "'TaskPlugin=task/affinity,task/own' has own"),
        ("ProctrackType=proctrack/own", "'ProctrackType=proctrack/own' is none of a blueprint"),
        ("JobAcctGatherType=jobacct_gather/own", "'JobAcctGatherType=jobacct_gather/own' is none"),
        ("PrivateData=jobs,cloud", "'PrivateData=jobs,cloud' has cloud"),
        ("HealthCheckProgram=/usr/sbin/nhc", "at no interval"),
        ("MsgAggregationParams=WindowMsgs=10", "is no option of Slurm's any more"),
    ],
)
def test_option_that_is_left_out_is_told(line: str, words: str, tmp_path: Path) -> None:
    text = f"{line}\nNodeName=n1\nPartitionName=p Nodes=n1\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert any(words in notice.text for notice in made.notices)
    assert "health_check" not in made.data["scheduler"]


def test_controller_beside_another_option_on_its_line_is_read(tmp_path: Path) -> None:
    text = "ClusterName=found SlurmctldHost=ctl(10.0.0.1)\nNodeName=n1\nPartitionName=p Nodes=n1\n"
    made = take_over(tmp_path, {"slurm.conf": text})
    assert made.data["scheduler"]["controllers"] == [{"host": "ctl", "address": "10.0.0.1"}]


def test_acct_gather_conf_beside_slurm_conf_is_told(tmp_path: Path) -> None:
    (tmp_path / "acct_gather.conf").write_text(
        "EnergyIPMIFrequency=10\nEnergyIPMIPowerSensors=Node=16\n"
    )
    text = "AcctGatherEnergyType=acct_gather_energy/ipmi\nNodeName=n1\nPartitionName=p Nodes=n1\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert any("EnergyIPMIFrequency=10" in notice.text for notice in made.notices)


def test_boards_of_a_node_are_told(tmp_path: Path) -> None:
    text = "NodeName=n1 Boards=2 SocketsPerBoard=2 CoresPerSocket=4\nPartitionName=p Nodes=n1\n"
    made = take_over(tmp_path, {"slurm.conf": BEGIN + text})
    assert made.data["scheduler"]["nodes"][0]["sockets"] == 4
    assert any("'Boards=2' is left out" in notice.text for notice in made.notices)
