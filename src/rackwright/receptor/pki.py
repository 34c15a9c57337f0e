"""Certificates and keys of a network of Receptor: an authority of its own, made once.

Every node has a certificate with its name in it, so that the head sends a run, and the keys in it,
to nobody else than the worker that is meant. The head signs what it submits, and workers run
nothing else.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rackwright.errors import StateError, UsageError
from rackwright.receptor.workers import Workers
from rackwright.secret_files import Secret, is_whole, keep_secret, write_secret

AUTHORITY_DAYS, NODE_DAYS = 3650, 825
"""How long certificates hold: of the authority, and of a node."""

CLOCKS_DIFFER = dt.timedelta(hours=1)
"""How far the clocks of nodes may be behind when a certificate is new."""

NODE_NAME = "1.3.6.1.4.1.2312.19.1"
"""Object identifier under which a certificate names a node of Receptor."""

SIGNING_BITS = 3072
"""Receptor signs with RSA only; 3072 bits are as strong as the curve of the certificates."""

KEY_BYTES, CERTIFICATE_BYTES = 1000, 100
"""What a file of a key that signs, and of any key or certificate, has at least."""

AUTHORITY = "authority"
"""Folder of the authority's key, which no node needs."""


def make_credentials(workers: Workers, folder: Path, *, renew: bool = False) -> tuple[str, ...]:
    """Names of the nodes that got a new certificate in ``folder/NODE``.

    Args:
        workers: the nodes.
        folder: where each node has a folder.
        renew: make all certificates of nodes again; authority and signing key stay.

    Raises:
        ModuleNotFoundError: the extra 'workers' is not installed.
        UsageError: a node is called as the authority's folder.
        StateError: what nodes trust is damaged.
    """
    nodes = [workers.head.node, *(worker.node for worker in workers.workers)]
    if AUTHORITY in nodes:
        raise UsageError(f"'{AUTHORITY}' cannot be the name of a node: its folder is taken")
    trusted = any((folder / node / "node.crt").exists() for node in nodes)
    authority = _Authority(folder / AUTHORITY, workers.head.node, trusted=trusted)
    made = []
    for node in nodes:
        place = _folder(folder / node)
        if renew or not all(_is_pem(place / name) for name in ("node.key", "node.crt")):
            authority.issue(node, place, workers.head.address if node == nodes[0] else None)
            made.append(node)
        shutil.copyfile(folder / AUTHORITY / "ca.crt", place / "ca.crt")
    signing = folder / nodes[0] / "signing.key"
    remedy = "remove it, run this again and give every worker its new 'signing.pub'"
    keep_secret(signing, make_signing_key, Secret("the key that signs", KEY_BYTES, remedy))
    public = _public_part(_load(signing, _load_key, remedy))
    for node in nodes[1:]:
        write_secret(folder / node / "signing.pub", public)
    return tuple(made)


class _Authority:
    """A certificate authority, made when nodes do not trust one yet."""

    def __init__(self, folder: Path, name: str, *, trusted: bool) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        key_file, certificate = _folder(folder) / "ca.key", folder / "ca.crt"
        if trusted or (_is_pem(key_file) and _is_pem(certificate)):
            remedy = (
                "put it back from a backup; without one nobody can make more certificates that "
                f"the nodes trust: remove '{folder.parent}' and give every node what is made again"
            )
            self._key = _load(key_file, _load_key, remedy)
            self._certificate = _load(certificate, x509.load_pem_x509_certificate, remedy)
            return
        self._key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(f"Receptor of {name}")
        usage = _usage(signs=True)
        self._certificate = (
            _draft(subject, subject, self._key.public_key(), AUTHORITY_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, _hash())
        )
        write_secret(key_file, _pem(self._key))
        write_secret(certificate, _certificate_pem(self._certificate))

    def issue(self, node: str, folder: Path, address: str | None) -> None:
        """Write key and certificate of ``node``; ``address`` is where a client dials it."""
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID

        key = ec.generate_private_key(ec.SECP256R1())
        purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        names: list[x509.GeneralName] = [
            x509.OtherName(x509.ObjectIdentifier(NODE_NAME), _utf8_string(node)),
            x509.DNSName(node),
        ]
        if address is not None:
            names.append(_address(address))
        certificate = (
            _draft(_name(node), self._certificate.subject, key.public_key(), NODE_DAYS)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, _hash())
        )
        write_secret(folder / "node.key", _pem(key))
        write_secret(folder / "node.crt", _certificate_pem(certificate))


def make_signing_key() -> bytes:
    """Return a new key to sign work with."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    return _pem(rsa.generate_private_key(public_exponent=65537, key_size=SIGNING_BITS))


def _public_part(key: Any) -> bytes:
    """Return the public key that belongs to a private one."""
    from cryptography.hazmat.primitives import serialization

    public = key.public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return bytes(public.public_bytes(serialization.Encoding.PEM, form))


def _draft(subject: Any, issuer: Any, key: Any, days: int) -> Any:
    from cryptography import x509

    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + dt.timedelta(days=days))
    )


def _name(text: str) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs: bool) -> Any:
    """Return a key that signs certificates, or one that proves who a node is."""
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _address(text: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _utf8_string(text: str) -> bytes:
    """``text`` in the encoding of certificates; names of nodes are shorter than 128 bytes."""
    raw = text.encode()
    return bytes([0x0C, len(raw)]) + raw


def _hash() -> Any:
    from cryptography.hazmat.primitives import hashes

    return hashes.SHA256()


def _pem(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _certificate_pem(certificate: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _load_key(pem: bytes) -> Any:
    from cryptography.hazmat.primitives import serialization

    return serialization.load_pem_private_key(pem, password=None)


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.chmod(0o700)
    return path


def _is_pem(path: Path) -> bool:
    return is_whole(path, CERTIFICATE_BYTES)


def _load(path: Path, read: Callable[[bytes], Any], remedy: str) -> Any:
    """Return the result of ``read`` for the file.

    Raises:
        StateError: it is missing or damaged.
    """
    try:
        return read(path.read_bytes())
    except FileNotFoundError:
        fault = "missing"
    except ValueError:
        fault = "damaged"
    raise StateError(f"'{path}' is {fault}", hint=remedy)
