"""Load on processors, memory modules and drives of a node, and DCGM's own diagnostics."""

import glob
import hashlib
import json
import os
import re
import time

from arithmetic import Numpy
from checks import memory
from programs import Unable, read, run


def cpu(request):
    """Run one chain of digests and products on each processor; all of them must end alike."""
    cores = sorted(os.sched_getaffinity(0))
    ends = {core: fork_chain(core, request["seconds"]) for core in cores}
    told = {}
    for core, (pid, end) in ends.items():
        with os.fdopen(end) as file:
            told[core] = dict(line.split() for line in file if line.strip())
        os.waitpid(pid, 0)
    # Faster cores get further: the rounds that all have reached are compared.
    rounds = set.intersection(*[set(known) for known in told.values()])
    if not rounds:
        raise Unable("a processor has not finished a round within {} s".format(request["seconds"]))
    wrong = set()
    for number in rounds:
        votes = [known[number] for known in told.values()]
        common = max(set(votes), key=votes.count)
        wrong |= {core for core, known in told.items() if known[number] != common}
    return {"cores": len(cores), "rounds": len(rounds), "wrong_cores": sorted(wrong)}


def fork_chain(core, seconds):
    """Return the number of a process that works on one processor, and what it can be read from."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        os.close(reading)
        os.sched_setaffinity(0, {core})
        with os.fdopen(writing, "w") as file:
            file.writelines(chain(seconds))
    finally:
        os._exit(0)


def chain(seconds):
    """Yield the number of each round with its digest, until the time is over."""
    until, state, number = time.time() + seconds, b"rackwright", 0
    while time.time() < until or number == 0:
        for _ in range(2000):
            state = hashlib.sha256(state).digest()
        value = 1.0 + state[0] / 256.0
        for step in range(1, 20000):
            value = (value * 1.0000001 + step) % 97.3 + 1.0 / (value + 1.0)
        state = hashlib.sha256(state + value.hex().encode()).digest()
        number += 1
        yield "{} {}\n".format(number, state.hex())


def dimm(request):
    """Test memory of the node by patterns, and count what its controllers have corrected meanwhile."""
    before = edac_counts()
    found = memory(Numpy(), dict(request, share=0.5), request["dimm_mib"] * 2**20)
    after = edac_counts()
    found["controllers"] = len({name.split("/")[0] for name in after})
    found["errors"] = {
        name: count - before.get(name, 0)
        for name, count in sorted(after.items())
        if count > before.get(name, 0)
    }
    return found


def edac_counts(root="/sys/devices/system/edac/mc"):
    """Return errors by memory controller or DIMM and kind, with the DIMM's label where it has one."""
    found = {}
    for path in glob.glob(root + "/mc*/*_count") + glob.glob(root + "/mc*/dimm*/dimm_*_count"):
        kind = re.search(r"(ce|ue)_count$", path)
        if kind is None:
            continue
        folder = os.path.dirname(path)
        label = os.path.join(folder, "dimm_label")
        name = os.path.relpath(folder, root)
        if os.path.exists(label):
            name += " " + read(label).strip()
        found["{} {}".format(name, kind.group(1))] = int(read(path))
    return found


def storage(request):
    """Write and read a file with checks: by fio, or by this program."""
    folder, size = request["folder"], request["storage_mib"] * 2**20
    if folder is None:
        raise Unable("no folder is named for the storage test")
    path = os.path.join(folder, "rackwright-burn-in.{}".format(os.getpid()))
    try:
        try:
            return fio(path, size)
        except Unable:
            return plain_storage(path, size)
    except OSError as error:
        raise Unable("{}: {}".format(folder, error.strerror))
    finally:
        for left in glob.glob(path + "*"):
            os.unlink(left)


def fio(path, size):
    """Return the rates of fio in 10^9 bytes a second; it checks what it reads by CRC32C."""
    found = {"bytes": size, "program": "fio", "wrong_blocks": 0}
    for way, more in (
        ("write", ["--do_verify=0", "--end_fsync=1"]),
        ("read", ["--verify_fatal=0"]),
    ):
        told = run(
            "fio", "--name=burn-in", "--filename=" + path, "--rw=" + way, "--bs=1M", "--size={}".format(size), "--direct=1",
            "--ioengine=psync", "--verify=crc32c", "--output-format=json", *more, limit_s=600, codes=(0, 1),
        )  # fmt: skip
        job = json.loads(told[told.index("{") :])["jobs"][0]
        found[way + "_gb_s"] = round(job[way]["bw_bytes"] / 1e9, 3)
        found["wrong_blocks"] += int(job.get("total_err", 0))
    return found


def plain_storage(path, size):
    """Write blocks that name themselves, and read them past the cache."""
    block, blocks, wrong = 2**20, size // 2**20, 0
    began = time.perf_counter()
    with open(path, "wb") as file:
        for number in range(blocks):
            file.write(hashlib.sha256(str(number).encode()).digest() * (block // 32))
        file.flush()
        os.fsync(file.fileno())
        wrote = time.perf_counter() - began
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    began = time.perf_counter()
    with open(path, "rb") as file:
        for number in range(blocks):
            wrong += file.read(block) != hashlib.sha256(str(number).encode()).digest() * (
                block // 32
            )
    read = time.perf_counter() - began
    return {
        "bytes": size, "program": "own", "wrong_blocks": wrong, "write_gb_s": round(size / wrote / 1e9, 3),
        "read_gb_s": round(size / read / 1e9, 3),
    }  # fmt: skip


def dcgm(request):
    """Run DCGM's diagnostics at a level, and return the tests that did not pass."""
    level = request["dcgm_level"]
    if not level:
        raise Unable("no level of DCGM is asked for")
    told = run("dcgmi", "diag", "--run", str(level), "--json", limit_s=7200, codes=range(256))
    try:
        tree = json.loads(told[told.index("{") :])
    except ValueError:
        raise Unable("dcgmi: {}".format(" ".join(told.split())[:200]))
    outcomes = list(outcomes_of(tree, ""))
    if not outcomes:
        raise Unable("dcgmi names no test")
    return {
        "level": level,
        "tests": len(outcomes),
        "failed": sorted({name for name, state in outcomes if state == "fail"}),
    }


def outcomes_of(tree, name):
    """Yield the name of each test with a status, in small letters, wherever the release writes it."""
    if isinstance(tree, dict):
        own = tree.get("name") or name
        if isinstance(tree.get("status"), str):
            yield str(own), tree["status"].lower()
        for value in tree.values():
            for one in outcomes_of(value, own):
                yield one
    elif isinstance(tree, list):
        for value in tree:
            for one in outcomes_of(value, name):
                yield one
