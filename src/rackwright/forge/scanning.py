"""Results for GitHub code scanning."""

from __future__ import annotations

import base64
import gzip
import re
import time
from collections.abc import Callable, Mapping

from rackwright.errors import UsageError
from rackwright.forge.forges import GitHub, needed
from rackwright.forge.retry import patiently

LARGEST = 10 * 1024 * 1024
"""Bytes of a compressed file that GitHub takes."""


def upload(
    forge: GitHub,
    sarif: bytes,
    *,
    commit: str,
    ref: str,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Hand in the results of ``commit``; handing them in again changes nothing.

    Raises:
        UsageError: the file is too large.
        ForgeError: GitHub refuses, or all attempts failed.
    """
    packed = gzip.compress(sarif, mtime=0)
    if len(packed) > LARGEST:
        raise UsageError(
            f"the results have {len(packed):,} bytes, compressed; GitHub takes {LARGEST:,}"
        )
    payload = {
        "commit_sha": commit,
        "ref": ref,
        "sarif": base64.b64encode(packed).decode(),
        "tool_name": "rackwright",
    }
    path = f"/repos/{forge.repository}/code-scanning/sarifs"
    patiently(lambda: forge.api.request("POST", path, payload), sleep)


def revision(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the commit and the ref that a workflow runs for.

    Raises:
        UsageError: the environment does not say.
    """
    commit, ref = needed(environment, "GITHUB_SHA"), needed(environment, "GITHUB_REF")
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise UsageError(f"'{commit}' in 'GITHUB_SHA' is no commit")
    return commit, ref
