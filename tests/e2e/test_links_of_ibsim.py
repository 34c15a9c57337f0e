"""Faults of links of a fabric that ibsim simulates: counters and states as infiniband-diags read them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rackwright.catalog.fault_table import builtin_faults
from rackwright.nodelife.signs.detect import detect_in
from rackwright.nodelife.signs.links import link_health
from rackwright.nodelife.signs.recordings import read_recording

PROGRAMS = ("ibsim", "opensm", "perfquery", "smpquery", "unshare", "nsenter")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason="not installed: ibsim, opensm"),
]
FABRIC = """\
Switch 4 "leaf"
[1] "gpu-1"[1]
[2] "gpu-2"[1]

Hca 1 "gpu-1"
[1] "leaf"[1]

Hca 1 "gpu-2"
[1] "leaf"[2]
"""
NAMES = {
    "SymbolErrorCounter": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "PortXmitDiscards": "port_xmit_discards",
}
"""Names of the kernel for the counters of perfquery."""
WITHIN_S = 300.0


@dataclass
class Fabric:
    """A fabric in a network namespace of its own: ibsim's sockets have names that all of a namespace share."""

    holder: int
    simulator: subprocess.Popen[str]

    def tell(self, command: str) -> None:
        """Give ibsim a command."""
        assert self.simulator.stdin is not None
        self.simulator.stdin.write(f"{command}\n")
        self.simulator.stdin.flush()

    def ask(self, node: str, *words: str) -> str:
        """Return what a program prints on a node; empty if it fails."""
        library = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{self.holder}/ns/net", *words],
            env={**os.environ, "LD_PRELOAD": str(library), "SIM_HOST": node},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        return done.stdout if done.returncode == 0 else ""

    def sample(self, node: str, at: int) -> str:
        """Return the lines of a collector that looks at the port of a node."""
        found = {"phys_state": self.ask(node, "smpquery", "portinfo", "-D", "0", "1")}
        state = re.search(r"PhysLinkState:\.+(\S+)", found["phys_state"])
        lines = [f"{at} mlx5_0/1 phys_state {state[1]}"] if state else []
        for name, value in re.findall(
            r"^(\w+):\.+(\d+)", self.ask(node, "perfquery"), re.MULTILINE
        ):
            if name in NAMES:
                lines.append(f"{at} mlx5_0/1 {NAMES[name]} {value}")
        return "".join(f"{line}\n" for line in lines)


def wait_for(text: object, what: str) -> None:
    end = time.monotonic() + WITHIN_S
    while not text():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(0.3)


@contextlib.contextmanager
def started(words: list[str], folder: Path, name: str, **more: object) -> Iterator[subprocess.Popen[str]]:  # fmt: skip
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, text=True, cwd=folder, **more)  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Fabric]:
    (tmp_path / "fabric.net").write_text(FABRIC)
    library = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
    with contextlib.ExitStack() as stack:
        holder = stack.enter_context(started(["unshare", "--net", "sleep", "infinity"], tmp_path, "holder"))  # fmt: skip
        own = Path("/proc/self/ns/net").stat().st_ino
        wait_for(lambda: Path(f"/proc/{holder.pid}/ns/net").stat().st_ino != own, "the namespace")
        inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
        simulator = stack.enter_context(
            started(
                [*inside, "ibsim", "-s", "fabric.net"], tmp_path, "ibsim", stdin=subprocess.PIPE
            )
        )
        made = Fabric(holder.pid, simulator)
        wait_for(lambda: "PhysLinkState" in made.ask("gpu-2", "smpquery", "portinfo", "-D", "0", "1"), "ibsim")  # fmt: skip
        manager = {**os.environ, "LD_PRELOAD": str(library), "SIM_HOST": "gpu-1"}
        stack.enter_context(started([*inside, "opensm", "-f", "opensm.log"], tmp_path, "opensm", env=manager))  # fmt: skip
        wait_for(lambda: made.ask("gpu-2", "perfquery"), "opensm")
        yield made


def faults(recordings: Mapping[str, str], node: str) -> set[str]:
    return {event.fault for event in detect_in(builtin_faults(), {"ports": recordings[node]})}


def test_errors_and_a_lost_link_are_faults_of_their_node_alone(fabric: Fabric) -> None:
    told = {node: fabric.sample(node, 0) for node in ("gpu-1", "gpu-2")}
    assert all("phys_state LinkUp" in text for text in told.values()), told
    for field, value in (("SymbolErrorCounter", 60_000), ("LinkErrorRecoveryCounter", 40),
                         ("LinkDownedCounter", 3), ("ExcessiveBufferOverrunErrors", 2)):  # fmt: skip
        fabric.tell(f'PerformanceSet "gpu-2"[1] PortCounters.{field}={value}')
    wait_for(lambda: "60000" in fabric.ask("gpu-2", "perfquery"), "the counters")
    told = {node: text + fabric.sample(node, 60) for node, text in told.items()}
    assert faults(told, "gpu-1") == set()
    assert faults(told, "gpu-2") == {
        "port-symbol-errors", "port-symbol-errors-fatal", "port-retrains", "port-flaps", "port-overrun",
    }  # fmt: skip
    series = {node: read_recording({"ports": text}).samples for node, text in told.items()}
    verdicts = {one.node: one.verdict for one in link_health(builtin_faults(), series)}
    assert verdicts == {"gpu-1": "good", "gpu-2": "bad"}
    fabric.tell('Unlink "gpu-2"[1]')
    down = ("smpquery", "portinfo", "-D", "0", "1")
    wait_for(lambda: "LinkUp" not in fabric.ask("gpu-2", *down), "the link to go")
    told = {node: text + fabric.sample(node, 120) for node, text in told.items()}
    assert "port-down" in faults(told, "gpu-2")
    assert faults(told, "gpu-1") == set()
