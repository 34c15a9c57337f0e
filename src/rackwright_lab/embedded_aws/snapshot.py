"""Keeping the state of every moto backend in one file."""

from __future__ import annotations

import builtins
import io
import os
import pickle
import re
import stat
import threading
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from moto.backends import get_backend
from moto.core.base_backend import BackendDict

from rackwright.errors import StateError
from rackwright.files import named

FORMAT = 1
_RLOCK = type(threading.RLock())
_LOCK = type(threading.Lock())


def _load_private_key(pem: bytes) -> Any:
    return serialization.load_pem_private_key(pem, password=None)


def _nested() -> defaultdict[str, dict[str, str]]:
    return defaultdict(dict)


_LOCAL = {("moto.ssm.models", "SimpleSystemManagerBackend.__init__.<locals>.<lambda>"): "nested"}
"""Functions that backends make inside of others, which no module can name, and what they are here."""
_MADE = {"nested": _nested}


def _local_function(name: str) -> Any:
    return _MADE[name]


class _Pickler(pickle.Pickler):
    """Pickles what moto's backends hold beside plain objects: keys, locks and local functions."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey)):
            pem = obj.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            return _load_private_key, (pem,)
        if isinstance(obj, _LOCK):
            return threading.Lock, ()
        if isinstance(obj, _RLOCK):
            return threading.RLock, ()
        if isinstance(obj, types.FunctionType) and "<locals>" in obj.__qualname__:
            return _local_function, (_LOCAL[obj.__module__, obj.__qualname__],)
        if isinstance(obj, defaultdict) and type(obj) is not defaultdict:
            state = (vars(obj), {"default_factory": obj.default_factory})
            return type(obj).__new__, (type(obj),), state, None, iter(dict(obj).items())
        return NotImplemented


FORMER = "rackwright.embedded_aws."
"""Name of the package in states that were written before it got its present one."""
_PRESENT = "rackwright_lab.embedded_aws."
_OF_STATES = ("moto.", _PRESENT)
"""Packages whose classes and functions a state may name."""
_PLAIN = frozenset(
    [
        "_thread",
        "collections",
        "copyreg",
        "datetime",
        "decimal",
        "enum",
        "ipaddress",
        "random",
        "threading",
        "uuid",
        "zoneinfo",
    ]
)
"""Other modules whose classes and functions it may name; none of them runs what it is given."""
_BUILTINS = frozenset(
    [
        "bool",
        "bytearray",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "object",
        "range",
        "set",
        "slice",
        "str",
        "tuple",
        "type",
    ]
)


class _Unpickler(pickle.Unpickler):  # noqa: S301 - restricted, of a file of our own
    """Reads what states are made of, those of former revisions too, and calls no other function."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function of that name.

        Raises:
            UnpicklingError: no state of ours names it.
        """
        if module.startswith(FORMER):
            module = _PRESENT + module.removeprefix(FORMER)
        if (module, name) == ("dill._dill", "loads"):
            return _former_function
        if (module, name) == ("re", "_compile"):
            return re.compile
        if module in {"builtins", "__builtin__"}:
            if name == "getattr":
                return _member
            if name in _BUILTINS:
                return getattr(builtins, name)
        if _may_name(module):
            found = super().find_class(module, name)
            if _is_of_states(found):
                return found
        raise pickle.UnpicklingError(f"a state does not name '{module}.{name}'")


def _former_function(data: bytes) -> Any:
    """Return the function that a state of a former revision carries; its code is not read.

    Raises:
        UnpicklingError: it is another one.
    """
    if b"SimpleSystemManagerBackend.__init__" not in data:
        raise pickle.UnpicklingError("a state carries code")
    return _nested


def _member(owner: Any, name: str) -> Any:
    """Return a method of an object, as a bound method is pickled, or what makes one of a class.

    Raises:
        UnpicklingError: it is no method that a state may name.
    """
    if name == "__new__" and isinstance(owner, type):
        return owner.__new__
    if isinstance(owner, (_LOCK, _RLOCK)):  # of a condition, which is pickled with it
        return getattr(owner, name)
    found = None if name.startswith("_") else getattr(owner, name)
    if found is None or not _is_of_states(found):
        raise pickle.UnpicklingError(f"a state does not name the member '{name}'")
    return found


def _is_of_states(found: Any) -> bool:
    """True if a state may have ``found``: modules have others in them, and names lead through them."""
    return _may_name(str(getattr(found, "__module__", "")))


def _may_name(module: str) -> bool:
    return module in _PLAIN or f"{module}.".startswith(_OF_STATES)


def read_own(path: Path) -> bytes:
    """Return the content of a state, which only this user can have written.

    Raises:
        StateError: it is a link or no file, or others own it or may write it.
        OSError: it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise StateError(
                f"the state '{path}' is not read: it is no file of this user alone",
                hint="reading a state may run code of who wrote it; see who did, and remove it",
            )
        return file.read()


def _in_use() -> list[Any]:
    found: list[Any] = getattr(BackendDict, "_instances")  # noqa: B009 - generic, says mypy
    return found


def dump_backends() -> bytes:
    """Return the state of every backend in use, references between services kept."""
    state = {
        (backends.service_name, account, region): backend
        for backends in list(_in_use())
        for account, regions in backends.items()
        for region, backend in regions.items()
    }
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump((FORMAT, state))
    return buffer.getvalue()


def load_backends(data: bytes) -> int:
    """Return how many backends were put back in place of those in memory.

    Raises:
        ValueError: the data were written in another format.
    """
    version, state = _Unpickler(io.BytesIO(data)).load()  # our own file, mode 0600
    if version != FORMAT:
        raise ValueError(f"state format {version!r} is not {FORMAT!r}")
    for (service, account, region), backend in state.items():
        dict.__setitem__(get_backend(service)[account], region, backend)
    return len(state)


def write_atomically(path: Path, data: bytes) -> None:
    """Write the file so that a reader, or the next start, sees all of it or the old one."""
    temporary = path.with_name(path.name + ".new")
    with named(path):
        with open(temporary, "wb", opener=_private) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
