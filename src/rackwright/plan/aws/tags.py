"""Tags that every service takes which they are put on.

The tags of a site go on resources of EC2, Auto Scaling, IAM, KMS, Systems Manager, S3, Route 53, FSx, EFS and Data
Lifecycle Manager, and instances show theirs in their metadata. What one of them refuses ends a deployment half-way.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator

LONGEST_KEY = 127
"""Characters: EC2's API reference says 127, all others 128."""
LONGEST_VALUE = 256
"""Characters (EC2's API reference)."""
MOST_TAGS = 50
"""Tags of one resource (EC2's API reference)."""
OWN_PREFIX = "rackwright:"
HOST_TAG = "rackwright:host"
"""Tag of an instance with its host name."""
ELASTIC_TAG = "rackwright:elastic"
"""Tag of the instances that Slurm has launched."""
SNAPSHOT_TAG = "rackwright:snapshots"
"""Tag of the volumes that a lifecycle policy makes snapshots of, with the prefix of the site."""
OWN_KEYS = (
    "rackwright:cluster",
    "rackwright:site",
    "rackwright:node-group",
    HOST_TAG,
    "Name",
)
"""Keys that an instance of a node group has beside those of the site, and beside its owner's."""

_KEY = frozenset(string.ascii_letters + string.digits + "+-=._:@")
"""Characters of keys: those of instance metadata that all services take, so neither ``,`` nor ``/``."""
_SYMBOLS = frozenset("+-=._:/@")
_NO_KEYS = frozenset({".", "..", "_index"})


def key_problem(key: str) -> str | None:
    """Return the reason why ``key`` is invalid as the key of a tag; None if it is valid."""
    if not key:
        return "it is empty"
    if len(key) > LONGEST_KEY:
        return f"it has {len(key)} characters, more than {LONGEST_KEY}"
    if key.lower().startswith("aws:"):
        return "'aws:' is reserved"
    if key == "Name" or key.lower().startswith(OWN_PREFIX):
        return "it is set to another value"
    if key in _NO_KEYS:
        return "instance metadata has no such key"
    if wrong := _wrong(key, lambda sign: sign in _KEY):
        return f"instance metadata takes no {wrong} in a key, and no instance is launched with one"
    return None


def value_problem(value: str) -> str | None:
    """Return the reason why ``value`` is invalid as the value of a tag; None if it is valid."""
    if len(value) > LONGEST_VALUE:
        return f"its value has {len(value)} characters, more than {LONGEST_VALUE}"
    if value.lower().startswith("aws:"):
        return "'aws:' is reserved at the start of a value"
    if wrong := _wrong(value, _in_values):
        return f"IAM, Systems Manager and FSx take no {wrong} in a value"
    return None


def same_keys(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of keys that IAM takes for one, as they differ in case only."""
    seen: dict[str, str] = {}
    for key in keys:
        first = seen.setdefault(key.lower(), key)
        if first != key:
            yield first, key


def _in_values(sign: str) -> bool:
    r"""Return True if ``sign`` is one of ``\\p{L}\\p{Z}\\p{N}_.:/=+-@``."""
    return sign in _SYMBOLS or unicodedata.category(sign)[0] in "LZN"


def _wrong(text: str, allowed: Callable[[str], bool]) -> str | None:
    """Return the characters of ``text`` that are not allowed, quoted; None where all are."""
    found = dict.fromkeys(sign for sign in text if not allowed(sign))
    return ", ".join("space" if sign == " " else f"{sign!r}" for sign in found) or None
