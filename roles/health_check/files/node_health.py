#!/usr/bin/python3
"""Judges this node by what it is meant to have: Slurm's HealthCheckProgram, and its prolog.

Without arguments it judges everything, drains the node in Slurm with the reason when something is
wrong, and ends with 1 then. It never takes a node back: somebody has to have looked.

``--prolog`` judges what is quick and never speaks to the controller, because hundreds of prologs
that do would be in its way: it ends with 1, and Slurm drains the node and queues the job again.

``--print`` prints every reason and changes nothing.

What is meant stands in the settings, which are generated. Any Python from 3.6 on runs this.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import threading

SETTINGS = "/etc/rackwright/node-health.json"
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_S = 15
STAT_S = 5
LONGEST_REASON = 200
OWN = "node health: "

BROKEN = 2
"""Exit code when the node cannot be judged: it says nothing about the node."""


def run(*command):
    """Exit code and output of a program; 127 where it is missing, 124 where it does not end."""
    program = shutil.which(command[0], path=PATHS)
    if program is None:
        return 127, "{} is not installed".format(command[0])
    process = subprocess.Popen(
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    try:
        out, _ = process.communicate(timeout=COMMAND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return 124, "{} did not end within {} s".format(command[0], COMMAND_S)
    return process.returncode, out


def check_accelerators(settings):
    """As many device files as meant: the driver makes none for a device that is gone."""
    wanted = settings["accelerators"]
    found = len(glob.glob(settings["device_pattern"]))
    if found != wanted:
        yield "{} of {} accelerators".format(found, wanted)


def check_mounts(settings):
    """Mount points with the type of file system that is meant; read without touching them."""
    with open(settings.get("mountinfo", "/proc/self/mountinfo")) as file:
        lines = file.read().splitlines()
    found = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        place = re.sub(r"\\(\d{3})", lambda m: chr(int(m.group(1), 8)), before.split()[4])
        found[place] = (after.split()[0], before.split()[5].split(","))
    for mount in settings["mounts"]:
        kind, options = found.get(mount["path"], (None, []))
        if kind is None:
            yield "{} is not mounted".format(mount["path"])
        elif mount.get("type") and kind != mount["type"]:
            yield "{} is {}, not {}".format(mount["path"], kind, mount["type"])
        elif "ro" in options and not mount.get("read_only"):
            yield "{} is read-only".format(mount["path"])


def check_space(settings):
    """Per cent of space and of inodes that are free."""
    for limit in settings["free"]:
        free = free_percent(limit["path"])
        if free is None:
            yield "{} does not answer".format(limit["path"])
        elif free < limit["percent"]:
            yield "{} has {:.1f} % free, less than {} %".format(
                limit["path"], free, limit["percent"]
            )


def free_percent(path):
    """The smaller one of space and inodes; None where a file system hangs or is gone."""
    answers = []

    def ask():
        try:
            told = os.statvfs(path)
        except OSError:
            return
        shares = [100.0 * told.f_bavail / told.f_blocks if told.f_blocks else 100.0]
        if told.f_files:
            shares.append(100.0 * told.f_favail / told.f_files)
        answers.append(min(shares))

    asking = threading.Thread(target=ask, daemon=True)  # a server that is gone blocks for ever
    asking.start()
    asking.join(STAT_S)
    return answers[0] if answers else None


def check_services(settings):
    """Services of systemd that are active."""
    for name in settings["services"]:
        code, told = run("systemctl", "is-active", name + ".service")
        if code != 0:
            yield "{} is {}".format(name, " ".join(told.split()) or "not active")


def check_xids(settings):
    """Xid errors of the GPU driver since boot, of the numbers that are meant to drain a node."""
    wanted = set(settings["xids"])
    if not wanted:
        return
    code, told = run("journalctl", "--dmesg", "--boot", "--no-pager", "--quiet", "--grep=NVRM: Xid")
    if code not in (0, 1):  # 1: no line has it
        yield "the kernel's messages cannot be read"
        return
    seen = {int(number) for number in re.findall(r"NVRM: Xid \([^)]*\): (\d+)", told)}
    for number in sorted(seen & wanted):
        yield "Xid {}".format(number)


QUICK = (check_accelerators, check_mounts)
ALL = (check_accelerators, check_mounts, check_space, check_services, check_xids)


def judge(settings, checks):
    """Every reason why the node is unhealthy; a check that fails itself is one."""
    reasons = []
    for check in checks:
        try:
            reasons.extend(check(settings))
        except Exception as error:  # a node that cannot be judged is not healthy
            reasons.append("{}: {}".format(check.__name__, error))
    return reasons


def drain(node, reasons):
    """Drain the node with the reasons; whether Slurm has it so now.

    A node that somebody has drained keeps its reason; the word of a failed prolog, which says
    nothing, is replaced.
    """
    code, told = run("scontrol", "--oneliner", "show", "node", node)
    if code != 0:
        sys.stderr.write(told)
        return False
    state = re.search(r"State=(\S+)", told)
    reason = re.search(r"\sReason=(.*?)\s*(?:\[[^\]]*\]\s*)?$", told)
    drained = state is not None and "DRAIN" in state.group(1)
    said = reason.group(1) if reason else ""
    wanted = shorten(OWN + "; ".join(reasons))
    if drained and said != "Prolog error" and not said.startswith(OWN):
        return True
    if drained and said == wanted:
        return True
    code, told = run("scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=" + wanted)
    sys.stderr.write(told)
    return code == 0


def shorten(text):
    """``text`` as Slurm can hold it on one line."""
    return re.sub(r"[^\x20-\x7e]|[\"'\\=]", " ", text)[:LONGEST_REASON].rstrip()


def main(arguments=None):
    """0 for a healthy node, 1 for another one, 2 where it cannot be judged."""
    parser = argparse.ArgumentParser(description="Judge this node.")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--prolog", action="store_true", help="only what is quick; tell nobody")
    how.add_argument("--print", action="store_true", dest="show", help="print; tell nobody")
    parser.add_argument("--settings", default=SETTINGS, help="what is meant")
    options = parser.parse_args(arguments)
    try:
        with open(options.settings) as file:
            settings = json.load(file)
    except (OSError, ValueError) as error:
        sys.stderr.write("{}: {}\n".format(options.settings, error))
        return BROKEN
    reasons = judge(settings, QUICK if options.prolog else ALL)
    for reason in reasons:
        print(reason)
    if not reasons:
        return 0
    if not (options.prolog or options.show):
        drain(settings["node"], reasons)
    return 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a thread that waits for a dead file system must not keep us
