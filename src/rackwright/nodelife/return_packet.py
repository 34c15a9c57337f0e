"""Packet for the return of a part: serial numbers, ledger, reports and logs in one archive, without secrets."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rackwright.errors import UsageError
from rackwright.nodelife.ledger import Ledger, Stay

SCHEMA = "rackwright.return-packet/v1"
REMOVED = "[removed]"
_SECRETS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), REMOVED),
    (re.compile(r"(://[^/\s:@]+:)[^@\s/]+(@)"), rf"\1{REMOVED}\2"),
    (re.compile(r"(?i)((?:authorization|x-auth-token)\s*[:=]\s*)[^\r\n]+"), rf"\1{REMOVED}"),
    (
        re.compile(
            r"(?i)([\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|credential)[\w.-]*"
            r"[\"']?\s*[:=]\s*)(\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s,;&\"']+)"
        ),
        rf"\1{REMOVED}",
    ),
    (re.compile(r"(?i)(--?(?:password|passwd|token|secret)\s+)\S+"), rf"\1{REMOVED}"),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), REMOVED),
    (re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}\b"), REMOVED),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"), REMOVED),
)  # fmt: skip
"""Texts that are secrets, or hold one behind a name, and what is written instead."""
LARGEST = 256 * 2**20
"""Bytes of one attached file, also when it is unpacked."""


def without_secrets(text: str) -> tuple[str, int]:
    """Return a text without passwords, tokens and keys, and the number of those that were removed."""
    removed = 0
    for pattern, instead in _SECRETS:
        text, count = pattern.subn(instead, text)
        removed += count
    return text, removed


def write_packet(
    ledger: Ledger, serial: str, path: Path, attached: Iterable[Path], now: float
) -> dict[str, Any]:
    """Write the packet of a part; its list of contents.

    Texts, also those that gzip has packed (``nvidia-bug-report.log.gz``), lose what looks like a secret. A file that is
    no text is refused, since nobody can say what is in it.

    Raises:
        UsageError: the ledger does not know the part, a file cannot be read, is too large or is no text, or the
            archive exists.
    """
    part = ledger.find(serial)
    files = {"ledger.json": (_extract(ledger, part), 0)}
    for file in attached:
        name = f"attached/{file.name}"
        if name in files:
            raise UsageError(f"two attached files are called '{file.name}'")
        files[name] = _cleaned(file)
    contents = {
        "schema": SCHEMA,
        "kind": part.kind,
        "serial": part.serial,
        "model": part.model,
        "node": part.node,
        "slot": part.slot,
        "written": dt.datetime.fromtimestamp(now, dt.UTC).isoformat(timespec="seconds"),
        "files": [
            {
                "name": name,
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "secrets_removed": removed,
            }
            for name, (data, removed) in files.items()
        ],
    }
    text = json.dumps(contents, indent=1).encode() + b"\n"
    try:
        with path.open("xb") as out, tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name, data in {
                "contents.json": text,
                **{n: d for n, (d, _) in files.items()},
            }.items():
                entry = tarfile.TarInfo(f"{_plain(part.serial)}/{name}")
                entry.size, entry.mtime, entry.mode = len(data), int(now), 0o644
                archive.addfile(entry, io.BytesIO(data))
    except FileExistsError:
        raise UsageError(f"'{path}' exists already", hint="name another file") from None
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    ledger.write(
        "rma", part.node, f"packet written: {path.name}", now, kind=part.kind, serial=serial
    )
    return contents


def _plain(serial: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", serial).lstrip(".") or "part"


def _extract(ledger: Ledger, part: Stay) -> bytes:
    """Return the part in the ledger: its places, its entries, and what happened on its nodes while it was there."""
    stays = ledger.stays(serial=part.serial)
    entries = {entry.at: entry for entry in ledger.entries(serial=part.serial)}
    own = list(entries.values())
    for stay in stays:
        for entry in ledger.entries(node=stay.node):
            inside = (
                stay.since <= entry.at <= (stay.until if stay.until is not None else float("inf"))
            )
            if inside and entry.serial in ("", part.serial) and entry not in own:
                own.append(entry)
    document = {
        "places": [
            {"node": s.node, "slot": s.slot, "since": _time(s.since), "until": _time(s.until)} for s in stays
        ],
        "entries": [
            {"at": _time(e.at), "what": e.what, "node": e.node, "text": without_secrets(e.text)[0]}
            for e in sorted(own, key=lambda one: one.at)
        ],
    }  # fmt: skip
    return json.dumps(document, indent=1).encode() + b"\n"


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="seconds")


def _cleaned(path: Path) -> tuple[bytes, int]:
    """Return the bytes of an attached text without secrets, and the number of those removed.

    Raises:
        UsageError: it cannot be read, is too large or is no text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        packed = data[:2] == b"\x1f\x8b"
        if packed:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as inner:
                data = inner.read(LARGEST + 1)
    except (OSError, EOFError) as error:
        raise UsageError(f"'{path}' cannot be read: {error}") from None
    if len(data) > LARGEST:
        raise UsageError(f"'{path}' is larger than {LARGEST // 2**20} MiB")
    if b"\0" in data:
        raise UsageError(
            f"'{path}' is no text, so nobody can say if it holds secrets",
            hint="attach texts: nvidia-bug-report.log.gz, 'ipmitool sel elist', the log of DCGM",
        )
    text, removed = without_secrets(data.decode(errors="replace"))
    made = text.encode()
    return (gzip.compress(made, mtime=0) if packed else made), removed
