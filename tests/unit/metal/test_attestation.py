"""Attestation: what a TPM says counts when it is a TPM of a known maker, answers now, and has measured what is accepted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from provisioned_hall import MORE, Hall
from rackwright.errors import ExternalToolError, UsageError
from rackwright.metal.attestation import attest
from rackwright.metal.lifecycle import Act
from rackwright.metal.tpm import TpmStructureError, read_key, read_quote
from rackwright.model.provisioning import Attestation, Measurement
from tpm_fake import DAY, FakeTpm, Maker, made_by

GOOD = {0: b"\x10" * 32, 7: b"\x17" * 32}
CHANGED = {**GOOD, 7: b"\x18" * 32}


@pytest.fixture(scope="module")
def maker() -> Maker:
    return Maker("Maker of TPMs")


@pytest.fixture(scope="module")
def tpm(maker: Maker) -> FakeTpm:
    return made_by(maker, GOOD)


def wanted(
    folder: Path, maker: Maker, values: Mapping[int, tuple[bytes, ...]] | None = None
) -> Attestation:
    accepted = values or {number: (value,) for number, value in GOOD.items()}
    pcrs = tuple(
        Measurement(index=number, values=tuple(value.hex() for value in some))
        for number, some in accepted.items()
    )
    return Attestation(tpm_ca=str(maker.write(folder / "makers.pem")), pcrs=pcrs)


def test_host_that_measured_what_is_accepted_is_trusted_with_the_fingerprint_of_its_tpm(
    tpm: FakeTpm, maker: Maker, tmp_path: Path
) -> None:
    reason, fingerprint = attest(tpm, wanted(tmp_path, maker))
    assert reason is None
    assert len(fingerprint) == 64


def test_several_values_are_accepted_while_an_update_rolls_out(
    tpm: FakeTpm, maker: Maker, tmp_path: Path
) -> None:
    both = wanted(tmp_path, maker, {0: (GOOD[0],), 7: (CHANGED[7], GOOD[7])})
    assert attest(tpm, both)[0] is None


@pytest.mark.parametrize(
    ("cheat", "reason"),
    [
        ({"registers": CHANGED}, f"not accepted: PCR 7 is {'18' * 32}, accepted is {'17' * 32}"),
        ({"registers": CHANGED, "told": GOOD}, "not those that its TPM signed"),
        ({"nonce": b"yesterday" * 3}, "sent an old quote"),
        ({"quoted": [0]}, "quoted the registers 0"),
        ({"signer": ec.generate_private_key(ec.SECP256R1())}, "not signed by the key of its TPM"),
        ({"attributes": 0x00040072}, "not restricted to signing statements"),
        ({"attributes": 0x00050060}, "not restricted to signing statements"),
        ({"attributes": 0x00070072}, "not restricted to signing statements"),
    ],
)  # fmt: skip
def test_tpm_that_cheats_or_measured_something_else_is_refused(
    cheat: dict[str, Any], reason: str, tpm: FakeTpm, maker: Maker, tmp_path: Path
) -> None:
    told, fingerprint = attest(replace(tpm, **cheat), wanted(tmp_path, maker))
    assert told is not None
    assert reason in told
    assert fingerprint == "" or "PCR" in told or "quote" in told or "registers" in told


def test_key_that_is_outside_of_the_tpm_of_the_certificate_is_refused(
    tpm: FakeTpm, maker: Maker, tmp_path: Path
) -> None:
    other = made_by(maker, GOOD)
    told, _ = attest(replace(other, certificate=tpm.certificate), wanted(tmp_path, maker))
    assert told == "the key of the quote is not in the TPM of the certificate"


def test_tpm_of_an_unknown_maker_is_refused(maker: Maker, tmp_path: Path) -> None:
    told, _ = attest(made_by(Maker("Somebody"), GOOD), wanted(tmp_path, maker))
    assert told == "the certificate of its TPM is not trusted: 'CN=Somebody' is not in 'tpm_ca'"


def test_tpm_of_a_maker_of_the_same_name_is_refused(maker: Maker, tmp_path: Path) -> None:
    told, _ = attest(made_by(Maker(maker.name), GOOD), wanted(tmp_path, maker))
    assert told is not None
    assert "is not in 'tpm_ca'" in told


def test_certificate_of_a_tpm_that_has_expired_is_refused(maker: Maker, tmp_path: Path) -> None:
    old = made_by(maker, GOOD, dt.datetime.now(dt.UTC) - DAY)
    told, _ = attest(old, wanted(tmp_path, maker))
    assert told == "the certificate of its TPM is not trusted: 'CN=TPM' is not valid today"


def test_file_of_makers_that_is_missing_is_an_error_of_the_blueprint(
    tpm: FakeTpm, maker: Maker, tmp_path: Path
) -> None:
    stated = wanted(tmp_path, maker)
    (tmp_path / "makers.pem").unlink()
    with pytest.raises(UsageError, match="'tpm_ca' cannot be read"):
        attest(tpm, stated)


@pytest.mark.parametrize("size", range(0, 116, 7))
def test_statements_that_are_cut_short_are_refused(size: int, tpm: FakeTpm) -> None:
    with pytest.raises(TpmStructureError):
        read_quote(tpm._quote([0, 7], b"n" * 32)[:size])
    with pytest.raises(TpmStructureError):
        read_key(tpm._area()[:size])


def test_host_that_answers_with_other_words_is_an_error(maker: Maker, tmp_path: Path) -> None:
    with pytest.raises(ExternalToolError, match="the host answered 'tpm2: no such device'"):
        attest(lambda script: "tpm2: no such device", wanted(tmp_path, maker))


def test_host_without_a_certificate_is_refused(tpm: FakeTpm, maker: Maker, tmp_path: Path) -> None:
    told, _ = attest(lambda script: "ak.pub \n", wanted(tmp_path, maker))
    assert told is not None
    assert "did not answer like a TPM 2.0" in told


ATTESTED = "attestation: {tpm_ca: /etc/tpm.pem, pcrs: [{index: 7, values: ['" + "17" * 32 + "']}]}"


def test_host_that_is_not_attested_is_never_configured(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE.replace("image: ubuntu}", f"image: ubuntu, {ATTESTED}}}"))
    hall.answers = {(Act.ATTEST, "dgx-02"): ["it started software that is not accepted"] * 3}
    outcome = hall.provision(("dgx-01", "dgx-02"))
    reason = "attest failed 3 times: it started software that is not accepted"
    assert outcome.failed == {"dgx-02": ("attested", reason)}
    assert [act for act, host in hall.late if host == "dgx-01"] == [
        Act.REACH,
        Act.ATTEST,
        Act.CONFIGURE,
        Act.ACCEPT,
    ]
    assert (Act.CONFIGURE, "dgx-02") not in hall.late
