"""Functions that the stand-in programs of Lustre share: devices, NIDs, and requests to other hosts.

Only the standard library, for the Python of a lab host, where it lies under the same name.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PORT = 988
"""Where LNet accepts connections."""
NETS = Path("/run/lustre-stand-in.json")
TIMEOUT_S = 2.0


def run(*words: str) -> str:
    """Return the output of a command.

    Raises:
        OSError: it fails.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout


def fail(text: str, code: int) -> int:
    """Return the exit code, after saying why."""
    print(text, file=sys.stderr)
    return code


# What stands on a device.


def read_disk(device: str, name: str = "mountdata") -> Any:
    """Return the text on a device under ``name``; None if it is no target of Lustre."""
    words = ("debugfs", "-R", f"cat CONFIGS/{name}", device)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith(("{", "[")) else None


def write_disk(device: str, data: Any, name: str = "mountdata") -> None:
    """Write ``data`` to a formatted device."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(json.dumps(data))
        file.flush()
        for request in ("mkdir CONFIGS", f"rm CONFIGS/{name}", f"write {file.name} CONFIGS/{name}"):
            run("debugfs", "-w", "-R", request, device)


def title(target: dict[str, Any], sign: str | None = None) -> str:
    """Return the name of a target; ``:`` in it as long as it has not been mounted, ``-`` later."""
    if target["kind"] == "mgs":
        return "MGS"
    sign = sign or (":" if target["first_time"] else "-")
    return f"{target['fsname']}{sign}{target['kind'].upper()}{target['index']:04x}"


# LNet.


def nets() -> dict[str, dict[str, str]]:
    """Return, for each network, the NID by interface; empty where LNet is down."""
    return json.loads(NETS.read_text()) if NETS.exists() else {}


def own_nids() -> list[str]:
    """Return the NIDs of this host."""
    return [nid for of_net in nets().values() for nid in of_net.values()]


def ask(nid: str, **question: Any) -> Any:
    """Return the answer of the host of a NID; None if there is none."""
    address, _, net = nid.partition("@")
    if net not in nets():
        return None
    with (
        contextlib.suppress(OSError, ValueError),
        socket.create_connection((address, PORT), TIMEOUT_S) as link,
    ):
        link.settimeout(TIMEOUT_S * 5)
        link.sendall(json.dumps({"nid": nid, **question}).encode() + b"\n")
        return json.loads(link.makefile().readline())
    return None


# What is mounted.


def mounted() -> dict[str, str]:
    """Return the device of each target that is mounted here, by the name of the target."""
    found = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        source, _, kind = line.split()[:3]
        if kind == "tmpfs" and source.startswith("/dev/") and (target := read_disk(source)):
            found[title(target)] = source
    return found


def mounted_source(folder: str) -> tuple[str, str] | None:
    """Return NIDs and name of the file system that is mounted at a folder."""
    lines = [line.split()[:2] for line in Path("/proc/self/mounts").read_text().splitlines()]
    sources = [source for source, there in lines if there == folder and ":/" in source]
    if not sources:
        return None
    nids, _, fsname = sources[0].rpartition(":/")
    return nids, fsname
