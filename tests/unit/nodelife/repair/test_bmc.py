"""Power by a BMC: what is refused before a password is sent, and what is told of one that does not answer."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rackwright.errors import SpecErrors, UsageError
from rackwright.nodelife.repair.actuator import ActionError
from rackwright.nodelife.repair.bmc import Bmc, BmcAccess, read_bmcs


class Controller(HTTPServer):
    systems = 1
    code = 200
    asked: list[tuple[str, str, str]]


class Handler(BaseHTTPRequestHandler):
    server: Controller

    def _answer(self, body: str = "") -> None:
        login = base64.b64decode(self.headers["Authorization"].partition(" ")[2]).decode()
        self.server.asked.append((self.path, login, body))
        if self.path.endswith("/Systems"):
            members = [
                {"@odata.id": f"/redfish/v1/Systems/{n}"} for n in range(self.server.systems)
            ]
            data: dict[str, object] = {"Members": members}
        else:
            data = {"PowerState": "On"}
        text = json.dumps(data).encode()
        self.send_response(self.server.code)
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
    made.asked = []
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


def test_redirect_error_and_several_systems_are_told(tmp_path: Path, server: Controller) -> None:
    made = bmc(tmp_path, f"http://127.0.0.1:{server.server_address[1]}")
    server.systems = 2
    with pytest.raises(ActionError, match="has 2 of '/redfish/v1/Systems'"):
        made.power()
    for code in (302, 401, 503):
        server.code = code
        with pytest.raises(ActionError, match=f"answers {code}"):
            made.power()
    assert not any("stolen" in path for path, _, _ in server.asked)


def test_silent_controller_is_told(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match="does not answer"):
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
