"""``verify --managers``: UFM and NMX answer as NVIDIA's guides document, wrongly, or not at all."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.accept.compare import HostAcceptance, ItemOutcome
from rackwright.accept.fabric_managers import judge_managers, needed_managers
from rackwright.errors import UsageError
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.resources import bundled

UFM: Mapping[str, Any] = {
    "/ufmRest/app/ufm_version": {"opensm": "5.20.0_ef1f438", "ufm_release_version": "6.18.0-5", "plugins": {}},
    "/ufmRest/app/alarms": [
        {"id": 3, "type": "IBPort", "name": "Link HW Error", "reason": "Link-Downed counter delta threshold exceeded.",
         "severity": "Warning", "object_path": "Computer: r-ufm77 / mlx5_0"},
    ],
    "/ufmRest/app/unhealthy_ports": [],
}  # fmt: skip
NMX: Mapping[str, Any] = {
    "/nmx/v1/services": [
        {"Status": "UP", "Name": "rack-1", "ServiceType": "CONTROLLER", "StatusInfo": "", "Address": "10.1.1.1"},
        {"Status": "UP", "Name": "rack-1-t", "ServiceType": "TELEMETRY", "StatusInfo": "", "Address": "10.1.1.1"},
    ],
    "/nmx/v1/partitions": [{"Name": "default", "Health": "HEALTHY"}],
}  # fmt: skip
TELEMETRY: Mapping[str, Any] = {"/healthcheck": {"status": 0, "message": "OK"}}
PASSWORD = "not-a-real-one"


@contextlib.contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[tuple[str, list[str | None]]]:
    """Serve answers on loopback; yield the address and the logins that came."""
    logins: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            logins.append(self.headers["Authorization"])
            known = self.path in answers
            body = json.dumps(answers.get(self.path)).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", logins
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(builtin_pack() / "fixtures/fabric.yaml").plan


def asked(plan: Plan, folder: Path, kind: str, answers: Mapping[str, Any]) -> HostAcceptance:
    (folder / "password").write_text(f"{PASSWORD}\n")
    (folder / "password").chmod(0o600)
    with serving(answers) as (url, logins):
        access = {"kind": kind, "url": url, "user": "reader", "password_file": "password"}
        (folder / "managers.yaml").write_text(yaml.safe_dump({"managers": {"m": access}}))
        (found,) = judge_managers(plan, folder / "managers.yaml")
    pair = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    assert set(logins) == {f"Basic {pair}"}
    return found


@pytest.mark.parametrize(("kind", "answers"), [("ufm", UFM), ("nmx-m", NMX), ("nmx-t", TELEMETRY)])
def test_documented_answers_of_a_sound_manager_pass(plan: Plan, tmp_path: Path, kind: str, answers: Mapping[str, Any]) -> None:  # fmt: skip
    found = asked(plan, tmp_path, kind, answers)
    assert found.outcome is ItemOutcome.PASS, found
    assert len(found.items) == len(answers)


ALARM = {"id": 2, "name": "System Module Error", "reason": "Module PS 1 on leaf-3 status is fatal",
         "severity": "Critical", "object_path": "Switch: leaf-3"}  # fmt: skip
PORT = {"UnhealthyNode": "gpu-1 mlx5_0", "UnhealthyPortNumber": 1, "Condition": ["FLAPPING"]}


@pytest.mark.parametrize(
    ("kind", "answers", "reason"),
    [
        ("ufm", {**UFM, "/ufmRest/app/alarms": [ALARM]}, "Switch: leaf-3: Module PS 1 on leaf-3 status is fatal"),
        ("ufm", {**UFM, "/ufmRest/app/unhealthy_ports": [PORT] * 5},
         "gpu-1 mlx5_0 port 1 (FLAPPING); gpu-1 mlx5_0 port 1 (FLAPPING); gpu-1 mlx5_0 port 1 (FLAPPING), and 2 more"),
        ("nmx-m", {**NMX, "/nmx/v1/services": [{**NMX["/nmx/v1/services"][0], "Status": "DOWN"}, NMX["/nmx/v1/services"][1]]},
         "rack-1 (CONTROLLER) is DOWN: no reason"),
        ("nmx-m", {**NMX, "/nmx/v1/partitions": [{"Name": "default", "Health": "DEGRADED"}]}, "default is DEGRADED"),
        ("nmx-t", {"/healthcheck": {"status": 2, "message": "no sampling"}}, "status 2: no sampling"),
    ],
)  # fmt: skip
def test_fault_that_a_manager_tells_fails(
    plan: Plan, tmp_path: Path, kind: str, answers: Mapping[str, Any], reason: str
) -> None:
    found = asked(plan, tmp_path, kind, answers)
    assert [item.reason for item in found.failures] == [reason]


@pytest.mark.parametrize(
    ("kind", "answers", "reason"),
    [
        ("ufm", {**UFM, "/ufmRest/app/alarms": {"error": "no"}}, "/ufmRest/app/alarms: the answer is not a list"),
        ("ufm", {**UFM, "/ufmRest/app/alarms": [{**ALARM, "severity": "Fatal"}]},
         "/ufmRest/app/alarms: the severity 'Fatal' is not known"),
        ("ufm", {**UFM, "/ufmRest/app/ufm_version": {"release": "7"}},
         "/ufmRest/app/ufm_version: an answer of another shape"),
        ("ufm", {key: UFM[key] for key in list(UFM)[:2]}, "/ufmRest/app/unhealthy_ports: it answers with status 404"),
        ("nmx-m", {**NMX, "/nmx/v1/services": NMX["/nmx/v1/services"][:1]},
         "/nmx/v1/services: no service of type TELEMETRY is registered"),
        ("nmx-m", {**NMX, "/nmx/v1/partitions": []}, "/nmx/v1/partitions: there is no partition"),
        ("nmx-m", {**NMX, "/nmx/v1/partitions": [{"Name": "x", "Health": "PARKED"}]},
         "/nmx/v1/partitions: the health 'PARKED' is not known"),
    ],
)  # fmt: skip
def test_answer_that_is_not_documented_is_unknown(
    plan: Plan, tmp_path: Path, kind: str, answers: Mapping[str, Any], reason: str
) -> None:
    found = asked(plan, tmp_path, kind, answers)
    assert found.outcome is ItemOutcome.UNKNOWN
    assert [item.reason for item in found.items if item.outcome is ItemOutcome.UNKNOWN] == [reason]


def test_manager_that_does_not_answer_is_unknown(plan: Plan, tmp_path: Path) -> None:
    with serving({}) as (url, _):
        pass
    (tmp_path / "managers.yaml").write_text(yaml.safe_dump({"managers": {"m": {"kind": "ufm", "url": url}}}))  # fmt: skip
    (found,) = judge_managers(plan, tmp_path / "managers.yaml")
    assert found.outcome is ItemOutcome.UNKNOWN


def test_password_is_not_sent_in_the_clear(plan: Plan, tmp_path: Path) -> None:
    access = {"kind": "ufm", "url": "http://ufm-1", "user": "a", "password_file": "password"}
    (tmp_path / "managers.yaml").write_text(yaml.safe_dump({"managers": {"m": access}}))
    with pytest.raises(UsageError, match="in the clear"):
        judge_managers(plan, tmp_path / "managers.yaml")


def of_template(name: str, folder: Path) -> Plan:
    place = bundled("templates") / f"blueprints/{name}/template-test.yaml"
    answers = next(iter(yaml.safe_load(place.read_text())["cases"].values()))
    return load_plan(write_blueprint(find_template(name), folder / name, answers)[0]).plan


def test_manager_that_the_plan_needs_and_no_file_names_is_unknown(tmp_path: Path) -> None:
    """UFM and NMX were skipped in silence."""
    made = of_template("onprem-gb200-nvl72", tmp_path)
    (found,) = judge_managers(made, None)
    assert found.outcome is ItemOutcome.UNKNOWN
    assert found.items[0].reason == "no 'nmx-m' is in the file of '--managers'"
    superpod = load_plan(Path(__file__).parents[3] / "docs/examples/superpod-dgx-h100.yaml").plan
    assert set(needed_managers(superpod)) == {("UFM of compute", "ufm"), ("UFM of storage", "ufm")}
    assert list(needed_managers(of_template("onprem-h100", tmp_path))) == []
