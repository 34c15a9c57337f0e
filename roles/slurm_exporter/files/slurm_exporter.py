#!/usr/bin/python3
"""Measurements of Slurm as a file that the Prometheus node exporter passes on.

Ansible puts this program on every controller; a systemd timer runs it. It needs nothing but
Python and the commands of Slurm.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# Fields as wide as that keep a space after the longest list of GPUs.
SINFO = (
    *("sinfo", "--noheader", "--Node", "--all"),
    "--Format=NodeHost:256,StateLong:64,Gres:2048,GresUsed:2048",
)
SQUEUE = ("squeue", "--noheader", "--all", "--array", "--format=%T")
TIMEOUT_S = 20

# Series that are there from the start, so that a rule sees zero and not nothing.
NODE_STATES = ("allocated", "down", "drained", "draining", "idle", "mixed")
JOB_STATES = ("completing", "pending", "running", "suspended")
UNUSABLE = {
    *("down", "drain", "drained", "draining", "error", "fail", "failing", "future", "inval"),
    *("maint", "powered_down", "powering_down", "reboot_issued", "unknown"),
}
DRAINED = {"drain", "drained", "draining"}


@dataclass(frozen=True)
class Node:
    """A node as the controller sees it.

    Attributes:
        state: long name in lower case, without the marks of sinfo.
        responds: whether the controller hears from it.
        gpus: GPUs that it is configured with.
        allocated: those of them that jobs have.
    """

    name: str
    state: str
    responds: bool
    gpus: int
    allocated: int

    @property
    def is_usable(self) -> bool:
        """Whether jobs run, or can start, on the node."""
        return self.responds and self.state not in UNUSABLE


def count_gpus(gres: str) -> int:
    """The GPUs in a GRES text such as ``gpu:h100:8(S:0-1),nic:2``.

    Raises:
        ValueError: a GPU entry ends with no number.
    """
    found = 0
    for entry in re.sub(r"\([^)]*\)", "", gres).split(","):
        parts = entry.split(":")
        if parts[0] == "gpu":
            found += int(parts[-1]) if len(parts) > 1 else 1
    return found


def parse_nodes(text: str) -> list[Node]:
    """The nodes of sinfo's output, each once although it is listed for every partition.

    Raises:
        ValueError: a line has another form.
    """
    nodes = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        fields = line.split()
        if len(fields) != 4:
            raise ValueError(f"sinfo wrote {line.strip()!r}, wanted four fields")
        name, state, gres, used = fields
        plain = re.match(r"[a-z_]*", state.lower())
        assert plain is not None
        nodes[name] = Node(name, plain[0], "*" not in state, count_gpus(gres), count_gpus(used))
    return list(nodes.values())


def parse_jobs(text: str) -> Counter[str]:
    """Jobs by state in lower case, of squeue's output."""
    return Counter(line.strip().lower() for line in text.splitlines() if line.strip())


def render(nodes: Iterable[Node], jobs: Mapping[str, int]) -> str:
    """The measurements in the text format of Prometheus."""
    nodes = list(nodes)
    states = Counter(dict.fromkeys(NODE_STATES, 0))
    states.update(node.state for node in nodes)
    counted = {**dict.fromkeys(JOB_STATES, 0), **jobs}
    gpus = {
        "slurm_gpus_total": ("GPUs that nodes are configured with", nodes),
        "slurm_gpus_usable": ("GPUs of nodes that can run jobs", [n for n in nodes if n.is_usable]),
    }
    lines = [*_head("slurm_up", "1 where the controller has answered"), "slurm_up 1"]
    lines += _head("slurm_nodes", "Nodes by state")
    lines += [f'slurm_nodes{{state="{_escape(s)}"}} {n}' for s, n in sorted(states.items())]
    lines += _head("slurm_jobs", "Jobs by state, each task of an array by itself")
    lines += [f'slurm_jobs{{state="{_escape(s)}"}} {n}' for s, n in sorted(counted.items())]
    for name, (what, some) in gpus.items():
        lines += [*_head(name, what), f"{name} {sum(node.gpus for node in some)}"]
    lines += _head("slurm_gpus_allocated", "GPUs that jobs have")
    lines += [f"slurm_gpus_allocated {sum(node.allocated for node in nodes)}"]
    lines += _head("slurm_node_drained", "1 for a node that is drained or draining; absent else")
    drained = sorted(node.name for node in nodes if node.state in DRAINED)
    lines += [f'slurm_node_drained{{node="{_escape(name)}"}} 1' for name in drained]
    return "\n".join(lines) + "\n"


def render_silence() -> str:
    """What is measured when nothing is known: old values must not stay."""
    return "\n".join([*_head("slurm_up", "1 where the controller has answered"), "slurm_up 0", ""])


def _head(name: str, what: str) -> list[str]:
    return [f"# HELP {name} {what}", f"# TYPE {name} gauge"]


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def write(path: Path, text: str) -> None:
    """Replace the file in one step, so that the node exporter never reads half of it."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _ask(command: Iterable[str]) -> str:
    done = subprocess.run(
        list(command), capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    return done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Write the measurements; 1 when Slurm did not answer, which the file tells as well."""
    parser = argparse.ArgumentParser(description="Write measurements of Slurm for Prometheus.")
    parser.add_argument("file", type=Path, help="a *.prom file in the node exporter's folder")
    path = parser.parse_args(arguments).file
    try:
        text = render(parse_nodes(_ask(SINFO)), parse_jobs(_ask(SQUEUE)))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        print(f"slurm_exporter: {_reason(error)}", file=sys.stderr)
        write(path, render_silence())
        return 1
    write(path, text)
    return 0


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return str(error.stderr).strip()
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
