"""Load the hardware of a node and check every result: ``burn_in.py REQUEST``.

It runs inside a job of Slurm on the node under test, with any Python from 3.6 on. Accelerators need PyTorch,
of CUDA or of ROCm; processors and their memory need numpy. It knows no limit: it reports rates, digests and
wrong values, and None, with the reason under ``problems``, for a step that cannot run.

The request is a JSON object: ``steps`` (names of ``STEPS``), ``seconds`` of each load, ``size`` of matrices,
``calls`` (least number of checked products), ``share`` of the memory of an accelerator, ``dimm_mib`` of
memory of the node, ``folder`` and ``storage_mib`` of the storage test, ``cycles`` of load, or
``duration_s`` of them, with ``rest_s`` between them, ``dcgm_level``. ``flip`` makes the program corrupt one of
its own results: a check that does not find it is broken.
"""

import csv
import json
import os
import socket
import sys
import time

from arithmetic import Numpy, accelerators
from checks import copy, gemm, memory
from node_parts import cpu, dcgm, dimm, storage
from programs import Unable, run

SCHEMA = "rackwright.burn-in/v1"
LINE = 700
"""Characters of the report on one line: srun keeps lines of several nodes apart up to about 1,000."""

DEFAULTS = {
    "steps": ["cpu", "dimm", "storage", "gemm", "memory", "copy"],
    "seconds": 10, "size": 8192, "calls": 20, "share": 0.9, "dimm_mib": 1024, "folder": None,
    "storage_mib": 256, "cycles": 1, "duration_s": 0, "rest_s": 0, "dcgm_level": 0, "flip": None,
}  # fmt: skip


SAMPLES = 10
"""Cycles, the last ones, of which the state of the GPUs is kept."""
SAMPLED = ("uuid", "serial", "temperature.gpu", "temperature.memory", "clocks.sm", "power.draw")


def sample():
    """Return the state of each NVIDIA GPU under load; empty where nvidia-smi is not there."""
    try:
        told = run(
            "nvidia-smi", "--query-gpu=" + ",".join(SAMPLED), "--format=csv,noheader,nounits"
        )
    except Unable:
        return []
    rows = csv.DictReader(told.splitlines(), SAMPLED, skipinitialspace=True)
    return [dict(row) for row in rows]


OF_NODE = {"cpu": cpu, "dimm": dimm, "storage": storage, "dcgm": dcgm}
OF_DEVICE = {"gemm": gemm, "memory": memory, "copy": copy}
STEPS = tuple(OF_NODE) + tuple(OF_DEVICE)


def burn_in(request):
    """Run the steps of a request; the report."""
    request = dict(DEFAULTS, **request)
    unknown = set(request["steps"]) - set(STEPS)
    if unknown:
        raise Unable("there is no step '{}'".format(min(unknown)))
    report = {
        "schema": SCHEMA, "node": os.environ.get("SLURMD_NODENAME") or socket.gethostname(),
        "steps": {}, "devices": [], "problems": {}, "samples": [],
    }  # fmt: skip
    # Processors come first: a process that has opened an accelerator must not be forked.
    for name in (one for one in request["steps"] if one in OF_NODE):
        attempt(
            report["steps"],
            report["problems"],
            name,
            name,
            lambda step=OF_NODE[name]: step(request),
        )
    wanted = [one for one in request["steps"] if one in OF_DEVICE]
    if not wanted:
        return report
    try:
        devices = accelerators()
    except Unable as error:
        report["problems"]["accelerators"] = str(error)
        try:
            devices = [Numpy()]
        except Unable as other:
            report["problems"]["processors"] = str(other)
            devices = []
    for device in devices:
        known = dict(device.describe(), index=device.index, kind=device.kind, steps={})
        report["devices"].append(known)
    cycle, until = 0, time.time() + request["duration_s"]
    while cycle < request["cycles"] or time.time() < until:
        if cycle:
            time.sleep(request["rest_s"])
        for number, device in enumerate(devices):
            known = report["devices"][number]
            for name in (one for one in wanted if device.kind == "accelerator" or one == "gemm"):
                label = "{} {} {}".format(device.kind, device.index, name)
                attempt(
                    known["steps"], report["problems"], name, label,
                    lambda step=OF_DEVICE[name], on=device: step(on, request), merged if cycle else None,
                )  # fmt: skip
        report["samples"] = [*report["samples"], sample()][-SAMPLES:]
        cycle += 1
    report["cycles"] = cycle
    return report


def attempt(steps, problems, name, label, step, merge=None):
    """Run one step, so that one that fails hides no other."""
    try:
        found = step()
        steps[name] = merge(steps.get(name), found) if merge else found
    except Unable as error:
        steps[name], problems[label] = None, str(error)
    except Exception as error:  # a driver's complaint is a result, too
        steps[name] = None
        problems[label] = "{}: {}".format(type(error).__name__, " ".join(str(error).split())[:300])


def merged(before, after):
    """Join two cycles of a step: counts are added, of rates the lower stays, digests must agree."""
    if before is None or after is None:
        return None
    joined = dict(after)
    for name, value in before.items():
        if isinstance(value, dict) and isinstance(after.get(name), dict):
            joined[name] = merged(value, after[name])
        elif name.startswith("wrong") or name in ("calls", "exact_wrong_rows"):
            joined[name] = value + after[name]
        elif name.endswith("_s"):
            joined[name] = min(value, after[name])
        elif name == "digest" and value != after[name]:
            joined["wrong_calls"] = after["wrong_calls"] + before["wrong_calls"] + 1
        elif name == "first_wrong":
            joined[name] = value or after[name]
    return joined


def printed(report):
    """Yield the report in short lines, each with the node and its number, which several nodes may mix."""
    text = json.dumps(report, separators=(",", ":"))
    parts = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    for number, part in enumerate(parts, 1):
        yield "{} {} {}/{} {}\n".format(SCHEMA, report["node"], number, len(parts), part)


def main(arguments):
    """Print the report of a request."""
    try:
        sys.stdout.writelines(printed(burn_in(json.loads(arguments[0]))))
    except Unable as problem:
        sys.exit("burn_in.py: {}".format(problem))


if __name__ == "__main__":
    main(sys.argv[1:])
