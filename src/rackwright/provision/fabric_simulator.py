"""Routing a planned fabric with a real opensm on ibsim: no hardware, no root file system.

ibsim listens on fixed names, so it and opensm get a network namespace of their own.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.plan.fabric.ibsim import SimulatedNetwork, network
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.routes import balance, complaints, destinations, loaded_engine
from rackwright.provision.tools.process import run

TOOLS = {
    "ibsim": "ibsim-utils",
    "opensm": "opensm",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
"""Programs that are needed, and the Debian packages that bring them."""
_LIBRARIES = ("usr/lib/*/umad2sim/libumad2sim.so", "usr/lib*/umad2sim/libumad2sim.so")
_READY = "Network simulator ready."
_READY_WITHIN_S = 120.0
_LIDS = 49152
_LOG_ROUTING = "0x43"
"""opensm's errors, its own messages, and the tables: without it no table is dumped."""


@dataclass(frozen=True, slots=True)
class Routed:
    """Result of routing a fabric.

    Attributes:
        engine: whose tables were loaded.
        balance: as ``rackwright.plan.fabric.routes.balance``.
        complaints: what the engine that was asked for said against the fabric.
    """

    engine: str
    balance: float | None
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Output of opensm: its log, and the hosts' ports behind each port of each switch."""

    log: str
    routes: Mapping[str, Counter[int]]


def route(layout: Layout, engine: str, *, timeout_s: float = 600.0) -> Routed:
    """Route ``layout`` with the engine ``engine`` of opensm.

    Raises:
        ExternalToolError: a program is missing, it fails, or the time is up.
    """
    try:
        net = network(layout)
    except ValueError as error:
        raise ExternalToolError(f"the fabric cannot be simulated: {error}") from None
    tables = simulate(net, engine, timeout_s=timeout_s)
    loaded = loaded_engine(tables.log)
    if loaded is None:
        raise ExternalToolError(f"opensm loaded no tables: {_last_error(tables.log)}")
    return Routed(loaded, balance(layout, tables.routes), complaints(tables.log))


def simulate(net: SimulatedNetwork, engine: str, *, timeout_s: float = 600.0) -> Tables:
    """Run opensm with ``engine`` on ``net`` for one sweep, and return its output.

    Raises:
        ExternalToolError: as ``route``.
    """
    library = _find_tools()
    with tempfile.TemporaryDirectory(prefix="rackwright-fabric-") as name:
        folder = Path(name)
        (folder / "fabric.net").write_text(net.text, encoding="utf-8")
        with _simulator(net, folder) as pid:
            settings = {
                "PATH": _path(),
                "LD_PRELOAD": library,
                "SIM_HOST": net.manager,
                "OSM_CACHE_DIR": name,
                "OSM_TMP_DIR": name,
            }
            inside = ["nsenter", f"--net=/proc/{pid}/ns/net"]
            options = ["-o", "-e", "-R", engine, "-D", _LOG_ROUTING, "-f", "opensm.log"]
            command = [*inside, "opensm", *options]
            ended = run(command, cwd=folder, environment=settings, timeout_s=timeout_s)
        if ended.code is None:
            raise ExternalToolError(f"opensm did not route the fabric within {timeout_s:g} s")
        if ended.code != 0:
            raise ExternalToolError(f"opensm failed: {ended.reason}")
        log = (folder / "opensm.log").read_text(encoding="utf-8", errors="replace")
        tables = folder / "opensm-lfts.dump"
        if not tables.exists():
            raise ExternalToolError(f"opensm wrote no tables: {_last_error(log)}")
        with tables.open(encoding="utf-8", errors="replace") as lines:
            return Tables(log, destinations(lines))


def discover(net: SimulatedNetwork, *, timeout_s: float = 120.0) -> str:
    """Return the output of ``ibnetdiscover`` on ``net``.

    Raises:
        ExternalToolError: as ``route``.
    """
    library = _find_tools({**TOOLS, "ibnetdiscover": "infiniband-diags"})
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="rackwright-fabric-") as name:
        folder = Path(name)
        (folder / "fabric.net").write_text(net.text, encoding="utf-8")
        with _simulator(net, folder) as pid:
            settings = {"PATH": _path(), "LD_PRELOAD": library, "SIM_HOST": net.manager}
            command = ["nsenter", f"--net=/proc/{pid}/ns/net", "ibnetdiscover"]
            ended = run(
                command,
                cwd=folder,
                environment=settings,
                on_line=lines.append,
                timeout_s=timeout_s,
            )
    if ended.code != 0:
        raise ExternalToolError(f"ibnetdiscover failed: {ended.reason}")
    return "\n".join(lines)


def _last_error(log: str) -> str:
    return next((line.strip() for line in reversed(log.splitlines()) if "ERR" in line), "no reason")


def _find_tools(tools: Mapping[str, str] = TOOLS) -> str:
    """Return the library that lets opensm speak to ibsim, once every program is there.

    Raises:
        ExternalToolError: one is missing, or the user is not root.
    """
    missing = sorted(
        {package for tool, package in tools.items() if shutil.which(tool, path=_path()) is None}
        | (set() if (library := _library()) else {"ibsim-utils"})
    )
    if missing or library is None:
        raise ExternalToolError(
            "a fabric is routed by ibsim and opensm, which are not installed",
            hint=f"apt-get install {' '.join(missing)}",
        )
    if os.geteuid() != 0:
        raise ExternalToolError(
            "a simulated fabric needs a network namespace, which only root may make",
            hint="run the command as root",
        )
    return library


def _path() -> str:
    """Return the search path of programs, with the folders of administrators, where opensm is."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _library() -> str | None:
    for pattern in _LIBRARIES:
        for path in sorted(Path("/").glob(pattern)):
            return str(path)
    return None


@contextmanager
def _simulator(net: SimulatedNetwork, folder: Path) -> Iterator[int]:
    """Yield an ibsim of the fabric in a network namespace of its own, by its process id."""
    sizes = ["-N", str(net.devices), "-S", str(net.switches), "-P", str(net.ports)]
    command = ["unshare", "--net", "ibsim", "-s", "-n", *sizes, "-L", str(_LIDS), "fabric.net"]
    log = folder / "ibsim.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": _path()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await_ready(process, log)
        yield process.pid
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once the simulator has read the fabric.

    Raises:
        ExternalToolError: it ended, refused the fabric, or was not ready in time.
    """
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline:
        text = log.read_text(encoding="utf-8", errors="replace")
        if refused := re.search(r"ibpanic: .*?\] (.*)", text):
            raise ExternalToolError(f"ibsim refused the fabric: {refused.group(1)}")
        if _READY in text:
            return
        if process.poll() is not None:
            raise ExternalToolError(f"ibsim ended with code {process.returncode}")
        time.sleep(0.05)
    raise ExternalToolError(f"ibsim was not ready within {_READY_WITHIN_S:g} s")
