"""A TPM in this process: it answers the scripts of attestation with structures of its own making."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.x509.oid import NameOID

RESTRICTED = 0x00050072
"""Attributes of a key that stays in its TPM and signs what the TPM itself states."""
DAY = dt.timedelta(days=1)


@dataclass
class Maker:
    """A maker of TPMs, with the key that signs their certificates."""

    name: str
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def sign(
        self, subject: str, public: rsa.RSAPublicKey, until: dt.datetime, *, ca: bool
    ) -> x509.Certificate:
        """Return a certificate."""

        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        constraints = x509.BasicConstraints(ca=ca, path_length=None)
        return (
            x509.CertificateBuilder().subject_name(named(subject)).issuer_name(named(self.name))
            .public_key(public).serial_number(x509.random_serial_number())
            .not_valid_before(until - 3650 * DAY).not_valid_after(until)
            .add_extension(constraints, critical=True).sign(self.key, hashes.SHA256())
        )  # fmt: skip

    def write(self, path: Path) -> Path:
        """Write the maker's own certificate."""
        until = dt.datetime.now(dt.UTC) + 30 * DAY
        own = self.sign(self.name, self.key.public_key(), until, ca=True)
        path.write_bytes(own.public_bytes(serialization.Encoding.PEM))
        return path


def sized(data: bytes) -> bytes:
    """Return data with its size before it."""
    return struct.pack(">H", len(data)) + data


def kdf(key: bytes, label: bytes, context: bytes, bits: int) -> bytes:
    """Return the first block of KDFa."""
    text = struct.pack(">I", 1) + label + b"\0" + context + struct.pack(">I", bits)
    return hmac.new(key, text, hashlib.sha256).digest()[: bits // 8]


@dataclass
class FakeTpm:
    """A TPM, and how it cheats.

    Attributes:
        registers: values of its registers.
        attributes: of the key that signs quotes.
        signer: another key that signs in its place.
        nonce: that it answers with, whatever is asked.
        told: values that the host tells in place of those of the registers.
        quoted: registers that it quotes, whatever is asked.
    """

    certificate: x509.Certificate
    endorsement: rsa.RSAPrivateKey
    registers: dict[int, bytes]
    attributes: int = RESTRICTED
    signer: ec.EllipticCurvePrivateKey | None = None
    nonce: bytes | None = None
    told: dict[int, bytes] | None = None
    quoted: list[int] | None = None
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def __call__(self, script: str) -> str:
        """Answer a script."""
        if blob := re.search(r"printf %s (\S+) \| base64 -d", script):
            secret = self._activate(base64.b64decode(blob[1]))
            return self._lines({"secret": secret})
        asked = re.search(r"sha256:([0-9,]+) -q ([0-9a-f]+)", script)
        assert asked is not None
        numbers = [int(text) for text in asked[1].split(",")]
        message = self._quote(self.quoted or numbers, self.nonce or bytes.fromhex(asked[2]))
        values = self.told or self.registers
        signer = self.signer or self.key
        return self._lines(
            {
                "ek.crt": self.certificate.public_bytes(serialization.Encoding.DER) + b"\xff" * 40,
                "ak.pub": sized(self._area()),
                "message": message,
                "signature": signer.sign(message, ec.ECDSA(hashes.SHA256())),
                "values": b"".join(values[number] for number in numbers),
            }
        )

    def _lines(self, files: dict[str, bytes]) -> str:
        return "".join(
            f"{name} {base64.b64encode(data).decode()}\n" for name, data in files.items()
        )

    def _area(self) -> bytes:
        point = self.key.public_key().public_numbers()
        head = struct.pack(">HHI", 0x23, 0x0B, self.attributes) + sized(b"")
        parameters = struct.pack(">HHHHH", 0x10, 0x18, 0x0B, 0x03, 0x10)
        return head + parameters + sized(point.x.to_bytes(32, "big")) + sized(point.y.to_bytes(32, "big"))  # fmt: skip

    def _quote(self, numbers: list[int], nonce: bytes) -> bytes:
        bits = sum(1 << number for number in numbers).to_bytes(3, "little")
        digest = hashlib.sha256(b"".join(self.registers[number] for number in numbers)).digest()
        head = struct.pack(">IH", 0xFF544347, 0x8018) + sized(b"signer") + sized(nonce) + bytes(25)
        return head + struct.pack(">IHB", 1, 0x0B, 3) + bits + sized(digest)

    def _activate(self, file: bytes) -> bytes:
        """Return the secret, or something else where it is not for this TPM and its key."""
        assert file[:8] == bytes.fromhex("badcc0de00000001")
        size = struct.unpack(">H", file[8:10])[0]
        blob, seed_file = file[10 : 10 + size], file[12 + size :]
        sha256 = hashes.SHA256()
        oaep = padding.OAEP(padding.MGF1(sha256), sha256, label=b"IDENTITY\0")
        try:
            seed = self.endorsement.decrypt(seed_file, oaep)
        except ValueError:
            return b"?"
        integrity, encrypted = blob[2:34], blob[34:]
        name = struct.pack(">H", 0x0B) + hashlib.sha256(self._area()).digest()
        mac = hmac.new(kdf(seed, b"INTEGRITY", b"", 256), encrypted + name, hashlib.sha256).digest()
        if mac != integrity:
            return b"?"
        cipher = Cipher(algorithms.AES(kdf(seed, b"STORAGE", name, 128)), modes.ECB()).encryptor()
        plain, before = b"", bytes(16)
        for start in range(0, len(encrypted), 16):
            part = encrypted[start : start + 16]
            plain += bytes(a ^ b for a, b in zip(part, cipher.update(before), strict=False))
            before = part
        return plain[2:]


def made_by(maker: Maker, registers: dict[int, bytes], until: dt.datetime | None = None) -> FakeTpm:
    """Return a TPM of a maker."""
    endorsement = rsa.generate_private_key(65537, 2048)
    valid = until or dt.datetime.now(dt.UTC) + 30 * DAY
    certificate = maker.sign("TPM", endorsement.public_key(), valid, ca=False)
    return FakeTpm(certificate, endorsement, registers)
