"""The generated zones and subnets, as a real BIND and a real Kea answer with them.

Both run on loopback and on ports of their own, and ask nobody. Kea is asked as a relay asks it, with the link
of the network in question (RFC 3527), so that no interface needs an address of the plan. Kea is installed
(Debian: kea-dhcp4-server); BIND's server is unpacked from its package, and not installed.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.names import render_names
from rackwright_lab.system import wait_for

LAYER = Path(__file__).parents[1] / "golden/names/layer.yaml"
KEA = shutil.which("kea-dhcp4", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
HERE = "127.0.0.1"
WITHIN_S = 300
ADDRESS, POINTER, NO_SUCH_NAME = 1, 12, 3
"""Types of records, and the code of an answer."""
DISCOVER = 1
MASK, ROUTERS, SERVERS, HOST_NAME, DOMAIN, MESSAGE, RELAY = 1, 3, 6, 12, 15, 53, 82
"""Options of DHCP."""

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("names")
    plan = load_plan(builtin_pack() / "fixtures/slurm.yaml", [LAYER]).plan
    for name, text in render_names(plan).items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def free_ports(count: int) -> list[int]:
    """Ports of UDP that nobody has."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind((HERE, 0))
    found = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found


@contextmanager
def server(folder: Path, name: str, command: Sequence[str | Path], ready: str) -> Iterator[None]:
    """A server that runs until the end; ``ready`` is what it says when it answers."""
    log = folder / f"{name}.log"
    environment = {**os.environ, "KEA_LOCKFILE_DIR": "none", "KEA_PIDFILE_DIR": str(folder)}
    with log.open("wb") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env=environment)
    try:
        begun = wait_for(
            lambda: process.poll() is not None or ready in log.read_text(), WITHIN_S, 0.1
        )
        assert begun, log.read_text()
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(timeout=300)


def label(name: str) -> bytes:
    """A name in the form of the DNS."""
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def name_at(message: bytes, at: int) -> str:
    """The name in a message of the DNS, which may point back into it."""
    parts = []
    while length := message[at]:
        if length >= 0xC0:
            at = struct.unpack("!H", message[at : at + 2])[0] & 0x3FFF
            continue
        parts.append(message[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(parts)


def ask(port: int, name: str, kind: int) -> tuple[int, list[str]]:
    """Code and answers of a name server."""
    question = label(name) + struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(WITHIN_S)
        client.sendto(struct.pack("!HHHHHH", 7, 0, 1, 0, 0, 0) + question, (HERE, port))
        message = client.recv(4096)
    code, answers = message[3] & 15, struct.unpack("!H", message[6:8])[0]
    found: list[str] = []
    at = 12 + len(question)
    for _ in range(answers):
        while message[at] and message[at] < 0xC0:  # the name that was asked for
            at += 1 + message[at]
        at += 2 if message[at] else 1
        size = struct.unpack("!H", message[at + 8 : at + 10])[0]
        data = at + 10
        found.append(
            socket.inet_ntoa(message[data : data + 4])
            if kind == ADDRESS
            else name_at(message, data)
        )
        at = data + size
    return code, found


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BIND's server, out of its package; what it needs beside comes with bind9-utils."""
    folder = tmp_path_factory.mktemp("bind9")
    if shutil.which("apt-get") is None:
        pytest.skip("this machine has no apt")
    done = subprocess.run(
        ["apt-get", "download", "bind9"], cwd=folder, capture_output=True, text=True, check=False
    )
    packages = list(folder.glob("bind9_*.deb"))
    if not packages:
        pytest.skip(f"bind9 cannot be fetched: {done.stderr.strip()[-200:]}")
    subprocess.run(["dpkg-deb", "-x", packages[0], folder / "root"], check=True)
    return folder / "root/usr/sbin/named"


def test_bind_answers_with_names_and_addresses_both_ways(folder: Path, named: Path) -> None:
    (port,) = free_ports(1)
    (folder / "named.conf").write_text(
        f'options {{ directory "{folder}"; listen-on port {port} {{ {HERE}; }}; '
        "listen-on-v6 { none; }; recursion no; notify no; dnssec-validation no; "
        f'pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; '
        f'managed-keys-directory "{folder}"; }};\n'
        f'controls {{ }};\ninclude "{folder}/zones.conf";\n'
    )
    command: list[str | Path] = [named, "-g", "-c", folder / "named.conf"]
    with server(folder, "named", command, "all zones loaded"):
        for name, address in (
            ("head-1", "10.20.0.10"),
            ("dgx-01", "10.20.0.232"),
            ("dgx-64", "10.20.1.39"),
            ("dgx-01-bmc", "10.21.0.16"),
            ("ns", "10.20.0.53"),
        ):
            whole = f"{name}.sjc1.example.com"
            assert ask(port, whole, ADDRESS) == (0, [address])
            if name != "ns":
                back = ".".join(reversed(address.split("."))) + ".in-addr.arpa"
                assert ask(port, back, POINTER) == (0, [whole])
        assert ask(port, "dgx-65.sjc1.example.com", ADDRESS) == (NO_SUCH_NAME, [])


def discover(mac: str, link: str) -> bytes:
    """What a relay passes on of a machine that looks for an address (RFC 2131, RFC 3527)."""
    hardware = bytes.fromhex(mac.replace(":", ""))
    relay = socket.inet_aton(HERE)
    head = struct.pack("!BBBBIHH", 1, 1, 6, 1, 0x1234, 0, 0) + bytes(12) + relay
    body = head + hardware + bytes(10) + bytes(64) + bytes(128) + b"\x63\x82\x53\x63"
    asked = bytes([MASK, ROUTERS, SERVERS, HOST_NAME, DOMAIN])
    options = bytes([MESSAGE, 1, DISCOVER, 55, len(asked)]) + asked
    return body + options + bytes([RELAY, 6, 5, 4]) + socket.inet_aton(link) + b"\xff"


def offer(message: bytes) -> tuple[str, dict[int, bytes]]:
    """The address that is offered, with the options by their numbers."""
    options: dict[int, bytes] = {}
    at = 240
    while message[at] != 0xFF:
        code, size = message[at], message[at + 1]
        options[code] = message[at + 2 : at + 2 + size]
        at += 2 + size
    return socket.inet_ntoa(message[16:20]), options


@pytest.mark.skipif(KEA is None, reason="not installed: kea-dhcp4-server")
def test_kea_offers_each_machine_its_address_and_others_none(folder: Path) -> None:
    assert KEA is not None
    port, client_port = free_ports(2)
    subnets = (folder / "kea-subnet4.json").read_text().partition("\n")[2]
    (folder / "kea.conf").write_text(
        '{"Dhcp4": {"interfaces-config": {"interfaces": ["lo/127.0.0.1"], "dhcp-socket-type": "udp"},'
        '"lease-database": {"type": "memfile", "persist": false},'
        f'"multi-threading": {{"enable-multi-threading": false}}, "subnet4": {subnets}}}}}\n'
    )
    command = [KEA, "-c", str(folder / "kea.conf"), "-p", str(port), "-P", str(client_port)]
    with (
        server(folder, "kea", command, "DHCP4_STARTED"),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        client.bind((HERE, client_port))
        client.settimeout(WITHIN_S)
        asked = 0
        for subnet in json.loads(subnets):
            gateway = subnet["option-data"][0]["data"]
            for machine in subnet["reservations"]:
                # Nobody answers a machine that is not known: the answer is that to the next one.
                client.sendto(discover("02:00:00:00:00:99", gateway), (HERE, port))
                client.sendto(discover(machine["hw-address"], gateway), (HERE, port))
                address, options = offer(client.recv(4096))
                assert address == machine["ip-address"]
                assert options[ROUTERS] == socket.inet_aton(gateway)
                assert options[HOST_NAME].decode().partition(".")[0] == machine["hostname"]
                assert options[DOMAIN] == b"sjc1.example.com"
                servers = map(socket.inet_aton, ("10.20.0.10", "10.20.0.53"))
                assert options[SERVERS] == b"".join(servers)
                asked += 1
        assert asked == 4
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(4096)
    assert "failed to allocate an IPv4 lease" in (folder / "kea.log").read_text()
