"""Files of other tools are named as what they are, with what to do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rackwright.brownfield.reading import read_standing
from rackwright.errors import SpecErrors

FILES = (
    ("a ParallelCluster configuration", "Region: r\nHeadNode:\n  InstanceType: c5.large\nScheduling:\n  Scheduler: slurm\n"),
    ("a ParallelCluster configuration", "Imds:\n  ImdsSupport: v2.0\nScheduling:\n  Scheduler: slurm\n  SlurmQueues:\n    - Name: q\n"),
    ("a ParallelCluster configuration", '{"Region": "r", "HeadNode": {}, "Scheduling": {"SlurmQueues": []}}'),
    ("a ParallelCluster configuration of version 2", "[global]\ncluster_template = a\n\n[cluster a]\nkey_name = k\n"),
    ("a configuration of SageMaker HyperPod", '{"controller_group": "c", "worker_groups": [{"instance_group_name": "w"}]}'),
    ("a blueprint of Google's Cluster Toolkit", "blueprint_name: hpc\nvars: {}\ndeployment_groups:\n- group: primary\n"),
    ("a SkyPilot task", "resources:\n  accelerators: H100:8\nrun: |\n  date\n"),
    ("a blueprint of Rackwright", "apiVersion: rackwright/v1\nname: a\n"),
    ("a list of Warewulf's nodes", "nodeprofiles:\n  default: {}\nnodes:\n  n1: {}\n"),
    ("a list of Warewulf's nodes", "nodes:\n  n1:\n    profiles:\n    - default\n    network devices:\n      default: {}\n"),
    ("a list of Warewulf's nodes", "NODE NAME   PROFILES  NETWORK\n=====\nn1  default  --\n"),
    ("a configuration of Warewulf", "WW_INTERNAL: 45\nipaddr: 192.0.2.1\n"),
    ("a list of xCAT's nodes", "node1:\n    objtype=node\n    groups=all\n"),
    ("a list of xCAT's nodes", "Object name: n1\n    arch=x86_64\n    groups=compute,all\n"),
    ("a table of xCAT", '#node,rack,u,chassis,slot\n"n1","A1","12",,\n'),
    ("a list of Base Command Manager's devices",
     "Type          Hostname (key)  MAC\n------------- --------------- -----\nPhysicalNode  node001         FA:16:3E:00:00:01\n"),
    ("a list of Base Command Manager's devices", '[{"childType": "PhysicalNode", "hostname": "node001"}]'),
    ("the settings of a device of Base Command Manager", "Parameter   Value\nHostname    node001\nCategory    default\n"),
    ("a list of Ironic's nodes", '{"nodes": [{"name": "n1", "driver_info": {}}]}'),
    ("a list of MAAS's machines", '[{"system_id": "abc", "hostname": "n1"}]'),
    ("a model of topograph", "switches:\n  core:\n    switches: [leaf]\n  leaf:\n    nodes: [n1]\nnodes:\n  n1: {}\n"),
    ("an Ansible playbook", "- name: Do it\n  hosts: all\n  tasks: []\n"),
    ("an Ansible inventory", "[gpu]\nnode1 ansible_host=192.0.2.1\nnode2\n\n[all:children]\ngpu\n"),
    ("an Ansible inventory", "[gpu]\nnode[01:16]\n"),
    ("an Ansible inventory", "[gpu]\nnode1  ansible_host=192.0.2.1 ansible_ssh_common_args='-o A=b'  # the first\n"),
    ("an Ansible inventory", "all:\n  children:\n    gpu:\n      hosts:\n        n1:\n"),
    ("an Ansible inventory", "---\nslurm_compute:\n  hosts:\n    n[1:4]:\n"),
    ("an Ansible inventory", '{"_meta": {"hostvars": {}}, "gpu": {"hosts": ["n1"]}}'),
    ("a hosts file", "127.0.0.1 localhost\n192.0.2.1\tn1 n1.example.com\n"),
    ("the output of 'scontrol show node'", "NodeName=n1 Arch=x86_64 CoresPerSocket=56\n   CPUAlloc=0 CPUTot=224\n"),
    ("the output of 'scontrol show partition'", "PartitionName=p\n   AllowGroups=ALL AllowAccounts=ALL\n"),
    ("the output of 'scontrol show config'", "Configuration data as of 2026-01-01T00:00:00\nClusterName = c\n"),
    ("the output of 'slurmd -C'", "NodeName=n1 CPUs=224 RealMemory=2063937\nUpTime=1-02:03:04\n"),
    ("the output of 'sinfo'", "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\np up infinite 4 idle n[1-4]\n"),
    ("the output of a command of Slurm with '--json'",
     '{"meta": {"slurm": {"version": {"major": "24"}}}, "nodes": [{"name": "n1"}]}'),
    ("a state of Terraform", '{"version": 4, "terraform_version": "1.9.0", "resources": []}'),
    ("instances as the AWS CLI lists them", '{"Reservations": [{"Instances": [{"InstanceId": "i-1"}]}]}'),
    ("the output of 'nvidia-smi topo -m'", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV18\t0-55\n"),
    ("a list of PBS's nodes", "n1\n     Mom = n1\n     state = free\n"),
    ("a list of LSF's hosts", "HOST_NAME  STATUS  JL/U  MAX\nn1  ok  -  224\n"),
    ("a file of settings in sections", "[global]\nworkgroup = x\n"),
    ("YAML of a kind that is not known", "# values\nservices:\n  db:\n    image: x\n"),
)  # fmt: skip


@pytest.mark.parametrize(("tool", "text"), FILES)
def test_file_of_another_tool_is_named_as_what_it_is(tool: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(SpecErrors) as caught:
        read_standing(path)
    (error,) = caught.value.errors
    assert (error.summary, bool(error.hint)) == (f"this looks like {tool}", True)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 20_000 + "x,y\n",
        " " * 20_000 + "x,y\n",
        "NodeName=n1\n" + "\n" * 20_000 + "x",
        "NodeName=n1\n" + "a" * 20_000,
        "NodeName=n1\nA=" + "{{" * 20_000,
        "NodeName=n1\n" + "b=" + '"' * 20_000 + " c",
    ],
)
def test_long_runs_are_refused_at_once(text: str, tmp_path: Path) -> None:
    """40 empty lines before a sheet took hours: each way to divide them was tried."""
    path = tmp_path / "found"
    path.write_text(text, "utf-8")
    begun = time.process_time()
    with pytest.raises(SpecErrors):
        read_standing(path)
    assert time.process_time() - begun < 2


def test_objects_without_a_device_type_are_no_devices_of_netbox(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text('[{"hostname": "n1"}]')
    with pytest.raises(SpecErrors, match="these are no devices of NetBox"):
        read_standing(path)


@pytest.mark.parametrize(
    "text",
    [
        "rack,lowest_unit,product,name\nr1,2,DGX H100,n1\n",
        "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL AllowGroups=hpc\n",
        "PartitionName=p \\\n  AllowGroups=ALL Nodes=n1\nNodeName=n1\n",
    ],
)
def test_readable_file_is_not_taken_for_another_tool(text: str, tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    path.write_text(text, "utf-8")
    found = read_standing(path)
    assert found.devices or found.slurm
