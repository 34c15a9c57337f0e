"""What the role ``sssd`` says of servers that it must not use."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from rackwright_lab.system import run

PROGRAM = Path(__file__).parents[3] / "roles/sssd/files/connect.py"
REFUSES = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x02\x04\x00\x04\x00"  # protocolError of RFC 4511
AGREES = REFUSES.replace(b"\x0a\x01\x02", b"\x0a\x01\x00")


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of ``localhost`` that signs itself, with its key."""
    made = tmp_path_factory.mktemp("certificate") / "pair.pem"
    words = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -addext subjectAltName=DNS:localhost"
    )
    run("openssl", *words.split(), "-keyout", made, "-out", made.with_name("certificate.pem"))
    made.write_text(made.read_text() + made.with_name("certificate.pem").read_text())
    return made


@contextmanager
def server(answer: bytes, pair: Path) -> Iterator[str]:
    """The URI of a server that answers StartTLS once, and encrypts if it agrees."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as connection:
                connection.recv(4096)
                connection.sendall(answer)
                if answer == AGREES:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(pair)
                    context.wrap_socket(connection, server_side=True).close()

        thread = Thread(target=serve)
        thread.start()
        yield f"ldap://localhost:{listening.getsockname()[1]}"
        thread.join()


@contextmanager
def nobody() -> Iterator[str]:
    """The URI of a port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"ldap://localhost:{bound.getsockname()[1]}"


def connect(certificates: str, *uris: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, PROGRAM, certificates, *uris], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_a_server_that_would_be_spoken_to_in_clear_text_is_refused(signed: Path) -> None:
    own = signed.with_name("certificate.pem").read_text()
    with server(REFUSES, signed) as refuses, server(AGREES, signed) as agrees:
        code, said = connect(own, agrees, refuses)
    assert code == 1
    assert said.startswith(f"{refuses}: it refuses StartTLS, so nothing would be encrypted")


def test_a_server_without_an_answer_is_no_failure_beside_one_with_a_right_certificate(
    signed: Path,
) -> None:
    own = signed.with_name("certificate.pem").read_text()
    with server(AGREES, signed) as agrees, nobody() as silent:
        code, said = connect(own, silent, agrees)
        assert connect(own, silent)[0] == 1
    assert code == 0
    assert "Connection refused" in said


def test_invalid_certificate_is_reported() -> None:
    code, said = connect("password", "ldap://localhost")
    assert code == 1
    assert "the certificates of who signs cannot be read" in said
