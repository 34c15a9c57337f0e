#!/usr/bin/python3
"""Reset GPUs of this node that no process holds: ``gpu_reset.py [--check] [--fabric] [INDEX…]``.

Without an index all GPUs of the board are reset together, as NVLinks between them ask for. Services of the
driver that hold GPUs are stopped before and started after, whatever happens; with ``--fabric`` the fabric
manager is one of them, and ``--check`` stops none. It ends with 0 when the GPUs are reset (with ``--check``: may
be reset), and with 3 while a process holds one of them, which is named: a job is never lost for a reset. Any
Python from 3.6 on runs this.
"""

import contextlib
import os
import re
import subprocess
import sys

HELD, FAILED = 3, 4
SERVICES = ("nvidia-dcgm-exporter", "dcgm-exporter", "nvidia-dcgm", "nvidia-persistenced")
"""Services that hold every GPU; the last one first when they are started again."""
FABRIC = "nvidia-fabricmanager"
SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm")
"""Devices that belong to all GPUs: a process that has only these open has begun to use one."""


def holders(indices=(), proc="/proc", own=None):
    """Return the devices that each process has open or mapped, of the GPUs ``indices`` or of all, by its number.

    ``nvidia-smi`` does not list processes of other containers; the kernel's tables do.
    """
    wanted = "|".join(map(re.escape, SHARED))
    wanted += "|/dev/nvidia({})".format("|".join(indices) or "[0-9]+")
    found = {}
    for name in sorted(os.listdir(proc), key=lambda one: (len(one), one)):
        if name.isdigit() and int(name) != (os.getpid() if own is None else own):
            opened = [
                one for one in opened_by(os.path.join(proc, name)) if re.fullmatch(wanted, one)
            ]
            if opened:
                found[int(name)] = sorted(opened)
    return found


def opened_by(folder):
    """Return the device files that a process has open or mapped; empty where it has gone."""
    found = set()
    try:
        for number in os.listdir(folder + "/fd"):
            with contextlib.suppress(OSError):  # it has been closed
                found.add(os.readlink(os.path.join(folder, "fd", number)))
        with open(folder + "/maps", errors="replace") as file:
            found.update(re.findall(r"(/dev/nvidia\S+)$", file.read(), re.MULTILINE))
    except OSError:
        pass
    return found


def name_of(pid, proc="/proc"):
    try:
        with open("{}/{}/comm".format(proc, pid)) as file:
            return file.read().strip()
    except OSError:
        return "?"


def stop(names):
    """Stop services that are active; return those that were, in the order in which they are started again."""
    stopped = []
    for name in names:
        if systemctl("is-active", "--quiet", name) == 0:
            stopped.insert(0, name)
            systemctl("stop", name)
    return stopped


def systemctl(*words):
    try:
        return subprocess.call(["systemctl", *words])
    except OSError:  # a node without systemd
        return 1


def reset(indices):
    found = holders(indices)
    if found:
        named = ("{} ({})".format(pid, name_of(pid)) for pid in found)
        print("not reset: held by process {}".format(", ".join(named)))
        return HELD
    chosen = ["--id=" + ",".join(indices)] if indices else []
    return FAILED if subprocess.call(["nvidia-smi", "--gpu-reset", *chosen]) else 0


def main(arguments):
    """Check, or stop the services, reset and start them again."""
    options = {"--check", "--fabric"} & set(arguments)
    indices = [one for one in arguments if one not in options]
    if not all(one.isdigit() for one in indices):
        sys.stderr.write("usage: gpu_reset.py [--check] [--fabric] [INDEX...]\n")
        return 2
    if "--check" in options:
        found = holders(indices)
        if found:
            named = ("{} ({})".format(pid, name_of(pid)) for pid in found)
            print("held by process {}".format(", ".join(named)))
            return HELD
        print("nothing holds GPU {}".format(", ".join(indices) or "0 and further"))
        return 0
    stopped = stop(SERVICES + ((FABRIC,) if "--fabric" in options else ()))
    code = FAILED
    try:
        code = reset(indices)
    finally:
        for name in stopped:
            if systemctl("start", name) != 0:
                print("{} does not start again".format(name))
                code = code or FAILED
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
