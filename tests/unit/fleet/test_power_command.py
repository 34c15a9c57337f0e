"""The command ``power``: what it plans, refuses, sends by real Ansible, and gives back."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli_support import run_here
from rackwright.fleet.job_classes import classes_of
from rackwright.fleet.reading import JobReport
from rackwright.model.operations import PowerClass
from rackwright.policy.packs.loader import builtin_pack

CLASSES: list[dict[str, Any]] = [
    {"name": "batch", "partitions": ["gpu"]},
    {"name": "serve", "qos": ["urgent"], "protected": True},
]


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    """The fixture with classes of jobs."""
    document: dict[str, Any] = yaml.safe_load((builtin_pack() / "fixtures/slurm.yaml").read_text())
    document.setdefault("operations", {})["power_classes"] = CLASSES
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def answers(folder: Path, **jobs: str) -> str:
    """Answers of a site whose jobs run on these nodes, by quality of service."""
    found = [
        {"job_id": n, "job_state": ["RUNNING"], "partition": "gpu", "qos": qos, "nodes": nodes}
        for n, (qos, nodes) in enumerate(jobs.items(), 1)
    ]
    (folder / "nodes.json").write_text('{"nodes": []}')
    (folder / "jobs.json").write_text(json.dumps({"jobs": found}))
    return f"sjc1={folder}"


def test_caps_follow_the_classes_of_the_jobs(tmp_path: Path, blueprint: Path) -> None:
    told = answers(tmp_path, normal="dgx-[01-32]", urgent="dgx-[33-48]")
    done = run_here(
        tmp_path, "power", str(blueprint), "--target", "780kW", "--answers", told, "--json"
    )
    assert done.code == 0, done.err
    caps = json.loads(done.out)["caps"]
    assert {(cap["class"], cap["hosts"]) for cap in caps} == {
        ("idle", "dgx-[49-64]"),
        ("batch", "dgx-[01-32]"),
    }
    text = run_here(tmp_path, "power", str(blueprint), "--target", "780kW", "--answers", told).out
    assert "limits for 48 hosts, proven after the loss of any one source" in text


def test_cost_of_limits_is_reported_in_tokens(tmp_path: Path, blueprint: Path) -> None:
    document = yaml.safe_load(blueprint.read_text())
    terms = {"site": "sjc1", "group": "dgx", "precision": "fp8", "sequence": 8192}
    layout = {"tensor": 4, "pipeline": 8, "virtual": 5}
    document["workloads"] = [
        {
            "name": "pretrain",
            "model": "llama3.1-70b",
            "batch": "4.194304 M tokens",
            "layout": layout,
        }
        | terms
    ]
    blueprint.write_text(yaml.safe_dump(document, sort_keys=False))
    told = answers(tmp_path, normal="dgx-[01-64]")
    words = ("power", str(blueprint), "--answers", told, "--target")
    made = json.loads(run_here(tmp_path, *words, "780kW", "--json").out)
    (cap,), (job,) = made["caps"], made["workloads"]
    share = cap["limit_w"] / cap["full_w"]
    assert job["limit_w"] == cap["limit_w"]
    assert share < job["speed"]["low"] < job["speed"]["value"] < job["speed"]["high"] < 1
    tokens = job["tokens_a_day"]
    assert tokens["after"] == pytest.approx(tokens["before"] * job["speed"]["value"])
    line = next(
        line for line in run_here(tmp_path, *words, "780kW").out.splitlines() if "pretrain" in line
    )
    assert f"{1 - job['speed']['value']:.1%} less" in line
    idle = answers(tmp_path, urgent="dgx-[01-16]")
    spared = json.loads(run_here(tmp_path, *words, "780kW", "--json", "--answers", idle).out)
    assert spared["caps"]
    assert spared["workloads"] == [], "idle nodes have a limit, and no job does"


def test_a_share_is_one_of_the_contract(tmp_path: Path, blueprint: Path) -> None:
    told = answers(tmp_path, normal="dgx-[01-64]")
    words = ("power", str(blueprint), "--answers", told, "--json", "--target")
    by_share = json.loads(run_here(tmp_path, *words, "75%").out)
    site = next(check for check in by_share["checks"] if check["kind"] == "site")
    assert site["limit_w"] == 825_000


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--target", "0kW"), 2, "leaves nothing on"),
        (("--target", "0%"), 2, "leaves nothing on"),
        (("--target", "nan%"), 2, "'nan%' is no share"),
        (("--target", "inf%"), 2, "'inf%' is no share"),
        (("--target", "300%"), 2, "300% is more than the contract"),
        (("--source", "rpp-a=1MW", "--source", "rpp-a=9MW"), 2, "'rpp-a' has two limits"),
        (("--target", "75%", "--timeout", "nan"), 2, "--timeout is more than 0 s"),
        (("--openadr", "vtn"), 2, "'vtn' is no address of an OpenADR server"),
        (("--openadr", "http://[::1"), 2, "is no address of an OpenADR server"),
        (("--openadr", "http://vtn", "--level", "1=nan%"), 2, "'nan%' is no share"),
        (("--openadr", "http://vtn", "--level", "1=150%"), 2, "150% is more than the contract"),
        (("--openadr", "http://vtn", "--level", "4=85%"), 2, "'4=85%' is no level"),
        (("--openadr", "http://vtn", "--level", "²=85%"), 2, "'²=85%' is no level"),
        (("--openadr", "http://vtn", *("--level", "1=85%") * 2), 2, "the level 1 has two shares"),
        (("--target", "750"), 2, "no unit"),
        ((), 2, "no budget is stated"),
        (
            ("--target", "100kW"),
            5,
            "draws 594.1 kW with every limitable node at its lowest limit",
        ),
        (("--source", "rpp-q=1MW"), 6, "source 'rpp-q' is unknown"),
        (("--loop", "l1=1MW"), 6, "racks on the loop 'l1' is unknown"),
        (("--lost", "ups-q"), 6, "source 'ups-q' is unknown"),
    ],
)
def test_impossible_budget_is_refused(
    tmp_path: Path, blueprint: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    told = answers(tmp_path, normal="dgx-[01-64]")
    done = run_here(tmp_path, "power", str(blueprint), "--answers", told, *words)
    assert (done.code, message in done.out + done.err) == (code, True), done.out + done.err


def test_a_site_that_does_not_answer_is_not_limited(tmp_path: Path, blueprint: Path) -> None:
    done = run_here(tmp_path, "power", str(blueprint), "--target", "780kW", "--ssh", "false")
    assert done.code == 4
    assert "sjc1 does not answer" in done.err


def test_of_several_jobs_on_a_node_the_last_to_give_way_counts() -> None:
    settings = [PowerClass(**one) for one in CLASSES]

    def job(qos: str, partition: str, nodes: str) -> JobReport:
        return JobReport("RUNNING", partition, qos, nodes, 8, None)

    found = classes_of(
        [
            job("", "gpu", "n[1-4]"),
            job("urgent", "gpu", "n2"),
            job("", "other", "n3"),
            job("", "gpu", "n3"),
        ],
        settings,
    )
    assert found == {"n1": "batch", "n2": "serve", "n3": "unclassified", "n4": "batch"}


FAKE = """#!/bin/sh
# A card of eight GPUs that remembers its limit, and the hosts whose driver refuses.
file={folder}/$RACKWRIGHT_HOST
[ -e $file ] || echo 700.00 > $file
case $1 in
  --power-limit=*) [ $RACKWRIGHT_HOST = dgx-03 ] && exit 4; echo "${{1#--power-limit=}}.00" > $file;;
  *) for n in 1 2 3 4 5 6 7 8; do cat $file; done;;
esac
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    """An inventory in which every host is this machine, with a fake driver of its own."""
    cards = tmp_path / "cards"
    cards.mkdir()
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(FAKE.format(folder=cards))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    names = {}
    for number in range(1, 65):
        host = f"dgx-{number:02d}"
        shell = tmp_path / "bin" / f"sh-{host}"  # tells the driver which host it is
        shell.write_text(f'#!/bin/sh\nRACKWRIGHT_HOST={host} exec /bin/sh "$@"\n')
        shell.chmod(shell.stat().st_mode | stat.S_IXUSR)
        names[host] = {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": sys.executable,
            "ansible_shell_executable": str(shell),
        }
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps({"all": {"hosts": names}}))
    return path


def test_limits_are_sent_and_given_back(
    tmp_path: Path, blueprint: Path, hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real Ansible; one driver refuses, and the other hosts make up for it."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    told = answers(tmp_path, normal="dgx-[01-04]", urgent="dgx-[05-64]")
    words = ("power", str(blueprint), "--inventory", str(hosts), "--answers", told, "--forks", "4")
    done = run_here(tmp_path, *words, "--target", "932kW", "--reason", "grid", "--send")
    cards = {path.name: path.read_text().strip() for path in (tmp_path / "cards").iterdir()}
    assert done.code == 4, done.err
    assert "dgx-03 did not take its limit" in done.err
    assert "3 other hosts make up for" in done.err
    assert set(cards) == {"dgx-01", "dgx-02", "dgx-03", "dgx-04"}, "protected jobs are untouched"
    assert cards["dgx-03"] == "700.00"
    saved = sum((700 - float(limit)) * 8 for limit in cards.values())
    assert (696_080 - saved) * 1.35 <= 932_000, "the budget is kept all the same"
    shown = run_here(tmp_path, "power", str(blueprint), "--restore")
    assert "with limits for 'grid'" in shown.out
    back = run_here(tmp_path, *words, "--restore", "--send")
    assert back.code == 0, back.err
    limits = {path.read_text().strip() for path in (tmp_path / "cards").iterdir()}
    assert limits == {"700.00", "700"} or limits == {"700.00"}
    assert run_here(tmp_path, "power", str(blueprint), "--restore").code == 3
