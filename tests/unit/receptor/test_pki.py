"""Certificates of Receptor's nodes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from rackwright.errors import UsageError
from rackwright.receptor.pki import AUTHORITY, make_credentials
from rackwright.receptor.workers import Workers


def workers(*nodes: str, address: str = "10.0.0.1") -> Workers:
    return Workers.model_validate(
        {
            "apiVersion": "rackwright/v1",
            "head": {"node": "head", "address": address},
            "workers": [{"node": node, "hosts": ["all"]} for node in nodes],
        }
    )


def openssl(*words: str | Path) -> str:
    done = subprocess.run(
        ["openssl", *map(str, words)], capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_every_node_can_prove_its_name_and_nobody_else_reads_its_key(tmp_path: Path) -> None:
    assert make_credentials(workers("a", "b"), tmp_path) == ("head", "a", "b")
    for node in ("head", "a", "b"):
        place = tmp_path / node
        assert place.stat().st_mode & 0o777 == 0o700
        assert (place / "node.key").stat().st_mode & 0o777 == 0o600
        assert "OK" in openssl("verify", "-CAfile", place / "ca.crt", place / "node.crt")
        told = x509.load_pem_x509_certificate((place / "node.crt").read_bytes())
        names = told.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        (other,) = names.get_values_for_type(x509.OtherName)
        assert other.type_id.dotted_string == "1.3.6.1.4.1.2312.19.1"
        assert other.value == b"\x0c" + bytes([len(node)]) + node.encode()
        addresses = [str(found) for found in names.get_values_for_type(x509.IPAddress)]
        assert addresses == (["10.0.0.1"] if node == "head" else [])
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        *("ca.crt", "node.crt", "node.key", "signing.pub")
    ]
    assert sorted(path.name for path in (tmp_path / AUTHORITY).iterdir()) == ["ca.crt", "ca.key"]


def test_workers_know_the_public_part_of_the_key_that_signs(tmp_path: Path) -> None:
    make_credentials(workers("a"), tmp_path)
    private = serialization.load_pem_private_key(
        (tmp_path / "head/signing.key").read_bytes(), password=None
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert (tmp_path / "a/signing.pub").read_bytes() == public


def test_what_is_there_stays_and_a_new_worker_is_added(tmp_path: Path) -> None:
    make_credentials(workers("a"), tmp_path)
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert make_credentials(workers("a", "b"), tmp_path) == ("b",)
    assert {path: path.read_bytes() for path in kept} == kept
    assert "OK" in openssl("verify", "-CAfile", tmp_path / "a/ca.crt", tmp_path / "b/node.crt")


def test_certificates_can_be_renewed_under_the_same_authority(tmp_path: Path) -> None:
    make_credentials(workers("a"), tmp_path)
    authority, old = (tmp_path / "a/ca.crt").read_bytes(), (tmp_path / "a/node.crt").read_bytes()
    assert make_credentials(workers("a"), tmp_path, renew=True) == ("head", "a")
    assert (tmp_path / "a/ca.crt").read_bytes() == authority
    assert (tmp_path / "a/node.crt").read_bytes() != old


def test_a_head_may_have_a_name_instead_of_an_address(tmp_path: Path) -> None:
    make_credentials(workers("a", address="head.example.com"), tmp_path)
    assert "DNS:head.example.com" in openssl(
        "x509", "-in", tmp_path / "head/node.crt", "-noout", "-ext", "subjectAltName"
    )


def test_no_node_takes_the_folder_of_the_authority(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'authority' cannot be the name of a node"):
        make_credentials(workers(AUTHORITY), tmp_path)
