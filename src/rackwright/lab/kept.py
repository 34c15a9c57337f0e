"""Runs on the hosts of a lab whenever Python starts there: keeps what it compiles of zips.

Ansible sends each task as a zip of sources, some hundred modules, which Python compiles anew every
time; on a few cores with many hosts that is more than half of the time of a task. What runs is the
same code: a file of this folder is named by the hash of the source and of the version of Python.
"""

import _imp
import marshal
import os
import zipimport
from _frozen_importlib_external import _RAW_MAGIC_NUMBER  # type: ignore[attr-defined]
from types import CodeType

FOLDER = "/var/cache/lab-python"
"""Made with the host, for root alone to write to."""

_compile = zipimport._compile_source  # type: ignore[attr-defined]


def _kept(path: str, source: bytes) -> CodeType:
    # Not by the path, which is another one for each task; only tracebacks tell it.
    name = _imp.source_hash(_RAW_MAGIC_NUMBER, source).hex()
    kept = f"{FOLDER}/{name}"
    try:
        with open(kept, "rb") as file:
            code: CodeType = marshal.load(file)  # noqa: S302 (root wrote it)
    except (OSError, EOFError, ValueError):
        code = _compile(path, source)
        _keep(kept, marshal.dumps(code))
    return code


def _keep(path: str, content: bytes) -> None:
    unfinished = f"{path}.{os.getpid()}"
    try:
        with open(unfinished, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError:  # not root, or the disk is full: it is compiled again next time
        pass


zipimport._compile_source = _kept  # type: ignore[attr-defined]
