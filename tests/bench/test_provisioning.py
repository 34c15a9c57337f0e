"""Time and memory of deciding for 12,500 hosts, with Ironic in this process.

pytest -m bench -s tests/bench/test_provisioning.py
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from pathlib import Path

import pytest

from provisioned_hall import Hall
from rackwright.metal.waves import PowerLimits, PowerPlace

pytestmark = pytest.mark.bench

HOSTS = 12_500


def test_12500_hosts_go_through_every_step(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    first, seen = hall.plans[0], hall.seen["dgx-01"]
    plans = []
    for number in range(HOSTS):
        octets = f"{number >> 8}.{number & 255}"
        machine = replace(
            first.machine, host=f"n{number:05}", rack=f"c{number // 4:04}", bmc=f"10.0.{octets}"
        )
        feeds = (f"rpp{number // 400}-a", f"rpp{number // 400}-b")
        plans.append(replace(first, machine=machine, place=PowerPlace(machine.rack, feeds)))
        mac = f"b8:3f:d2:00:{number >> 8:02x}:{number & 255:02x}"
        hall.seen[machine.host] = replace(
            seen, address=f"10.0.{octets}", serial=f"S{number}", mac=mac, rack=machine.rack
        )
    hall.plans = tuple(plans)
    hall.provisioning = hall.provisioning.model_copy(update={"at_once": 2_000})
    wall, cpu = time.monotonic(), time.process_time()
    names = [plan.name for plan in plans]
    outcome = hall.provision(names, PowerLimits(512, per_rack=2, per_feed=32), now=time.time)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n{HOSTS:,} hosts: {time.monotonic() - wall:.0f} s, {time.process_time() - cpu:.0f} s of CPU, "
        f"{memory:.0f} MiB, {len(hall.pauses):,} pauses"
    )
    assert outcome.failed == {}
    assert len(outcome.records) == HOSTS
    assert hall.ironic.most_switching <= 512
