"""``check`` as a whole process: large clusters against the limits, start-up against Python's own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bench.peers import launch
from rackwright.model.names import compress_hostlist

pytestmark = pytest.mark.bench

LIMIT_S, LIMIT_MIB = 2.0, 1024
RACKS_PER_ROW, ROWS_PER_HALL, NODES_PER_RACK = 20, 40, 4
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "5"))


def row_sources(row: int) -> list[dict[str, Any]]:
    """Three RPPs of one row, each behind a UPS of its own."""
    made: list[dict[str, Any]] = []
    for lane in "abc":
        ups = f"ups-{lane}-{row}"
        modules = {"count": 6, "capacity": "100 kW", "spare": 1}
        made.append({"name": ups, "kind": "ups", "fed_by": ["utility"], "modules": modules})
        circuit = {"voltage": "415 V", "current": "1600 A", "phases": 3}
        rpp = {"name": f"rpp-{lane}-{row}", "kind": "rpp", "fed_by": [ups], "circuit": circuit}
        made.append(rpp)
    return made


def rack_group(row: int, racks: list[str]) -> dict[str, Any]:
    return {
        "racks": compress_hostlist(racks),
        "type": "rack-48u",
        "feeds": [
            {
                "name": lane.upper(),
                "source": f"rpp-{lane}-{row}",
                "pdu": "pdu-415v-60a-24c19",
                "circuit": {"voltage": "415 V", "current": "60 A", "phases": 3},
            }
            for lane in "abc"
        ],
        "cooling": {"mode": "air", "power_limit": "45 kW"},
        "blanking": True,
        "aisle_depth": "0.6 m",
        "cable_allowance": "100 mm",
    }


def cluster(racks: int) -> dict[str, Any]:
    """``racks`` racks of four DGX H100 in rows of twenty, forty rows in a hall."""
    names = [f"c{number:04}" for number in range(1, racks + 1)]
    rows = [names[start : start + RACKS_PER_ROW] for start in range(0, racks, RACKS_PER_ROW)]
    halls: list[dict[str, Any]] = []
    for first in range(0, len(rows), ROWS_PER_HALL):
        members = [
            {"name": f"row-{n}", "rack_groups": [rack_group(n, rows[n])]}
            for n in range(first, min(first + ROWS_PER_HALL, len(rows)))
        ]
        air = {
            "type": "crah-spec-100kw",
            "count": 10 * len(members),
            "inlet_temperature": "24 °C",
            "temperature_rise": "14 K",
            "ashrae_class": "A2",
            "containment": "hot-aisle",
        }
        floor = {"uniform": "1221 kg/m2", "concentrated": "680 kg", "rolling": "680 kg"}
        halls.append({"name": f"hall-{len(halls)}", "air": air, "floor": floor, "rows": members})
    utility = {"name": "utility", "kind": "utility", "capacity": "300 MW"}
    power = {
        "continuous_derate": "80 %",
        "power_factor": 0.95,
        "contract": "300 MW",
        "sources": [utility, *(s for row in range(len(rows)) for s in row_sources(row))],
    }
    nodes = {
        "name": "dgx",
        "role": "compute",
        "type": "dgx-h100",
        "count": NODES_PER_RACK * racks,
        "racks": compress_hostlist(names),
        "per_rack": NODES_PER_RACK,
    }
    site = {
        "name": "big",
        "provider": "onprem",
        "altitude": "30 m",
        "pue": 1.3,
        "power": power,
        "halls": halls,
        "node_groups": [nodes],
    }
    return {"apiVersion": "rackwright/v1", "name": "bench", "sites": [site]}


def write(folder: Path, racks: int) -> Path:
    import yaml

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    path = folder / f"cluster-{racks}.yaml"
    path.write_text(yaml.dump(cluster(racks), Dumper=Plain, sort_keys=False, allow_unicode=True))
    return path


def measure(*command: object) -> tuple[float, float, int, str]:
    """Seconds, peak MiB, exit code and output of a whole process of this Python, with bytecode kept as usual."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        report = Path(folder) / "cost.json"
        process = subprocess.Popen(
            [
                str(one)
                for one in (
                    sys.executable,
                    "-I",
                    "-S",
                    launch.__file__,
                    report,
                    sys.executable,
                    *command,
                )
            ],
            env={key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
            stdout=subprocess.PIPE,
            stderr=said,  # a full pipe of errors would hold the process
        )
        output, _ = process.communicate()
        cost = json.loads(report.read_text())
        said.seek(0)
        assert "Traceback" not in said.read().decode()
    return cost["wall_s"], cost["peak_mib"], cost["code"], output.decode()


def test_check_of_12500_nodes(tmp_path: Path) -> None:
    path = write(tmp_path, 3125)
    runs = [measure("-m", "rackwright", "check", path, "--json") for _ in range(RUNS + 1)][1:]
    took, peak = statistics.median(r[0] for r in runs), max(r[1] for r in runs)
    print(
        f"\ncheck of 12,500 nodes ({path.stat().st_size // 1024} KiB of YAML): "
        f"median {took:.2f} s, {took / LIMIT_S:.2f} of {LIMIT_S:.0f} s; "
        f"peak {peak:.0f} MiB, {peak / LIMIT_MIB:.2f} of {LIMIT_MIB} MiB"
    )
    code, output = runs[0][2:]
    assert code in {0, 5, 6}
    judged = {result["subject"] for result in json.loads(output)["results"]}
    assert len(judged) > 157, "every row is judged"


def test_start_up(tmp_path: Path) -> None:
    path = write(tmp_path, 250)
    commands: dict[str, tuple[object, ...]] = {
        "python -c pass": ("-c", "pass"),
        "--help": ("-m", "rackwright", "--help"),
        "check of 1,000 nodes": ("-m", "rackwright", "check", path),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS + 1):  # the first one compiles
        for name, command in commands.items():
            times[name].append(measure(*command)[0])
    medians = {name: statistics.median(taken[1:]) for name, taken in times.items()}
    base = medians["python -c pass"]
    print()
    for name, taken in medians.items():
        print(f"{name}: {1000 * taken:.0f} ms, {taken / base:.1f} times 'python -c pass'")
