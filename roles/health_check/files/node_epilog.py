#!/usr/bin/python3
"""Slurm's epilog: take away what a job has left on this node.

It ends processes of the job's user that belong to no other job of that user, and removes what the user left
in shared memory once no other job of the user is there. Containers that pyxis made for the job go with it.

It speaks to no controller and never fails the node: it ends with 0. Users of the system are left alone. Any
Python from 3.6 on runs this.
"""

import contextlib
import os
import re
import shutil
import signal
import sys
import time

FIRST_UID = 1000
GRACE_S = 2
EXEC_S = 0.1
SHARED_MEMORY = "/dev/shm"  # what jobs leave there is looked for # nosec B108
CONTAINERS = "/var/lib/enroot/data"
RUNTIME = "/run/enroot"


def job_of(pid):
    """Return the job that a process belongs to, as text; None where it belongs to none.

    A process is in the control group of its job, or has its number in the environment.
    """
    in_group = re.search(r"/job_(\d+)(?:/|$)", read("/proc/{}/cgroup".format(pid)), re.MULTILINE)
    if in_group:
        return in_group.group(1)
    for word in read("/proc/{}/environ".format(pid)).split("\0"):
        if word.startswith("SLURM_JOB_ID="):
            return word.partition("=")[2]
    return None


def read(path):
    """Return the text of a file of the kernel; empty where the process has gone."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def processes_of(uid):
    """Return the job of each process of a user, by its number."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat("/proc/" + name).st_uid == uid:
                    found[int(name)] = job_of(name)
            except OSError:  # it has gone
                pass
    # One that is just being replaced by another program has no environment for a moment.
    unclaimed = [pid for pid, job in found.items() if job is None]
    if unclaimed:
        time.sleep(EXEC_S)
        found.update((pid, job_of(pid)) for pid in unclaimed)
    return found


def end(pids):
    """End processes, by force after a while."""
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 0)):
        for pid in pids:
            with contextlib.suppress(OSError):  # it has gone
                os.kill(pid, number)
        until = time.monotonic() + wait_s
        while time.monotonic() < until and any(os.path.exists("/proc/{}".format(p)) for p in pids):
            time.sleep(0.1)


def remove(folder, wanted):
    """Remove entries of a folder of which ``wanted`` says so; links are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if not wanted(entry):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
        except OSError as error:
            sys.stderr.write("{}\n".format(error))


def main():
    """Clean up after the job that the environment names."""
    job = os.environ.get("SLURM_JOB_ID", "")
    uid = int(os.environ.get("SLURM_JOB_UID", "0"))
    if not job.isdigit() or uid < FIRST_UID:
        return
    processes = processes_of(uid)
    others = {other for other in processes.values() if other not in (None, job)}
    # One that no job claims may be of another job that is there, whose first process forked it.
    left = [
        pid for pid, owner in processes.items() if owner == job or (owner is None and not others)
    ]
    end([pid for pid in left if pid != os.getpid()])
    container = re.compile(r"pyxis_{}(\D|$)".format(job))
    remove(os.path.join(CONTAINERS, str(uid)), lambda entry: container.match(entry.name))
    if not others:
        remove(SHARED_MEMORY, lambda entry: entry.stat(follow_symlinks=False).st_uid == uid)
        remove(RUNTIME, lambda entry: entry.name == "user-{}".format(uid))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # a node is not drained for what could not be cleaned up
        sys.stderr.write("{}: {}\n".format(type(error).__name__, error))
