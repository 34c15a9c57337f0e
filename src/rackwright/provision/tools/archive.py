"""A vendor's archive of the Pulumi CLI or a plugin, taken by its digest; nothing in it is run before."""

from __future__ import annotations

import hashlib
import re
import shutil
import ssl
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePosixPath
from typing import IO

from rackwright.errors import ExternalToolError, UsageError
from rackwright.provision.tools.folder import CLI

LARGEST = 2 * 1024**3
"""Bytes of an archive, and of all that is unpacked from it; a release has some 500 MB."""
_TIMEOUT_S = 60
_PIECE = 1024 * 1024
_FORM = re.compile(r"(?P<place>[^#\s]+)#sha256=(?P<digest>[0-9a-f]{64})")
_FOLDERS = (PurePosixPath("pulumi"), PurePosixPath("pulumi/bin"), PurePosixPath())
"""Folders of programs in an archive: of the CLI, by its age, and of a plugin."""
_HINT = "the vendor publishes the digests of its archives with each release"


@dataclass(frozen=True)
class Archive:
    """A file or an ``https`` address, and the SHA-256 of what is there."""

    place: str
    digest: str


def parse_archive(text: str) -> Archive:
    """Return the archive that ``--archive`` names.

    Raises:
        UsageError: it is no file or ``https`` address with a digest.
    """
    match = _FORM.fullmatch(text)
    if match is None or ("://" in match["place"] and not match["place"].startswith("https://")):
        raise UsageError(
            f"'{text}' is no archive to install from",
            hint="write FILE#sha256=DIGEST or https://…#sha256=DIGEST, with all 64 digits",
        )
    return Archive(match["place"], match["digest"])


def unpack(archive: Archive, workspace: Path, program: str = CLI) -> Path:
    """Return the folder in ``workspace`` with the programs of ``archive``.

    Raises:
        ExternalToolError: it cannot be had, is not what the digest names, or does not hold ``program``.
    """
    packed, programs = workspace / "archive", workspace / "programs"
    try:
        digest = _fetch(archive.place, packed)
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise ExternalToolError(
            f"the archive '{archive.place}' cannot be read: {reason}",
            hint="fetch it by other means and name the file",
        ) from None
    if digest != archive.digest:
        raise ExternalToolError(
            f"the archive '{archive.place}' has the digest {digest} instead of {archive.digest}; "
            "nothing of it was unpacked",
            hint=_HINT,
        )
    programs.mkdir()
    try:
        _unpack_programs(packed, programs)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ExternalToolError(
            f"the archive '{archive.place}' cannot be unpacked: {error}", hint=_HINT
        ) from None
    if not (programs / program).is_file():
        what = "Pulumi CLI" if program == CLI else f"'{program}'"
        raise ExternalToolError(f"the archive '{archive.place}' holds no {what}", hint=_HINT)
    return programs


def _fetch(place: str, into: Path) -> str:
    """Copy what is at ``place``; its digest.

    Raises:
        ValueError: it has more than ``LARGEST`` bytes.
        OSError: it cannot be read, or the copy cannot be written.
        HTTPException: the server's answer is not valid HTTP.
    """
    digest = hashlib.sha256()
    with _opened(place) as source, into.open("wb") as target:
        while piece := source.read(_PIECE):
            digest.update(piece)
            if target.tell() + len(piece) > LARGEST:
                raise ValueError(f"it has more than {LARGEST} bytes")
            target.write(piece)
    return digest.hexdigest()


def _opened(place: str) -> IO[bytes]:
    if not place.startswith("https://"):
        return Path(place).open("rb")
    secure = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    opener = urllib.request.build_opener(secure, _StaySecure())
    found: IO[bytes] = opener.open(place, timeout=_TIMEOUT_S)
    return found


class _StaySecure(urllib.request.HTTPRedirectHandler):
    """Follows to https alone: releases are redirected to where files are kept."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request that follows.

        Raises:
            URLError: it would not be encrypted.
        """
        if not newurl.startswith("https://"):
            raise urllib.error.URLError("it is redirected to where nothing is encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _unpack_programs(packed: Path, into: Path) -> None:
    """Copy the programs, each a plain file; what else is in the archive stays there.

    Raises:
        TarError: it is no archive, or its programs have more than ``LARGEST`` bytes.
    """
    left = LARGEST
    with tarfile.open(packed, "r:*") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            named = path.name == CLI or path.name.startswith(f"{CLI}-")
            if path.parent not in _FOLDERS or not named or not member.isreg():
                continue
            left -= member.size
            if left < 0:
                raise tarfile.TarError(f"it holds more than {LARGEST} bytes")
            source = tar.extractfile(member)
            if source is not None:
                with source, (into / path.name).open("wb") as target:
                    shutil.copyfileobj(source, target)
                (into / path.name).chmod(0o755)
