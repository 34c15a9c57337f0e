#!/usr/bin/python3
"""Reset GPUs of this node that no process holds: ``gpu_reset.py [--check] INDEX…``.

It ends with 0 when the GPUs are reset (with ``--check``: may be reset), and with 3 while a process holds one of
them, which is named: a job is never lost for a reset. Any Python from 3.6 on runs this.
"""

import contextlib
import os
import re
import subprocess
import sys

HELD, FAILED = 3, 4
SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm")
"""Devices that belong to all GPUs: a process that has only these open has begun to use one."""


def holders(indices, proc="/proc", own=None):
    """Return the devices that each process has open or mapped, of the GPUs ``indices``, by its number.

    ``nvidia-smi`` does not list processes of other containers; the kernel's tables do.
    """
    wanted = ["/dev/nvidia{}".format(index) for index in indices]
    wanted += SHARED
    found = {}
    for name in sorted(os.listdir(proc), key=lambda one: (len(one), one)):
        if name.isdigit() and int(name) != (os.getpid() if own is None else own):
            opened = opened_by(os.path.join(proc, name)) & set(wanted)
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


def main(arguments):
    """Check, and reset unless ``--check`` is given."""
    check = "--check" in arguments
    indices = [one for one in arguments if one != "--check"]
    if not indices or not all(one.isdigit() for one in indices):
        sys.stderr.write("usage: gpu_reset.py [--check] INDEX...\n")
        return 2
    found = holders(indices)
    if found:
        named = ("{} ({})".format(pid, name_of(pid)) for pid in found)
        print("not reset: held by process {}".format(", ".join(named)))
        return HELD
    if check:
        print("nothing holds GPU {}".format(", ".join(indices)))
        return 0
    done = subprocess.call(["nvidia-smi", "--gpu-reset", "--id=" + ",".join(indices)])
    return FAILED if done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
