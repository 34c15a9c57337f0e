"""The shape of a transformer: parameters and operations, counted from its sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SHORT_TOKENS = 65_500
"""Vocabulary from which on a stored token takes 4 bytes instead of 2."""


class UnknownShapeError(ValueError):
    """A ``config.json`` that describes no transformer of a kind that can be counted."""


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): ranks and widths, in elements.

    Attributes:
        query_rank: width that queries are compressed to.
        cache_rank: width that keys and values are compressed to.
        plain: width of a head's key that carries no position.
        rotary: width of a head's key that carries the position.
        value: width of a head's value.
    """

    query_rank: int
    cache_rank: int
    plain: int
    rotary: int
    value: int


@dataclass(frozen=True, slots=True)
class Gemm:
    """A product of matrices, ``rows`` × ``inner`` by ``inner`` × ``columns``."""

    rows: float
    columns: float
    inner: float


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A decoder-only transformer, or one that denoises images or videos.

    Attributes:
        name: of the model.
        layers: all of them, without those that only predict further tokens.
        hidden: width of the residual stream, in elements.
        heads: query heads of a layer.
        kv_heads: key and value heads of a layer.
        head_dim: width of a head, in elements.
        feed_forward: width of a dense layer's feed-forward part, in elements.
        vocabulary: tokens that it knows.
        gated: the feed-forward part has a gate, so three matrices instead of two.
        tied: input and output embeddings are one matrix.
        dense_layers: leading layers without experts; all of them in a dense model.
        experts: routed experts of a layer; 0 in a dense model.
        experts_per_token: routed experts that each token visits.
        expert_feed_forward: width of one routed expert, in elements.
        shared_feed_forward: width of what each token visits besides, in elements.
        groups_per_token: most groups of experts that a token may visit; 0 without a limit.
        window: tokens that a layer with a sliding window looks back; 0 without one.
        windowed: share of layers with the sliding window.
        biased: the products of the experts have biases, which no kernel fuses.
        latent: sizes of latent attention; None for grouped queries.
        predicted: further layers that predict tokens ahead, counted as layers of the last kind.
        denoises: its tokens are patches that all attend to each other, and to a text by a second attention of each layer.
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocabulary: int
    gated: bool = True
    tied: bool = False
    dense_layers: int = 0
    experts: int = 0
    experts_per_token: int = 0
    expert_feed_forward: int = 0
    shared_feed_forward: int = 0
    groups_per_token: int = 0
    window: int = 0
    windowed: float = 0.0
    biased: bool = False
    latent: LatentAttention | None = None
    predicted: int = 0
    denoises: bool = False

    @property
    def stored_token(self) -> float | None:
        """Bytes of a token of text as stored by the indexed datasets of Megatron-Core; None for images and videos."""
        return None if self.denoises else 2.0 if self.vocabulary < SHORT_TOKENS else 4.0

    @property
    def kind(self) -> str:
        """Return ``images``, ``experts`` or ``dense``, by which ranges of predictions are told."""
        return "images" if self.denoises else "experts" if self.experts else "dense"

    @property
    def matrices(self) -> int:
        """Return the matrices of a feed-forward part: 3 with a gate, else 2."""
        return 3 if self.gated else 2

    @property
    def expert_layers(self) -> int:
        """Return the layers with routed experts, those that predict ahead included."""
        return self.layers - self.dense_layers + self.predicted if self.experts else 0

    @property
    def plain_layers(self) -> int:
        """Return the layers without routed experts, those that predict ahead included."""
        return self.dense_layers if self.experts else self.layers + self.predicted

    @property
    def attention_width(self) -> float:
        """Return the mean width of a head's two products, score and value, in elements."""
        if self.latent is None:
            return self.head_dim
        return (self.latent.plain + self.latent.rotary + self.latent.value) / 2

    @property
    def embedding_parameters(self) -> int:
        """Return the parameters of the embeddings."""
        return self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def attention_parameters(self) -> float:
        """Return the parameters of one layer's attention."""
        return sum(one.columns * one.inner for one in self.attention_gemms(1))

    @property
    def expert_parameters(self) -> float:
        """Return the parameters of all routed experts of all layers."""
        one = self.matrices * self.hidden * self.expert_feed_forward
        return float(self.expert_layers * self.experts * one)

    @property
    def shared_parameters(self) -> float:
        """Return the parameters that each token passes: all but the routed experts."""
        layers = self.plain_layers + self.expert_layers
        dense = self.plain_layers * self.matrices * self.hidden * self.feed_forward
        shared = (
            self.expert_layers
            * self.hidden
            * (self.matrices * self.shared_feed_forward + self.experts)
        )
        return layers * self.attention_parameters + dense + shared + self.embedding_parameters

    @property
    def parameters(self) -> float:
        """Return all parameters, those of norms and biases left out (less than 0.1 %)."""
        return self.shared_parameters + self.expert_parameters

    @property
    def active_parameters(self) -> float:
        """Return the parameters that one token is multiplied by, the output embedding included."""
        routed = (
            self.expert_parameters * self.experts_per_token / self.experts if self.experts else 0.0
        )
        return self.shared_parameters + routed - (0 if self.tied else self.vocabulary * self.hidden)

    def attention_gemms(self, tokens: float, parts: int = 1) -> Iterator[Gemm]:
        """Yield the products of one layer's attention, over the first and last of which it is split.

        Args:
            tokens: of one micro-batch on one accelerator.
            parts: accelerators that share a layer (tensor parallel).
        """
        heads = self.heads / parts
        if self.latent is None:
            width = heads * self.head_dim
            keys = max(self.kv_heads / parts, 1) * self.head_dim
            yield Gemm(tokens, width + 2 * keys, self.hidden)
            yield Gemm(tokens, self.hidden, width)
            if self.denoises:  # query and output of the attention to the text, whose keys are few
                yield Gemm(tokens, width, self.hidden)
                yield Gemm(tokens, self.hidden, width)
            return
        latent = self.latent
        yield Gemm(tokens, latent.query_rank, self.hidden)
        yield Gemm(tokens, latent.cache_rank + latent.rotary, self.hidden)
        yield from self.up_projections(tokens, parts)
        yield Gemm(tokens, self.hidden, heads * latent.value)

    def up_projections(self, tokens: float, parts: int = 1) -> Iterator[Gemm]:
        """Yield the products of latent attention that make queries, keys and values of the latents."""
        if (latent := self.latent) is not None:
            heads = self.heads / parts
            yield Gemm(tokens, heads * (latent.plain + latent.rotary), latent.query_rank)
            yield Gemm(tokens, heads * (latent.plain + latent.value), latent.cache_rank)

    def feed_forward_gemms(self, tokens: float, width: float) -> Iterator[Gemm]:
        """Yield the products of a feed-forward part of ``width`` elements for ``tokens``."""
        yield Gemm(tokens, width * (self.matrices - 1), self.hidden)
        yield Gemm(tokens, self.hidden, width)

    def span(self, sequence: int) -> float:
        """Return the tokens that a token attends to on average: half of the sequence, all of it, or a window."""
        full = float(sequence) if self.denoises else sequence / 2
        if not self.window or self.window >= sequence:
            return full
        near = self.window * (1 - self.window / (2 * sequence))
        return self.windowed * near + (1 - self.windowed) * full

    def flops_per_token(self, sequence: int) -> float:
        """Return the operations of training on one token: forward, and twice that backward.

        6·N of the active parameters and 12 for each element of scores and values of the causal half,
        as Megatron counts them; recomputation is not counted.
        """
        layers = self.plain_layers + self.expert_layers
        scores = 12 * layers * self.heads * self.attention_width * self.span(sequence)
        return 6 * self.active_parameters + scores


def read_config(name: str, config: Mapping[str, Any]) -> LanguageModel:
    """Read a ``config.json`` as Hugging Face's Transformers writes it, or Diffusers that of Wan.

    Raises:
        UnknownShapeError: a size is missing, or its layers are of a kind that is not counted.
    """
    if config.get("_class_name") == "WanTransformer3DModel":
        return _denoising(name, config)
    kinds = set(config.get("layer_types") or ()) | set(config.get("layers_block_type") or ())
    counted = {"full_attention", "sliding_attention", "attention"}
    strange = sorted(kinds - counted)
    if strange or "ssm_cfg" in config or "hybrid_override_pattern" in config:
        what = ", ".join(strange) or "state-space layers"
        raise UnknownShapeError(f"'{name}' has layers that are not counted: {what}")
    layers, hidden = _size(name, config, "num_hidden_layers"), _size(name, config, "hidden_size")
    heads = _size(name, config, "num_attention_heads")
    experts = (
        config.get("n_routed_experts")
        or config.get("num_experts")
        or config.get("num_local_experts")
        or 0
    )
    width = config.get("moe_intermediate_size") or config.get("intermediate_size") or 0
    types = config.get("layer_types") or ()
    windowed = float(config.get("windowed") or bool(config.get("use_sliding_window")))
    if types:
        windowed = types.count("sliding_attention") / len(types)
    latent = None
    if config.get("kv_lora_rank"):
        latent = LatentAttention(
            _size(name, config, "q_lora_rank"),
            _size(name, config, "kv_lora_rank"),
            _size(name, config, "qk_nope_head_dim"),
            _size(name, config, "qk_rope_head_dim"),
            _size(name, config, "v_head_dim"),
        )
    return LanguageModel(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_dim=config.get("head_dim") or hidden // heads,
        feed_forward=_size(name, config, "intermediate_size"),
        vocabulary=_size(name, config, "vocab_size"),
        gated=config.get("hidden_act") in ("silu", "swiglu", "swish", "gelu_pytorch_tanh"),
        tied=bool(config.get("tie_word_embeddings")),
        dense_layers=(config.get("first_k_dense_replace") or 0) if experts else layers,
        experts=experts,
        experts_per_token=config.get("num_experts_per_tok") or 0,
        expert_feed_forward=width if experts else 0,
        shared_feed_forward=(config.get("n_shared_experts") or 0) * width
        or config.get("shared_expert_intermediate_size")
        or 0,
        groups_per_token=config.get("topk_group") or 0 if (config.get("n_group") or 1) > 1 else 0,
        window=config.get("sliding_window") or 0 if windowed else 0,
        windowed=windowed,
        biased=bool(experts and config.get("attention_bias")),
        latent=latent,
        predicted=config.get("num_nextn_predict_layers") or 0,
    )


def _denoising(name: str, config: Mapping[str, Any]) -> LanguageModel:
    """Return a model of videos; its patches are embedded by, and projected to, a matrix of few columns."""
    layers, heads = (_size(name, config, key) for key in ("num_layers", "num_attention_heads"))
    width = _size(name, config, "attention_head_dim")
    patch = math.prod(config.get("patch_size") or (1,)) * _size(name, config, "in_channels")
    return LanguageModel(
        name, layers, heads * width, heads, heads, width, _size(name, config, "ffn_dim"), patch,
        gated=False, dense_layers=layers, denoises=True,
    )  # fmt: skip


def _size(name: str, config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise UnknownShapeError(
            f"'{name}' has no whole number above 0 as '{key}' in its config.json"
        )
    return value
