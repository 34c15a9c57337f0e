"""A hall of network namespaces whose switches are born from the files that ``render`` wrote for FRR.

    python tests/switch_hall.py ROOT FOLDER    inside namespaces of its own: answers FOLDER/hall.json

FRR and lldpd of Debian run in each switch, lldpd in each host. Namespaces, cables and daemons are gone with
the process that ``live`` starts.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lldp_hall import speaks_often

WITHIN_S = 240
"""Time in which sessions, neighbours and routes are there, also on a busy machine."""

HOLD_S = 30
"""Time after which a device forgets a neighbour that was plugged out: lldpd keeps it although its port is gone."""

Cable = tuple[str, str, str, str]
"""A device with its port, and the device at the other end with its port."""


@dataclass(frozen=True)
class Lived:
    """Measurements of a hall of switches.

    Attributes:
        sessions_s: until every session was up.
        lost_s: until no route led over the lost spine.
        gap_s: longest time without an answer between two hosts meanwhile.
        sessions: established ones of each switch.
        reached: pairs of hosts that answered each other, before and after the loss.
        routes: of a leaf, by prefix the ports that lead there, before and after the loss.
        running: what each switch says of its configuration.
    """

    sessions_s: float
    lost_s: float
    gap_s: float
    sessions: Mapping[str, int]
    reached: tuple[int, int]
    routes: tuple[Mapping[str, list[str]], Mapping[str, list[str]]]
    running: Mapping[str, str]


def live(root: Path, folder: Path, hall: Mapping[str, Any], timeout_s: float) -> Lived:
    """Return what a hall told; neighbours are in its folders ``perfect`` and ``miscabled``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hall.json").write_text(json.dumps(hall))
    command = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
    done = subprocess.run(
        [*command, sys.executable, __file__, str(root), str(folder)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Lived(**json.loads((folder / "lived.json").read_text()))


def _run(*words: str, text: str | None = None) -> str:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=300, check=False, input=text
    )
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def _wait(ready: Callable[[], bool], what: str) -> float:
    """Return the seconds until something is so."""
    start = time.monotonic()
    while not ready():
        assert time.monotonic() < start + WITHIN_S, what
        time.sleep(0.1)
    return time.monotonic() - start


class _Hall:
    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        told = json.loads((folder / "hall.json").read_text())
        self.files = {name: Path(path) for name, path in told["switches"].items()}
        self.hosts: Mapping[str, Mapping[str, str]] = told["hosts"]
        self.cables: list[Cable] = [tuple(cable) for cable in told["cables"]]
        self.told = told
        self.devices = [*self.files, *self.hosts]

    def build(self) -> None:
        Path("/run/netns").mkdir(exist_ok=True)
        _run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        _run("mount", "-t", "proc", "proc", "/proc")
        for place in ("run", "var/run"):
            (self.root / place).mkdir(exist_ok=True)
        _run("mount", "-t", "tmpfs", "tmpfs", str(self.root / "run"))
        (self.root / "run/lldpd").mkdir()
        # lldpd asks for its own name first: a host with a gateway waits 5 s for a server that is not there.
        names = self.root / "etc/resolv.conf"
        names.unlink(missing_ok=True)
        names.touch()
        for device in self.devices:
            _run("ip", "netns", "add", device)
        self.plug(self.cables)
        for name, files in self.files.items():
            _run("ip", "netns", "exec", name, "sysctl", "-q", "-p", str(files / "sysctl.conf"))
            _run("ip", "-n", name, "-batch", str(files / "links.ip"))
        for name, host in self.hosts.items():
            for line in (
                "link set lo up",
                "link set rail0 up",
                f"address add {host['address']} dev rail0",
            ):
                _run("ip", "-n", name, *line.split())
            if "gateway" in host:
                _run("ip", "-n", name, "route", "add", "default", "via", host["gateway"])

    def plug(self, cables: Iterable[Cable]) -> None:
        for one, port, other, far in cables:
            _run(*f"ip link add {port} netns {one} type veth peer name {far} netns {other}".split())

    def start(self) -> None:
        for name in self.files:
            self.route(name)
        for name in self.devices:
            words = f"hostname {name}; exec chroot {self.root} lldpd -d -u /run/{name}.socket"
            log = (self.folder / f"{name}.log").open("w")
            command = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", words]
            subprocess.Popen(command, stdout=log, stderr=log)
        for name in self.devices:
            _wait((self.root / f"run/{name}.socket").exists, f"lldpd of {name} does not start")
        for name in self.devices:
            told = partial(speaks_often, partial(self.lldp, name), HOLD_S)
            _wait(told, f"lldpd of {name} is silent")
        for name, files in self.files.items():
            for line in (files / "lldpd.conf").read_text().splitlines():
                if not line.startswith("#"):
                    self.lldp(name, *line.split())

    def route(self, name: str) -> None:
        """Start the daemons that the files ask for, with the configuration that they have."""
        files = self.files[name]
        for place in ("etc/frr", "run/frr"):
            folder = self.root / place / name
            folder.mkdir(parents=True, exist_ok=True)
            _run("chroot", str(self.root), "chown", "-R", "frr:frr", f"/{place}/{name}")
        text = (files / "frr.conf").read_text()
        (self.root / "etc/frr" / name / "frr.conf").write_text(text)
        wanted = re.findall(r"^(\w+d|zebra)=yes$", (files / "daemons").read_text(), re.MULTILINE)
        for daemon in wanted:
            start = f"hostname {name}; exec chroot {self.root} /usr/lib/frr/{daemon} -d -N {name}"
            _run("ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", start)
        told = _run("chroot", str(self.root), "vtysh", "-N", name, "-b")
        assert "Unknown command" not in told, told

    def lldp(self, device: str, *words: str) -> str:
        return _run("chroot", str(self.root), "lldpcli", "-u", f"/run/{device}.socket", *words)

    def vtysh(self, name: str, command: str) -> str:
        return _run("chroot", str(self.root), "vtysh", "-N", name, "-c", command)

    def running(self, name: str) -> str:
        """Return the running configuration, in which vtysh names the machine that it runs on."""
        words = f"hostname {name}; exec chroot {self.root} vtysh -N {name} -c 'show running-config'"
        return _run("unshare", "--uts", "sh", "-c", words)

    def sessions(self, name: str) -> int:
        told = json.loads(self.vtysh(name, "show bgp summary json"))
        peers = {
            peer
            for family in told.values()
            for peer, one in family.get("peers", {}).items()
            if one["state"] == "Established"
        }
        return len(peers)

    def planned(self, name: str) -> int:
        return sum(name in {a, b} for a, _, b, _ in self.cables if {a, b} <= set(self.files))

    def hears(self, device: str, wanted: Mapping[str, tuple[str, str]]) -> bool:
        """Return True once a device hears the neighbour of each port with its port, and no former one."""
        told = self.lldp(device, "-f", "keyvalue", "show", "neighbors")
        found = re.findall(r"^lldp\.(\S+)\.(chassis\.name|port\.ifname)=(.*)$", told, re.MULTILINE)
        heard = {(port, key): value for port, key, value in found}
        if len(found) != len(heard):  # a former neighbour is there still
            return False
        return heard == {
            (port, key): value
            for port, far in wanted.items()
            for key, value in zip(("chassis.name", "port.ifname"), far, strict=True)
        }

    def neighbours(self, name: str, cables: Iterable[Cable]) -> None:
        """Write what every device hears, once each hears the neighbours at its cables."""
        (self.folder / name).mkdir()
        wanted: dict[str, dict[str, tuple[str, str]]] = {device: {} for device in self.devices}
        for one, port, other, far in cables:
            wanted[one][port], wanted[other][far] = (other, far), (one, port)
        for device in self.devices:
            _wait(partial(self.hears, device, wanted[device]), f"{device} hears other neighbours")
        for device in self.devices:
            told = self.lldp(device, "-f", "json", "show", "neighbors", "details")
            (self.folder / name / f"{device}.json").write_text(told)

    def routes(self, leaf: str) -> dict[str, list[str]]:
        told = json.loads(_run("ip", "-n", leaf, "-j", "route", "show", "proto", "bgp") or "[]")
        return {
            one["dst"]: sorted({hop["dev"] for hop in one.get("nexthops", [one])}) for one in told
        }

    def ping(self, host: str, *words: str) -> list[str]:
        """Return a command that pings from a host."""
        return ["ip", "netns", "exec", host, "chroot", str(self.root), "ping", *words]

    def reached(self) -> int:
        """Return the number of hosts that the first one reaches."""
        first, *others = self.hosts
        found = 0
        for other in others:
            target = self.hosts[other]["address"].partition("/")[0]
            command = self.ping(first, "-c", "1", "-W", "2", target)
            for _ in range(5):  # the first packets ask for addresses
                if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                    found += 1
                    break
        return found


def _gap(text: str) -> float:
    """Return the longest time between two answers of a ping."""
    times = [float(found) for found in re.findall(r"^\[(\d+\.\d+)\] \d+ bytes", text, re.MULTILINE)]
    return max((b - a for a, b in itertools.pairwise(times)), default=0.0)


def _answer(root: Path, folder: Path) -> None:
    hall = _Hall(root, folder)
    hall.build()
    hall.start()
    sessions_s = _wait(
        lambda: all(hall.sessions(name) == hall.planned(name) for name in hall.files),
        "a session does not come up",
    )
    leaf, lost = hall.told["leaf"], hall.told["lost"]
    wanted = set(hall.told["prefixes"])
    paths = hall.planned(leaf)

    def is_whole() -> bool:
        """Sessions are up before the kernel has the second path."""
        routes = hall.routes(leaf)
        return all(len(routes.get(prefix, ())) == paths for prefix in wanted)

    _wait(is_whole, f"{leaf} lacks routes")
    _wait(lambda: hall.reached() == len(hall.hosts) - 1, "hosts do not reach each other")
    before, reached = hall.routes(leaf), hall.reached()
    sessions = {name: hall.sessions(name) for name in hall.files}
    running = {name: hall.running(name) for name in hall.files}
    hall.neighbours("perfect", hall.cables)
    swapped = [tuple(cable) for cable in hall.told["swapped"]]
    (a, p, b, q), (c, r, d, s) = swapped
    for one, port, _, _ in swapped:
        _run("ip", "-n", one, "link", "delete", port)
    crossed: list[Cable] = [(a, p, d, s), (c, r, b, q)]
    hall.plug(crossed)
    for device, port in ((a, p), (b, q), (c, r), (d, s)):
        _run("ip", "-n", device, "link", "set", port, "up")
    rest = [cable for cable in hall.cables if cable not in swapped]
    hall.neighbours("miscabled", [*rest, *crossed])

    first, *_, last = hall.hosts
    target = hall.hosts[last]["address"].partition("/")[0]
    ping = subprocess.Popen(
        hall.ping(first, "-D", "-n", "-i", "0.05", "-W", "1", target),
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(1)
    over = {p for a, p, b, _ in hall.cables if (a, b) == (leaf, lost)} | {
        q for a, _, b, q in hall.cables if (b, a) == (leaf, lost)
    }
    for a, p, b, q in hall.cables:
        if lost in {a, b}:
            _run("ip", "-n", lost, "link", "set", p if a == lost else q, "down")
    lost_s = _wait(
        lambda: all(not over & set(ports) for ports in hall.routes(leaf).values()), "routes stay"
    )
    _wait(lambda: hall.reached() == len(hall.hosts) - 1, "hosts do not reach each other")
    time.sleep(1)
    ping.send_signal(2)
    told, _ = ping.communicate(timeout=300)
    lived = {
        "sessions_s": sessions_s,
        "lost_s": lost_s,
        "gap_s": _gap(told),
        "sessions": sessions,
        "reached": (reached, hall.reached()),
        "routes": (before, hall.routes(leaf)),
        "running": running,
    }
    (folder / "lived.json").write_text(json.dumps(lived))


if __name__ == "__main__":
    _answer(Path(sys.argv[1]), Path(sys.argv[2]))
