"""Binary structures of a TPM 2.0: keys, quotes and credentials (TCG library specification, parts 1 and 2)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_GENERATED, _QUOTE = 0xFF544347, 0x8018
_SHA256, _ECC, _NULL, _ECDSA, _P256 = 0x000B, 0x0023, 0x0010, 0x0018, 0x0003
_IN_ONE_TPM = 1 << 1 | 1 << 4 | 1 << 5
"""Attributes fixedTPM, fixedParent and sensitiveDataOrigin."""
_SIGNS_ITS_OWN = 1 << 16 | 1 << 18
"""Attributes restricted and sign: the key never signs external data that looks like a quote."""
_DECRYPTS = 1 << 17
_SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_FILE_OF_CREDENTIAL = bytes.fromhex("badcc0de00000001")
"""Header of a credential file of tpm2-tools."""


class TpmStructureError(ValueError):
    """Data that is not a valid structure of a TPM."""


@dataclass
class _Reader:
    """Reader of the fields of a structure, one after the other."""

    left: bytes

    def take(self, count: int) -> bytes:
        if len(self.left) < count:
            raise TpmStructureError("it is cut short")
        found, self.left = self.left[:count], self.left[count:]
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def sized(self) -> bytes:
        return self.take(self.number(2))

    def expect(self, size: int, value: int, name: str) -> None:
        if (found := self.number(size)) != value:
            raise TpmStructureError(f"{name} is {found:#x}, not {value:#x}")

    def end(self) -> None:
        if self.left:
            raise TpmStructureError("bytes follow it")


@dataclass(frozen=True, slots=True)
class Quote:
    """Quote of registers, as signed by a TPM.

    Attributes:
        nonce: random number of the request.
        registers: numbers of the registers in the SHA-256 bank, ascending.
        digest: SHA-256 over the values of the registers.
    """

    nonce: bytes
    registers: tuple[int, ...]
    digest: bytes


def read_quote(message: bytes) -> Quote:
    """Parse a signed message of a TPM.

    Raises:
        TpmStructureError: the message is not a quote of SHA-256 registers.
    """
    reader = _Reader(message)
    reader.expect(4, _GENERATED, "the magic number")
    reader.expect(2, _QUOTE, "the type")
    reader.sized()  # name of the key: the signature already proves it
    nonce = reader.sized()
    reader.take(17 + 8)  # clock, and version of the TPM's firmware
    reader.expect(4, 1, "the number of banks")
    reader.expect(2, _SHA256, "the bank")
    bits = int.from_bytes(reader.take(reader.number(1)), "little")
    digest = reader.sized()
    reader.end()
    registers = tuple(number for number in range(24) if bits >> number & 1)
    return Quote(nonce, registers, digest)


def digest_of(values: Sequence[bytes]) -> bytes:
    """Return the digest in a quote of registers with these values."""
    return hashlib.sha256(b"".join(values)).digest()


@dataclass(frozen=True, slots=True)
class AttestationKey:
    """Key of a TPM that signs quotes.

    Attributes:
        name: name of the key in the TPM: hash of its public area.
        public: public key as DER (SubjectPublicKeyInfo).
    """

    name: bytes
    public: bytes


def read_key(sized: bytes) -> AttestationKey:
    """Return the key of a public area (``TPM2B_PUBLIC``).

    Raises:
        TpmStructureError: the key is not an ECDSA key on P-256 that never leaves its TPM and signs only
            statements of this TPM.
    """
    whole = _Reader(sized)
    area = whole.sized()
    whole.end()
    reader = _Reader(area)
    reader.expect(2, _ECC, "the kind of the key")
    reader.expect(2, _SHA256, "the algorithm of its name")
    attributes = reader.number(4)
    if attributes & (_IN_ONE_TPM | _SIGNS_ITS_OWN) != _IN_ONE_TPM | _SIGNS_ITS_OWN or (
        attributes & _DECRYPTS
    ):
        raise TpmStructureError(
            f"the key is not restricted to signing statements of this TPM ({attributes:#x})"
        )
    reader.sized()  # policy
    for value, name in ((_NULL, "its cipher"), (_ECDSA, "its scheme"), (_SHA256, "its hash"), (_P256, "its curve"), (_NULL, "its derivation")):  # fmt: skip
        reader.expect(2, value, name)
    x, y = reader.sized(), reader.sized()
    reader.end()
    if max(len(x), len(y)) > 32:
        raise TpmStructureError("it is not a point on P-256")
    own = _SHA256.to_bytes(2, "big") + hashlib.sha256(area).digest()
    return AttestationKey(own, _SPKI_P256 + b"\x04" + x.rjust(32, b"\0") + y.rjust(32, b"\0"))


def derive(key: bytes, label: bytes, context: bytes, bits: int) -> bytes:
    """Derive up to 256 bits from a key (KDFa with SHA-256)."""
    text = b"\0\0\0\1" + label + b"\0" + context + bits.to_bytes(4, "big")
    return hmac.digest(key, text, "sha256")[: bits // 8]


def credential(seed: bytes, encrypted_seed: bytes, encrypted: bytes, name: bytes) -> bytes:
    """Return the credential file for ``tpm2_activatecredential``, from which the TPM decrypts the secret.

    Args:
        seed: random bytes.
        encrypted_seed: seed, encrypted for the endorsement key of the TPM.
        encrypted: secret with its size, encrypted with a key derived from the seed.
        name: name of the key that must be in the same TPM.
    """
    integrity = hmac.digest(derive(seed, b"INTEGRITY", b"", 256), encrypted + name, "sha256")
    blob = _sized(integrity) + encrypted
    return _FILE_OF_CREDENTIAL + _sized(blob) + _sized(encrypted_seed)


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def check_quote(
    message: bytes, nonce: bytes, values: Mapping[int, bytes], accepted: Mapping[int, Sequence[str]]
) -> str | None:
    """Return the reason why a quote is not accepted; None if it is. Its signature must be verified before.

    Args:
        message: message that the TPM signed.
        nonce: random number of the request.
        values: values of the registers, as reported by the host.
        accepted: accepted values of each register, in hex.

    Raises:
        TpmStructureError: the message is not a quote.
    """
    quote = read_quote(message)
    if not hmac.compare_digest(quote.nonce, nonce):
        return "its TPM sent an old quote: the nonce is another one"
    wanted = tuple(sorted(accepted))
    if quote.registers != wanted or sorted(values) != list(wanted):
        return f"its TPM quoted the registers {', '.join(map(str, quote.registers)) or 'none'}"
    if digest_of([values[number] for number in wanted]) != quote.digest:
        return "the registers that it reports are not those that its TPM signed"
    wrong = [number for number in wanted if values[number].hex() not in accepted[number]]
    if not wrong:
        return None
    told = "; ".join(
        f"PCR {number} is {values[number].hex()}, accepted is {' or '.join(accepted[number])}"
        for number in wrong
    )
    return f"it started software that is not accepted: {told}"
