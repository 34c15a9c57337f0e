"""Absolute paths of directories, and of those at which a host can mount something."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

_SYSTEM = frozenset(
    f"/{name}"
    for name in (
        "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin", "sys", "usr",
        "usr/bin", "usr/lib", "usr/lib64", "usr/libexec", "usr/sbin", "usr/share", "var", "var/lib", "var/log", "var/run",
    )
)  # fmt: skip
"""Directories of the Filesystem Hierarchy Standard without which a host does not run or boot."""
_WHOLLY = ("/bin/", "/boot/", "/dev/", "/lib/", "/lib64/", "/proc/", "/sbin/", "/sys/")
"""Beginnings of paths that belong to the system altogether."""


def _check_mount(path: str) -> str:
    if path in _SYSTEM or path.startswith(_WHOLLY):
        raise ValueError(
            f"a file system mounted at '{path}' hides files of the system; name a directory of its own, like '/scratch'"
        )
    return path


DIRECTORY = r"^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$"
DirectoryPath = Annotated[str, Field(pattern=DIRECTORY)]
"""A directory by its absolute path, without blanks."""
MountPath = Annotated[DirectoryPath, AfterValidator(_check_mount)]
"""A directory at which a host mounts something, like ``/scratch``; none that the system needs."""
