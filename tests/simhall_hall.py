"""Halls of ``simhall``, a virtual hall of others from PyPI, whose switches answer by NVUE and eAPI."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from metal_machines import environment
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout

RELEASE = "simhall==0.1.0"
WITHIN_S = 300


def newer_python() -> str | None:
    """Return a Python from 3.12 on, which simhall needs; None where there is none."""
    beside = Path.home() / ".pyenv/versions"
    for minor in (12, 13, 14):
        there = [str(path) for path in beside.glob(f"3.{minor}.*/bin/python3")]
        for name in (*there, shutil.which(f"python3.{minor}")):
            if name is not None and subprocess.run([name, "-c", ""], check=False).returncode == 0:
                return name
    return None


def command(python: str) -> Path:
    """Return the command of simhall, in an environment of ``python`` that is made once and kept."""
    return environment((RELEASE,), python) / "simhall"


def hall_of(layout: Layout, vendor: str, faults: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return simhall's description of a fabric that is one tier of leaves, with faults."""
    (hosts,) = layout.hosts
    port = {"nvidia": "swp", "arista": "Ethernet"}[vendor]
    cables = [
        {
            "label": f"CBL-1-{hosts.names.index(wire.lower) + 1:02d}-{wire.lower_port - 1:02d}",
            "a": {"device": wire.lower, "interface": f"mlx5_{wire.lower_port - 1}"},
            "b": {"device": wire.upper, "interface": f"{port}{wire.upper_port}"},
        }
        for wire in wires(layout)
    ]
    leaves = layout.tiers[0].switches
    return {
        "racks": 1,
        "rack_start": 1,
        "nodes_per_rack": hosts.count,
        "ports_per_node": hosts.interfaces,
        "leaves_per_rack": leaves,
        "leaf_start": 1,
        "node_name_fmt": f"{hosts.group.name}-{{n}}",
        "leaf_name_fmt": f"{layout.tiers[0].prefix}-{{n}}",
        "switch_vendor": vendor,
        "spare_ports": 128,
        "cables": cables,
        "faults": faults,
    }


@contextlib.contextmanager
def serving(command: Path, hall: Mapping[str, Any], folder: Path, port: int) -> Iterator[str]:
    """Serve a hall on loopback, and yield its address."""
    spec = folder / "hall.yaml"
    spec.write_text(yaml.safe_dump(dict(hall)))
    with (folder / "simhall.log").open("w") as log:
        words = [str(command), "serve", "--spec", str(spec), "--port", str(port)]
        process = subprocess.Popen(words, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            until = time.monotonic() + WITHIN_S
            while True:
                try:
                    urllib.request.urlopen(f"{address}/sim/health", timeout=5).read()
                    break
                except OSError:
                    assert time.monotonic() < until, (folder / "simhall.log").read_text()
                    time.sleep(0.2)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=300)


def ask_switch(address: str, leaf: str, vendor: str) -> str:
    """Return what a switch answers about its ports."""
    if vendor == "nvidia":
        url = f"{address}/dev/{leaf}/nvue_v1/interface?rev=applied"
        return str(urllib.request.urlopen(url, timeout=300).read(), "utf-8")
    commands = ["show lldp neighbors detail", "show interfaces status"]
    body = {"jsonrpc": "2.0", "method": "runCmds", "id": "1",
            "params": {"version": 1, "cmds": commands, "format": "json"}}  # fmt: skip
    request = urllib.request.Request(
        f"{address}/dev/{leaf}/command-api",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    return str(urllib.request.urlopen(request, timeout=300).read(), "utf-8")
