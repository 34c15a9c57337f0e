"""MUNGE on machines of a lab: a host with a bad one is left behind by itself, the first as well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.host import switch_off
from rackwright_lab.lab import HostSpec

pytestmark = LAB_MARKS
HOSTS = [HostSpec("gpu-1"), HostSpec("gpu-2"), HostSpec("head-1")]
KEY = "/etc/munge/munge.key"


@dataclass
class Site:
    machines: Machines

    def play(self, *arguments: str) -> Played:
        """Run the role on all hosts; ``head-1`` is the controller, and the last of them."""
        return self.machines.play_roles(
            "munge",
            variables={"munge_key_file": str(self.machines.folder / "munge.key")},
            groups={"slurm_controller": {"hosts": {"head-1": {}}}},
            arguments=arguments,
        )

    def verify(self) -> tuple[dict[str, str], set[str]]:
        """Why hosts fail in ``verify``, and the hosts on which nothing failed."""
        played = self.play("--tags", "verify")
        failures = {spec.name: " ".join(played.failure(spec.name).split()) for spec in HOSTS}
        failed = {name: why for name, why in failures.items() if why}
        assert (played.code == 0) == (not failed), played.output
        # Only who came to the last task is fine.
        _, _, last = played.output.partition("that has made one]")
        fine = {spec.name for spec in HOSTS if f"ok: [{spec.name}]" in last}
        return failed, fine


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("munge")
    (folder / "munge.key").touch(mode=0o600)
    (folder / "munge.key").write_bytes(os.urandom(1024))
    with some_machines(folder, "munge", "10.214.2.0/24", HOSTS) as machines:
        made = Site(machines)
        for spec in HOSTS:
            machines.on(spec.name, "apt-get --quiet update")
        first = made.play()
        assert first.code == 0, first.output
        yield made


def test_hosts_that_have_the_same_key_read_each_other(site: Site) -> None:
    again = site.play()
    assert (again.code, again.changed) == (0, 0), again.output
    assert site.verify() == ({}, {"gpu-1", "gpu-2", "head-1"})


def test_a_first_host_whose_munge_is_stopped_is_left_behind_by_itself(site: Site) -> None:
    site.machines.on("gpu-1", "systemctl stop munge")
    try:
        failed, fine = site.verify()
    finally:
        site.machines.on("gpu-1", "systemctl start munge")
    assert set(failed) == {"gpu-1"}, failed
    assert "Failed to access" in failed["gpu-1"]
    assert fine == {"gpu-2", "head-1"}


def test_a_controller_with_a_key_of_its_own_is_left_behind_by_itself(site: Site) -> None:
    fresh = "dd if=/dev/urandom bs=1024 count=1 status=none"
    away = f"cp -a {KEY} /root/kept && {fresh} > {KEY} && systemctl restart munge"
    site.machines.on("head-1", away)
    try:
        failed, fine = site.verify()
    finally:
        site.machines.on("head-1", f"cp -a /root/kept {KEY} && systemctl restart munge")
    assert set(failed) == {"head-1"}, failed
    assert f"{KEY} of head-1 is not that of the cluster" in failed["head-1"]
    assert fine == {"gpu-1", "gpu-2"}


def test_a_daemon_with_a_former_key_is_told_from_the_others(site: Site) -> None:
    fresh = "dd if=/dev/urandom bs=1024 count=1 status=none"
    restart = "systemctl restart munge && cp -a /root/kept"
    site.machines.on("gpu-2", f"cp -a {KEY} /root/kept && {fresh} > {KEY} && {restart} {KEY}")
    try:
        failed, fine = site.verify()
    finally:
        site.machines.on("gpu-2", "systemctl restart munge")
    assert set(failed) == {"gpu-2"}, failed
    assert "Invalid credential" in failed["gpu-2"]
    assert fine == {"gpu-1", "head-1"}


def test_a_first_host_that_is_down_is_left_behind_by_itself(site: Site) -> None:
    switch_off(site.machines.host("gpu-1"))
    failed, fine = site.verify()
    assert set(failed) == {"gpu-1"}, failed
    assert "UNREACHABLE!" in failed["gpu-1"]
    assert fine == {"gpu-2", "head-1"}
