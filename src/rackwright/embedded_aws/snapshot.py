"""Keeping the state of every moto backend in one file."""

from __future__ import annotations

import io
import os
import pickle
import threading
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import dill  # type: ignore[import-untyped]
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from moto.backends import get_backend
from moto.core.base_backend import BackendDict

from rackwright.files import named

FORMAT = 1
_RLOCK = type(threading.RLock())
_LOCK = type(threading.Lock())


def _load_private_key(pem: bytes) -> Any:
    return serialization.load_pem_private_key(pem, password=None)


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
            return dill.loads, (dill.dumps(obj),)  # noqa: S301 - our own file, mode 0600
        if isinstance(obj, defaultdict) and type(obj) is not defaultdict:
            state = (vars(obj), {"default_factory": obj.default_factory})
            return type(obj).__new__, (type(obj),), state, None, iter(dict(obj).items())
        return NotImplemented


FORMER = {
    "rackwright.provision.embedded.moto_capacity": "rackwright.embedded_aws.api.moto_capacity",
    "rackwright.provision.embedded.snapshot": "rackwright.embedded_aws.snapshot",
}
"""Modules that a state from before the package had its present name speaks of, and theirs now."""


class _Unpickler(pickle.Unpickler):  # noqa: S301 - our own file, mode 0600
    """Reads states of former revisions too."""

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(FORMER.get(module, module), name)


def _in_use() -> list[Any]:
    found: list[Any] = getattr(BackendDict, "_instances")  # noqa: B009 - generic, says mypy
    return found


def dump_backends() -> bytes:
    """Returns the state of every backend in use, references between services kept."""
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
    """Returns how many backends were put back in place of those in memory.

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
    """Writes the file so that a reader, or the next start, sees all of it or the old one."""
    temporary = path.with_name(path.name + ".new")
    with named(path):
        with open(temporary, "wb", opener=_private) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
