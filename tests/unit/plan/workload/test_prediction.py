"""Predictions from a blueprint: what is known, what is missing, what is wrong."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.diff.yields import compare_yields
from rackwright.errors import RackwrightError
from rackwright.plan.load import load_plan
from rackwright.plan.workload.economy import economy
from rackwright.plan.workload.prediction import Prediction, predictions
from rackwright.policy.packs.loader import builtin_pack

SHORT = Path(__file__).parents[1] / "derivation/short/dgx-h200.yaml"
JOB: dict[str, Any] = {
    "name": "pretrain", "model": "llama3.1-70b", "site": "sjc1", "group": "dgx", "precision": "fp8",
    "sequence": 8192, "batch": "4.194304 M tokens", "tokens": "1 T tokens",
}  # fmt: skip
RELIABILITY: dict[str, Any] = {
    "node_failures_per_1000_days": 6.5,
    "jobs": [
        {
            "name": "big",
            "parts": [{"site": "sjc1", "group": "dgx", "hosts": 64}],
            "restart": "10 min",
            "checkpoint_interval": "60 min",
            "checkpoint_stall": "30 s",
        }
    ],
}


def predict(folder: Path, *jobs: dict[str, Any], **more: Any) -> list[Prediction]:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, **more, "workloads": list(jobs)}))
    return list(predictions(load_plan(path).plan))


def test_a_job_is_laid_out_over_the_hosts_of_its_group(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, JOB)
    assert found.placement is not None
    assert found.placement.accelerators == 512
    assert found.placement.links is not None
    assert found.placement.links.rail == 50e9
    assert found.step is not None
    assert found.step.fits
    assert found.effective is None
    assert found.missing == ("'job', one of 'reliability.jobs' with its checkpoints",)


def test_failures_and_checkpoints_take_their_share(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, {**JOB, "job": "big"}, reliability=RELIABILITY)
    (free,) = predict(tmp_path, JOB)
    lived = 86400 / (64 * 6.5e-3)
    first_order = (1 - (600 + 1800) / lived) / (1 + 30 / 3600)
    assert found.effective == pytest.approx(first_order, abs=1e-4)
    assert found.effective == pytest.approx(
        3600 / lived * math.exp(-600 / lived) / math.expm1(3630 / lived)
    )
    assert found.missing == ()
    assert found.a_day is not None
    assert free.a_day is not None
    assert found.effective is not None
    assert found.a_day.value == pytest.approx(free.a_day.value * found.effective)
    assert found.days is not None
    assert found.days.low < found.days.value < found.days.high


def test_a_rate_that_nobody_states_is_missing(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, {**JOB, "job": "big"}, reliability={"jobs": RELIABILITY["jobs"]})
    assert found.effective is None
    assert any("node_failures_per_1000_days" in text for text in found.missing)


@pytest.mark.parametrize("targets", [128, 64])
def test_checkpoints_stall_as_long_as_storage_takes_to_write_them(
    tmp_path: Path, targets: int
) -> None:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    (big,) = RELIABILITY["jobs"]
    free = {key: value for key, value in big.items() if key != "checkpoint_stall"}
    document["sites"][0]["file_systems"] = [
        {
            "name": "scratch",
            "kind": "lustre",
            "mount": "/scratch",
            "networks": [{"name": "o2ib"}],
            "management": {"servers": "dgx"},
            "metadata": {"servers": "dgx"},
            "objects": {
                "servers": "dgx",
                "count": targets,
                "target_write": "5000 MB/s",
                "server_write": "500000 MB/s",
            },
            "workload": {"checkpoint": {"size": "1 GiB"}},
        }
    ]
    path = tmp_path / "blueprint.yaml"
    jobs = [{**JOB, "job": "big"}]
    more = {"reliability": {**RELIABILITY, "jobs": [free]}, "workloads": jobs}
    path.write_text(yaml.safe_dump({**document, **more}))
    (found,) = load_plan(path).plan.predictions
    stall = 14 * 70.55e9 / (targets * 5e9)
    lost = 64 * 6.5e-3 * (600 + 1800) / 86400
    assert found.effective == pytest.approx((1 - lost) / (1 + stall / 3600), rel=1e-4)


def test_a_batch_that_no_layout_divides_is_told_with_the_nearest_that_one_does(
    tmp_path: Path,
) -> None:
    """It is no matter of memory, which was blamed."""
    (found,) = predict(tmp_path, {**JOB, "hosts": 30, "batch": "4 M tokens"})
    assert found.problem is not None
    assert "no layout divides the 488 sequences of a step among 240 accelerators" in found.problem
    nearest = [int(one) for one in found.problem.rpartition(": ")[2].split(" or ")]
    assert nearest == [480, 495]
    for sequences in nearest:
        batch = f"{sequences * 8192} tokens"
        (other,) = predict(tmp_path, {**JOB, "hosts": 30, "batch": batch})
        assert other.problem is None


def test_the_order_of_groups_changes_nothing(tmp_path: Path) -> None:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    (group,) = document["sites"][0]["node_groups"]
    groups = [{**group, "count": 32}, {**group, "name": "other", "count": 32}]
    found = []
    for order in (groups, groups[::-1]):
        document["sites"][0]["node_groups"] = order
        path = tmp_path / "blueprint.yaml"
        path.write_text(yaml.safe_dump({**document, "workloads": [JOB]}))
        (one,) = load_plan(path).plan.predictions
        found.append((one.a_day, one.layout, one.placement))
    assert found[0] == found[1]


def test_units_of_the_batch_change_nothing(tmp_path: Path) -> None:
    (millions,) = predict(tmp_path, JOB)
    (plain,) = predict(tmp_path, {**JOB, "batch": "4194304 tokens"})
    assert millions.a_day == plain.a_day


def test_a_layout_that_does_not_divide_is_told(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, {**JOB, "layout": {"tensor": 3}})
    assert found.step is None
    assert found.problem is not None
    assert "tp = 3 does not divide 64 heads" in found.problem
    assert "; nearest that fit: tp 4, " in found.problem


def test_a_layout_that_does_not_fit_is_told_with_one_that_does(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, {**JOB, "model": "llama3.1-405b", "layout": {"tensor": 1}})
    assert found.problem is not None
    assert "of 141 GB with everything recomputed: states" in found.problem
    assert found.problem.count(" | ") == 2
    assert found.lacking == ((found.problem, ("workloads", 0, "layout")),)


def test_a_precision_without_measurements_is_unknown(tmp_path: Path) -> None:
    (found,) = predict(tmp_path, {**JOB, "precision": "nvfp4"})
    assert (found.step, found.problem) == (None, None)
    assert found.missing == ("speeds of H200 SXM at nvfp4 (known: bf16, fp8, mxfp8)",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "llama3.1-450b"}, "there is no model 'llama3.1-450b'"),
        ({"group": "dxg"}, "there is no node group 'dxg' in 'sjc1'"),
        ({"site": "sjc2"}, "there is no site 'sjc2'"),
        ({"hosts": 65}, "'dgx' has 64 hosts; the workload takes 65"),
        ({"software": "megatron"}, "there is no software 'megatron'"),
        ({"job": "none"}, "there is no job 'none'"),
        ({"tokens": "15"}, "has no unit"),
        ({"batch": "100 tokens"}, "less than one sequence of 8,192"),
        ({"precision": "fp9"}, "fp9"),
    ],
)
def test_what_leads_nowhere_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(RackwrightError) as caught:
        predict(tmp_path, {**JOB, **change})
    assert told in str(caught.value)


def test_two_workloads_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="the workload 'pretrain' is named twice"):
        predict(tmp_path, JOB, JOB)


LLAMA: dict[str, Any] = {
    "hidden_act": "silu", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
    "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256,
}  # fmt: skip


def test_a_model_of_its_own_config_gets_what_the_built_in_one_gets(tmp_path: Path) -> None:
    (built_in,) = predict(tmp_path, JOB)
    (own,) = predict(tmp_path, {**JOB, "model": "ours-70b", "config": LLAMA})
    assert own.a_day == built_in.a_day


def test_a_config_that_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    strange = {**LLAMA, "layer_types": ["mamba"]}
    with pytest.raises(RackwrightError, match="layers that are not counted: mamba"):
        predict(tmp_path, {**JOB, "model": "ours", "config": strange})


def test_energy_is_the_share_of_the_site(tmp_path: Path) -> None:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    document["sites"][0]["pue"] = 1.3
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [{**JOB, "hosts": 32}]}))
    plan = load_plan(path).plan
    (found,) = plan.predictions
    spent = economy(plan, plan.cost, found)
    watts = plan.onprem[0].totals.facility_w
    assert spent is not None
    assert watts is not None
    assert spent.kwh is not None
    assert found.a_day is not None
    assert spent.kwh.value == pytest.approx(watts / 2 / 1e3 * 24 * 1e12 / found.a_day.value)
    assert spent.kwh.low < spent.kwh.value < spent.kwh.high


def test_half_the_hosts_lose_a_little_less_than_half_of_the_tokens(tmp_path: Path) -> None:
    plans = []
    for count in (64, 32):
        document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
        document["sites"][0]["node_groups"][0]["count"] = count
        path = tmp_path / f"{count}.yaml"
        layout = {"tensor": 8, "pipeline": 4}
        path.write_text(yaml.safe_dump({**document, "workloads": [{**JOB, "layout": layout}]}))
        plans.append(load_plan(path).plan)
    (change,) = compare_yields(*plans)
    assert change.gain is not None
    assert -0.5 < change.gain < -0.4
    assert compare_yields(plans[0], plans[0]) == ()
    (new,) = compare_yields(None, plans[0])
    assert (new.before.a_day, new.gain) == (None, None)


def capped(folder: Path, cap: str | None) -> Prediction:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    if cap is not None:
        document["sites"][0]["node_groups"][0]["power_cap"] = cap
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [JOB]}))
    (found,) = load_plan(path).plan.predictions
    return found


def test_a_power_cap_slows_a_job_within_the_bounds_of_its_clocks(tmp_path: Path) -> None:
    free, found = capped(tmp_path, None), capped(tmp_path, "8.8 kW")
    assert free.slowed is None
    assert found.placement is not None
    assert found.placement.power == pytest.approx(1 - (10_200 - 8_800) / 8 / 700)
    assert found.slowed is not None
    assert found.placement.power < found.slowed.low < found.slowed.value < found.slowed.high < 1
    assert found.a_day is not None
    assert free.a_day is not None
    assert found.a_day.low < free.a_day.low
    assert found.a_day.value == pytest.approx(free.a_day.value * found.slowed.value)


def test_a_lower_power_cap_is_never_faster(tmp_path: Path) -> None:
    speeds = []
    for cap in ("7 kW", "8 kW", "9 kW", "10 kW", "10.2 kW"):
        one = capped(tmp_path, cap).a_day
        assert one is not None
        speeds.append(one.value)
    assert speeds == sorted(speeds)
    free = capped(tmp_path, None).a_day
    assert free is not None
    assert speeds[-1] == free.value


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_order_of_groups_and_workloads_changes_no_prediction(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    (site,) = document["sites"]
    (group,) = (one for one in site["node_groups"] if one["name"] == "dgx")
    halves = [{**group, "name": name, "count": 32} for name in ("first", "second")]
    others = [one for one in site["node_groups"] if one is not group]
    site["node_groups"] = [*(halves[index] for index in order), *others]
    jobs = [{**JOB, "name": half["name"], "group": half["name"]} for half in halves]
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [jobs[index] for index in order]}))
    found = list(predictions(load_plan(path).plan))
    assert [one.workload.name for one in found] == [halves[index]["name"] for index in order]
    assert found[0].a_day is not None
    assert (found[0].layout, found[0].step) == (found[1].layout, found[1].step)
    assert found[0].a_day == found[1].a_day


def test_units_of_the_tokens_change_nothing(tmp_path: Path) -> None:
    texts = ("1 T tokens", "1000 B tokens", "1_000_000 M tokens")
    found = [predict(tmp_path, {**JOB, "tokens": text})[0] for text in texts]
    assert found[0].days is not None
    assert {one.days for one in found} == {found[0].days}


@pytest.mark.parametrize(("instance", "gigabytes"), [("p4d.24xlarge", 42.9), ("p4de.24xlarge", 80)])
def test_a100_of_40_gb_has_no_80(tmp_path: Path, instance: str, gigabytes: float) -> None:
    """Both are ``a100`` to Slurm; layouts of 80 GB were told to fit those of 40."""
    document = yaml.safe_load((builtin_pack() / "fixtures/aws.yaml").read_text(encoding="utf-8"))
    document["sites"][0]["node_groups"][0]["type"] = instance
    job = {**JOB, "model": "llama3.1-8b", "precision": "bf16", "site": "use1", "group": "train"}
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [job]}))
    (found,) = load_plan(path).plan.predictions
    assert found.memory == gigabytes * 1e9
    assert found.step is not None
    assert found.step.memory.total(found.step.repeated) <= gigabytes * 1e9
