"""Training jobs that a cluster is built for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import KEY, STATEMENT, Setting
from rackwright.model.names import Name
from rackwright.model.units import Gibibytes, Tokens, TokensPerDay

Degree = Annotated[int, Field(ge=1, le=65536)]
"""Accelerators that share something."""


class WorkloadLayout(Model):
    """Spread of a model over accelerators."""

    tensor: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of accelerators that share each layer (tensor parallel)."""
    pipeline: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of stages, each with a part of the layers (pipeline parallel)."""
    context: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of accelerators that share each sequence (context parallel)."""
    virtual: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of parts of its layers that a stage takes in turn (virtual pipeline)."""
    expert: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of accelerators that share the routed experts (expert parallel)."""
    micro_batch: Annotated[Degree, Setting(looser="either", absent="elsewhere")] = 1
    """Number of sequences that a replica works on at a time."""
    sharded: Annotated[bool, Setting(looser="either", absent="elsewhere")] = False
    """True if parameters are gathered when they are used (FSDP)."""


class TrainingDataset(Model):
    """Training data of a workload."""

    sample_size: Annotated[
        Annotated[Gibibytes, Field(gt=0)] | None, Setting(looser="lower", absent="elsewhere")
    ] = None
    """Mean size of one sample, in GiB: what storage holds for one sequence of the workload, like an image or a video.
    2 or 4 bytes per token of text if omitted; unknown for images and videos."""
    file_system: Annotated[Name | None, Setting(looser="either", absent="elsewhere")] = None
    """File system of the site that samples are read from. The only one of the site if omitted."""


class TrainingWorkload(Model):
    """A training job, and what it is expected to get."""

    name: Annotated[Name, KEY]
    """Name of the workload."""
    model: Annotated[
        str, Field(min_length=1, max_length=200), Setting(looser="either", absent="elsewhere")
    ]
    """Name of the model: a built-in one, like ``llama3.1-405b``, or any with ``config``."""
    config: Annotated[dict[str, Any] | None, Setting(looser="either", absent="elsewhere")] = None
    """Keys of the model's config.json, for a model that is not built in."""
    site: Annotated[Name, Setting(looser="either", absent="elsewhere")]
    """Site of the hosts that it runs on."""
    group: Annotated[Name, Setting(looser="either", absent="elsewhere")]
    """Node group of the hosts that it runs on."""
    hosts: Annotated[int | None, Field(gt=0), Setting(looser="lower", absent="elsewhere")] = None
    """Number of hosts of the job. All of the group if omitted."""
    task: Annotated[
        Literal["pre-training", "sft", "lora"], Setting(looser="either", absent="elsewhere")
    ] = "pre-training"
    """Kind of training."""
    precision: Annotated[
        Literal["bf16", "fp8", "mxfp8", "nvfp4"], Setting(looser="either", absent="elsewhere")
    ] = "bf16"
    """Precision of the products of matrices."""
    sequence: Annotated[
        int, Field(ge=1, le=16_777_216), Setting(looser="either", absent="elsewhere")
    ]
    """Length of a sequence, in tokens."""
    batch: Annotated[Annotated[Tokens, Field(gt=0)], Setting(looser="either", absent="elsewhere")]
    """Size of the batch of one step over all replicas, in tokens."""
    tokens: Annotated[Annotated[Tokens, Field(gt=0)] | None, Setting(looser="lower")] = None
    """Number of tokens of the whole run."""
    layout: Annotated[
        WorkloadLayout | Literal["auto"] | None, Setting(looser="either", absent="elsewhere")
    ] = None
    """Parallelism of the model over the accelerators. The fastest layout that fits if omitted or ``auto``."""
    software: Annotated[
        str | None, Field(max_length=100), Setting(looser="either", absent="elsewhere")
    ] = None
    """Training program by the name that the documents list. The newest Megatron-Core if omitted."""
    job: Annotated[Name | None, Setting(looser="either", absent="elsewhere")] = None
    """Job of ``reliability.jobs`` with its checkpoints and restarts; failures are unknown if omitted."""
    dataset: Annotated[TrainingDataset | None, STATEMENT] = None
    """Training data as it is stored. Tokens of text on the only file system of the site if omitted."""
    target: Annotated[
        Annotated[TokensPerDay, Field(gt=0)] | None, Setting(looser="lower", absent="loose")
    ] = None
    """Lowest rate of the training that is enough, in tokens/day, failures included."""

    @model_validator(mode="after")
    def _batch_is_of_sequences(self) -> TrainingWorkload:
        if self.batch < self.sequence:
            raise ValueError(
                f"the batch of {self.batch:,.0f} tokens is less than one sequence of {self.sequence:,}; "
                f"write {self.sequence:,} tokens or more"
            )
        return self

    @property
    def given_layout(self) -> WorkloadLayout | None:
        """Return the stated layout; None where the fastest one is to be found."""
        return None if self.layout == "auto" else self.layout

    @property
    def sequences(self) -> int:
        """Return the sequences of a step."""
        return max(1, round(self.batch / self.sequence))
