"""Hosts that are given up."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from cli_support import run_here
from ironic_fake import KilledError
from metal_hall import BLUEPRINT, HOSTS
from provisioned_hall import Hall
from rackwright.metal.decommission import decommission
from rackwright.metal.ironic import Ironic
from rackwright.metal.journal import open_journal
from rackwright.metal.nodes import HostPlan


def give_up(hall: Hall, hosts: tuple[str, ...]) -> dict[str, str | None]:
    plans: list[HostPlan] = [plan for plan in hall.plans if plan.name in hosts]
    with open_journal(hall.folder / "journal.sqlite", "sjc1", lambda: next(hall.clock)) as journal:
        ironic = cast("Ironic", hall.ironic)
        return dict(decommission(plans, "top-of-rack", ironic, journal, sleep=lambda seconds: None))


def test_host_is_erased_once_and_can_be_provisioned_again(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    hall.provision(HOSTS[:3])
    assert give_up(hall, HOSTS[:2]) == {"dgx-01": None, "dgx-02": None}
    assert hall.ironic.calls["dgx-01", "deleted"] == 1
    assert hall.ironic.rows["dgx-01"]["provision_state"] == "available"
    assert hall.ironic.rows["dgx-03"]["provision_state"] == "active"
    assert hall.provision(HOSTS[:3]).failed == {}
    assert hall.ironic.calls["dgx-01", "active"] == 2


@pytest.mark.parametrize("after", [False, True])
def test_run_that_is_killed_while_it_erases_goes_on(tmp_path: Path, after: bool) -> None:
    hall = Hall(tmp_path)
    hall.provision(HOSTS[:1])
    hall.ironic.kill_at, hall.ironic.after = hall.ironic.number + 1, after
    with pytest.raises(KilledError):
        give_up(hall, HOSTS[:1])
    assert give_up(hall, HOSTS[:1]) == {"dgx-01": None}
    assert hall.ironic.calls["dgx-01", "deleted"] == 1


def test_node_of_others_and_host_without_a_system_are_left_alone(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    hall.provision(HOSTS[:2])
    hall.ironic.rows["dgx-01"]["extra"] = {}
    hall.ironic.rows["dgx-02"]["provision_state"] = "manageable"
    found = give_up(hall, HOSTS[:3])
    assert found["dgx-01"] == "its node does not belong to 'top-of-rack'"
    assert "has installed nothing on it" in str(found["dgx-02"])
    assert "has no node for it" in str(found["dgx-03"])
    assert not any(kind == "deleted" for _, kind in hall.ironic.calls)


def test_disks_are_not_erased_without_a_word(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "sites: [{name: sjc1, provisioning: {bmc: {user: a, password_file: /p}, engine: {url: 'http://127.0.0.1:1'},"
        " images: [{name: a, url: 'https://a/b'}], groups: [{group: dgx, image: a}]}}]\n"
    )
    words = ("decommission", str(BLUEPRINT), "--layer", str(layer), "--hosts", "dgx-[01-02]")
    run_here(tmp_path, *words).refused("dgx-01, dgx-02", "--yes")
