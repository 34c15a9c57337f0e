"""A hall of network namespaces in which the lldpd of Debian speaks on every port.

    python tests/lldp_hall.py ROOT FOLDER    inside namespaces of its own: answers FOLDER/hall.json

Namespaces, cables and daemons are gone with the process that ``hear`` starts.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

FORMS = ("json", "json0", "plain")
"""Formats in which lldpcli prints neighbours."""
WITHIN_S = 300
"""Time in which every port has heard its neighbour, also on a busy machine."""

Cable = tuple[str, str, str, str]
"""A device with its port, and the device at the other end with its port."""


@contextlib.contextmanager
def root_with_lldpd() -> Iterator[Path]:
    """Yield a root of Debian 12 with lldpd, over that of the lab."""
    with root_with("lldpd") as root:
        yield root


@contextlib.contextmanager
def root_with(*packages: str) -> Iterator[Path]:
    """Yield a root of Debian 12 with packages, over that of the lab."""
    from chroots import install_packages
    from rackwright_lab.base import make_base
    from rackwright_lab.repository import scratch

    base = make_base(lambda line: None)
    with scratch(base) as root:
        install_packages(root, "bookworm", *packages)
        yield root


def hear(root: Path, folder: Path, cables: Sequence[Cable]) -> None:
    """Write what lldpd of each device hears, into a folder for each format."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hall.json").write_text(json.dumps(cables))
    command = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
    done = subprocess.run(
        [*command, sys.executable, __file__, str(root), str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def _answer(root: Path, folder: Path) -> None:
    cables = json.loads((folder / "hall.json").read_text())
    devices = sorted({end for cable in cables for end in (cable[0], cable[2])})
    Path("/run/netns").mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    _run("mount", "-t", "proc", "proc", "/proc")
    _run("mount", "-t", "tmpfs", "tmpfs", str(root / "run"))
    (root / "run/lldpd").mkdir()
    for device in devices:
        _run("ip", "netns", "add", device)
    for one, port, other, far_port in cables:
        _run(
            *f"ip link add {port} netns {one} type veth peer name {far_port} netns {other}".split()
        )
        for device, name in ((one, port), (other, far_port)):
            _run("ip", "-n", device, "link", "set", name, "up")
    daemons = []
    for device in devices:
        words = f"hostname {device}; exec chroot {root} lldpd -d -u /run/{device}.socket"
        log = (folder / f"{device}.log").open("w")
        daemons.append(
            subprocess.Popen(
                ["ip", "netns", "exec", device, "unshare", "--uts", "sh", "-c", words],
                stdout=log,
                stderr=log,
            )
        )
    for device in devices:
        _wait((root / f"run/{device}.socket").exists)
    for device in devices:
        _wait(partial(speaks_often, partial(_lldpcli, root, device)))
    for device in devices:
        _wait(partial(_has_heard, root, device, sum(device in {c[0], c[2]} for c in cables)))
    for form in FORMS:
        (folder / form).mkdir(exist_ok=True)
        for device in devices:
            told = _lldpcli(root, device, "-f", form, "show", "neighbors", "details")
            (folder / form / f"{device}.{'txt' if form == 'plain' else form}").write_text(told)
    for daemon in daemons:
        daemon.terminate()


def speaks_often(lldpcli: Callable[..., str], hold: int = 100) -> bool:
    """Have a daemon speak each second; return True once it does.

    A daemon that has just started may forget what it is told, and stay silent until it is told to resume.

    Args:
        lldpcli: asks the daemon.
        hold: seconds without a word after which its neighbours forget it.
    """
    for setting in (f"tx-hold {hold}", "tx-interval 1", "portidsubtype ifname"):
        lldpcli("configure", "lldp", *setting.split())
    lldpcli("resume")
    shown = lldpcli("show", "configuration")
    return all(
        re.search(rf"Transmit {word}: {number}\b", shown)
        for word, number in (("delay", 1), ("hold", hold))
    )


def _has_heard(root: Path, device: str, wanted: int) -> bool:
    return _lldpcli(root, device, "show", "neighbors").count("Interface: ") >= wanted


def _lldpcli(root: Path, device: str, *words: str) -> str:
    options = [word for word in words if word in {"-f", *FORMS}]
    rest = [word for word in words if word not in options]
    return _run("chroot", str(root), "lldpcli", "-u", f"/run/{device}.socket", *options, *rest)


def _wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + WITHIN_S
    while not ready():
        assert time.monotonic() < until, "a port has not heard its neighbour"
        time.sleep(0.2)


if __name__ == "__main__":
    _answer(Path(sys.argv[1]), Path(sys.argv[2]))
