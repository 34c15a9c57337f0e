"""Ironic, sushy-tools and simhall of PyPI, each in an environment of its own, with their processes."""

from __future__ import annotations

import base64
import contextlib
import http.client
import re
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rackwright.locks import turn
from rackwright_lab.base import cache_folder, recipe_key

IRONIC = ("ironic==39.0.0", "sushy-tools==2.2.0", "bcrypt>=4")
"""Ironic with the fake machines of its own project."""
WITHIN_S = 180


def environment(packages: Sequence[str], python: str = sys.executable) -> Path:
    """Return the folder of the programs of an environment, which is made once and kept."""
    name = packages[0].partition("=")[0]
    folder = cache_folder() / f"{name}-{recipe_key([*packages, python])}"
    cache_folder().mkdir(parents=True, exist_ok=True)
    with turn(cache_folder() / f"{name}.lock"):
        if not (folder / "complete").is_file():
            subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
            pip = [str(folder / "bin/pip"), "install", "--quiet", *packages]
            subprocess.run(pip, check=True, timeout=1800)
            (folder / "complete").touch()
    return folder / "bin"


@contextlib.contextmanager
def running(
    words: Sequence[str | Path], folder: Path, name: str, ready: str, **more: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends; it is ready when ``ready`` answers."""
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log, **more)
        try:
            wait_for(ready, process, folder / f"{name}.log")
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=30)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a program answers with anything."""
    until = time.monotonic() + WITHIN_S
    while True:
        try:
            # Whose certificate it is does not matter for whether it answers.
            context = ssl._create_unverified_context()
            urllib.request.urlopen(url, timeout=5, context=context).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            text = log.read_text(errors="replace")[-4000:]
            assert process.poll() is None, text
            assert time.monotonic() < until, text
            time.sleep(0.2)


def fake_system(number: int, name: str) -> dict[str, Any]:
    """Return a system of sushy-tools' fake driver."""
    return {
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "name": name,
        "power_state": "Off",
        "external_notifier": False,
        "nics": [{"mac": f"b8:3f:d2:04:{number // 256:02x}:{number % 256:02x}", "ip": "10.0.0.1"}],
    }


@contextlib.contextmanager
def sushy(
    folder: Path, port: int, systems: Sequence[Mapping[str, Any]], user: str, password: str
) -> Iterator[str]:
    """Serve fake systems of sushy-tools over TLS with HTTP Basic, and yield the address.

    Args:
        folder: with ``good.pem``, the certificate and its key.
        port: on 127.20.0.1.
        systems: to serve.
        user: that is asked for.
        password: of the user.
    """
    programs = environment(IRONIC)
    code = (
        "import bcrypt,sys; print(bcrypt.hashpw(sys.argv[1].encode(), bcrypt.gensalt(5)).decode())"
    )
    hashed = subprocess.check_output([programs / "python", "-c", code, password], text=True).strip()
    (folder / "htpasswd").write_text(f"{user}:{hashed}\n")
    (folder / "sushy-state").mkdir()
    (folder / "sushy.conf").write_text(
        f"""\
SUSHY_EMULATOR_LISTEN_IP = "127.20.0.1"
SUSHY_EMULATOR_LISTEN_PORT = {port}
SUSHY_EMULATOR_SSL_CERT = "{folder}/good.pem"
SUSHY_EMULATOR_SSL_KEY = "{folder}/good.pem"
SUSHY_EMULATOR_AUTH_FILE = "{folder}/htpasswd"
SUSHY_EMULATOR_FAKE_DRIVER = True
SUSHY_EMULATOR_FAKE_SYSTEMS = {list(map(dict, systems))!r}
SUSHY_EMULATOR_STATE_DIR = "{folder}/sushy-state"
"""
    )
    with running([programs / "sushy-emulator", "--config", folder / "sushy.conf", "--fake"],
                 folder, "sushy", f"https://127.20.0.1:{port}/redfish/v1/"):  # fmt: skip
        yield f"https://127.20.0.1:{port}"


class _Prefixed(BaseHTTPRequestHandler):
    """Hands requests on to a path of another server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Front)
        pair = base64.b64encode(f"{server.user}:{server.password}".encode()).decode()
        if (
            self.path.rstrip("/") != "/redfish/v1"
            and self.headers.get("Authorization") != f"Basic {pair}"
        ):
            self._answer(401, b"{}")
            return
        upstream = http.client.HTTPConnection("127.0.0.1", server.upstream, timeout=60)
        upstream.request("GET", f"{server.prefix}{self.path}")
        answer = upstream.getresponse()
        body = answer.read()
        upstream.close()
        self._answer(answer.status, body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self._answer(405, b"{}")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class _Front(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self, address: str, port: int, upstream: int, prefix: str, user: str, password: str
    ) -> None:
        super().__init__((address, port), _Prefixed)
        self.upstream, self.prefix, self.user, self.password = upstream, prefix, user, password


@contextlib.contextmanager
def fronts(
    port: int, upstream: int, prefixes: Mapping[str, str], user: str, password: str
) -> Iterator[None]:
    """Serve paths of one server as servers of their own at ``port`` of addresses, with HTTP Basic.

    Args:
        port: of all.
        upstream: port of loopback of the server.
        prefixes: path by address.
        user: that is asked for.
        password: of the user.
    """
    made = [
        _Front(address, port, upstream, prefix, user, password)
        for address, prefix in prefixes.items()
    ]
    threads = [threading.Thread(target=one.serve_forever, daemon=True) for one in made]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for one in made:
            one.shutdown()
            one.server_close()
        for thread in threads:
            thread.join(timeout=30)


IRONIC_CONF = """\
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = lab
state_path = {folder}/state
log_dir = {folder}/log
enabled_hardware_types = fake-hardware,redfish
enabled_boot_interfaces = fake,ipxe,redfish-virtual-media
enabled_deploy_interfaces = fake,direct
enabled_management_interfaces = fake,redfish
enabled_power_interfaces = fake,redfish
enabled_inspect_interfaces = fake,redfish,no-inspect
enabled_bios_interfaces = no-bios,redfish
enabled_firmware_interfaces = fake,no-firmware,redfish
enabled_raid_interfaces = no-raid
enabled_network_interfaces = noop
enabled_vendor_interfaces = no-vendor,redfish
default_network_interface = noop
[api]
host_ip = 127.0.0.1
port = {port}
[database]
connection = sqlite:///{folder}/ironic.sqlite
[dhcp]
dhcp_provider = none
[deploy]
http_url = http://127.0.0.1:1
http_root = {folder}/http
[conductor]
deploy_kernel = http://127.0.0.1:1/kernel
deploy_ramdisk = http://127.0.0.1:1/ramdisk
[redfish]
connection_attempts = 2
connection_retry_interval = 1
[service_catalog]
auth_type = none
endpoint_override = http://127.0.0.1:{port}
[fake]
deploy_delay = {deploy_s}
clean_delay = 1
[oslo_concurrency]
lock_path = {folder}/lock
"""


@dataclass
class IronicMachine:
    """Ironic with its database in a folder.

    Attributes:
        folder: of configuration, database and logs.
        port: of its API on loopback.
    """

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Address of the API."""
        return f"http://127.0.0.1:{self.port}"

    def prepare(self, deploy_s: float = 1) -> None:
        """Write the configuration and make the database."""
        for name in ("state", "log", "http", "lock"):
            (self.folder / name).mkdir()
        text = IRONIC_CONF.format(folder=self.folder, port=self.port, deploy_s=deploy_s)
        (self.folder / "ironic.conf").write_text(text)
        words: list[str | Path] = [
            environment(IRONIC) / "ironic-dbsync",
            "--config-file",
            self.folder / "ironic.conf",
        ]
        subprocess.run([*words, "create_schema"], check=True, capture_output=True, timeout=300)

    def running(self) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
        """Run API and conductor until the block ends."""
        words: list[str | Path] = [
            environment(IRONIC) / "ironic",
            "--config-file",
            self.folder / "ironic.conf",
        ]
        return running(words, self.folder, "ironic", f"{self.url}/v1/")

    def changes(self) -> Counter[tuple[str, str]]:
        """Return the requests that Ironic took to change something, by method and path, of its own log."""
        text = (self.folder / "log/ironic.log").read_text(errors="replace")
        return Counter(re.findall(r" (POST|PUT|PATCH|DELETE) (/v1/\S+) - 20\d ", text))
