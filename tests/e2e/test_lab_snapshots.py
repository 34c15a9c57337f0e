"""What was made of hosts once is there in labs that start from it, and remains of makers go."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab_snapshots import ByRoles, keep
from lab_support import LAB_MARKS, Machines, some_machines
from rackwright_lab import lab as labs
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import Process, run

pytestmark = LAB_MARKS
MAKING = "rw-snap-"


def note(machines: Machines) -> None:
    """Something on the disk, in the shared folder and on this machine; and packages are known."""
    machines.on("one", "apt-get update -q; echo disk > /root/note; rm /etc/motd")
    machines.on("one", "install -o nobody -d /shared/own; echo shared > /shared/own/note")
    (machines.folder / "secrets").mkdir(mode=0o700)
    (machines.folder / "secrets/key").write_text("of the cluster")


SNAPSHOT = ByRoles(
    name="snap",
    network="10.213.95.0/24",
    hosts=(HostSpec("one"), HostSpec("two")),
    files=("secrets",),
    source=Path(__file__),
    play=note,
)


def test_hosts_start_as_they_were_left_with_keys_and_addresses_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever made it before was killed: the hosts still run.
    state = tmp_path / "configured-snap.new/state"
    state.mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.setenv("RACKWRIGHT_STATE", str(state))
        labs.up(killed := labs.open_lab(SNAPSHOT.name, SNAPSHOT.network), SNAPSHOT.hosts, print)
    supervisors = [host.supervisor for host in killed.hosts()]
    (state / "secrets").mkdir()

    made = keep(tmp_path, SNAPSHOT.name, "1", SNAPSHOT.make)
    assert not any(isinstance(one, Process) and one.alive for one in supervisors)
    assert MAKING not in run("ip", "netns")
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
    assert sorted(path.name for path in made.iterdir()) == ["files", "hosts", "roles", "shared"]
    assert (made / "files/secrets/key").read_text() == "of the cluster"
    assert (made / "files/secrets").stat().st_mode & 0o777 == 0o700

    for network in ("10.213.96.0/24", "10.213.97.0/24"):
        folder = tmp_path / network.partition("/")[0]
        with some_machines(folder, "snapw", network, SNAPSHOT.hosts, made) as machines:
            assert machines.on("one", "cat /root/note /shared/own/note").split() == [
                "disk",
                "shared",
            ]
            assert machines.on("one", "stat -c %U /shared/own") == "nobody"
            assert machines.on("one", "test -e /etc/motd || echo gone") == "gone"
            assert machines.on("two", "test -e /root/note || echo none") == "none"
            machines.on("two", "ping -c1 -W2 one")
            assert str(machines.host("one").address.ip) in machines.on("two", "getent hosts one")
            known = machines.on("one", "apt-cache policy slurmctld")
            assert "Candidate: (none)" not in known
            assert "Candidate:" in known
            machines.on("one", "echo changed > /root/note; rm -r /shared/own")
