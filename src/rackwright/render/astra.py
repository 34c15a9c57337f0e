"""Inputs of ASTRA-sim 2 for a predicted workload: network, system, and a workload that Chakra's converter reads.

The formats are those of ASTRA-sim's analytical backend (``inputs/`` of github.com/astra-sim/astra-sim) and of the text form that
``chakra_converter Text`` makes execution traces of. What is simulated is one step of one pipeline stage: its layers once, with
the work of all micro-batches in them. Bubble, optimizer and stragglers are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from rackwright.plan.workload.layer import ELEMENT
from rackwright.plan.workload.library import known_accelerators
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.prediction import Prediction, job_of, software_of

_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")


def astra_files(found: Prediction) -> Mapping[str, str] | None:
    """Return the contents of the files by name; None for a workload without a prediction."""
    placement = found.placement
    if found.step is None or placement is None or placement.links is None:
        return None
    dimensions = _dimensions(placement.links, placement.accelerators)
    return {
        "network.yml": _network(dimensions),
        "system.json": _system(found, len(dimensions)),
        "workload.txt": _workload(found),
    }


def _dimensions(links: Links, accelerators: int) -> list[tuple[int, float, float]]:
    """Return members, GB/s and ns of each dimension: NVLink domain, domains of a pod, pods.

    What does not divide is one dimension less. A Switch of the analytical backend counts its latency twice.
    """
    near = min(links.domain, accelerators)
    if accelerators % near:
        return [(accelerators, links.rail / 1e9, links.rail_delay * 5e8)]
    found = [(near, links.link / 1e9, links.delay * 5e8)]
    domains, rest = accelerators // near, links.rail / 1e9
    in_pod = max(1, min(links.pod // near, domains))
    if domains % in_pod:
        in_pod = domains
    if in_pod > 1:
        found.append((in_pod, rest, links.rail_delay * 5e8))
    if domains > in_pod:
        found.append((domains // in_pod, rest / links.oversubscription, links.rail_delay * 5e8))
    return found


def _network(dimensions: list[tuple[int, float, float]]) -> str:
    counts, rates, delays = zip(*dimensions, strict=True)

    def listed(values: tuple[float, ...]) -> str:
        return f"[ {', '.join(f'{value:g}' for value in values)} ]"

    return (
        f"topology: [ {', '.join(['Switch'] * len(counts))} ]\n"
        f"npus_count: {listed(counts)}\n"
        f"bandwidth: {listed(rates)}  # GB/s\n"
        f"latency: {listed(delays)}  # ns\n"
    )


def _system(found: Prediction, dimensions: int) -> str:
    assert found.placement is not None  # noqa: S101 - the caller has looked
    accelerator = known_accelerators()[found.placement.board.gres]
    rate = accelerator.gemms[found.workload.precision].rate
    document = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 1,
        "active-chunks-per-dimension": 2,
        "preferred-dataset-splits": 4,
        **{f"{name}-implementation": ["ring"] * dimensions for name in _COLLECTIVES},
        "collective-optimization": "localBWAware",
        "local-mem-bw": accelerator.bandwidth / 1e9,
        "boost-mode": 0,
        "roofline-enabled": 0,
        "peak-perf": rate / 1e12,
    }
    return json.dumps(document, indent=2) + "\n"


def _workload(found: Prediction) -> str:
    step, layout = found.step, found.layout
    assert step is not None  # noqa: S101 - the caller has looked
    assert layout is not None  # noqa: S101
    job, software = job_of(found.workload), software_of(found.workload)
    model = job.model
    layers = max(1, round((model.layers + model.predicted) / layout.pipeline))
    parts = step.parts
    busy = parts.products + parts.attention + parts.memory + parts.recompute + parts.host
    third = round(busy / layers / 3 * 1e6)
    batches = layout.micro_batches(step.accelerators, job.sequences)
    tokens = layout.micro_batch * job.sequence / layout.context * batches
    kind, size = "NONE", 0.0
    if layout.expert > 1:
        kind = "ALLTOALL"
        size = 2 * tokens / layout.tensor * model.experts_per_token * model.hidden * ELEMENT
    elif layout.tensor > 1:
        kind, size = "ALLGATHER", 4 * tokens * model.hidden * ELEMENT
    gradients = "NONE", 0.0
    if step.accelerators > layout.of_replica and found.workload.task != "lora":
        shared = model.shared_parameters / (layout.tensor * layout.pipeline)
        routed = model.expert_parameters / (layout.expert * layout.pipeline)
        gradients = "ALLREDUCE", (shared + routed) / layers * software.gradient
    line = (
        f"-1 {third} {kind} {round(size)} {third} {kind} {round(size)} "
        f"{third} {gradients[0]} {round(gradients[1])} 0"
    )
    rows = [f"layer{number} {line}" for number in range(layers)]
    return "\n".join(["HYBRID_MODEL_DATA", str(layers), *rows]) + "\n"
