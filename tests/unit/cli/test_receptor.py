"""``rackwright receptor``: folders of the nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.cli import main

WORKERS = """
apiVersion: rackwright/v1
head: {address: 10.0.0.1}
workers:
  - {node: hall-a, hosts: [hall_x_a]}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "workers.yaml"
    path.write_text(WORKERS)
    return path


def test_each_node_gets_a_folder(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = tmp_path / "nodes"
    assert main(["receptor", str(file), "--output", str(nodes)]) == 0
    assert capsys.readouterr().out == (
        f"controller: {nodes}/controller (new certificate)\n"
        f"hall-a: {nodes}/hall-a (new certificate)\n"
    )
    assert nodes.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in (nodes / "hall-a").iterdir()) == [
        *("ca.crt", "node.crt", "node.key", "receptor.service", "receptor.yml", "signing.pub")
    ]
    assert (nodes / "controller/signing.key").is_file()
    assert not (nodes / "hall-a/signing.key").exists()

    before = {path: path.stat().st_mtime_ns for path in nodes.rglob("receptor.*")}
    certificate = (nodes / "hall-a/node.crt").read_bytes()
    assert main(["receptor", str(file), "--output", str(nodes)]) == 0
    assert "new certificate" not in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert (nodes / "hall-a/node.crt").read_bytes() == certificate

    assert main(["receptor", str(file), "--output", str(nodes), "--renew"]) == 0
    assert (nodes / "hall-a/node.crt").read_bytes() != certificate


def test_a_wrong_file_is_refused_with_its_place(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(WORKERS.replace("hall_x_a", "hall x"))
    assert main(["receptor", str(file), "--output", str(tmp_path / "nodes")]) == 2
    assert f"{file}:5:" in capsys.readouterr().err
    assert not (tmp_path / "nodes").exists()
