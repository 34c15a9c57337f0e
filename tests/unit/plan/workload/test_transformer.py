"""Parameters and operations of transformers."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.plan.workload.library import known_models
from rackwright.plan.workload.transformer import UnknownShapeError, read_config

LLAMA: dict[str, Any] = {
    "hidden_act": "silu", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "billions", "active"),
    [
        ("llama3.1-8b", 8.03, 7.5),
        ("llama3.1-70b", 70.6, 69.5),
        ("llama3.1-405b", 405.9, 403.8),
        ("qwen3-235b-a22b", 235.1, 21.6),  # 22.2 with the input embedding
        ("qwen3-30b-a3b", 30.5, 3.04),
        ("gpt-oss-120b", 116.8, 5.13),
        ("mixtral-8x7b", 46.7, 12.7),
        ("mixtral-8x22b", 140.6, 39.0),
        ("kimi-k2", 1026.0, 31.7),
        ("gpt3-175b", 174.6, 174.6),
    ],
)
def test_parameters_are_those_that_the_makers_publish(
    name: str, billions: float, active: float
) -> None:
    model = known_models()[name]
    assert model.parameters / 1e9 == pytest.approx(billions, rel=0.005)
    assert model.active_parameters / 1e9 == pytest.approx(active, rel=0.01)


def test_deepseek_v3_has_671_billion_parameters_and_a_layer_that_predicts_ahead() -> None:
    model = known_models()["deepseek-v3"]
    one = (model.parameters - model.embedding_parameters) / 1e9
    ahead = model.experts * 3 * model.hidden * model.expert_feed_forward / 1e9
    assert one + model.embedding_parameters / 1e9 - ahead == pytest.approx(671, rel=0.005)


@pytest.mark.parametrize(
    ("name", "sequence", "teraflops"),
    [  # of NVIDIA's tables: TFLOP/s over tokens/s of one accelerator
        ("llama3.1-405b", 8192, 822e12 / 326),
        ("llama3.1-70b", 8192, 2202e12 / 4864),
        ("llama3.1-8b", 8192, 1576e12 / 30624),
        ("deepseek-v3", 4096, 1276e12 / 4912),
        ("qwen3-235b-a22b", 4096, 1306e12 / 8816),
        ("gpt-oss-120b", 4096, 1077e12 / 33024),
    ],
)
def test_operations_are_those_that_nvidia_counts(
    name: str, sequence: int, teraflops: float
) -> None:
    assert known_models()[name].flops_per_token(sequence) == pytest.approx(teraflops, rel=0.03)


def test_a_window_as_long_as_the_sequence_is_none() -> None:
    model = read_config("m", {**LLAMA, "sliding_window": 4096, "use_sliding_window": True})
    assert model.span(4096) == 2048
    assert model.span(8192) == 4096 * (1 - 4096 / 16384)


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size"]
)
@pytest.mark.parametrize("value", [None, 0, -1, "4096", True, 1.5])
def test_a_config_without_a_size_is_refused_by_its_name(key: str, value: object) -> None:
    with pytest.raises(UnknownShapeError, match=f"'m' has no whole number above 0 as '{key}'"):
        read_config("m", {**LLAMA, key: value})


@pytest.mark.parametrize(
    "strange",
    [{"layer_types": ["full_attention", "mamba"]}, {"hybrid_override_pattern": "M-M*"}],
)
def test_layers_that_are_not_counted_are_refused(strange: dict[str, Any]) -> None:
    with pytest.raises(UnknownShapeError, match="not counted"):
        read_config("m", {**LLAMA, **strange})
