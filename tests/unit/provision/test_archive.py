"""The vendor's archive of the Pulumi CLI: taken by its digest, and none of it is run before."""

from __future__ import annotations

import hashlib
import ipaddress
import ssl
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rackwright.cli import main
from rackwright.errors import ExternalToolError, UsageError
from rackwright.provision.tools import gobuild
from rackwright.provision.tools.archive import Archive, parse_archive
from rackwright.provision.tools.find import PulumiTool, find_pulumi, vendor_shelf
from rackwright.provision.tools.install import install_pulumi

PINNED = gobuild.pinned_version()


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def quiet(_line: str) -> None:
    return None


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is installed and nothing can be reached, and a ``go`` that tells."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens: refused at once
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@contextmanager
def a_tls_server(folder: Path, content: bytes) -> Iterator[str]:
    """The address of a server that has ``content`` where ``/moved`` redirects to."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "files")])
    now = datetime.now(UTC)
    where = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(where, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(key.private_bytes(pem, *plain) + certificate.public_bytes(pem))

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            moved = {"/moved": "/file", "/plain": "http://127.0.0.1:9/file"}.get(self.path)
            self.send_response(302 if moved else 200 if self.path == "/file" else 404)
            if moved:
                self.send_header("Location", moved)
            self.end_headers()
            if self.path == "/file":
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_nothing_of_the_vendors_is_run_unchecked(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its installer is a script from the network, and was given every variable there is."""
    monkeypatch.setenv("PYTHONPATH", str(machine / "python"))
    script(machine / "python/pulumi/__init__.py", "")
    record = f"pathlib.Path('{machine}', 'ran').write_text(str(dict(os.environ)))"
    script(
        machine / "python/pulumi/automation.py",
        "import os, pathlib\n"
        "class PulumiCommand:\n"
        "    @classmethod\n"
        f"    def install(cls, root, version):\n        {record}\n",
    )
    with pytest.raises(ExternalToolError):
        install_pulumi(progress=quiet)
    assert not (machine / "ran").exists()


def an_archive(machine: Path, folder: str = "pulumi", answer: str = f"v{PINNED}") -> str:
    """The vendor's archive as a file, by its digest."""
    packed = machine / "pulumi.tar.gz"
    path = machine / "packed/pulumi"
    with tarfile.open(packed, "w:gz") as tar:
        for name in ("pulumi", "pulumi-language-python", "pulumi-language-python-exec"):
            path = script(path.with_name(name), f"#!/bin/sh\necho '{answer}'\n")
            tar.add(path, f"{folder}/{name}")
        # None of these is a program of the vendor's.
        tar.add(path, "pulumi/../../escaped")
        tar.add(path, "pulumi/deeper/pulumi-nested")
        link = tarfile.TarInfo("pulumi/pulumi-link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return f"{packed}#sha256={hashlib.sha256(packed.read_bytes()).hexdigest()}"


@pytest.mark.parametrize("folder", ["pulumi", "pulumi/bin", "./pulumi"])
def test_its_programs_are_taken(machine: Path, folder: str) -> None:
    given = parse_archive(an_archive(machine, folder))
    tool = install_pulumi(progress=quiet, archive=given)
    own = vendor_shelf().bin
    host = own / "pulumi-language-python"
    assert tool == PulumiTool(own / "pulumi", PINNED, "vendor", host)
    names = {path.name for path in own.iterdir()}
    assert names == {"pulumi", "pulumi-language-python", "pulumi-language-python-exec"}
    said: list[str] = []
    assert install_pulumi(progress=said.append, archive=given).origin == "tools"
    assert said == [f"'{own / 'pulumi'}' is there already; the archive was not needed"]
    assert not list((machine / "tools").glob(".staging*"))


def test_another_digest_is_refused_and_nothing_is_built(machine: Path) -> None:
    go = f"#!/bin/sh\n[ $1 = version ] || echo > {machine}/built\necho go version go1.99\n"
    script(machine / "path/go", go)
    place = an_archive(machine).partition("#")[0]
    with pytest.raises(ExternalToolError, match="nothing of it was unpacked") as caught:
        install_pulumi(progress=quiet, archive=Archive(place, "0" * 64))
    assert f"instead of {'0' * 64}" in caught.value.summary
    assert find_pulumi() is None
    assert not (machine / "built").exists()


def test_cli_that_does_not_run_is_refused(machine: Path) -> None:
    given = parse_archive(an_archive(machine, answer="for another processor"))
    with pytest.raises(ExternalToolError, match=r"pulumi\.tar\.gz' answers version 'None'"):
        install_pulumi(progress=quiet, archive=given)
    assert find_pulumi() is None


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no archive", "cannot be unpacked"), (None, "holds no Pulumi CLI")],
)
def test_archive_without_a_cli_is_refused(machine: Path, content: bytes | None, said: str) -> None:
    path = Path(an_archive(machine, folder="other").partition("#")[0])
    path.write_bytes(path.read_bytes() if content is None else content)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(ExternalToolError, match=said):
        install_pulumi(progress=quiet, archive=Archive(str(path), digest))


def test_a_file_that_is_not_there_is_said(machine: Path) -> None:
    with pytest.raises(ExternalToolError, match="cannot be read: No such file"):
        install_pulumi(progress=quiet, archive=Archive(str(machine / "no"), "0" * 64))


@pytest.mark.parametrize(
    "text",
    [
        "a.tar.gz",
        "a.tar.gz#sha256=12",
        "http://x.example/a#sha256=" + "0" * 64,
        "file:///a#sha256=" + "0" * 64,
        "a b#sha256=" + "0" * 64,
        "#sha256=" + "0" * 64,
    ],
)
def test_unpinned_archive_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no archive to install from"):
        parse_archive(text)


def test_archive_is_fetched_only_by_https(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    file, _, digest = an_archive(machine).partition("#sha256=")
    with a_tls_server(machine, Path(file).read_bytes()) as address:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(ExternalToolError, match="certificate verify failed"):
            install_pulumi(progress=quiet, archive=Archive(f"{address}/moved", digest))
        monkeypatch.setenv("SSL_CERT_FILE", str(machine / "certificate.pem"))
        with pytest.raises(ExternalToolError, match="where nothing is encrypted"):
            install_pulumi(progress=quiet, archive=Archive(f"{address}/plain", digest))
        with pytest.raises(ExternalToolError, match="cannot be read: Not Found"):
            install_pulumi(progress=quiet, archive=Archive(f"{address}/none", digest))
        tool = install_pulumi(progress=quiet, archive=Archive(f"{address}/moved", digest))
    assert tool.origin == "vendor"


def test_an_archive_that_would_not_be_used_is_refused(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "install", "aws-provider", "--archive", an_archive(machine)]) == 2
    assert "--archive is for 'pulumi'" in capsys.readouterr().err
    assert main(["tools", "install", "--archive", an_archive(machine)]) == 0
    assert f"pulumi {PINNED} (vendor): " in capsys.readouterr().out
