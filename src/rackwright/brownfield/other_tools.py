"""Files of other tools, which are named as what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rackwright.brownfield.records import refused
from rackwright.errors import Location, SpecErrors

_LOOKED_AT = 200_000
"""Characters of a file in which the words are looked for."""
_BLANKS = re.compile(r"\s{40,}|\n\s*\n")


@dataclass(frozen=True, slots=True)
class _Tool:
    """A kind of file.

    Attributes:
        name: in a sentence.
        words: expressions of which each has to be found.
        hint: what to do with it.
    """

    name: str
    words: tuple[str, ...]
    hint: str


_HOSTS = (
    "a sheet with the columns 'rack', 'lowest_unit' and 'product' says what stands where; "
    "'rackwright sheets' shows its form"
)
_AWS = (
    "'rackwright init --template aws-p5' begins a cluster on AWS; write its queues as node groups"
)
_SLURM = "name the 'slurm.conf', or the file that 'scontrol write config' writes"
OF_SLURM = (
    _Tool("the output of 'scontrol show node'", (r"^NodeName=", r"\b(CPUAlloc|AllocMem|BootTime)="), _SLURM),
    _Tool("the output of 'scontrol show partition'", (r"^PartitionName=\S+\s*\n\s+Allow",), _SLURM),
    _Tool("the output of 'scontrol show config'", (r"^Configuration data as of ",), _SLURM),
    _Tool("the output of 'slurmd -C'", (r"^NodeName=", r"^\s*UpTime="),
          "add its lines to the 'slurm.conf' without 'UpTime', and name that"),
    _Tool("the output of 'sinfo'", (r"^PARTITION\s+AVAIL",), _SLURM),
    _Tool("the output of a command of Slurm with '--json'", (r"\"[Ss]lurm\"\s*:", r"\"(nodes|partitions|sinfo|jobs)\"\s*:"), _SLURM),
)  # fmt: skip
"""Output of Slurm's commands, whose words are those of a ``slurm.conf``."""
OTHERS = (
    _Tool("a ParallelCluster configuration",
          (r"^\s*\{?\s*(\"Region\".*)?\"?Scheduling\"?\s*:", r"(^|\s|\")(SlurmQueues|AwsBatchQueues|HeadNode)\"?\s*:"), _AWS),
    _Tool("a ParallelCluster configuration of version 2", (r"^\[cluster \S+\]",), _AWS),
    _Tool("a configuration of SageMaker HyperPod", (r"\"(controller_group|worker_groups|InstanceGroups)\"\s*:",), _AWS),
    _Tool("a blueprint of Google's Cluster Toolkit", (r"^blueprint_name:", r"^(deployment|resource)_groups:"),
          "clusters on AWS and on premises are described: 'rackwright init --list' shows what to begin with"),
    _Tool("a SkyPilot task", (r"^resources:", r"^(run|setup|num_nodes):"),
          "it says what a job needs, and not what stands: begin with 'rackwright init --list'"),
    _Tool("a blueprint of Rackwright", (r"^apiVersion:\s*[\"']?rackwright/",),
          "'rackwright check FILE' judges it"),
    _Tool("a manifest of Kubernetes", (r"^apiVersion:\s", r"^kind:\s"), _HOSTS),
    _Tool("a list of Warewulf's nodes", (r"^nodes:", r"^(nodeprofiles:|\s+(profiles|network devices|runtime overlay):)"), _HOSTS),
    _Tool("a list of Warewulf's nodes", (r"^NODE( NAME)?\s+PROFILES",), _HOSTS),
    _Tool("a configuration of Warewulf", (r"^WW_INTERNAL:",), _HOSTS),
    _Tool("a list of xCAT's nodes", (r"^\s*objtype=node|^Object name: ",), _HOSTS),
    _Tool("a table of xCAT", (r"^#node,",), _HOSTS),
    _Tool("a list of Base Command Manager's devices",
          (r"^(PhysicalNode|HeadNode)[\s|]+\S+|\"childType\"\s*:\s*\"\w*Node\"",), _HOSTS),
    _Tool("the settings of a device of Base Command Manager", (r"^Hostname\s+\S+$", r"^(Category|Installed)\s+\S"), _HOSTS),
    _Tool("a list of Ironic's nodes", (r"\"(driver_info|pm_type|provision_state)\"\s*:",), _HOSTS),
    _Tool("a list of MAAS's machines", (r"\"system_id\"\s*:",), _HOSTS),
    _Tool("a model of topograph", (r"^(switches|blocks|capacity_blocks):", r"^(nodes|switches):"), _HOSTS),
    _Tool("an Ansible playbook", (r"^- (name|hosts):", r"^(- | +)hosts:"), _HOSTS),
    _Tool("an Ansible inventory", (r"^[\w-]+:\s*$", r"^ +(hosts|children):\s*$"), _HOSTS),
    _Tool("an Ansible inventory", (r"\"_meta\"\s*:", r"\"hostvars\"\s*:"), _HOSTS),
    _Tool("an Ansible inventory", (r"^\[[\w.-]+:(children|vars)\]",), _HOSTS),
    _Tool("an Ansible inventory", (r"^\[[\w.-]+\]\s*$", r"^[\w.-][\w.\[\]:-]*([ \t]+\w+=\S|\s*$)"), _HOSTS),
    _Tool("a hosts file", (r"^(\d{1,3}\.){3}\d{1,3}[ \t]+[A-Za-z][\w.-]*([ \t]|$)",), _HOSTS),
    _Tool("a list of PBS's nodes", (r"^\s+(Mom|ntype) = ",), _HOSTS),
    _Tool("a list of LSF's hosts", (r"^HOST_NAME\s+STATUS",), _HOSTS),
    _Tool("the output of 'nvidia-smi topo -m'", (r"\bGPU0\s+(GPU1|NIC0)", r"CPU Affinity"),
          "it tells the insides of one host, which the catalogue has: 'rackwright catalogue list'"),
    _Tool("a 'slurmdbd.conf'", (r"(?i)^DbdHost\s*=",),
          "name the 'slurm.conf': its AccountingStorageHost says where the database is"),
    _Tool("a DHCP configuration", (r"^\s*subnet\s.*\{", r"^\s*host\s.*\{"), _HOSTS),
    _Tool("a state of Terraform", (r"\"terraform_version\"\s*:",), _AWS),
    _Tool("instances as the AWS CLI lists them", (r"\"Reservations\"\s*:",), _AWS),
    _Tool("a program of Terraform", (r"^(resource|module|provider)\s+\"",),
          "'rackwright init --list' shows blueprints to begin with"),
    _Tool("a file of settings in sections", (r"^\[[^\]\n]+\]\s*$", r"^[\w.-]+\s*=\s"), _HOSTS),
    _Tool("YAML of a kind that is not known", (r"\A(?:[ \t]*(?:#.*)?\n)*(?:---|[\w-]+:(?:\s|$)|- [\w-]+:)",), _HOSTS),
)  # fmt: skip


def error_of_tool(text: str, path: Path, tools: Iterable[_Tool]) -> SpecErrors | None:
    """Return an error that names the one of ``tools`` that wrote a file; None if none of them did."""
    # Expressions with several blanks would try all ways to divide a run of them.
    start = _BLANKS.sub("\n", text[:_LOOKED_AT])
    for tool in tools:
        if all(re.search(words, start, re.MULTILINE) for words in tool.words):
            return refused(f"this looks like {tool.name}", Location(str(path), 1, 1), tool.hint)
    return None
