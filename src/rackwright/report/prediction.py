"""Prediction of workloads as text and as JSON, schema ``rackwright.prediction/v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rackwright.harmless import json_text
from rackwright.model.quantities import format_quantity
from rackwright.plan.base import Path
from rackwright.plan.workload.changes import Improvement, changes
from rackwright.plan.workload.economy import Economy
from rackwright.plan.workload.prediction import Prediction
from rackwright.plan.workload.run import Bounds
from rackwright.report.wording import printable

SCHEMA = "rackwright.prediction/v1"
BASES = {
    "measured": "measured operators of the accelerator",
    "roofline": "the maker's peaks; no operator of the accelerator was measured",
}
"""Bases of a prediction for people."""
WIDTH = 30
"""Columns of the longest bar."""


def render_text(
    blueprint: str,
    found: Sequence[Prediction],
    economies: Sequence[Economy | None],
    flat: Mapping[str, float],
    place: Callable[[Path], str],
    name_of: Callable[[Path], str],
) -> str:
    """Return each workload with its tokens a day, its step as bars, and what would lift it.

    Args:
        blueprint: name of the blueprint.
        found: predictions.
        economies: energy and money of each.
        flat: dollars that a site costs more in a year without oversubscription.
        place: position and name of a field of a workload.
        name_of: name of a field of the full form, as the blueprint is written.
    """
    lines = []
    for one, spent in zip(found, economies, strict=True):
        lines += [
            headline(one),
            *(_lines(one, spent, flat, name_of) if one.step else _lacking(one, place)),
            "",
        ]
    return f"{printable(blueprint)}\n\n" + "\n".join(lines).rstrip() + "\n"


def render_json(
    blueprint: str,
    found: Sequence[Prediction],
    economies: Sequence[Economy | None],
    flat: Mapping[str, float],
    _place: Callable[[Path], str],
    name_of: Callable[[Path], str],
) -> str:
    """Return the same for programs; times in seconds, memory in bytes."""
    return json_text(
        {
            "schema": SCHEMA,
            "blueprint": blueprint,
            "workloads": [
                _document(one, spent, flat, name_of)
                for one, spent in zip(found, economies, strict=True)
            ],
        }
    )


def amount(value: float) -> str:
    """Return a number of tokens with a fitting prefix: ``1.23 T``."""
    for scale, prefix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.3g} {prefix}"
    return f"{value:.3g}"


def gain_text(one: Prediction, change: Improvement) -> str:
    """Return the tokens that a change of a workload brings: ``+1.2%``."""
    bound = "at least " if one.effective == 0 else ""
    return f"{bound}+{change.gain:.1%}"


def headline(one: Prediction) -> str:
    """Return a workload with its model and its place."""
    workload = one.workload
    what = f"{printable(workload.model)}, {workload.precision}, on {_where(one)}"
    return f"{printable(workload.name)}: {what}"


def facts(one: Prediction, spent: Economy | None) -> Iterator[tuple[str, str]]:
    """Yield what is known of a workload that has a step, each with its name."""
    workload, step = one.workload, one.step
    if step is None or one.a_day is None:
        return
    kept = "" if one.effective is None else f", {one.effective:.1%} of the time effective"
    yield "tokens a day", f"{_between(one.a_day)}{kept}"
    if one.days is not None and workload.tokens is not None:
        days = one.days
        told = f"{days.value:,.1f} days ({days.low:,.1f} to {days.high:,.1f})"
        yield "the whole run", f"{told} for {amount(workload.tokens)} tokens"
    if spent is not None and spent.dollars is not None:
        low, high = spent.dollars.low, spent.dollars.high
        yield "per T tokens", f"{spent.dollars.value:,.0f} USD ({low:,.0f} to {high:,.0f})"
    if spent is not None and spent.kwh is not None:
        low, high = spent.kwh.low / 1e3, spent.kwh.high / 1e3
        yield "per T tokens", f"{spent.kwh.value / 1e3:,.0f} MWh ({low:,.0f} to {high:,.0f})"
    if spent is not None and spent.carbon is not None:
        low, high = spent.carbon.low / 1e3, spent.carbon.high / 1e3
        yield (
            "per T tokens",
            f"{spent.carbon.value / 1e3:,.0f} t of CO2 ({low:,.0f} to {high:,.0f})",
        )
    each = step.tokens_per_second
    yield "each", f"{each:,.0f} tokens/s, {step.flops / 1e12:,.0f} TFLOP/s of the model"
    yield "layout", f"{one.layout}{'' if workload.given_layout else ' (found)'}"
    yield "memory", _memory(one)
    yield "basis", BASES[one.basis or "measured"]
    for cause, share in one.lost.by_cause().items() if one.lost else ():
        yield "lost", f"{share:.1%} to {cause}"
    writing = one.lost.writing if one.lost else None
    if one.lost is not None and writing is not None and writing.background:
        late = writing.background > one.lost.interval
        told = ", longer than 'checkpoint_interval', for which the job waits" if late else ""
        copying, written = (
            format_quantity(each, "s") for each in (writing.blocking, writing.background)
        )
        yield "checkpoints", f"{copying} of copying, {written} of writing in the background{told}"
    if one.reads is not None and one.reads.rate and one.reads.system:
        demand, rate = (
            format_quantity((value or 0.0) / 1e6, "MB/s")
            for value in (one.reads.demand(one.wanted), one.reads.rate)
        )
        yield "reads", f"{demand} of {rate} from '{printable(one.reads.system.system)}'"
    if one.slowed is not None:
        low, high = 1 - one.slowed.high, 1 - one.slowed.low
        yield "lost", f"{1 - one.slowed.value:.1%} to the power cap ({low:.1%} to {high:.1%})"
    if one.collisions >= 0.001:
        yield "lost", f"up to {one.collisions:.1%} where flows take the same links (in the range)"
    if one.lost is not None and one.lost.repairs is None:
        yield "not counted", "waiting for hosts: 'reliability.repair_time' is not set"
    if one.reads is not None and one.reads.missing:
        needed, lacks = one.reads.demand(one.wanted), ", ".join(one.reads.missing)
        told = "" if needed is None else f" at {format_quantity(needed / 1e6, 'MB/s')}"
        yield "not counted", f"reading of training data{told}: unknown without {printable(lacks)}"
    for text in writing.missing if writing else ():
        lacks = printable(text)
        yield "not counted", f"writing of checkpoints in the background: unknown without {lacks}"
    for text in (*one.missing, *(spent.missing if spent else ())):
        yield "not counted", printable(text)


def _lacking(one: Prediction, place: Callable[[Path], str]) -> Iterator[str]:
    """Yield why there is no prediction, with the place of the field that would change it."""
    word = "unknown" if one.problem is None else "no prediction"
    for text, path in one.lacking:
        yield f"  {word}: {printable(text)}"
        yield f"    change: {printable(place(path))}"


def _lines(
    one: Prediction,
    spent: Economy | None,
    flat: Mapping[str, float],
    name_of: Callable[[Path], str],
) -> Iterator[str]:
    step = one.step
    if step is None:
        return
    for name, text in facts(one, spent):
        yield f"  {name:<14} {text}"
    yield f"  {'step':<14} {step.seconds:,.2f} s"
    longest = max(step.by_part().values())
    for name, seconds in step.by_part().items():
        share = seconds / step.seconds
        if share >= 0.005:
            yield f"    {name:<17} {share:6.1%}  {'█' * max(1, round(WIDTH * seconds / longest))}"
    for change in changes(one, flat):
        money = "" if change.dollars is None else f", {change.dollars:+,.0f} USD/year"
        gain = gain_text(one, change)
        told = f"{gain} tokens{money}: {printable(name_of(change.path))}, {change.what}"
        yield f"  {'would bring':<14} {told}"


def _where(one: Prediction) -> str:
    workload, placement = one.workload, one.placement
    place = printable(f"{workload.site}/{workload.group}")
    if placement is None:
        return place
    return f"{placement.accelerators:,} × {placement.board.model} of {place}"


def _between(value: Bounds) -> str:
    return f"{amount(value.value)} ({amount(value.low)} to {amount(value.high)})"


def _memory(one: Prediction) -> str:
    step = one.step
    if step is None:
        return ""
    need = step.memory
    total = need.total(step.repeated) / 1e9
    again = ""
    if step.repeated.layers:
        again = f", {step.repeated.layers:.0%} of the layers recomputed"
    elif step.repeated.passes:
        again = f", {step.repeated.passes:.0%} of norms and activation functions recomputed"
    return f"{total:,.0f} GB an accelerator ({need.states / 1e9:,.0f} of states){again}"


def _document(
    one: Prediction,
    spent: Economy | None,
    flat: Mapping[str, float],
    name_of: Callable[[Path], str],
) -> dict[str, Any]:
    step, layout = one.step, one.layout
    document: dict[str, Any] = {
        "name": one.workload.name,
        "model": one.workload.model,
        "site": one.workload.site,
        "group": one.workload.group,
        "accelerators": None if one.placement is None else one.placement.accelerators,
        "problem": one.problem,
        "missing": list(one.missing),
        "field": one.field if one.lacking else None,
        "tokens_a_day": _range(one.a_day),
        "tokens_per_second": _range(one.speed),
        "days": _range(one.days),
        "effective": one.effective,
        "basis": one.basis,
        "slowed_by_power_cap": _range(one.slowed),
        "lost_to_collisions": one.collisions,
        "lost": one.lost.by_cause() if one.lost else None,
        "reads": _reads(one),
        "dollars_per_trillion": _range(spent.dollars if spent else None),
        "kwh_per_trillion": _range(spent.kwh if spent else None),
        "carbon_kg_per_trillion": _range(spent.carbon if spent else None),
    }
    if step is not None and layout is not None:
        document["layout"] = {
            "tensor": layout.tensor,
            "pipeline": layout.pipeline,
            "context": layout.context,
            "virtual": layout.virtual,
            "expert": layout.expert,
            "micro_batch": layout.micro_batch,
            "sharded": layout.sharded,
        }
        document["step"] = {
            "seconds": step.seconds,
            "parts": dict(step.by_part()),
            "memory": step.memory.total(step.repeated),
            "recomputed": step.repeated.layers,
            "flops": step.flops,
        }
        document["changes"] = [
            {
                "field": name_of(c.path),
                "what": c.what,
                "gain": c.gain,
                "dollars_per_year": c.dollars,
            }
            for c in changes(one, flat)
        ]
    return document


def _reads(one: Prediction) -> dict[str, Any] | None:
    """Return the reading of training data, in B/s; ``demand`` is that of steps which do not wait."""
    if one.reads is None or one.step is None:
        return None
    return {
        "demand": one.reads.demand(one.wanted),
        "rate": one.reads.rate,
        "missing": list(one.reads.missing),
    }


def _range(value: Bounds | None) -> dict[str, float] | None:
    return None if value is None else {"low": value.low, "value": value.value, "high": value.high}
