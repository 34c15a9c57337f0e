"""For the hosts of a lab, whenever Python starts there: keeps what it compiles of zips.

Ansible sends each task as a zip of sources, some hundred modules, which Python compiles again every
time; on a few cores with many hosts that is more than half of the time of a task. What runs is the
same code: a file of this folder is named by the hash of the source and of the version of Python.
"""

import _imp
import marshal
import os
import pathlib
import zipimport
from _frozen_importlib_external import _RAW_MAGIC_NUMBER  # type: ignore[attr-defined]
from types import CodeType

FOLDER = "/var/cache/lab-python"
"""Made with the host, for root alone to write to."""


def install(folder: str = FOLDER) -> None:
    """Keep from now on what this Python compiles of zips in ``folder``, and use what is there."""
    compile_source = zipimport._compile_source  # type: ignore[attr-defined]

    def keep(path: str, source: bytes) -> CodeType:
        # Not by the path, which is another one for each task; only tracebacks tell it.
        name = _imp.source_hash(_RAW_MAGIC_NUMBER, source).hex()
        kept = f"{folder}/{name}"
        try:
            with pathlib.Path(kept).open("rb") as file:
                code: CodeType = marshal.load(file)  # noqa: S302 - root wrote it # nosec B302
        except (OSError, EOFError, ValueError):
            code = compile_source(path, source)
            _write(kept, marshal.dumps(code))
        return code

    zipimport._compile_source = keep  # type: ignore[attr-defined]


def _write(path: str, content: bytes) -> None:
    unfinished = f"{path}.{os.getpid()}"
    try:
        with pathlib.Path(unfinished).open("wb") as file:
            file.write(content)
        pathlib.Path(unfinished).replace(path)
    except OSError:  # not root, or the disk is full: it is compiled again next time
        pass
