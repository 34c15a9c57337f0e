"""Attestation of a host by its TPM 2.0: the TPM is of a known maker and has measured accepted software.

The TPM creates a key for quotes. To prove that this key is in the TPM of the endorsement certificate, the host decrypts a
secret that only this TPM can decrypt, and only for this key. After that, signatures of the key are trusted.
"""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES

from rackwright.errors import ExternalToolError, UsageError
from rackwright.harmless import visible
from rackwright.metal.tpm import TpmStructureError, check_quote, credential, derive, read_key
from rackwright.model.provisioning import Attestation

_LONGEST, _LONGEST_CHAIN = 300, 6
_ENDORSEMENT = "0x01c00002"
"""NV index of the certificate of the RSA 2048 endorsement key (TCG EK Credential Profile)."""
_COLLECT = """\
set -eu; umask 077; d=/run/rackwright-attestation; rm -rf $d; mkdir $d; cd $d
command -v tpm2_quote >/dev/null || {{ echo 'tpm2-tools is not installed' >&2; exit 1; }}
tpm2_nvread -Q {place} -o ek.crt
tpm2_createek -Q -G rsa -c ek.ctx -u ek.pub
tpm2_createak -Q -C ek.ctx -c ak.ctx -G ecc -g sha256 -s ecdsa -u ak.pub
tpm2_quote -Q -c ak.ctx -l sha256:{registers} -q {nonce} -m message -s signature -f plain
tpm2_pcrread -Q sha256:{registers} -o values
for f in ek.crt ak.pub message signature values; do printf '%s ' $f; base64 -w0 $f; echo; done
"""
_ACTIVATE = """\
set -eu; umask 077; cd /run/rackwright-attestation; trap 'rm -rf /run/rackwright-attestation' EXIT
printf %s {blob} | base64 -d > credential
tpm2_startauthsession -Q --policy-session -S session
tpm2_policysecret -Q -S session -c e
tpm2_activatecredential -Q -c ak.ctx -C ek.ctx -i credential -o secret -P session:session
tpm2_flushcontext -Q session
printf 'secret '; base64 -w0 secret; echo
"""

Shell = Callable[[str], str]
"""Function that runs a script as root on the host and returns its output; raises ``ExternalToolError`` if it fails."""


def attest(ask: Shell, wanted: Attestation) -> tuple[str | None, str]:
    """Return the reason why a host is not trusted (None if it is), and the fingerprint of its TPM.

    Args:
        ask: function that runs scripts on the host.
        wanted: accepted makers and measurements.

    Raises:
        ExternalToolError: the host does not answer.
        UsageError: the file of authorities cannot be read.
    """
    accepted = {one.index: one.values for one in wanted.pcrs}
    registers = ",".join(map(str, sorted(accepted)))
    nonce = secrets.token_bytes(32)
    script = _COLLECT.format(place=_ENDORSEMENT, registers=registers, nonce=nonce.hex())
    told = _fields(ask(script))
    try:
        key = read_key(told["ak.pub"])
        values = {
            number: told["values"][32 * place : 32 * place + 32]
            for place, number in enumerate(sorted(accepted))
        }
        certificate = _trusted(told["ek.crt"], Path(wanted.tpm_ca), dt.datetime.now(dt.UTC))
        secret = secrets.token_bytes(32)
        blob = base64.b64encode(_credential(certificate, secret, key.name)).decode("ascii")
        back = _fields(ask(_ACTIVATE.format(blob=blob))).get("secret", b"")
        # Order matters: the signature proves nothing until the key is known to be in this TPM.
        if not hmac.compare_digest(back, secret):
            return "the key of the quote is not in the TPM of the certificate", ""
        if not _is_signed(told["message"], told["signature"], key.public):
            return "the quote is not signed by the key of its TPM", ""
        fingerprint = certificate.fingerprint(hashes.SHA256()).hex()
        return check_quote(told["message"], nonce, values, accepted), fingerprint
    except _UntrustedError as error:
        return f"the certificate of its TPM is not trusted: {error}", ""
    except (TpmStructureError, KeyError) as error:
        return f"its TPM did not answer like a TPM 2.0: {visible(str(error))[:_LONGEST]}", ""


class _UntrustedError(ValueError):
    """A certificate of a TPM that is not trusted."""


def _fields(text: str) -> Mapping[str, bytes]:
    """Return the files that a host printed, one a line with name and content in base64.

    Raises:
        ExternalToolError: a line has another format.
    """
    found = {}
    for line in text.splitlines():
        name, _, data = line.partition(" ")
        try:
            found[name] = base64.b64decode(data, validate=True)
        except ValueError:
            raise ExternalToolError(f"the host answered '{visible(line)[:60]}'") from None
    return found


def _trusted(data: bytes, authorities: Path, now: dt.datetime) -> x509.Certificate:
    """Return the certificate of a TPM after its chain to an authority was verified.

    The NV index may be larger than the certificate: trailing bytes are ignored. The key usage is not checked, because
    makers set it differently.

    Raises:
        _UntrustedError: the data is not a certificate, or no authority has signed it.
        UsageError: the file of authorities cannot be read.
    """
    try:
        known = x509.load_pem_x509_certificates(authorities.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"'tpm_ca' cannot be read: {error}") from None
    try:
        # DER header of four bytes: tag, 0x82, and the length of the rest in two bytes.
        size = 4 + int.from_bytes(data[2:4], "big")
        certificate = x509.load_der_x509_certificate(data[:size])
    except ValueError:
        raise _UntrustedError("it is not a certificate") from None
    link = certificate
    for _ in range(_LONGEST_CHAIN):
        if not link.not_valid_before_utc <= now <= link.not_valid_after_utc:
            raise _UntrustedError(f"'{visible(link.subject.rfc4514_string())}' is not valid today")
        issuer = next((one for one in known if _has_issued(one, link)), None)
        if issuer is None:
            name = visible(link.issuer.rfc4514_string())[:_LONGEST]
            raise _UntrustedError(f"'{name}' is not in 'tpm_ca'")
        if issuer.issuer == issuer.subject:
            return certificate
        link = issuer
    raise _UntrustedError("the chain of its authorities does not end")


def _has_issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _credential(certificate: x509.Certificate, secret: bytes, name: bytes) -> bytes:
    """Return the credential blob with which the TPM of a certificate decrypts a secret for the key ``name``.

    Raises:
        _UntrustedError: the key of the certificate is not an RSA key.
    """
    try:
        public = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, rsa.RSAPublicKey):
        raise _UntrustedError("its key is not an RSA key")
    seed = secrets.token_bytes(32)
    sha256 = hashes.SHA256()
    padded = padding.OAEP(padding.MGF1(sha256), sha256, label=b"IDENTITY\0")
    cipher = Cipher(AES(derive(seed, b"STORAGE", name, 128)), modes.ECB()).encryptor()  # noqa: S305 - CFB below # nosec B305
    encrypted, before = b"", bytes(16)
    plain = len(secret).to_bytes(2, "big") + secret
    for start in range(0, len(plain), 16):
        part = plain[start : start + 16]
        before = bytes(a ^ b for a, b in zip(part, cipher.update(before), strict=False))
        encrypted += before
    return credential(seed, public.encrypt(seed, padded), encrypted, name)


def _is_signed(message: bytes, signature: bytes, public: bytes) -> bool:
    key = serialization.load_der_public_key(public)
    assert isinstance(key, ec.EllipticCurvePublicKey)  # noqa: S101 - it was written so
    try:
        key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True
