"""Errors of predicted step times on rows that the fit has not seen, beside a constant MFU.

    pytest -m bench -s tests/bench/test_workload_accuracy.py

Rows are held out by model and by system: the numbers of the training program are fitted to the
others, from what one would guess without any row, and the error is that of the rows left out. Documented errors of others
on public rows: Calculon 19.7 % (untuned, vTrain's rows), vTrain 14.7 % (its own).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.search import fastest
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.step import TrainingJob, step_time
from workload_rows import Run, megatron_runs, vtrain_runs

pytestmark = pytest.mark.bench

SCALARS = (
    "sustained", "traffic", "tensor", "tensor_wait", "hidden", "exchange", "exchange_far", "routed",
    "grouped", "recompute", "tuning", "unfused", "biases", "crossed", "reached", "grouped_fused",
    "cast_fused", "exchange_hidden", "permuted", "older",
)  # fmt: skip
TABLES = ("cast", "slower", "launch", "launch_expert", "launched", "launch_plain")
TIGHT = {
    "sustained": 0.1,
    "tuning": 0.1,
    "hidden": 0.3,
    "recompute": 0.3,
    "reached": 0.2,
    "slower.mxfp8": 0.1,
    "older": 0.05,
}
"""Standard deviations of the logarithm of a number around its prior, where it is not 0.5."""
GUESSES = {
    "sustained": 1.05, "traffic": 1.0, "tensor": 0.5, "tensor_wait": 20e-6, "hidden": 0.5, "exchange": 0.5,
    "exchange_far": 1.0, "routed": 8.0, "grouped": 0.3, "recompute": 1.0, "tuning": 1.0, "reached": 0.8,
    "cast.fp8": 1.0, "cast.mxfp8": 3.0, "cast.nvfp4": 3.0, "slower.mxfp8": 1.0, "launch.x86": 8e-3, "launch.grace": 5e-3,
    "launch_expert.x86": 1e-4, "launch_expert.grace": 6e-5, "launched.router": 0.8, "launched.attention": 0.6,
    "launched.all": 0.1, "exchange_hidden": 0.3, "biases": 70, "crossed": 1.3, "grouped_fused": 0.15, "cast_fused": 0.5,
    "permuted": 16, "older": 1.03,
}  # fmt: skip
"""Priors of the fit, from bytes and kernels that were counted.

Those of recipes (from `launch_expert` on) were guessed when residuals of all rows had been looked at. The traffic of biases
is 72 bytes: 28 forward and 44 backward, of a product, a sum, a concatenation and casts between fp32 and bf16.
"""
WEIGHT = 0.15
"""Of the prior against a row, in deviations of the logarithm."""


def scaled(program: Software, logs: Mapping[str, float]) -> Software:
    """Return the program with its numbers times the exponentials of ``logs``."""
    changes: dict[str, Any] = {
        name: getattr(program, name) * math.exp(logs.get(name, 0.0)) for name in SCALARS
    }
    for name in TABLES:
        table = getattr(program, name)
        changes[name] = {
            key: value * math.exp(logs.get(f"{name}.{key}", 0.0)) for key, value in table.items()
        }
    return replace(program, **changes)


def fit(runs: Sequence[Run]) -> Mapping[str, float]:
    """Return the logarithms by which the numbers move: a robust Gauss-Newton descent from none."""
    names = [
        *SCALARS,
        *(f"cast.{key}" for key in ("fp8", "mxfp8", "nvfp4")),
        "slower.mxfp8",
        *(f"launch.{key}" for key in ("x86", "grace")),
        *(f"launch_expert.{key}" for key in ("x86", "grace")),
        *(f"launched.{key}" for key in ("router", "attention", "all")),
        "launch_plain.x86",
    ]
    priors = {name: _guess(runs[0].program, name) for name in names}
    logs = dict(priors)

    touched = {name: set(range(len(runs))) for name in names}  # rows that a number changes

    def rows(at: Mapping[str, float], which: Iterable[int]) -> dict[int, float]:
        programs = {
            name: scaled(known_programs()[name], at) for name in {run.program for run in runs}
        }
        return {row: math.log(runs[row].ratio(programs[runs[row].program])) for row in which}

    for _ in range(8):
        now = rows(logs, range(len(runs)))
        columns = []
        for name in names:
            moved = rows({**logs, name: logs[name] + 1e-3}, touched[name])
            touched[name] = {row for row in moved if moved[row] != now[row]}
            slopes = [(moved[row] - now[row]) / 1e-3 if row in moved else 0.0 for row in now]
            prior = WEIGHT / TIGHT.get(name, 0.5)
            columns.append([*slopes, *(prior if name == other else 0.0 for other in names)])
        residuals = [
            *now.values(),
            *((logs[name] - priors[name]) / TIGHT.get(name, 0.5) * WEIGHT for name in names),
        ]
        weights = [1 / math.sqrt(1 + (one / 0.1) ** 2) for one in residuals]
        steps = _solve(columns, residuals, weights)
        for name, change in zip(names, steps, strict=True):
            logs[name] -= max(-0.5, min(0.5, change))
        if max(map(abs, steps)) < 1e-3:
            break
    return logs


def _guess(program: str, name: str) -> float:
    """Return the logarithm of the guessed over the fitted number; 0 where nothing was guessed."""
    if name not in GUESSES or not program.startswith("megatron-core"):
        return 0.0
    newest = known_programs()["megatron-core-26.06"]
    scalar, _, key = name.partition(".")
    value = getattr(newest, scalar)
    return math.log(GUESSES[name] / (value[key] if key else value))


def _solve(
    columns: Sequence[Sequence[float]], now: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """Return the weighted least-squares step, by elimination of the normal equations."""
    size = len(columns)
    matrix = [
        [
            *(
                math.fsum(w * a * b for w, a, b in zip(weights, one, two, strict=True))
                for two in columns
            ),
            math.fsum(w * a * r for w, a, r in zip(weights, one, now, strict=True)),
        ]
        for one in columns
    ]
    for index in range(size):
        matrix[index][index] += 1e-9
    for index in range(size):
        pivot = max(range(index, size), key=lambda row: abs(matrix[row][index]))
        matrix[index], matrix[pivot] = matrix[pivot], matrix[index]
        for row in range(size):
            if row != index and matrix[row][index]:
                factor = matrix[row][index] / matrix[index][index]
                matrix[row] = [
                    a - factor * b for a, b in zip(matrix[row], matrix[index], strict=True)
                ]
    return [matrix[index][size] / matrix[index][index] for index in range(size)]


def held_out(runs: Sequence[Run], key: Callable[[Run], str]) -> list[tuple[Run, float]]:
    """Return each run with its measured over predicted speed, fitted without all of its key."""
    found = []
    for value in sorted({key(run) for run in runs}):
        logs = fit([run for run in runs if key(run) != value])
        found += [
            (run, 1 / run.ratio(scaled(known_programs()[run.program], logs)))
            for run in runs
            if key(run) == value
        ]
    return found


def constant_mfu(runs: Sequence[Run], key: Callable[[Run], str]) -> list[float]:
    """Return the errors of the median TFLOP/s of other rows of the same system and precision."""

    def flops(run: Run) -> float:
        return run.rate * run.job.model.flops_per_token(run.job.sequence)

    errors = []
    for run in runs:
        like = [
            flops(other)
            for other in runs
            if key(other) != key(run) and other.system == run.system
            and other.job.precision == run.job.precision
        ]  # fmt: skip
        like = like or [flops(other) for other in runs if key(other) != key(run)]
        errors.append(abs(flops(run) / statistics.median(like) - 1))
    return errors


def told(name: str, errors: Sequence[float]) -> None:
    """Print mean, median and ninetieth percentile of errors."""
    ordered = sorted(errors)
    print(
        f"{name:<44} n {len(ordered):4}  mean {statistics.fmean(ordered):6.1%}  "
        f"median {statistics.median(ordered):6.1%}  p90 {ordered[int(0.9 * len(ordered))]:6.1%}"
    )


def test_errors_on_rows_that_the_fit_has_not_seen() -> None:
    runs = megatron_runs()
    if not runs:
        pytest.skip("the measured rows lie beside the checkout of the maintainers alone")
    for by, key in (
        ("model", lambda run: run.job.model.name),
        ("system", lambda run: run.system),
    ):
        found = held_out(runs, key)
        for kind in ("dense", "experts"):
            some = [(run, ratio) for run, ratio in found if run.kind == kind]
            told(f"Megatron-Bridge, {kind}, held out by {by}", [abs(r - 1) for _, r in some])
            inside = [
                known_programs()[run.program].spread[kind][0]
                <= ratio
                <= known_programs()[run.program].spread[kind][1]
                for run, ratio in some
            ]
            print(f"{'':<44} the stated range holds {sum(inside) / len(inside):.0%}")
            told(
                f"  constant MFU, {kind}",
                constant_mfu([run for run in runs if run.kind == kind], key),
            )
    multi = vtrain_runs("vtrain_multi.csv")
    told(
        "vTrain, several nodes, held out by model",
        [abs(r - 1) for _, r in held_out(multi, lambda run: run.job.model.name)],
    )
    single = vtrain_runs("vtrain_single.csv")
    logs = fit(single[::8])
    rest = [run for index, run in enumerate(single) if index % 8]
    program = scaled(known_programs()["megatron-deepspeed-2022"], logs)
    told(
        "vTrain, one node, seven of eight rows unseen",
        [abs(1 / r.ratio(program) - 1) for r in rest],
    )


def test_numbers_of_all_rows() -> None:
    runs = megatron_runs()
    if not runs:
        pytest.skip("the measured rows lie beside the checkout of the maintainers alone")
    program = scaled(known_programs()["megatron-core-26.06"], fit(runs))
    for name in (*SCALARS, *TABLES):
        print(name, getattr(program, name))


def test_a_million_accelerators() -> None:
    h100 = known_accelerators()["h100"]
    links = Links(
        domain=8, link=h100.link, delay=h100.delay, rail=50e9, pod=256, oversubscription=2
    )
    job = TrainingJob(known_models()["llama3.1-405b"], 1 << 16, 8192, "fp8")
    software = next(iter(known_programs().values()))
    began = time.process_time()
    step = step_time(job, ModelLayout(8, 16, 1, 4), 1 << 20, h100, links, software)
    print(f"1,048,576 H100: {step.seconds:.2f} s a step, {step.flops / 1e12:.0f} TFLOP/s each")
    print(f"one layout took {time.process_time() - began:.4f} s of processor time")
    began = time.process_time()
    found = fastest(job, 1 << 20, h100, links, software)
    assert found is not None
    print(f"the fastest of all: {found[0]}, {found[1].seconds:.2f} s")
    print(f"all layouts took {time.process_time() - began:.2f} s of processor time")
