"""Accelerators that are known by their makers' peaks alone: speeds, range, and what stays unknown."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml

import workload_rows
from rackwright.plan.load import load_plan
from rackwright.plan.workload.library import known_accelerators
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.prediction import Prediction
from rackwright.plan.workload.speeds import (
    CAST,
    REACHED,
    ROOFLINE_SPREAD,
    Accelerator,
    Peaks,
    Precision,
)
from rackwright.plan.workload.step import step_time
from rackwright.policy.packs.loader import builtin_pack
from unit.plan.workload.test_prediction import JOB, SHORT

PEAKS = {
    "a100": (312, 0, 300),
    "h100": (989, 1979, 450),
    "h200": (989, 1979, 450),
    "b200": (2250, 4500, 900),
    "b300": (2250, 4500, 900),
    "gb200": (2500, 5000, 900),
    "gb300": (2500, 5000, 900),
}
"""NVIDIA's dense TFLOP/s in bf16 and fp8, and GB/s of NVLink in one direction, from its data sheets."""


def by_peaks(name: str) -> Accelerator:
    """Return a measured accelerator with the speeds that follow from its peaks."""
    bf16, fp8, link = PEAKS[name]
    products: dict[Precision, float] = {
        "bf16": bf16 * 1e12,
        "fp8": fp8 * 1e12,
        "mxfp8": fp8 * 1e12,
        "nvfp4": 2e12 * fp8,
    }
    peaks = Peaks.model_construct(
        products={k: v for k, v in products.items() if v}, link=link * 1e9
    )
    return known_accelerators()[name].model_copy(update={"peaks": peaks}).of_peaks()


def test_shares_of_peaks_are_the_means_of_measured_accelerators() -> None:
    known = {name: known_accelerators()[name] for name in PEAKS}
    found: dict[str, list[float]] = {"product": [], "attention": [], "link": []}
    casts = []
    for name, one in known.items():
        bf16, fp8, link = PEAKS[name]
        found["product"].append(one.gemms["bf16"].rate / 1e12 / bf16)
        if fp8:
            found["product"].append(one.gemms["fp8"].rate / 1e12 / fp8)
            casts.append(one.bandwidth / one.gemms["fp8"].left)
        found["attention"].append(one.attention / 1e12 / bf16)
        found["link"].append(one.link / 1e9 / link)
    for name, shares in found.items():
        assert statistics.fmean(shares) == pytest.approx(REACHED[name], abs=0.035), name
    assert statistics.fmean(casts) == pytest.approx(CAST, abs=1)


def test_measured_accelerators_by_their_peaks_lie_in_the_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [run for run in workload_rows.PUBLISHED if run.job.precision != "nvfp4"]
    rooflines = {name: by_peaks(name) for name in PEAKS}
    monkeypatch.setattr(workload_rows, "known_accelerators", lambda: rooflines)
    low, high = ROOFLINE_SPREAD
    assert [run.job for run in runs if not low <= 1 / run.ratio() <= high] == []


LINKS = Links(domain=8, link=300e9, delay=12e-6, rail=50e9)
SMALL = {**JOB, "model": "llama3.1-8b", "hosts": 1, "batch": "524288 tokens"}


def on(folder: Path, product: str, **changes: Any) -> Prediction:
    """Return the prediction of a job on one node of another product."""
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    document["sites"][0]["node_groups"][0]["type"] = product
    del document["sites"][0]["fabric"]  # the catalogue does not have the ports of all of them
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [{**SMALL, **changes}]}))
    (found,) = load_plan(path).plan.predictions
    return found


@pytest.mark.parametrize(
    ("product", "gres"), [("dell-xe9680-mi300x", "mi300x"), ("hpe-xd685-mi355x", "mi355x")]
)
def test_amd_is_predicted_by_its_peaks(tmp_path: Path, product: str, gres: str) -> None:
    found = on(tmp_path, product)
    assert known_accelerators()[gres].basis == "roofline"
    assert found.basis == "roofline", found.missing
    assert found.speed is not None
    assert found.speed.low / found.speed.value == pytest.approx(ROOFLINE_SPREAD[0])


def test_a_precision_without_a_peak_is_unknown(tmp_path: Path) -> None:
    found = on(tmp_path, "dell-xe9680-mi300x", precision="nvfp4")
    assert found.step is None
    assert found.missing == ("speeds of MI300X at nvfp4 (known: bf16, fp8)",)
    assert found.lacking[0][1] == ("workloads", 0, "precision")


def test_an_accelerator_without_peaks_is_unknown(tmp_path: Path) -> None:
    found = on(tmp_path, "dell-xe9680-gaudi3")
    assert found.step is None
    assert found.missing == ("measured or published speeds of Gaudi 3",)
    assert found.lacking[0][1] == ("workloads", 0, "group")


def test_trainium_2_on_aws_is_predicted_by_its_peaks(tmp_path: Path) -> None:
    document = yaml.safe_load((builtin_pack() / "fixtures/aws.yaml").read_text(encoding="utf-8"))
    document["sites"][0]["node_groups"][0]["type"] = "trn2.48xlarge"
    job = {**JOB, "model": "llama3.1-8b", "site": "use1", "group": "train"}
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [job]}))
    (found,) = load_plan(path).plan.predictions
    assert found.basis == "roofline", found.lacking
    assert found.placement is not None
    assert found.placement.accelerators == 16 * 16
    assert found.placement.links is not None
    assert found.placement.links.rail == 3200e9 / 8 / 16


def test_twice_the_peaks_are_never_slower() -> None:
    one = known_accelerators()["mi300x"]
    assert one.peaks is not None
    twice = {name: 2 * peak for name, peak in one.peaks.products.items()}
    better = one.model_copy(
        update={"peaks": one.peaks.model_copy(update={"products": twice})}
    ).of_peaks()
    (run,) = [one for one in workload_rows.PUBLISHED if one.system == "b200"]
    seconds = [
        step_time(run.job, run.layout, 8, accelerator, LINKS, run.software()).seconds
        for accelerator in (one, better)
    ]
    assert seconds[1] < seconds[0]
