"""Files of other tools, which are named as what they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rackwright.brownfield.records import refused
from rackwright.errors import Location, SpecErrors

_LOOKED_AT = 200_000
"""Characters of a file in which the words are looked for."""


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
_TOOLS = (
    _Tool("a ParallelCluster configuration", (r"^Scheduling:", r"^HeadNode:"), _AWS),
    _Tool("a blueprint of Google's Cluster Toolkit", (r"^blueprint_name:", r"^deployment_groups:"),
          "clusters on AWS and on premises are described: 'rackwright init --list' shows what to begin with"),
    _Tool("a SkyPilot task", (r"^resources:", r"^(run|setup|num_nodes):"),
          "it says what a job needs, and not what stands: begin with 'rackwright init --list'"),
    _Tool("a blueprint of Rackwright", (r"^apiVersion:\s*[\"']?rackwright/",),
          "'rackwright check FILE' judges it"),
    _Tool("a manifest of Kubernetes", (r"^apiVersion:\s", r"^kind:\s"), _HOSTS),
    _Tool("a list of Warewulf's nodes", (r"^nodeprofiles:", r"^nodes:"), _HOSTS),
    _Tool("a list of xCAT's nodes", (r"^\s*objtype=node",), _HOSTS),
    _Tool("a model of topograph", (r"^(switches|blocks|capacity_blocks):", r"^(nodes|switches):"), _HOSTS),
    _Tool("an Ansible inventory", (r"^all:\s*$", r"^\s+(hosts|children):"), _HOSTS),
    _Tool("an Ansible inventory", (r"^\[[\w.:-]+\]\s*$", r"^[\w.\[\]:-]+(\s+\w+=\S+)*\s*$"), _HOSTS),
    _Tool("a 'slurmdbd.conf'", (r"(?i)^DbdHost\s*=",),
          "name the 'slurm.conf': its AccountingStorageHost says where the database is"),
    _Tool("an 'acct_gather.conf'", (r"(?i)^(EnergyIPMI|ProfileHDF5|InfinibandOFED|SysfsInterfaces)\w*\s*=",),
          "name the 'slurm.conf'; a blueprint has nothing of this file"),
    _Tool("a DHCP configuration", (r"^\s*subnet\s.*\{", r"^\s*host\s.*\{"), _HOSTS),
    _Tool("a program of Terraform", (r"^(resource|module|provider)\s+\"",),
          "'rackwright init --list' shows blueprints to begin with"),
)  # fmt: skip


def refuse_other_tool(text: str, path: Path) -> SpecErrors | None:
    """Return an error that names the tool that a file is of; None where it is of none that is known."""
    start = text[:_LOOKED_AT]
    for tool in _TOOLS:
        if all(re.search(words, start, re.MULTILINE) for words in tool.words):
            return refused(f"this looks like {tool.name}", Location(str(path), 1, 1), tool.hint)
    return None
