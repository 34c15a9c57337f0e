"""Files of Slurm that others have written: slurmctld reads the original and the rendered file alike."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from brownfield_support import take_over
from rackwright.model.job_time import job_minutes
from rackwright.plan.load import load_data
from rackwright.render.slurm import render_slurm
from slurmctld_support import SlurmReading, ask_slurmctld, host_names

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(shutil.which("slurmctld") is None, reason="not installed: slurmctld"),
]
BEGIN = "ClusterName=found\nSlurmctldHost=ctl\n"
CASES: Mapping[str, Mapping[str, str]] = {
    "the form that SchedMD's configurator writes": {
        "slurm.conf": "NodeName=linux[1-32] CPUs=1 RealMemory=900 State=UNKNOWN\n"
        "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    },
    "old keywords and minutes": {
        "slurm.conf": "NodeName=bm[01-03] RealMemory=64000 Procs=24 State=UNKNOWN\n"
        "NodeName=mon01 RealMemory=210000 CPUs=40 Gres=gpu:8\nGresTypes=gpu\n"
        "PartitionName=long Nodes=bm[01-03] Default=YES MaxTime=43200\n"
        "PartitionName=rocsLong Nodes=bm02 MaxTime=1-0:0 Shared=EXCLUSIVE\n"
        "PartitionName=interactive Nodes=mon01 MaxTime=4320 Priority=7000 PreemptMode=OFF AllowGroups=root\n"
    },
    "defaults, shapes and addresses": {
        "slurm.conf": "NodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=2000 TmpDisk=64000\n"
        "NodeName=mcr[0-11] NodeAddr=emcr[0-11]\n"
        "NodeName=fat[1-2] CPUs=8 CoreSpecCount=1 MemSpecLimit=100\n"
        "NodeName=odd1 CPUs=10\n"
        "NodeName=one1 Sockets=1 CoresPerSocket=8\n"
        "PartitionName=DEFAULT State=UP MaxTime=30\n"
        "PartitionName=pdebug Nodes=mcr[0-5] MaxNodes=4 Default=YES\n"
        "PartitionName=std.q Nodes=mcr[6-11],fat[1-2],odd1,one1 MaxTime=2-12 DefaultTime=30:00\n"
    },
    "node sets, names with capitals, underscores and dots, an absolute include": {
        "slurm.conf": "GresTypes=gpu\nInclude /etc/slurm/parts/nodes.conf\n"
        "NodeSet=gpu_nodes Feature=gpu\nNodeSet=few Nodes=Test_Node[0-1]\n"
        "PartitionName=gpu Nodes=gpu_nodes MaxTime=120:00:00 Default=YES\n"
        "PartitionName=both Nodes=gpu_nodes,few OverSubscribe=YES:4 MaxTime=UNLIMITED\n",
        "parts/nodes.conf": "NodeName=ip-10-0-91-120.ec2.internal,ip-10-0-91-121.ec2.internal CPUs=8 RealMemory=1000 "
        "Feature=gpu,efa Gres=gpu:a100:4 Weight=5\nNodeName=Test_Node[0-1] CPUs=4 RealMemory=1000\n",
    },
    "several kinds of what is counted": {
        "slurm.conf": "GresTypes=gpu,mps\n"
        "NodeName=hosta Gres=gpu:nvidia_geforce_rtx_3090:8,mps:192 CPUs=24 Boards=1 SocketsPerBoard=1 "
        "CoresPerSocket=24 ThreadsPerCore=1 RealMemory=257626\n"
        "PartitionName=Part1 Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerGPU=30000\n"
    },
    "continued lines, billing and preemption": {
        "slurm.conf": "GresTypes=gpu\nNodeName=gpu[01-16] CPUs=128 RealMemory=1000000 Gres=gpu:a100:8\n"
        "PartitionName=gpu \\\n  Nodes=gpu[01-16] \\\n  DefaultTime=01:00:00 MaxTime=48:00:00 \\\n"
        '  TRESBillingWeights="CPU=1.0,Mem=0.25G" \\\n  PreemptMode=REQUEUE\n'
        "PartitionName=preemptible Nodes=gpu[01-16] PreemptMode=CANCEL PriorityTier=1 RootOnly=yes Hidden=YES\n"
    },
    "values in quotes, with blanks": {
        "slurm.conf": 'RebootProgram="/sbin/shutdown -r now"\n'
        'InteractiveStepOptions="--interactive --preserve-env --pty $SHELL"\n'
        'NodeName=n[1-4] CPUs=8 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=1000 Features="a,b" State=UNKNOWN\n'
        'PartitionName=p Nodes="n[1-4]" Default=YES MaxTime="2-00:00:00" State=UP\n'
    },
    "instances of divided GPUs beside whole ones": {
        "slurm.conf": "GresTypes=gpu\nNodeName=g1 CPUs=8 RealMemory=1000 Gres=gpu:a100:6,gpu:a100_1g.10gb:14\n"
        "NodeName=g2 CPUs=8 RealMemory=1000 Gres=gpu:1g.10gb:7,gpu:3g.40gb:2\n"
        "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n",
    },
    "a topology with names that are no nodes": {
        "slurm.conf": "TopologyPlugin=topology/tree\nNodeName=n[1-4] CPUs=8 RealMemory=1000\n"
        "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n",
        "topology.conf": "SwitchName=s0 Nodes=n[1-2],old[1-3]\nSwitchName=s1 Nodes=n[3-4]\n"
        "SwitchName=top Switches=s[0-1]\n",
    },
    "comments before continuations, a tab, nodes named twice and two default partitions": {
        "slurm.conf": "# old nodes \\\nInclude\tnodes.conf\n"
        "PartitionName=p Nodes=n[1-2],n2 Default=YES PriorityTier=0 PriorityJobFactor=0\n"
        "#PartitionName=x \\\nPartitionName=q Nodes=ALL Default=TRUE Hidden=1 MaxTime=2-0\n",
        "nodes.conf": "NodeName=n[1-2] \\ # two\n  CPUs=8 RealMemory=1000\nNodeName=m1 CPUs=4 RealMemory=1000\n",
    },
    "threads of a core without sockets": {
        "slurm.conf": "NodeName=p5-[1-2] CPUs=192 ThreadsPerCore=2 RealMemory=1000\n"
        "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n"
    },
}
_OF_DAEMONS = frozenset({
    "State", "BootTime", "SlurmdStartTime", "LastBusyTime", "Reason", "Comment", "OS", "Version",
    "CPULoad", "FreeMem", "CurrentWatts", "AveWatts", "Nodes", "NodeSets",
})  # fmt: skip
"""What daemons find out; and lists of nodes in one of several orders, each of which tells its partitions."""


def filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the blueprint with a hall, power and products, of which no file of Slurm's says anything."""
    made: dict[str, Any] = yaml.safe_load(yaml.safe_dump(dict(data)))
    (site,) = made["sites"]
    site["power"] = {
        "continuous_derate": "80 %", "power_factor": 0.95, "feeds": ["A", "B"], "utility": "60 MW",
        "feed_path": [
            {"kind": "ups", "capacity": "40000 kW"},
            {"kind": "rpp", "circuit": {"voltage": "415 V", "current": "80000 A", "phases": 3}},
        ],
        "pdu": "pdu-415v-60a-24c19",
        "circuit": {"voltage": "415 V", "current": "60 A", "phases": 3},
    }  # fmt: skip
    groups = [f"r{index}-[01-40]" for index, _ in enumerate(site["node_groups"])]
    rack = {"type": "rack-48u", "cooling": {"mode": "air"}}
    rows = [{"name": "row-1", "rack_groups": [{"racks": racks, **rack} for racks in groups]}]
    site["halls"] = [{"name": "hall-1", "rows": rows}]
    for group, racks in zip(site["node_groups"], groups, strict=True):
        group |= {"type": "cpu-2u", "racks": racks, "per_rack": 4}
    made["scheduler"]["version"] = "22.05"
    return made


@pytest.mark.parametrize("name", CASES)
def test_slurmctld_reads_original_and_rendered_file_alike(name: str, tmp_path: Path) -> None:
    files = {
        key: (BEGIN if key == "slurm.conf" else "") + text for key, text in CASES[name].items()
    }
    (tmp_path / "in/parts").mkdir(parents=True)
    for key, text in files.items():
        (tmp_path / "in" / key).write_text(text, "utf-8")
    made = take_over(tmp_path / "in", {"slurm.conf": files["slurm.conf"]})
    files_now = render_slurm(load_data(filled(made.data)).plan)
    rendered = {
        name: text for name, text in files_now.items() if name in {"slurm.conf", "topology.conf"}
    }
    hosts = host_names(
        tmp_path,
        re.findall(r"Node(?:Name|Addr)=(\S+)", "\n".join(files.values()).replace("DEFAULT", "ctl")),
    )
    plain = {key: text.replace("/etc/slurm/", "") for key, text in files.items()}
    was = ask_slurmctld(tmp_path / "original", plain, hosts)
    now = ask_slurmctld(tmp_path / "rendered", rendered, hosts)
    assert (was.error, now.error) == ("", "")
    assert was.nodes
    assert was.partitions
    assert _facts(now) == _facts(was)


def _facts(reading: SlurmReading) -> dict[str, dict[str, str]]:
    return {
        f"{kind} {name}": {key: value for key, value in words.items() if key not in _OF_DAEMONS}
        for kind, shown in (("node", reading.nodes), ("partition", reading.partitions))
        for name, words in shown.items()
    }


TIMES = ("UNLIMITED", "INFINITE", "-1", "43200", "1", "30:00", "0:59", "1:30", "36:00:00", "120:00:00", "0:0:61",
         "1-0", "2-12", "1-0:0", "3-4:5", "2-00:00:00", "10-01:02:03")  # fmt: skip


def test_time_limits_are_those_of_slurmctld(tmp_path: Path) -> None:
    lines = [
        f"PartitionName=p{index} Nodes=n1 MaxTime={text}\n" for index, text in enumerate(TIMES)
    ]
    conf = BEGIN + "NodeName=n1 CPUs=1\n" + "".join(lines)
    read = ask_slurmctld(tmp_path / "times", {"slurm.conf": conf}, ["n1"])
    assert read.error == ""
    shown = {text: read.partitions[f"p{index}"]["MaxTime"] for index, text in enumerate(TIMES)}
    assert {text: job_minutes(limit) for text, limit in shown.items()} == {
        text: job_minutes(text) for text in TIMES
    }
