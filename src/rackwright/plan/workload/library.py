"""Models, accelerators and training programs that are known: ``inventory/workloads``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import Field

from rackwright.model.base import Model
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.speeds import Accelerator, Basis, GemmSpeed, Host, Precision
from rackwright.plan.workload.transformer import LanguageModel, read_config
from rackwright.reading.loader import load
from rackwright.resources import bundled


class TableSource(Model):
    """Source of the numbers of a table."""

    title: str
    """Title of the source."""
    date: dt.date
    """Day on which it was read."""
    confidence: str
    """How far it is to be trusted."""


class GemmEntry(Model):
    """Speed of products at one precision."""

    fixed: float
    """Time of the smallest product, in µs."""
    rate: float
    """Rate of large products, in TFLOP/s."""
    product: float | None = None
    """Elements of the result, in 10¹² a second."""
    left: float | None = None
    """Elements of the activations, in 10¹² a second."""
    right: float | None = None
    """Elements of the weights, in 10¹² a second."""


class AcceleratorEntry(Model):
    """Speeds of one accelerator."""

    gemms: dict[Precision, GemmEntry]
    """Products by precision."""
    attention: float
    """Rate of fused attention forward, in TFLOP/s."""
    memory: float
    """Memory, in GB."""
    bandwidth: float
    """Bandwidth of the memory, in TB/s."""
    link: float
    """Bus bandwidth of an all-gather inside a node, in GB/s."""
    delay: float
    """Time of the smallest collective inside a node, in µs."""
    host: Host = "x86"
    """Kind of the processor beside it."""
    basis: Basis = "measured"
    """Measured operators, or the maker's peaks."""
    source: TableSource | None = None
    """TableSource, where it is another than the file's."""


class AcceleratorFile(Model):
    """Accelerators by their type in Slurm's GRES."""

    source: TableSource
    """TableSource of the measured ones."""
    accelerators: dict[str, AcceleratorEntry]
    """Entries by type."""


class ModelFile(Model):
    """Models by name, each with keys of its config.json."""

    source: TableSource
    """TableSource of the sizes."""
    models: dict[str, dict[str, Any]]
    """Sizes by name."""


class ProgramEntry(Model):
    """A training program; ``Software`` describes the numbers."""

    title: str
    """Name for people."""
    based_on: str | None = None
    """Program whose numbers hold where this entry has none."""
    source: TableSource | None = None
    """TableSource of the rows that it was fitted to."""
    spread: dict[str, tuple[float, float]] | None = None
    """Measured over predicted speed of unseen rows, by kind of model: tenth and ninetieth percentile."""
    numbers: dict[str, Any] = Field(default_factory=dict)
    """Numbers by name."""


class ProgramFile(Model):
    """Training programs by name."""

    default: str
    """Name of the program that is meant where none is named."""
    programs: dict[str, ProgramEntry]
    """Entries by name."""


@lru_cache(maxsize=1)
def known_accelerators() -> Mapping[str, Accelerator]:
    """Return the accelerators by type, in SI units."""
    file = load(_path("accelerators"), AcceleratorFile).value
    return {name: _accelerator(name, entry) for name, entry in file.accelerators.items()}


@lru_cache(maxsize=1)
def known_models() -> Mapping[str, LanguageModel]:
    """Return the models by name."""
    file = load(_path("models"), ModelFile).value
    return {name: read_config(name, config) for name, config in file.models.items()}


@lru_cache(maxsize=1)
def known_programs() -> Mapping[str, Software]:
    """Return the training programs by name, the default first."""
    file = load(_path("software"), ProgramFile).value
    names = [file.default, *(name for name in file.programs if name != file.default)]
    return {name: _program(file, name) for name in names}


def _path(name: str) -> Any:
    return bundled("inventory") / "workloads" / f"{name}.yaml"


def _accelerator(name: str, entry: AcceleratorEntry) -> Accelerator:
    endless = float("inf")
    return Accelerator(
        name=name,
        gemms={
            precision: GemmSpeed(
                one.fixed * 1e-6,
                one.rate * 1e12,
                *(
                    endless if part is None else part * 1e12
                    for part in (one.product, one.left, one.right)
                ),
            )
            for precision, one in entry.gemms.items()
        },
        attention=entry.attention * 1e12,
        memory=entry.memory * 1e9,
        bandwidth=entry.bandwidth * 1e12,
        link=entry.link * 1e9,
        delay=entry.delay * 1e-6,
        basis=entry.basis,
        host=entry.host,
    )


_SCALES = {
    "tensor_wait": 1e-6,
    "launch_expert": 1e-3,
    "launch": 1e-3,
    "offload": 1e9,
    "launch_plain": 1e-3,
}


def _program(file: ProgramFile, name: str) -> Software:
    entry = file.programs[name]
    numbers: dict[str, Any] = {}
    spread: dict[str, tuple[float, float]] = {}
    chain = [entry]
    while chain[-1].based_on is not None:
        chain.append(file.programs[chain[-1].based_on])
    for one in reversed(chain):
        numbers |= one.numbers
        spread |= one.spread or {}
    scaled = {key: _scaled(value, _SCALES.get(key)) for key, value in numbers.items()}
    return Software(name=name, spread=spread, **scaled)


def _scaled(value: Any, scale: float | None) -> Any:
    if scale is None:
        return value
    if isinstance(value, dict):
        return {key: one * scale for key, one in value.items()}
    return value * scale
