"""Inputs of ASTRA-sim 2 and SimAI for a predicted workload: network, system, workloads for Chakra's converter and as AICB's.

The formats are those of ASTRA-sim's analytical backend (``inputs/`` of github.com/astra-sim/astra-sim) and of the text form that
``chakra_converter Text`` makes execution traces of. What is simulated is one step of one pipeline stage: its layers once, with
the work of all micro-batches in them. Bubble, optimizer and stragglers are not in it. SimAI's workload has the format that AICB
(github.com/aliyun/aicb) writes: a record for each part of a layer and micro-batch, times in ns, bytes of whole collectives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from rackwright.plan.workload.layer import ELEMENT
from rackwright.plan.workload.library import accelerator_of
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
        "simai.txt": _simai(found),
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
    accelerator = accelerator_of(found.placement.board)
    assert accelerator is not None  # noqa: S101 - else there is no prediction
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
    model, batches = job_of(found.workload).model, _batches(found)
    layers, third = _layers(found), round(_third(found) * 1e6)
    tokens = _tokens(found) * batches
    kind, size = "NONE", 0.0
    if layout.expert > 1:
        kind = "ALLTOALL"
        size = 2 * tokens / layout.tensor * model.experts_per_token * model.hidden * ELEMENT
    elif layout.tensor > 1:
        kind, size = "ALLGATHER", 4 * tokens * model.hidden * ELEMENT
    parameters = _replicated(found)
    gradients = parameters / layers * software_of(found.workload).gradient
    reduced = "ALLREDUCE" if parameters else "NONE"
    line = (
        f"-1 {third} {kind} {round(size)} {third} {kind} {round(size)} "
        f"{third} {reduced} {round(gradients)} 0"
    )
    rows = [f"layer{number} {line}" for number in range(layers)]
    return "\n".join(["HYBRID_MODEL_DATA", str(layers), *rows]) + "\n"


def _simai(found: Prediction) -> str:
    step, layout = found.step, found.layout
    assert step is not None  # noqa: S101 - the caller has looked
    assert layout is not None  # noqa: S101
    workload = found.workload
    model, software = job_of(workload).model, software_of(workload)
    batches, volume = round(_batches(found)), _tokens(found) * model.hidden * ELEMENT
    time = round(_third(found) / batches / 4 * 1e9)  # a layer has four records
    into = out = routed = ("NONE", 0, "NONE", 0)
    if layout.tensor > 1:
        into = ("ALLGATHER", round(volume), "REDUCESCATTER", round(volume))
        out = ("REDUCESCATTER", round(volume), "ALLGATHER", round(volume))
    if layout.expert > 1:
        size = round(volume * model.experts_per_token / layout.tensor)
        routed = ("ALLTOALL_EP", size, "ALLTOALL_EP", size)
    feed = [("mlp_moelayer", routed)] * 2
    if not model.experts:
        feed = [("mlp_column", into), ("mlp_row", out)]
    layer = [
        f"{name}\t-1\t{time}\t{one[0]}\t{one[1]}\t{time}\t{one[2]}\t{one[3]}\t{time}\tNONE\t0\t100"
        for name, one in (("attention_column", into), ("attention_row", out), *feed)
    ]
    parameters = _replicated(found)
    once = [
        f"{name}\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\t{kind}\t{round(width * parameters)}\t100"
        for name, kind, width in (
            ("grad_gather", "ALLGATHER", software.weight.get(workload.precision, ELEMENT)),
            ("grad_param_comm", "REDUCESCATTER", software.gradient),
        )
        if parameters
    ]
    records = once + layer * _layers(found) * batches
    between = round(volume / layout.tensor) if layout.pipeline > 1 else 0
    head = (
        f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {layout.tensor} ep: {layout.expert} "
        f"pp: {layout.pipeline} vpp: {_layers(found)} ga: {batches} all_gpus: {step.accelerators} "
        f"checkpoints: 0 checkpoint_initiates: 0 pp_comm: {between}"
    )
    return "\n".join([head, str(len(records)), *records]) + "\n"


def _layers(found: Prediction) -> int:
    """Return the layers of a stage."""
    assert found.layout is not None  # noqa: S101 - the callers have looked
    model = job_of(found.workload).model
    return max(1, round((model.layers + model.predicted) / found.layout.pipeline))


def _batches(found: Prediction) -> float:
    """Return the micro-batches of a step."""
    assert found.layout is not None  # noqa: S101 - the callers have looked
    assert found.step is not None  # noqa: S101
    return found.layout.micro_batches(found.step.accelerators, job_of(found.workload).sequences)


def _tokens(found: Prediction) -> float:
    """Return the tokens of a micro-batch that the accelerators of one layer share."""
    assert found.layout is not None  # noqa: S101 - the callers have looked
    return found.layout.micro_batch * found.workload.sequence / found.layout.context


def _third(found: Prediction) -> float:
    """Return a third of a layer's work in a step, in s: forward, gradients of inputs, gradients of weights."""
    assert found.step is not None  # noqa: S101 - the callers have looked
    parts = found.step.parts
    busy = parts.products + parts.attention + parts.memory + parts.recompute + parts.host
    return busy / _layers(found) / 3


def _replicated(found: Prediction) -> float:
    """Return the parameters of an accelerator whose gradients it shares with others; 0 without others."""
    step, layout = found.step, found.layout
    assert step is not None  # noqa: S101 - the callers have looked
    assert layout is not None  # noqa: S101
    if step.accelerators <= layout.of_replica or found.workload.task == "lora":
        return 0.0
    model = job_of(found.workload).model
    shared = model.shared_parameters / (layout.tensor * layout.pipeline)
    return shared + model.expert_parameters / (layout.expert * layout.pipeline)
