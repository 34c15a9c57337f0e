"""Attestation against the TPM of swtpm and the programs that hosts have, tpm2-tools."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lldp_hall import root_with
from rackwright.metal.attestation import attest
from rackwright.model.provisioning import Attestation, Measurement
from tpm_fake import Maker
from tpm_machine import PACKAGES, TpmMachine, tpm_machine

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(os.geteuid() != 0, reason="a root file system is made as root"),
]
REGISTERS = (0, 4, 7)


def two_free_ports() -> int:
    """Return the first of two ports of loopback, one after the other, that are free."""
    while True:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
            try:
                other.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


@pytest.fixture(scope="module")
def tpm() -> Iterator[TpmMachine]:
    with root_with(*PACKAGES) as root, tpm_machine(root, two_free_ports()) as machine:
        yield machine


@pytest.fixture
def makers(tpm: TpmMachine, tmp_path: Path) -> Path:
    """Certificates of makers, at a path that a blueprint may name."""
    return Path(shutil.copy(tpm.makers, tmp_path))


def accepting(makers: Path, values: dict[int, str]) -> Attestation:
    pcrs = tuple(Measurement(index=number, values=(value,)) for number, value in values.items())
    return Attestation(tpm_ca=str(makers), pcrs=pcrs)


def test_tpm_is_attested_with_its_values_and_refused_by_name_when_a_register_has_changed(
    tpm: TpmMachine, makers: Path, tmp_path: Path
) -> None:
    reason, _ = attest(tpm, accepting(makers, dict.fromkeys(REGISTERS, "f" * 64)))
    assert reason is not None
    told = {int(n): value for n, value in re.findall(r"PCR (\d+) is ([0-9a-f]{64})", reason)}
    assert told == dict.fromkeys(REGISTERS, "0" * 64), "no firmware has measured anything"
    reason, fingerprint = attest(tpm, accepting(makers, told))
    assert (reason, len(fingerprint)) == (None, 64)

    tpm(f"tpm2_pcrextend 7:sha256={'ab' * 32}")
    reason, _ = attest(tpm, accepting(makers, told))
    assert reason is not None
    assert re.fullmatch(
        rf"it started software that is not accepted: PCR 7 is [0-9a-f]{{64}}, accepted is {'0' * 64}",
        reason,
    )
    others = Maker("other").write(tmp_path / "others.pem")
    reason, _ = attest(tpm, accepting(others, told))
    assert reason == "the certificate of its TPM is not trusted: 'CN=maker' is not in 'tpm_ca'"


def test_quote_is_one_for_the_checker_of_tpm2_tools(tpm: TpmMachine) -> None:
    """Ask a checker that shares no code with attestation."""
    said = tpm(
        "cd /run && tpm2_createek -Q -G rsa -c ek.ctx && "
        "tpm2_createak -Q -C ek.ctx -c ak.ctx -G ecc -g sha256 -s ecdsa -u ak.pub -f pem && "
        "tpm2_quote -Q -c ak.ctx -l sha256:0,7 -q 1234 -m message -s signature -o values && "
        "tpm2_checkquote -u ak.pub -m message -s signature -f values -g sha256 -q 1234 && echo good"
    )
    assert said.rstrip().endswith("good")
