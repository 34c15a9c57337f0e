"""Errors of predicted step times on rows that the fit has not seen, beside a constant MFU.

    pytest tests/e2e/test_workload_accuracy.py

Rows are held out by model and by system: the numbers of the training program are fitted to the
others, from what one would guess without any row, and the error is that of the rows left out. ``UPDATE_GOLDEN=1`` writes
the tables of ``docs/workloads.md``.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.search import fastest
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.step import TrainingJob
from workload_rows import Run, foundry_runs, megatron_runs, vtrain_runs

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

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
    "megatron-core-26.06": {
        "sustained": 1.05, "traffic": 1.0, "tensor": 0.5, "tensor_wait": 20e-6, "hidden": 0.5, "exchange": 0.5,
        "exchange_far": 1.0, "routed": 8.0, "grouped": 0.3, "recompute": 1.0, "tuning": 1.0, "reached": 0.8,
        "cast.fp8": 1.0, "cast.mxfp8": 3.0, "cast.nvfp4": 3.0, "slower.mxfp8": 1.0, "launch.x86": 8e-3, "launch.grace": 5e-3,
        "launch_expert.x86": 1e-4, "launch_expert.grace": 6e-5, "launched.router": 0.8, "launched.attention": 0.6,
        "launched.all": 0.1, "exchange_hidden": 0.3, "biases": 70, "crossed": 1.3, "grouped_fused": 0.15, "cast_fused": 0.5,
        "permuted": 16, "older": 1.03,
    },
    "megatron-deepspeed-2022": {
        "sustained": 1.05, "traffic": 1.0, "tensor": 1.0, "tensor_wait": 20e-6, "hidden": 0.05, "recompute": 1.0,
        "unfused": 24, "launch_plain.x86": 5e-3, "reached": 0.8,
    },
    "llm-foundry-2024": {
        "sustained": 1.05, "traffic": 1.0, "cast.fp8": 1.0, "attention": 1.0, "recompute": 1.0, "gather": 0.5,
        "launch_plain.x86": 5e-3, "reached": 0.8,
    },
}  # fmt: skip
"""Numbers of each program that are fitted, with their priors from bytes and kernels that were counted.

Those of recipes (from `launch_expert` on) were guessed when residuals of all rows had been looked at. The traffic of biases
is 72 bytes: 28 forward and 44 backward, of a product, a sum, a concatenation and casts between fp32 and bf16. Megatron of
2022 reduced gradients after the backward pass, so that next to nothing of it is hidden, and nothing of tensor parallelism.
"""
WEIGHT = 0.15
"""Of the prior against a row, in deviations of the logarithm."""


def scaled(program: Software, logs: Mapping[str, float]) -> Software:
    """Return the program with its numbers times the exponentials of ``logs``."""
    changes: dict[str, Any] = {}
    for name, log in logs.items():
        scalar, _, key = name.partition(".")
        value = changes.get(scalar, getattr(program, scalar))
        changes[scalar] = (
            {**value, key: value[key] * math.exp(log)} if key else value * math.exp(log)
        )
    return replace(program, **changes)


def fit(runs: Sequence[Run]) -> Mapping[str, float]:
    """Return the logarithms by which the numbers move: a robust Gauss-Newton descent from none."""
    guesses = GUESSES[runs[0].program]
    names = list(guesses)
    priors = {name: _guess(runs[0].program, name, value) for name, value in guesses.items()}
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


def _guess(program: str, name: str, guess: float) -> float:
    """Return the logarithm of the guessed over the fitted number."""
    scalar, _, key = name.partition(".")
    value = getattr(known_programs()[program], scalar)
    return math.log(guess / (value[key] if key else value))


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


def held_out(
    runs: Sequence[Run], key: Callable[[Run], str], every: int = 1
) -> list[tuple[Run, float]]:
    """Return each run with its measured over predicted speed, fitted to ``every`` n-th run without its key."""
    found = []
    for value in sorted({key(run) for run in runs}):
        logs = fit([run for run in runs if key(run) != value][::every])
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


@dataclass(frozen=True)
class Unseen:
    """A measured run that the fit had not seen.

    Attributes:
        ratio: measured over predicted speed.
        constant: error of a constant MFU, with its sign lost.
    """

    run: Run
    ratio: float
    constant: float

    @property
    def error(self) -> float:
        """Return the relative error of the step time."""
        return abs(self.ratio - 1)

    @property
    def inside(self) -> bool:
        """True if the stated range holds the measured speed."""
        low, high = known_programs()[self.run.program].spread[self.run.kind]
        return low <= self.ratio <= high


def unseen(
    runs: Sequence[Run], key: Callable[[Run], str], among: Callable[[Run], str], every: int = 1
) -> list[Unseen]:
    """Return each run as predicted without its key; a constant MFU is that of runs of the same ``among``."""
    constant: dict[int, float] = {}
    for kind in sorted({among(run) for run in runs}):
        same = [run for run in runs if among(run) == kind]
        constant |= dict(zip(map(id, same), constant_mfu(same, key), strict=True))
    return [Unseen(run, ratio, constant[id(run)]) for run, ratio in held_out(runs, key, every)]


def ninetieth(values: Iterable[float]) -> float:
    """Return the ninetieth percentile."""
    ordered = sorted(values)
    return ordered[int(0.9 * len(ordered))]


def line(first: Sequence[str], rows: Sequence[Unseen], last: Sequence[str] = ()) -> str:
    """Return the row of a table: number, mean, median and ninetieth percentile of errors, range, memory, baselines."""
    errors = [row.error for row in rows]
    shares = [
        f"{statistics.fmean(errors):.1%}",
        f"{statistics.median(errors):.1%}",
        f"{ninetieth(errors):.1%}",
        f"{sum(row.inside for row in rows) / len(rows):.0%}",
        f"{sum(row.run.fits() for row in rows) / len(rows):.0%}",
        f"{statistics.fmean(row.constant for row in rows):.1%}",
    ]
    cells = [*first, str(len(rows)), *(one.replace("%", " %") for one in shares), *last]
    return "| " + " | ".join(cells) + " |"


DOCUMENT = Path(__file__).parents[2] / "docs/workloads.md"
COLUMNS = (
    "n | Mean error | Median | 90th percentile | Stated range holds | Fits | Constant MFU, mean"
)
WHOLE = f"| Rows | Held out by | {COLUMNS} | Others, as documented |"
PARTS = f"| Rows | Held out by | Of | {COLUMNS} |"
DOCUMENTED = {
    "vTrain, several nodes": "Calculon 15.4 to 19.7 % (untuned, by its network), vTrain 14.7 % (its own)",
    "vTrain, one node": "vTrain 8.4 % (its own)",
}
"""Mean errors of others that were published on such rows, or found by a run of them."""
AIMS = {
    "Megatron-Bridge, dense": (0.08, 0.15),
    "Megatron-Bridge, experts": (0.08, 0.15),
    "vTrain, several nodes": (0.12, 1.0),
    "vTrain, one node": (0.10, 1.0),
    "llm-foundry, FSDP": (0.10, 1.0),
}
"""Largest mean error and ninetieth percentile that are wanted of each kind of rows."""


def all_rows() -> dict[tuple[str, str], list[Unseen]]:
    """Return the predictions of all measured rows, by kind of rows and by what was held out."""
    found: dict[tuple[str, str], list[Unseen]] = {}
    runs = megatron_runs()
    for by, key in KEYS.items():
        for row in unseen(runs, key, lambda run: run.kind):
            found.setdefault((f"Megatron-Bridge, {row.run.kind}", by), []).append(row)
        found["llm-foundry, FSDP", by] = unseen(foundry_runs(), key, lambda run: run.program)
    multi = vtrain_runs("vtrain_multi.csv")
    found["vTrain, several nodes", "model"] = unseen(multi, KEYS["model"], lambda run: run.system)
    single = vtrain_runs("vtrain_single.csv")
    found["vTrain, one node", "model"] = unseen(
        single, KEYS["model"], lambda run: run.system, every=8
    )
    return found


KEYS: dict[str, Callable[[Run], str]] = {
    "model": lambda run: run.job.model.name,
    "system": lambda run: run.generation,
}
"""Property of a run by which rows are held out."""


def tables(found: Mapping[tuple[str, str], Sequence[Unseen]]) -> tuple[str, str]:
    """Return the table of all kinds of rows, and that of each model and system which were held out."""
    whole = [WHOLE, "|" + "---|" * 10]
    parts = [PARTS, "|" + "---|" * 10]
    for (name, by), rows in sorted(found.items()):
        whole.append(line((name, by), rows, (DOCUMENTED.get(name, "–"),)))
        key = KEYS[by]
        values = sorted({key(row.run) for row in rows})
        if len(values) <= MOST_PARTS:
            for value in values:
                some = [row for row in rows if key(row.run) == value]
                parts.append(line((name, by, value), some))
    return "\n".join(whole), "\n".join(parts)


MOST_PARTS = 12
"""Models or systems up to which a table names each."""


def test_errors_on_rows_that_the_fit_has_not_seen(capsys: pytest.CaptureFixture[str]) -> None:
    if not megatron_runs():
        pytest.skip("the measured rows lie beside the checkout of the maintainers alone")
    found = all_rows()
    written = tables(found)
    with capsys.disabled():
        print("", *written, sep="\n\n")
    text = DOCUMENT.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        for heading, table in zip((WHOLE, PARTS), written, strict=True):
            before, _, after = text.partition(heading)
            text = f"{before}{table}\n\n{after.partition(chr(10) * 2)[2]}"
        DOCUMENT.write_text(text, encoding="utf-8")
    for (name, by), rows in found.items():
        mean, most = AIMS[name]
        assert statistics.fmean(row.error for row in rows) <= mean, (name, by)
        assert ninetieth(row.error for row in rows) <= most, (name, by)
        assert sum(row.inside for row in rows) >= 0.8 * len(rows), (name, by)
        assert sum(row.run.fits() for row in rows) >= 0.95 * len(rows), (name, by)
    assert all(table in text for table in written)


def test_numbers_of_all_rows() -> None:
    """Print what ``inventory/workloads/software.yaml`` has; a second is 10⁶ µs and 10³ ms there."""
    runs = megatron_runs(), foundry_runs(), vtrain_runs("vtrain_multi.csv")
    for rows in filter(None, runs):
        program = known_programs()[rows[0].program]
        fitted = scaled(program, fit(rows))
        print(program.name)
        for name in dict.fromkeys(one.partition(".")[0] for one in GUESSES[program.name]):
            print(f"  {name}: {getattr(fitted, name)}")


ONE_MILLION_S, SEARCH_S = 1.0, 2.0
"""Most seconds of processor time of a prediction for 1,048,576 accelerators, and of a search for 16,384."""


@pytest.mark.parametrize(("accelerators", "limit"), [(1 << 20, ONE_MILLION_S), (1 << 14, SEARCH_S)])
def test_the_fastest_layout_is_found_in_time(accelerators: int, limit: float) -> None:
    h100 = known_accelerators()["h100"]
    links = Links(
        domain=8, link=h100.link, delay=h100.delay, rail=50e9, pod=256, oversubscription=2
    )
    job = TrainingJob(known_models()["llama3.1-405b"], accelerators // 16, 8192, "fp8")
    software = next(iter(known_programs().values()))
    began = time.process_time()
    found = fastest(job, accelerators, h100, links, software)
    took = time.process_time() - began
    assert found is not None
    layout, step = found
    print(
        f"{accelerators:,} H100: {layout}, {step.seconds:.2f} s a step, {step.flops / 1e12:.0f} TFLOP/s each, found in {took:.2f} s of processor time"
    )
    assert took < limit
