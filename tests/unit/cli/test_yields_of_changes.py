"""Pull requests that save money, and what `diff` says of the tokens that they cost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_team import git
from cli_support import run_here
from rackwright.policy.packs.loader import builtin_pack
from rackwright.report.prediction import amount

FIXTURE: dict[str, Any] = yaml.safe_load(
    (builtin_pack() / "fixtures/workloads.yaml").read_text(encoding="utf-8")
)
STORAGE: dict[str, Any] = {
    "name": "scratch",
    "kind": "lustre",
    "mount": "/scratch",
    "networks": [{"name": "o2ib"}],
    "management": {"servers": "dgx"},
    "metadata": {"servers": "dgx"},
    "objects": {
        "servers": "dgx",
        "count": 64,
        "target_write": "500 MB/s",
        "server_write": "5000 MB/s",
    },
    "workload": {"checkpoint": {"size": "1 GiB"}},
}
COSTS: dict[str, Any] = {
    "as_of": "2026-11-21",
    "owned": {
        "energy": "0.07 USD/kWh",
        "utilisation": "80 %",
        "amortisation_years": 4,
        "opex": "5 %",
    },
    "capex": {
        "dgx-h200": "350_000 USD",
        "rack-48u": "2_000 USD",
        "pdu-415v-60a-24c19": "3_000 USD",
        "crah-spec-100kw": "40_000 USD",
        "qm9700": "30_000 USD",
    },
}


def optics_saved(site: dict[str, Any]) -> None:
    site["fabric"] |= {"oversubscription": 12, "unit_hosts": 16}


def optics_saved_in_one_unit(site: dict[str, Any]) -> None:
    site["fabric"] |= {"oversubscription": 3}


def a_feed_lost_and_capped(site: dict[str, Any]) -> None:
    """One of three feeds is given up; the hosts are capped to what the other two carry."""
    site["power"]["feeds"].remove("C")
    site["node_groups"][0]["power_cap"] = "8 kW"


def storage_halved(site: dict[str, Any]) -> None:
    site["file_systems"][0]["objects"]["count"] = 32
    site["file_systems"][0]["objects"]["server_write"] = "2500 MB/s"


def before() -> dict[str, Any]:
    """Return 64 DGX H200 that train a model with experts, with a file system and prices."""
    document = copy.deepcopy(FIXTURE)
    document["sites"][0] |= {"file_systems": [copy.deepcopy(STORAGE)], "pue": 1.3}
    document["costs"] = COSTS
    del document["reliability"]["jobs"][0]["checkpoint_stall"]
    document["workloads"][0] |= {
        "model": "deepseek-v3",
        "sequence": 4096,
        "layout": {"tensor": 1, "pipeline": 2, "expert": 256},
    }
    return document


@pytest.mark.parametrize(
    ("change", "least", "most"),
    [
        (optics_saved, -0.3, -0.05),
        (a_feed_lost_and_capped, -0.4, -0.1),
        (storage_halved, -0.1, -0.05),
    ],
)
def test_pull_requests_that_save_cost_tokens_and_money(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], least: float, most: float
) -> None:
    (found,), text = told(tmp_path, before(), change)
    gain = found["after"] / found["before"] - 1
    assert least < gain < most
    lines = [one.strip() for one in text.splitlines() if one.strip().startswith("pretrain: ")]
    one, two = (f"{amount(found[side])} tokens/day" for side in ("before", "after"))
    dear, cheap = (f"${found[f'dollars_{side}']:,.0f}" for side in ("before", "after"))
    assert lines == [f"pretrain: {one} → {two} ({gain:+.1%}); {dear} → {cheap} per T tokens"]


def test_optics_that_no_job_misses_make_its_tokens_cheaper(tmp_path: Path) -> None:
    """A job within one scalable unit does not see the tiers above it."""
    document = before()
    document["workloads"][0] |= {
        "hosts": 16,
        "layout": {"tensor": 1, "pipeline": 2, "expert": 64},
        "batch": "1.048576 M tokens",
    }
    document["reliability"]["jobs"] = []
    del document["workloads"][0]["job"]
    (found,), text = told(tmp_path, document, optics_saved_in_one_unit)
    assert found["after"] == found["before"]
    assert found["dollars_after"] < found["dollars_before"]
    assert "(unchanged); $" in text


def told(
    folder: Path, document: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> tuple[list[dict[str, Any]], str]:
    """Return what `diff` says of workloads, as JSON and as text, when a site changes."""
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "base")
    change(document["sites"][0])
    path.write_text(yaml.safe_dump(document))
    said = run_here(folder, "diff", "HEAD", "--json")
    return json.loads(said.out)["workloads"], run_here(folder, "diff", "HEAD").out
