"""Topology files of Slurm: topology.conf, and topology.yaml of newer releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from rackwright.model.names import compress_hostlist
from rackwright.plan.slurm.topology import PlannedTopology


def topology_conf(topology: PlannedTopology) -> str:
    """Return the cluster's own topology; a release that reads topology.yaml ignores this file."""
    lines = []
    for switch in topology.switches:
        below = (
            f"Nodes={compress_hostlist(switch.nodes)}"
            if switch.nodes
            else f"Switches={compress_hostlist(switch.children)}"
        )
        lines.append(f"SwitchName={switch.name} {below}")
    lines += [
        f"BlockName={block.name} Nodes={compress_hostlist(block.nodes)}"
        for block in topology.blocks
    ]
    if topology.block_sizes:
        lines.append(f"BlockSizes={','.join(map(str, topology.block_sizes))}")
    return "".join(f"{line}\n" for line in lines)


class _Indented(yaml.SafeDumper):
    """Lists stand deeper than their key, as linters of YAML want them."""

    def increase_indent(self, flow: Any = None, indentless: Any = None) -> None:
        super().increase_indent(bool(flow), indentless=False)


def topology_yaml(networks: Sequence[PlannedTopology]) -> str:
    """Return every network's topology, for releases that read topology.yaml."""
    made = []
    for index, network in enumerate(networks):
        entry: dict[str, object] = {"topology": network.kind, "cluster_default": index == 0}
        match network.kind:
            case "tree":
                entry["tree"] = {
                    "switches": [
                        {"switch": switch.name, "nodes": compress_hostlist(switch.nodes)}
                        if switch.nodes
                        else {
                            "switch": switch.name,
                            "children": compress_hostlist(switch.children),
                        }
                        for switch in network.switches
                    ]
                }
            case "block":
                entry["block"] = {
                    "block_sizes": list(network.block_sizes),
                    "blocks": [
                        {"block": block.name, "nodes": compress_hostlist(block.nodes)}
                        for block in network.blocks
                    ],
                }
            case _:
                entry["flat"] = True
        made.append(entry)
    return yaml.dump(made, Dumper=_Indented, sort_keys=False, width=10**6)
