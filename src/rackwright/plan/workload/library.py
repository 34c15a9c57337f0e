"""Models, accelerators and training programs that are known: ``inventory/workloads``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.hardware import Accelerators, fact_value
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.speeds import Accelerator, TableSource
from rackwright.plan.workload.transformer import LanguageModel, read_config
from rackwright.reading.loader import load
from rackwright.resources import bundled


class AcceleratorFile(Model):
    """Accelerators by their type in Slurm's GRES; versions of a type have its name, a hyphen and a word."""

    source: TableSource
    """Source of the measured ones."""
    accelerators: dict[str, Accelerator]
    """Entries by type."""


class ModelFile(Model):
    """Models by name, each with keys of its config.json."""

    source: TableSource
    """Source of the sizes."""
    models: dict[str, dict[str, Any]]
    """Sizes by name."""


class ProgramEntry(Model):
    """A training program; ``Software`` describes the numbers."""

    title: str
    """Name for people."""
    based_on: str | None = None
    """Program whose numbers hold where this entry has none."""
    source: TableSource | None = None
    """Source of the rows that it was fitted to."""
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
    return {
        name: entry.model_copy(update={"name": name}).of_peaks()
        for name, entry in file.accelerators.items()
    }


def accelerator_of(board: Accelerators) -> Accelerator | None:
    """Return the accelerator of a product; None where its speeds are not known.

    Versions of one type differ in memory, like A100 of 40 and of 80 GB, which are both ``a100`` to Slurm. The one that comes
    nearest is taken, with no more memory than the product has.
    """
    known, memory = known_accelerators(), fact_value(board.memory)
    if board.gres not in known or memory is None:
        return known.get(board.gres)
    size = memory * 2**30  # stated in GiB
    versions = [one for name, one in known.items() if name.partition("-")[0] == board.gres]
    found = min(versions, key=lambda one: abs(one.memory - size))
    return found if found.memory <= size * (1 + 1e-9) else found.model_copy(update={"memory": size})


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
