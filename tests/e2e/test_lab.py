"""Real machines of the lab: booted, reached by ssh, rebooted, removed without a trace."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError, UsageError
from rackwright_lab import lab as labs
from rackwright_lab.base import clear, make_base
from rackwright_lab.host import LabHost, switch_off
from rackwright_lab.lab import HostSpec, Lab
from rackwright_lab.repository import scratch, stop
from rackwright_lab.system import run, wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]
WANTED = [HostSpec("head"), HostSpec("gpu1", devices=8)]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path))
    made = labs.open_lab("test", "10.213.7.0/24")
    yield made
    labs.down(made)


def on(lab: Lab, host: LabHost, command: str) -> str:
    return run(*lab.ssh(host), command, timeout_s=300).strip()


def traces(lab: Lab) -> list[str]:
    """What the kernel still knows of the lab."""
    found = [line for line in run("ip", "netns").splitlines() if line.startswith("rw-test-")]
    found += [line for line in run("ip", "-brief", "link").splitlines() if "test" in line]
    found += [line for line in Path("/proc/mounts").read_text().splitlines() if "lab/test" in line]
    found += [str(path) for path in Path("/sys/fs/cgroup").glob("*/rw-test-*")]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "lab/test/hosts" in command:
            found.append(command)
    return found


def test_the_life_of_a_lab(lab: Lab) -> None:
    head, gpu = labs.up(lab, WANTED, print)
    assert on(lab, head, "cat /etc/hostname; systemctl is-system-running") == "head\nrunning"
    assert on(lab, gpu, "ls /dev/nvidia* | wc -l") == "8"
    assert on(lab, gpu, "ping -c1 -W2 head >/dev/null && echo reached") == "reached"
    identities = {on(lab, host, "cat /etc/machine-id") for host in (head, gpu)}
    assert len(identities) == 2

    first = gpu.supervisor
    assert labs.up(lab, WANTED, print) == (head, gpu)
    assert gpu.supervisor == first, "a host that runs is left alone"

    boot = on(lab, gpu, "cat /proc/sys/kernel/random/boot_id")
    run(*lab.ssh(gpu), "systemctl reboot", check=False)
    assert wait_for(lambda: lab.is_ready(gpu) and boot != _boot(lab, gpu), 300, 0.5)
    assert wait_for(lambda: on(lab, gpu, "ls /dev/nvidia* | wc -l") == "8", 300)

    with pytest.raises(UsageError, match="other hosts"):
        labs.up(lab, [HostSpec("another")], print)
    assert labs.down(lab) == ("head", "gpu1")
    assert traces(lab) == []
    assert labs.down(lab) == ()


def _boot(lab: Lab, host: LabHost) -> str:
    return run(*lab.ssh(host), "cat /proc/sys/kernel/random/boot_id", check=False).strip()


def test_a_host_with_another_key_is_not_trusted(lab: Lab) -> None:
    (head,) = labs.up(lab, WANTED[:1], print)
    words = lab.known_hosts.read_text().split()
    words[2] = lab.key.with_suffix(".pub").read_text().split()[1]
    lab.known_hosts.write_text(" ".join(words) + "\n")
    told = subprocess.run([*lab.ssh(head), "true"], capture_output=True, text=True, check=False)
    assert told.returncode != 0
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in told.stderr


def test_the_remains_of_a_failure_are_removed(lab: Lab) -> None:
    head, gpu = labs.up(lab, WANTED, print)
    for host in (head, gpu):
        assert host.supervisor is not None
        os.kill(host.supervisor.pid, signal.SIGKILL)
    run("ip", "netns", "delete", head.namespace)
    labs.down(lab)
    assert wait_for(lambda: traces(lab) == [], 300), traces(lab)


def test_a_host_that_was_switched_off_comes_back(lab: Lab) -> None:
    (head,) = labs.up(lab, WANTED[:1], print)
    on(lab, head, "echo kept > /root/file")
    run(*lab.ssh(head), "systemctl poweroff", check=False)
    assert wait_for(lambda: not head.running, 300)
    labs.up(lab, WANTED[:1], print)
    assert on(lab, head, "cat /root/file") == "kept"


def test_a_host_starts_from_a_layer_over_the_base_and_stays_on_it(lab: Lab, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "root").mkdir(parents=True)
    (layer / "root/file").write_text("of the layer\n")
    (layer / "etc").mkdir()
    (layer / "etc/hostname").write_text("another\n")
    (head,) = labs.up(lab, WANTED[:1], print, {"head": layer})
    assert on(lab, head, "cat /root/file /etc/hostname") == "of the layer\nhead"
    on(lab, head, "rm /root/file; echo own > /root/more")
    assert (layer / "root/file").read_text() == "of the layer\n"
    assert [path.name for path in (layer / "root").iterdir()] == ["file"]

    # As after a boot of this machine: nothing is mounted, and nobody names the layer again.
    switch_off(head)
    run("umount", head.root)
    shutil.rmtree(head.folder / "upper/root")
    labs.up(lab, WANTED[:1], print)
    assert on(lab, head, "cat /root/file") == "of the layer"
    switch_off(head)
    run("umount", head.root)
    layer.rename(tmp_path / "away")
    with pytest.raises(ExternalToolError, match="/layer', which is gone"):
        labs.up(lab, WANTED[:1], print)


def test_a_lab_of_the_same_name_in_another_folder_is_left_alone(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host,) = labs.up(lab, WANTED[:1], print)
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "elsewhere"))
    other = labs.open_lab("test", "10.213.6.0/24")
    with pytest.raises(UsageError, match="another lab on this machine is called 'test'"):
        labs.up(other, WANTED[:1], print)
    assert labs.down(other) == ()
    assert on(lab, host, "cat /etc/hostname") == "head"


def test_a_lab_whose_folder_is_gone_does_not_keep_its_name(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was killed left a bridge that refused every later lab of the name."""
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "elsewhere"))
    orphan = labs.open_lab("test", "10.213.6.0/24")
    (host,) = labs.up(orphan, WANTED[:1], print)
    switch_off(host)
    run("umount", host.root)
    stop(orphan.folder)
    shutil.rmtree(orphan.folder)
    (host,) = labs.up(lab, WANTED[:1], print)
    assert on(lab, host, "cat /etc/hostname") == "head"


def test_packages_come_from_the_lab_itself(lab: Lab) -> None:
    (gpu,) = labs.up(lab, [HostSpec("gpu1", devices=8)], print)
    told = run(*lab.ssh(gpu), "apt-get update -q && apt-cache policy slurmctld", timeout_s=300)
    assert "http://controller:" in told
    install = "DEBIAN_FRONTEND=noninteractive apt-get install -yq nvidia-driver"
    run(*lab.ssh(gpu), install, timeout_s=120)
    assert on(lab, gpu, "nvidia-smi -L | wc -l") == "8"
    assert on(lab, gpu, "rm /dev/nvidia3; nvidia-smi -L | wc -l") == "7"


def test_what_is_mounted_below_the_remains_of_a_base_is_not_emptied(tmp_path: Path) -> None:
    """An installation that was killed left /proc mounted, and the next one removed what it saw."""
    precious, remains = tmp_path / "precious", tmp_path / "base of old.new"
    mounted = remains / "proc"
    for folder in (precious, mounted):
        folder.mkdir(parents=True)
    (precious / "file").write_text("kept")
    run("mount", "--bind", precious, mounted)
    clear(remains)
    assert not remains.exists()
    assert (precious / "file").read_text() == "kept"


def test_two_scratch_roots_at_once_stay_apart() -> None:
    """The second took the first's files away: both were one folder."""
    base = make_base(print)
    with scratch(base) as one:
        (one / "etc/of-one").write_text("kept")
        with scratch(base) as other:
            assert not (other / "etc/of-one").exists()
        assert (one / "etc/of-one").read_text() == "kept"
    assert not one.exists()


def test_the_scratch_root_of_an_ended_process_is_taken_away() -> None:
    base = make_base(print)
    hold = (
        "from pathlib import Path; from rackwright_lab.repository import scratch; import os, sys;"
        "made = scratch(Path(sys.argv[1])); print(made.__enter__(), flush=True); os._exit(1)"
    )
    command = [sys.executable, "-P", "-c", hold, str(base)]
    left = Path(subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip())
    assert os.path.ismount(left)
    with scratch(base):
        assert not left.parent.exists()
