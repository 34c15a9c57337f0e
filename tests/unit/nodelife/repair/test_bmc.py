"""Power by a BMC: what is refused before a password is sent, and what is told of one that does not answer."""

from __future__ import annotations

import base64
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from node_life import TABLE, open_journal
from rackwright.errors import SpecErrors, UsageError
from rackwright.nodelife.redfish import Manners
from rackwright.nodelife.repair.actuator import ActionError
from rackwright.nodelife.repair.bmc import POLL_S, Bmc, BmcAccess, BmcPoller, read_bmcs
from rackwright.nodelife.repair.journal import Journal


class Controller(HTTPServer):
    systems = 1
    code = 200
    asked: list[tuple[str, str, str]]
    resources: dict[str, dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    server: Controller

    def _answer(self, body: str = "") -> None:
        head = self.headers["Authorization"]
        root = self.path == "/redfish/v1/"
        login = "" if head is None else base64.b64decode(head.partition(" ")[2]).decode()
        self.server.asked.append((self.path, login, body))
        data = self.server.resources.get(self.path, {"PowerState": "On"})
        if self.path.endswith("/Systems"):
            members = [
                {"@odata.id": f"/redfish/v1/Systems/{n}"} for n in range(self.server.systems)
            ]
            data = {"Members": members}
        elif self.path.startswith("/redfish/v1/Systems/"):
            data = {"@odata.id": self.path, "PowerState": "On"}
        elif root:
            kinds = ("Systems", "Managers", "Chassis")
            data = {"RedfishVersion": "1.15.0"}
            data |= {kind: {"@odata.id": f"/redfish/v1/{kind}"} for kind in kinds}
        text = json.dumps(data).encode()
        self.send_response(200 if root else self.server.code)
        self.send_header("Location", "http://127.0.0.1:1/redfish/v1/stolen")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Controller]:
    made = Controller(("127.0.0.1", 0), Handler)
    made.asked, made.resources = [], {}
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def bmc(folder: Path, url: str, mode: int = 0o600) -> Bmc:
    (folder / "password").write_text("secret\n")
    (folder / "password").chmod(mode)
    return Bmc("n1", BmcAccess(url=url, user="repair", password_file="password"), folder)


def test_power_is_read_and_a_reset_is_posted(tmp_path: Path, server: Controller) -> None:
    made = bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}")
    assert made.power() == "On"
    made.reset("ForceOff")
    path, login, body = server.asked[-1]
    assert path == "/redfish/v1/Systems/0/Actions/ComputerSystem.Reset"
    assert (login, json.loads(body)) == ("repair:secret", {"ResetType": "ForceOff"})


def test_password_is_sent_neither_in_clear_nor_from_a_file_that_others_read(tmp_path: Path, server: Controller) -> None:  # fmt: skip
    with pytest.raises(ActionError, match="without TLS"):
        bmc(tmp_path, "http://10.0.0.9").power()
    with pytest.raises(ActionError, match="others can read"):
        bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}", 0o644).power()
    assert server.asked == []


def test_redirect_error_and_several_systems_are_told(
    tmp_path: Path, server: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}")
    server.systems = 2
    with pytest.raises(ActionError, match="has 2 of '/redfish/v1/Systems'"):
        made.power()
    monkeypatch.setattr("rackwright.nodelife.repair.bmc.MANNERS", Manners(pause_s=0.01))
    for code in (302, 401, 503):
        server.code = code
        with pytest.raises(ActionError, match=f"answered with {code}"):
            made.power()
    assert not any("stolen" in path for path, _, _ in server.asked)


def test_silent_controller_is_told(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match="the BMC of n1: unreachable"):
        bmc(tmp_path, "http://127.0.0.1:9").power()


def test_file_of_controllers_is_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_bmcs(tmp_path / "bmcs.yaml")
    (tmp_path / "bmcs.yaml").write_text(
        "nodes: {n1: {url: 'https://b', user: u, password: secret}}\n"
    )
    with pytest.raises(SpecErrors) as caught:
        read_bmcs(tmp_path / "bmcs.yaml")
    assert "password" in str(caught.value)


def tree(*, leak: str, entries: list[dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Return a chassis with a supply that is lost, a leak detector and a log."""

    def link(path: str) -> dict[str, str]:
        return {"@odata.id": f"/redfish/v1/{path}"}

    def members(*found: dict[str, Any]) -> dict[str, Any]:
        return {"Members": list(found)}

    supply = {"@odata.type": "#PowerSupply.v1_5_0.PowerSupply", "Name": "PSU3", "Status": {"Health": "Critical"}}  # fmt: skip
    detector = {"@odata.type": "#LeakDetector.v1_0_0.LeakDetector", "Name": "Tray", "DetectorState": leak}  # fmt: skip
    log = {"Id": "SEL", "Name": "SEL", "Entries": link("Log/Entries")}
    dump = {"Id": "PostCodes", "Name": "codes", "Entries": link("Dump/Entries")}
    found = {
        "Chassis": members({"Id": "1", "PowerSubsystem": link("Power"), "ThermalSubsystem": link("Thermal")}),
        "Power": {"PowerSupplies": link("Power/Supplies")},
        "Power/Supplies": members({**link("x"), **supply}),
        "Thermal": {"LeakDetection": link("Leaks")},
        "Leaks": {"LeakDetectors": link("Leaks/All")},
        "Leaks/All": members({**link("x"), **detector}),
        "Managers": members({"Id": "bmc", "LogServices": link("Logs")}),
        "Logs": members({**link("x"), **log}, {**link("y"), **dump}),
        "Log/Entries": members(*({**link("e"), **one} for one in entries)),
        "Dump/Entries": members({**link("e"), "Created": "2026-11-27T10:00:00Z", "Message": "Leak detected"}),
    }  # fmt: skip
    return {f"/redfish/v1/{path}": body for path, body in found.items()}


def entry(number: int, text: str) -> dict[str, str]:
    return {"Id": str(number), "Created": f"2026-11-27T10:00:0{number}+00:00", "Message": text}


def test_polled_controller_tells_its_supply_and_leak_and_new_entries_of_its_log(
    tmp_path: Path, server: Controller
) -> None:
    """An entry that was there at the first look may be of a leak that was repaired a year ago."""
    poller = BmcPoller({"n1": bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}")})
    journal = Journal(open_journal())
    old = [entry(1, "Leak detected by tray sensor")]
    server.resources = tree(leak="OK", entries=old)

    clock = itertools.count(0.0, POLL_S)

    def found() -> list[tuple[str, str]]:
        told = poller.events(TABLE, journal, next(clock))
        return [(event.fault, event.device) for _, event in told]

    assert found() == [("power-supply-lost", "PSU3")]
    assert found() == [("power-supply-lost", "PSU3")]
    server.resources = tree(
        leak="OK", entries=[*old, entry(2, "Memory Uncorrectable ECC, DIMM A3")]
    )
    assert found() == [("memory-uncorrectable", ""), ("power-supply-lost", "PSU3")]
    server.resources = tree(leak="Critical", entries=old)
    assert found() == [("coolant-leak", "Tray"), ("power-supply-lost", "PSU3")]
    assert poller.problems == {}


def test_silent_controller_is_a_fault_of_its_own(tmp_path: Path) -> None:
    poller = BmcPoller({"n1": bmc(tmp_path, "http://127.0.0.1:9")})
    (told,) = poller.events(TABLE, Journal(open_journal()), 1.0)
    assert (told[0], told[1].fault) == ("n1", "bmc-silent")
    assert "unreachable" in poller.problems["n1"][0]


def test_look_from_before_a_repair_is_no_fault_after_it(tmp_path: Path, server: Controller) -> None:
    poller = BmcPoller({"n1": bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}")})
    journal = Journal(open_journal())
    server.resources = tree(leak="OK", entries=[])
    assert len(list(poller.events(TABLE, journal, 100.0))) == 1
    journal.step("n1", "suspect", 110.0, "")
    assert list(poller.events(TABLE, journal, 120.0)) == []
    assert len(list(poller.events(TABLE, journal, 130.0))) == 1
