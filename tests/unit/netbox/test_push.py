"""``netbox push`` and ``pull``: what a plan wants is created once, and a run that was cut off goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netbox_fake
from netbox_fake import TOKEN, FakeNetBox
from rackwright.cli import main
from rackwright.exit_codes import ExitCode
from rackwright.netbox.client import NetBox, NetBoxError
from rackwright.policy.packs.loader import builtin_pack

BLUEPRINT = str(builtin_pack() / "fixtures/top-of-rack.yaml")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeNetBox]:
    made = FakeNetBox()
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    monkeypatch.setattr("rackwright.netbox.client.ATTEMPTS", 1)
    with netbox_fake.netbox(made):
        yield made


def push(state: FakeNetBox, *more: str) -> int:
    return main(["netbox", "push", BLUEPRINT, "--url", state.url, *more])


def counts(state: FakeNetBox) -> dict[str, int]:
    return {path: len(rows) for path, rows in state.rows.items()}


def test_second_push_changes_nothing(state: FakeNetBox, capsys: pytest.CaptureFixture[str]) -> None:
    assert push(state) == ExitCode.CLEAN
    made, writes = counts(state), state.writes
    assert made["dcim/devices"] > 0
    assert made["dcim/cables"] * 2 == made["dcim/interfaces"]
    capsys.readouterr()
    assert push(state) == ExitCode.CLEAN
    assert ": 0 changes, " in capsys.readouterr().out
    assert (counts(state), state.writes) == (made, writes)


def test_names_that_a_blueprint_writes_otherwise_are_found(
    state: FakeNetBox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A site 'SJC 1' becomes 'sjc-1' in a blueprint, and was created a second time with all that is in it."""
    path = tmp_path / "blueprint.yaml"
    path.write_text(Path(BLUEPRINT).read_text("utf-8").replace("name: sjc1", "name: sjc-1"))
    again = ["netbox", "push", str(path), "--url", state.url]
    assert main(again) == ExitCode.CLEAN
    others = {"sjc-1": "SJC 1", "hall-1": "Hall 1", "dgx-01": "DGX 01"}

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: others.get(one, one) if key == "name" else rename(one)
                for key, one in value.items()
            }
        return [rename(one) for one in value] if isinstance(value, list) else value

    for rows in state.rows.values():
        rows |= {number: rename(row) for number, row in rows.items()}
    assert {"SJC 1", "Hall 1", "DGX 01"} <= {
        row.get("name") for rows in state.rows.values() for row in rows.values()
    }
    made, writes = counts(state), state.writes
    capsys.readouterr()
    assert main(again) == ExitCode.CLEAN
    assert ": 0 changes, " in capsys.readouterr().out
    assert (counts(state), state.writes) == (made, writes)


def test_dry_run_shows_the_changes_and_makes_none(
    state: FakeNetBox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state, "--dry-run") == ExitCode.CLEAN
    printed = capsys.readouterr().out
    assert "+ rack " in printed
    assert "more: --all shows them" in printed
    assert (state.rows, state.writes) == ({}, 0)


@pytest.mark.parametrize("after", [0, 1, 3, 6, 9, 12])
def test_push_that_was_cut_off_goes_on(after: int, state: FakeNetBox) -> None:
    state.fail, state.after = 500, after
    assert push(state) == ExitCode.EXTERNAL
    state.fail = 0
    assert push(state) == ExitCode.CLEAN
    whole = counts(state)
    fresh = FakeNetBox()
    with netbox_fake.netbox(fresh):
        assert push(fresh) == ExitCode.CLEAN
    assert whole == counts(fresh)


def test_devices_that_were_moved_go_back_and_others_stay(
    state: FakeNetBox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    placed = [
        row for row in state.rows["dcim/devices"].values() if row.get("position") and row["rack"]
    ]
    by_rack: dict[int, list[dict[str, object]]] = {}
    for row in placed:
        by_rack.setdefault(row["rack"]["id"], []).append(row)
    one, other = next(rows for rows in by_rack.values() if len(rows) > 1)[:2]
    one["position"], other["position"] = other["position"], one["position"]
    state.add("dcim/devices", {"name": "of others", "site": 1, "position": None, "rack": None})
    capsys.readouterr()
    assert push(state) == ExitCode.CLEAN
    printed = capsys.readouterr().out
    assert printed.count("~ device") == 2
    assert "position" in printed
    assert "of others" in json.dumps(state.rows["dcim/devices"])
    assert push(state) == ExitCode.CLEAN
    assert ": 0 changes" in capsys.readouterr().out


def test_another_cable_is_a_conflict_that_is_left_alone(
    state: FakeNetBox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    number, cable = next(iter(state.rows["dcim/cables"].items()))
    end = cable["a_terminations"][0]["object_id"]
    far = state.add(
        "dcim/interfaces",
        {"name": "elsewhere", "device": state.rows["dcim/interfaces"][end]["device"]["id"]},
    )
    del state.rows["dcim/cables"][number]
    ends = [[{"object_type": "dcim.interface", "object_id": one}] for one in (end, far["id"])]
    state.add("dcim/cables", {"a_terminations": ends[0], "b_terminations": ends[1]})
    before = counts(state)
    capsys.readouterr()
    assert push(state) == ExitCode.VIOLATION
    assert "has another cable in NetBox than" in capsys.readouterr().out
    assert counts(state) == before


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "You do not have permission"),
        (500, "was answered with 500"),
        (400, "does not accept the object"),
    ],
)
def test_refusal_is_told_in_the_words_of_netbox(
    status: int, message: str, state: FakeNetBox, capsys: pytest.CaptureFixture[str]
) -> None:
    state.fail = status
    assert push(state) == ExitCode.EXTERNAL
    printed = capsys.readouterr().err
    assert message in printed
    assert TOKEN not in printed


def test_two_devices_of_one_name_are_told(
    state: FakeNetBox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    own = next(iter(state.rows["dcim/devices"].values()))
    state.add("dcim/devices", {**own, "site": own["site"]["id"]})
    assert push(state) == ExitCode.EXTERNAL
    assert f"two devices called '{own['name']}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "message"), [("half", "a page is not whole"), ("broken", "with half of it")]
)
def test_half_an_answer_writes_nothing(
    fault: str, message: str, state: FakeNetBox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    setattr(state, fault, True)
    before, writes = counts(state), state.writes
    assert push(state) == ExitCode.EXTERNAL
    assert message in capsys.readouterr().err
    assert (counts(state), state.writes) == (before, writes)
    output = tmp_path / "netbox.json"
    assert (
        main(["netbox", "pull", "--url", state.url, "--output", str(output)]) == ExitCode.EXTERNAL
    )
    assert not output.exists()


def test_pull_is_read_by_init_and_is_equal_each_time(
    state: FakeNetBox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in files:
        assert main(["netbox", "pull", "--url", state.url, "--output", str(path)]) == ExitCode.CLEAN
    assert files[0].read_text() == files[1].read_text()
    assert main(["init", str(tmp_path / "site"), "--from", str(files[0])]) == ExitCode.CLEAN
    text = (tmp_path / "site/blueprint.yaml").read_text()
    assert "dgx-h100" in text
    assert "attached:" in text


def test_site_that_netbox_does_not_have_is_told_with_those_it_has(
    state: FakeNetBox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(state) == ExitCode.CLEAN
    words = [
        "netbox",
        "pull",
        "--url",
        state.url,
        "--output",
        str(tmp_path / "x"),
        "--site",
        "mars",
    ]
    assert main(words) == ExitCode.USAGE
    assert "its sites are 'sjc1'" in capsys.readouterr().err


def test_token_goes_to_https_or_loopback_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exception, match="is no address to send a token to"):
        NetBox("http://netbox.example.org", TOKEN)
    with pytest.raises(NetBoxError, match="had no answer"):
        NetBox("http://127.0.0.1:9", TOKEN, sleep=lambda seconds: None).all("dcim/sites")


def test_without_a_token_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NETBOX_TOKEN", raising=False)
    assert main(["netbox", "push", BLUEPRINT, "--url", "https://n.example"]) == ExitCode.USAGE
    assert "there is no token" in capsys.readouterr().err
