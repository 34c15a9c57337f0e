"""Management controllers that answer by Redfish over TLS on addresses of loopback, one asyncio loop for all.

Each has good manners or one of ``BAD_MANNERS``; a test says which. The bodies have the properties that
DMTF's schemas ask for of the resources that are served.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import json
import ssl
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BAD_MANNERS = (
    "500", "503", "stuck task", "vanished task", "lost address", "wrong clock", "wrong model",
    "two systems", "partial inventory", "slow", "expired TLS", "expired password",
)  # fmt: skip
"""The twelve; ``slow`` takes 60 s for an answer."""
SLOW_S = 60.0
USER, PASSWORD = "ops", "correct horse"
_ID = "@odata.id"


@dataclass(frozen=True)
class Machine:
    """A machine and the manner of its controller.

    Attributes:
        ports: Ethernet address and neighbour (name and port, or None) of each adapter's port.
        interfaces: Ethernet addresses of interfaces that are no ports of adapters.
        without: properties of the system that are left out.
    """

    address: str
    serial: str
    bmc_mac: str
    manner: str = "good"
    model: str = "DGX H100"
    manufacturer: str = "NVIDIA"
    accelerators: int = 8
    interfaces: tuple[str, ...] = ()
    ports: tuple[tuple[str, tuple[str, str] | None], ...] = ()
    rack: str | None = None
    bios: str = "r1"
    bmc: str = "r1"
    password: str = PASSWORD
    expand: bool = True
    without: frozenset[str] = frozenset()


@dataclass
class Emulator:
    """Controllers that are served.

    Attributes:
        asked: number of requests, by address and method.
        changed: requests that would change a machine, by address and path.
        sessions: sessions that are open, by address.
        trees: resources that were asked for, by address.
    """

    machines: Mapping[str, Machine]
    port: int
    ca: Path
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    changed: list[tuple[str, str]] = field(default_factory=list)
    sessions: Counter[str] = field(default_factory=Counter)
    trees: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    async def talk(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection."""
        machine = self.machines[address]
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            try:
                while line := await reader.readline():
                    method, path, _ = line.decode().split(" ", 2)
                    headers = {}
                    while (text := (await reader.readline()).strip()) != b"":
                        name, _, value = text.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    size = int(headers.get("content-length", "0"))
                    payload = await reader.readexactly(size) if size else b""
                    self.asked[address, method] += 1
                    if machine.manner == "slow":
                        await asyncio.sleep(SLOW_S)
                    answer = self._answer(machine, method, path, headers, payload)
                    if answer is None:
                        writer.transport.abort()
                        return
                    status, body, more = answer
                    data = b"" if body is None else json.dumps(body).encode()
                    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}",
                             "Content-Type: application/json", *more]  # fmt: skip
                    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
                    await writer.drain()
            finally:
                writer.close()

    def _answer(
        self, machine: Machine, method: str, path: str, headers: Mapping[str, str], payload: bytes
    ) -> tuple[int, Any, list[str]] | None:
        """Return status, body and headers; None where the connection is cut."""
        path, _, query = path.partition("?")
        root = path in {"/redfish/v1", "/redfish/v1/"}
        if machine.manner == "500" and not root:
            return 500, {"error": {"code": "Base.1.8.InternalError"}}, []
        if machine.manner == "503" and not root:
            return 503, None, ["Retry-After: 1"]
        if method == "POST" and path == "/redfish/v1/SessionService/Sessions":
            return self._log_in(machine, payload)
        if method == "DELETE" and path.startswith("/redfish/v1/SessionService/Sessions/"):
            self.sessions[machine.address] -= 1
            return 204, None, []
        if method != "GET":
            self.changed.append((machine.address, path))
            return 405, None, []
        if not root and headers.get("x-auth-token") != f"t-{machine.address}":
            return 401, {"error": {"code": "Base.1.8.NoValidSession"}}, []
        if machine.manner == "lost address" and not root:
            return None
        if machine.address not in self.trees:
            self.trees[machine.address] = resources(machine)
        tree = self.trees[machine.address]
        body = tree.get(path.rstrip("/"))
        if body is None:
            return 404, {"error": {"code": "Base.1.8.ResourceMissingAtURI"}}, []
        if "$expand" in query and machine.expand and "Members" in body:
            members = [tree.get(one[_ID], one) for one in body["Members"]]
            body = {**body, "Members": members}
        return 200, body, []

    def _log_in(self, machine: Machine, payload: bytes) -> tuple[int, Any, list[str]]:
        told = json.loads(payload)
        if (told["UserName"], told["Password"]) != (USER, machine.password):
            return 401, {"error": {"code": "Base.1.8.ResourceAtUriUnauthorized"}}, []
        self.sessions[machine.address] += 1
        place = "/redfish/v1/SessionService/Sessions/1"
        body: dict[str, Any] = {_ID: place, "Id": "1", "Name": "Session", "UserName": USER}
        if machine.manner == "expired password":
            message = "Base.1.8.PasswordChangeRequired"
            body["@Message.ExtendedInfo"] = [{"MessageId": message}]
        return 201, body, [f"X-Auth-Token: t-{machine.address}", f"Location: {place}"]


def resources(machine: Machine) -> dict[str, dict[str, Any]]:
    """Return every resource of a machine by its path."""
    v1 = "/redfish/v1"
    tree: dict[str, dict[str, Any]] = {}

    def put(path: str, **properties: Any) -> dict[str, str]:
        name = path.rpartition("/")[2]
        tree[path] = {_ID: path, "Id": name, "Name": name, **properties}
        return {_ID: path}

    def collect(path: str, members: Sequence[Mapping[str, str]]) -> dict[str, str]:
        tree[path] = {_ID: path, "Name": path.rpartition("/")[2], "Members": list(members),
                      "Members@odata.count": len(members)}  # fmt: skip
        return {_ID: path}

    at = dt.datetime.now(dt.UTC)
    if machine.manner == "wrong clock":
        at = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)
    ids = ("node-1", "node-2") if machine.manner == "two systems" else ("1",)
    systems = [_put_system(machine, f"{v1}/Systems/{name}", put, collect) for name in ids]
    tasks = []
    if machine.manner == "stuck task":
        began = (at - dt.timedelta(hours=30)).isoformat()
        tasks.append(put(f"{v1}/TaskService/Tasks/7", TaskState="Running", StartTime=began))
    if machine.manner == "vanished task":
        tasks.append({_ID: f"{v1}/TaskService/Tasks/8"})
    own = put(
        f"{v1}/Managers/bmc/EthernetInterfaces/eth0",
        MACAddress=machine.bmc_mac,
        IPv4Addresses=[{"Address": machine.address}],
    )
    manager = put(
        f"{v1}/Managers/bmc",
        ManagerType="BMC",
        FirmwareVersion=machine.bmc,
        DateTime=at.isoformat(),
        EthernetInterfaces=collect(f"{v1}/Managers/bmc/EthernetInterfaces", [own]),
    )
    versions = [
        put(f"{v1}/UpdateService/FirmwareInventory/{name}", Version=version)
        for name, version in (("gpu", "96.00"), ("nic", "28.39"))
    ]
    placed = {} if machine.rack is None else {"Location": {"Placement": {"Rack": machine.rack}}}
    adapters = [_put_adapter(machine, v1, put, collect)] if machine.ports else []
    box = put(
        f"{v1}/Chassis/1",
        ChassisType="RackMount",
        NetworkAdapters=collect(f"{v1}/Chassis/1/NetworkAdapters", adapters),
        **placed,
    )
    inventory = collect(f"{v1}/UpdateService/FirmwareInventory", versions)
    features = {"ExpandQuery": {"NoLinks": machine.expand, "Levels": machine.expand}}
    tree[v1] = {
        _ID: f"{v1}/",
        "Id": "RootService",
        "RedfishVersion": "1.15.0",
        "ProtocolFeaturesSupported": features,
        "Systems": collect(f"{v1}/Systems", systems),
        "Managers": collect(f"{v1}/Managers", [manager]),
        "Chassis": collect(f"{v1}/Chassis", [box]),
        "Tasks": put(f"{v1}/TaskService", Tasks=collect(f"{v1}/TaskService/Tasks", tasks)),
        "UpdateService": put(f"{v1}/UpdateService", FirmwareInventory=inventory),
        "Links": {"Sessions": {_ID: f"{v1}/SessionService/Sessions"}},
    }
    return tree


def _put_system(machine: Machine, path: str, put: Any, collect: Any) -> dict[str, str]:
    kinds = ["CPU", "CPU", *["GPU"] * machine.accelerators]
    processors = [
        put(f"{path}/Processors/{number}", ProcessorType=kind, Status={"State": "Enabled"})
        for number, kind in enumerate(kinds)
    ]
    interfaces = [
        put(f"{path}/EthernetInterfaces/{n}", MACAddress=mac.upper(), LinkStatus="LinkUp")
        for n, mac in enumerate(machine.interfaces)
    ]
    model = "PowerEdge R650" if machine.manner == "wrong model" else machine.model
    properties = {
        "Manufacturer": "Dell Inc." if machine.manner == "wrong model" else machine.manufacturer,
        "Model": model,
        "SerialNumber": machine.serial,
        "BiosVersion": machine.bios,
        "PowerState": "Off",
        "MemorySummary": {"TotalSystemMemoryGiB": 2048},
        "TrustedModules": [{"Status": {"State": "Enabled"}}],
        "Processors": collect(f"{path}/Processors", processors),
        "EthernetInterfaces": collect(f"{path}/EthernetInterfaces", interfaces),
        "Links": {"Chassis": [{_ID: "/redfish/v1/Chassis/1"}]},
    }
    if machine.manner == "partial inventory":
        for name in ("SerialNumber", "MemorySummary"):
            del properties[name]
    for name in machine.without:
        del properties[name]
    link: dict[str, str] = put(path, **properties)
    return link


def _put_adapter(machine: Machine, v1: str, put: Any, collect: Any) -> dict[str, str]:
    path = f"{v1}/Chassis/1/NetworkAdapters/NIC1"
    ports = []
    for number, (mac, heard) in enumerate(machine.ports, 1):
        ethernet: dict[str, Any] = {"AssociatedMACAddresses": [mac]}
        if heard is not None:
            ethernet["LLDPReceive"] = {"SystemName": heard[0], "PortId": heard[1]}
        ports.append(put(f"{path}/Ports/{number}", LinkStatus="LinkUp", Ethernet=ethernet))
    link: dict[str, str] = put(path, Ports=collect(f"{path}/Ports", ports))
    return link


@contextlib.contextmanager
def serving(
    machines: Sequence[Machine], folder: Path, port: int, names: Sequence[str] = ()
) -> Iterator[Emulator]:
    """Serve machines until the block ends.

    Args:
        machines: to serve.
        folder: holds their certificates.
        port: of all.
        names: addresses in the certificates; those of the machines if omitted.
    """
    good, old, ca = certificates(folder, names or [one.address for one in machines])
    servers: list[asyncio.Server] = []
    emulator = Emulator({one.address: one for one in machines}, port, ca)
    loop = asyncio.new_event_loop()
    started = threading.Event()
    failed: list[OSError] = []

    async def serve() -> None:
        for one in machines:

            def talk(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, at: str = one.address
            ) -> Any:
                return emulator.talk(at, reader, writer)

            context = old if one.manner == "expired TLS" else good
            servers.append(await asyncio.start_server(talk, one.address, port, ssl=context))

    async def stop() -> None:
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.05)  # TLS says goodbye

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(serve())
        except OSError as error:
            failed.append(error)
            return
        finally:
            started.set()
        loop.run_forever()
        loop.run_until_complete(stop())
        loop.close()

    loop.set_exception_handler(lambda *_: None)  # clients that leave are no fault of the emulator
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    started.wait()
    if failed:
        raise failed[0]
    try:
        yield emulator
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=60)


def certificates(
    folder: Path, addresses: Sequence[str]
) -> tuple[ssl.SSLContext, ssl.SSLContext, Path]:
    """Return TLS settings with a certificate that is good, with one that has expired, and the authority."""
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "BMC authority")])
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    authority = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - 30 * day).not_valid_after(now + 30 * day)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(own, critical=False).add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    ca = folder / "bmc-ca.pem"
    ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address(a)) for a in addresses]
    )
    made = []
    for label, until in (("good", now + 7 * day), ("old", now - 7 * day)):
        leaf = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bmc")])
        certificate = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(name)
            .public_key(leaf.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - 20 * day).not_valid_after(until)
            .add_extension(names, critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own), critical=False
            )
            .sign(key, hashes.SHA256())
        )  # fmt: skip
        path = folder / f"{label}.pem"
        path.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + leaf.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        made.append(context)
    return made[0], made[1], ca


def with_manners(machines: Sequence[Machine], each: int) -> tuple[Machine, ...]:
    """Return machines of which ``each`` have each of the twelve bad manners, spread over all."""
    bad = [manner for manner in BAD_MANNERS for _ in range(each)]
    step = len(machines) // len(bad)
    made = list(machines)
    for number, manner in enumerate(bad):
        made[number * step] = replace(made[number * step], manner=manner)
    return tuple(made)
