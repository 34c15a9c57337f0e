"""The workload that ``predict --write-astra`` writes, read by MLCommons' own converter and schema (``mlc-chakra`` 1.0.0).

    pytest -m bench -s tests/bench/test_chakra.py

It installs the package into an environment of its own. ASTRA-sim itself has no package to install.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.astra import astra_files

pytestmark = pytest.mark.bench

PACKAGES = ("mlc-chakra==1.0.0", "protobuf>=6.31,<7")
READ = """\
import json, sys
from chakra.schema.protobuf.et_def_pb2 import GlobalMetadata, Node
from chakra.src.converter.text_converter import TextConverter
from chakra.src.third_party.utils.protolib import decodeMessage
TextConverter("workload.txt", "trace", 2, 1).convert()
nodes = []
with open("trace.1.et", "rb") as file:
    decodeMessage(file, GlobalMetadata())
    while decodeMessage(file, node := Node()):
        nodes.append(node)
print(json.dumps({"nodes": len(nodes), "micros": sum(node.duration_micros for node in nodes)}))
"""


def test_chakra_reads_the_workload(tmp_path: Path) -> None:
    own = tmp_path / "packages"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(own),
        *PACKAGES,
    ]
    subprocess.run(pip, check=True, capture_output=True)
    (found,) = load_plan(builtin_pack() / "fixtures/workloads.yaml").plan.predictions
    files = astra_files(found)
    assert files is not None
    (tmp_path / "workload.txt").write_text(files["workload.txt"])
    ended = subprocess.run(
        [sys.executable, "-c", READ], cwd=tmp_path, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(own)},
    )  # fmt: skip
    read = json.loads(ended.stdout)
    rows = [row.split() for row in files["workload.txt"].splitlines()[2:]]
    assert read["micros"] == sum(int(row[column]) for row in rows for column in (2, 5, 8))
    assert read["nodes"] == 6 * len(rows) - 1
    print(f"Chakra read {read['nodes']} nodes, {read['micros'] / 1e6:.3f} s of compute")
