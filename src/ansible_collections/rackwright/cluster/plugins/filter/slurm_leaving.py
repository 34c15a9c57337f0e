"""The filter ``rackwright.cluster.slurm_leaving``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

DOCUMENTATION = r"""
name: slurm_leaving
short_description: Nodes that a new slurm.conf no longer has, and the jobs that run on them
description:
  - Compares the nodes of two texts of slurm.conf. Slurm ends the jobs of a node that vanishes from its configuration.
positional: after, jobs
options:
  _input:
    description: The slurm.conf that is there; empty where there is none.
    type: str
    required: true
  after:
    description: The slurm.conf that is to be there.
    type: str
    required: true
  jobs:
    description: Lines of a job id and its node list, as C(squeue --noheader --format='%i %N') prints them.
    type: str
    default: ""
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Say which jobs would end
  ansible.builtin.debug:
    msg: "{{ (before | rackwright.cluster.slurm_leaving(after, squeue.stdout)).jobs }}"
"""

RETURN = r"""
_value:
  description: The names of the nodes that leave, and the ids of the jobs on them, both sorted.
  type: dict
"""


def slurm_leaving(before: str | None, after: str, jobs: str = "") -> dict[str, list[str]]:
    """Return nodes that leave, and jobs on them."""
    gone = _nodes(before or "") - _nodes(after)
    found = {
        identity
        for identity, _, names in (line.strip().partition(" ") for line in jobs.splitlines())
        if names and not gone.isdisjoint(_expanded(names))
    }
    return {"nodes": sorted(gone), "jobs": sorted(found)}


def _nodes(text: str) -> set[str]:
    lines = re.findall(r"^\s*NodeName\s*=\s*(\S+)", text, re.MULTILINE | re.IGNORECASE)
    found = {name for line in lines for name in _expanded(line)}
    return {name for name in found if name.lower() != "default"}


def _expanded(hostlist: str) -> Iterator[str]:
    """Yield the names of a list of hosts like ``gpu-[01-04,7],login-1``."""
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", hostlist.strip()):
        pieces = re.split(r"\[([^\]]*)\]", part)
        choices = [
            list(_numbers(piece)) if place % 2 else [piece] for place, piece in enumerate(pieces)
        ]
        yield from ("".join(chosen) for chosen in itertools.product(*choices))


def _numbers(text: str) -> Iterator[str]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if last:
            yield from (f"{one:0{len(first)}d}" for one in range(int(first), int(last) + 1))
        else:
            yield first


class FilterModule:
    """Return the filters of this file by name, as Ansible asks for them."""

    def filters(self) -> dict[str, Callable[..., dict[str, list[str]]]]:
        """Return the filters by their names."""
        return {"slurm_leaving": slurm_leaving}
