"""A real NetBox: what is planned is pushed, pulled and pushed again, and nothing changes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import netbox_machine
from netbox_machine import Served
from rackwright.cli import main
from rackwright.exit_codes import ExitCode
from rackwright.policy.packs.loader import builtin_pack

pytestmark = pytest.mark.e2e
SMALLER = {
    "count: 16": "count: 4",
    "c[01-08]": "c[01-02]",
    "type: sn5610, split: 2, count: 8": "type: sn5610, split: 2, count: 2",
}
"""A quarter of the hall: NetBox takes some hundred milliseconds for each cable."""


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = (builtin_pack() / "fixtures/top-of-rack.yaml").read_text("utf-8")
    for old, new in SMALLER.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path_factory.mktemp("hall") / "blueprint.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def netbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if not netbox_machine.as_root():
        pytest.skip("a NetBox in a root of its own needs root")
    with netbox_machine.serving(tmp_path_factory.mktemp("netbox")) as served:
        yield served


def api(netbox: Served, method: str, path: str, body: Any = None) -> Any:
    """Ask NetBox as somebody else does, and return its answer."""
    request = urllib.request.Request(
        f"{netbox.url}/api/{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {netbox.token}", "Content-Type": "application/json"},
        method=method,
    )
    raw = urllib.request.urlopen(request, timeout=120).read()
    return json.loads(raw) if raw else None


def run_push(
    netbox: Served, blueprint: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> str:
    """Push the plan, and return the output."""
    capsys.readouterr()
    code = main(["netbox", "push", str(blueprint), "--url", netbox.url, *more])
    told = capsys.readouterr()
    assert code == ExitCode.CLEAN, told.out + told.err
    return told.out


def pull(netbox: Served, path: Path) -> dict[str, Any]:
    assert main(["netbox", "pull", "--url", netbox.url, "--output", str(path)]) == ExitCode.CLEAN
    made: dict[str, Any] = json.loads(path.read_text())
    return made


def test_push_and_pull_of_a_real_netbox_end_where_nothing_changes(
    netbox: Served,
    blueprint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", netbox.token)
    push = partial(run_push, netbox, blueprint, capsys)
    assert "+ rack " in push("--dry-run")
    assert api(netbox, "GET", "dcim/devices/")["count"] == 0

    # A run that a network ends: NetBox has a part, and the next run goes on.
    from rackwright.netbox import client

    real = client.NetBox.create
    made = 0

    def cut(self: client.NetBox, path: str, rows: Any) -> Any:
        nonlocal made
        made += 1
        if path == "dcim/interfaces" and made > 9:
            raise client.NetBoxError("cut off")
        return real(self, path, rows)

    with monkeypatch.context() as patch:
        patch.setattr(client.NetBox, "create", cut)
        assert main(["netbox", "push", str(blueprint), "--url", netbox.url]) == ExitCode.EXTERNAL
    push()
    assert ": 0 changes, " in push()

    first = pull(netbox, tmp_path / "first.json")
    assert first["devices"]
    assert first["cables"]
    assert first["power_feeds"]

    # Somebody moves a server, gives another a serial number, and adds a device of their own.
    servers = [row for row in first["devices"] if row["position"] and "dgx" in row["name"]]
    one, other = servers[:2]
    free = api(netbox, "PATCH", f"dcim/devices/{one['id']}/", {"position": None, "face": ""})
    assert free["position"] is None
    api(netbox, "PATCH", f"dcim/devices/{other['id']}/", {"serial": "S-1"})
    own = {
        "name": "printer", "site": other["site"]["id"], "role": other["role"]["id"],
        "device_type": other["device_type"]["id"],
    }  # fmt: skip
    api(netbox, "POST", "dcim/devices/", own)
    shown = push("--dry-run")
    assert shown.count("~ device") == 1
    assert f"~ device {one['name']}: position nothing → " in shown
    push()
    assert ": 0 changes, " in push()
    second = pull(netbox, tmp_path / "second.json")
    assert pull(netbox, tmp_path / "third.json") == second
    by_name = {row["name"]: row for row in second["devices"]}
    assert by_name[one["name"]]["position"] == one["position"]
    assert by_name[other["name"]]["serial"] == "S-1"
    assert "printer" in by_name

    # What was pulled is a blueprint again, with the cables' tiers and the hosts on them.
    assert (
        main(["init", str(tmp_path / "site"), "--from", str(tmp_path / "first.json")])
        == ExitCode.CLEAN
    )
    text = (tmp_path / "site/blueprint.yaml").read_text()
    assert "type: dgx-h100" in text
    assert "attached:" in text


def test_refusals_of_a_real_netbox_are_told_with_its_words(
    netbox: Served,
    blueprint: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", "nbt_wrong.token")
    capsys.readouterr()
    words = ["netbox", "push", str(blueprint), "--url", netbox.url]
    assert main(words) == ExitCode.EXTERNAL
    told = capsys.readouterr().err
    assert "was answered with 40" in told
    assert "nbt_wrong" not in told
    monkeypatch.setenv("NETBOX_TOKEN", netbox.token)
    assert main([*words[:-1], f"{netbox.url}/elsewhere"]) == ExitCode.EXTERNAL
    assert "is this the address of NetBox?" in capsys.readouterr().err
