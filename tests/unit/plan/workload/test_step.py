"""Step times: parts that add up, and what must never make a job slower."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.plan.workload.layout import ModelLayout, mistakes
from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.memory import MemoryNeed, memory_need
from rackwright.plan.workload.search import fastest, layouts, nearest
from rackwright.plan.workload.step import StepTime, TrainingJob, step_time
from rackwright.plan.workload.transformer import LanguageModel

SOFTWARE = next(iter(known_programs().values()))
H100 = known_accelerators()["h100"]
RAILS = Links(domain=8, link=H100.link, delay=H100.delay, rail=50e9, pod=256)
SCENES = [
    (
        TrainingJob(known_models()["llama3.1-405b"], 2048, 8192, "fp8"),
        ModelLayout(8, 16, 1, 4),
        2048,
    ),
    (
        TrainingJob(known_models()["llama3.1-70b"], 1024, 8192, "bf16"),
        ModelLayout(4, 4, 2, 5),
        1024,
    ),
    (
        TrainingJob(known_models()["deepseek-v3"], 4096, 4096, "fp8"),
        ModelLayout(2, 8, 1, 4, 64),
        1024,
    ),
    (
        TrainingJob(known_models()["qwen3-235b-a22b"], 4096, 4096, "fp8"),
        ModelLayout(2, 8, 1, 4, 32),
        512,
    ),
    (TrainingJob(known_models()["llama3.1-8b"], 512, 8192, "bf16"), ModelLayout(sharded=True), 64),
    (
        TrainingJob(known_models()["llama3.1-70b"], 64, 4096, "fp8", "lora"),
        ModelLayout(2, 4, 1, 20),
        16,
    ),
]


def step(scene: int, links: Links = RAILS) -> StepTime:
    job, layout, count = SCENES[scene]
    return step_time(job, layout, count, H100, links, SOFTWARE)


@pytest.mark.parametrize("scene", range(len(SCENES)))
def test_the_parts_add_up(scene: int) -> None:
    found = step(scene)
    assert math.fsum(found.by_part().values()) == pytest.approx(found.seconds)
    assert all(seconds >= 0 for seconds in found.by_part().values())
    assert found.tokens_per_second == pytest.approx(
        found.tokens / found.seconds / found.accelerators
    )


@given(
    st.integers(0, len(SCENES) - 1),
    st.sampled_from(["link", "rail"]),
    st.floats(1, 50),
)
def test_more_bandwidth_is_never_slower(scene: int, field: str, factor: float) -> None:
    faster = replace(RAILS, **{field: getattr(RAILS, field) * factor})
    assert step(scene, faster).seconds <= step(scene).seconds * (1 + 1e-12)


@given(st.integers(0, len(SCENES) - 1), st.floats(1, 16), st.floats(1, 16))
def test_more_oversubscription_is_never_faster(scene: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    at_low = step(scene, replace(RAILS, oversubscription=low)).seconds
    assert at_low <= step(scene, replace(RAILS, oversubscription=high)).seconds * (1 + 1e-12)


@given(st.integers(0, len(SCENES) - 1), st.floats(1, 4))
def test_an_accelerator_that_is_faster_in_everything_is_never_slower(
    scene: int, factor: float
) -> None:
    job, layout, count = SCENES[scene]
    better = H100.model_copy(
        update={
            "gemms": {
                precision: gemm.model_copy(
                    update={
                        name: number / factor if name == "fixed" else number * factor
                        for name, number in gemm
                    }
                )
                for precision, gemm in H100.gemms.items()
            },
            "attention": H100.attention * factor,
            "bandwidth": H100.bandwidth * factor,
        }
    )
    found = step_time(job, layout, count, better, RAILS, SOFTWARE)
    assert found.seconds <= step(scene).seconds * (1 + 1e-12)


@given(st.integers(0, len(SCENES) - 1), st.integers(0, 6))
def test_twice_the_hosts_train_more_tokens_but_not_more_than_twice(
    scene: int, doublings: int
) -> None:
    job, layout, count = SCENES[scene]
    roomy = H100.model_copy(
        update={"memory": 1e15}
    )  # else more replicas leave more room, and less is recomputed
    rates = []
    for times in (2**doublings, 2 ** (doublings + 1)):
        larger = replace(job, sequences=job.sequences * 128)
        found = step_time(larger, layout, count * times, roomy, RAILS, SOFTWARE)
        rates.append(found.tokens / found.seconds)
    assert rates[0] < rates[1] <= 2 * rates[0] * (1 + 1e-9)


def test_stages_wait_for_the_last_one_which_has_the_loss() -> None:
    """80 layers lie evenly on 8 stages; with 78 the first and the last stage have one less, and the loss in its place."""
    model = known_models()["llama3.1-70b"]
    layout = ModelLayout(pipeline=8, virtual=10)

    def found(layers: int, vocabulary: int) -> StepTime:
        shape = replace(model, layers=layers, dense_layers=layers, vocabulary=vocabulary)
        roomy = H100.model_copy(update={"memory": 1e15})
        job = TrainingJob(shape, 1024, 8192, "fp8")
        return step_time(job, layout, 64, roomy, RAILS, SOFTWARE)

    even, fewer = found(80, 128256), found(78, 128256)
    # what the loss takes on the last stage, less its share in the mean of eight
    products = even.output * 7
    assert even.bubble - found(80, 1).bubble == pytest.approx(products, rel=0.05)
    assert fewer.bubble < even.bubble - 0.5 * products
    # two layers less, and no stage waits for the loss
    assert fewer.seconds < even.seconds * 78 / 80


def test_a_job_over_domains_without_a_network_is_refused() -> None:
    job, layout, count = SCENES[1]
    with pytest.raises(ValueError, match="without a network"):
        step_time(job, layout, count, H100, replace(RAILS, rail=0.0), SOFTWARE)


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        (ModelLayout(tensor=3), "tp = 3 does not divide 128 heads"),
        (ModelLayout(tensor=8, pipeline=16, context=3), "does not divide 1,024 accelerators"),
        (ModelLayout(pipeline=256), "pp = 256 is more than 126 layers"),
        (ModelLayout(virtual=4), "vp = 4 needs a pipeline"),
        (ModelLayout(expert=8), "the model has no routed experts"),
        (ModelLayout(micro_batch=7), "are not whole micro-batches of 7"),
    ],
)
def test_a_layout_that_does_not_divide_is_told_so(layout: ModelLayout, told: str) -> None:
    model = known_models()["llama3.1-405b"]
    assert any(told in text for text in mistakes(model, layout, 1024, 2048))


@pytest.mark.parametrize("expert", [3, 512])
def test_experts_are_shared_evenly(expert: int) -> None:
    model = known_models()["deepseek-v3"]
    assert any(
        "does not divide 256 experts" in text
        for text in mistakes(model, ModelLayout(expert=expert), 1536, 1536)
    )


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8, 16]))
def test_more_sharing_never_takes_more_memory(tensor: int, pipeline: int) -> None:
    job, _, _ = SCENES[0]

    def states(layout: ModelLayout) -> float:
        return memory_need(
            job.model, layout, accelerators=2048, sequences=2048, sequence=8192, precision="bf16",
            frozen=False,
        ).states  # fmt: skip

    base = states(ModelLayout(tensor, pipeline))
    assert states(ModelLayout(tensor * 2, pipeline)) <= base
    assert states(ModelLayout(tensor, pipeline * 2)) <= base


def test_a_feed_forward_part_without_a_gate_keeps_no_output_of_one() -> None:
    """Models without a gate, like MPT and GPT-3, kept a third more there than they do, and were recomputed for it."""
    model = replace(known_models()["llama3.1-8b"], name="gated")

    def kept(gated: bool) -> float:
        return memory_need(
            replace(model, gated=gated), ModelLayout(), accelerators=8, sequences=8, sequence=4096,
            precision="bf16", frozen=False,
        ).activations  # fmt: skip

    gate = 2 * 4096 * model.feed_forward * model.layers
    assert kept(gated=True) - kept(gated=False) == pytest.approx(gate)


@pytest.mark.parametrize("scene", [0, 2, 4])
def test_the_layout_that_is_found_fits_and_is_the_fastest(scene: int) -> None:
    job, _, _ = SCENES[scene]
    best = fastest(job, 256, H100, RAILS, SOFTWARE)
    assert best is not None
    layout, found = best
    assert found.fits
    assert found.memory.total(found.repeated) <= H100.memory * (1 + 1e-9)
    assert not list(mistakes(job.model, layout, 256, job.sequences))
    times = (step_time(job, one, 256, H100, RAILS, SOFTWARE) for one in layouts(job, 256, RAILS))
    assert found.seconds == min(one.seconds for one in times if one.fits)


def test_the_search_works_memory_out_once_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    job, _, _ = SCENES[1]
    asked: list[ModelLayout] = []

    def counted(model: LanguageModel, layout: ModelLayout, **more: Any) -> MemoryNeed:
        asked.append(layout)
        return memory_need(model, layout, **more)

    monkeypatch.setattr("rackwright.plan.workload.step.memory_need", counted)
    assert fastest(job, 64, H100, RAILS, SOFTWARE) is not None
    assert asked == list(layouts(job, 64, RAILS))


def test_nearest_layouts_fit_and_change_least() -> None:
    job, _, _ = SCENES[1]
    asked = ModelLayout(tensor=3, pipeline=8)
    found = nearest(job, asked, 64, H100, RAILS, SOFTWARE)
    assert len(found) == 3
    assert found[0] == ModelLayout(tensor=4, pipeline=8)
    assert all(step_time(job, one, 64, H100, RAILS, SOFTWARE).fits for one in found)


def test_a_model_that_fits_nowhere_has_no_layout() -> None:
    job = TrainingJob(known_models()["kimi-k2"], 64, 4096, "bf16")
    assert fastest(job, 8, H100, RAILS, SOFTWARE) is None
