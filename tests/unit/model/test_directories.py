"""Mount points: directories that a host can do without."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from rackwright.model.directories import MountPath

PATHS = TypeAdapter[str](MountPath)


@pytest.mark.parametrize("path", ["/scratch", "/home", "/opt/tools", "/var/spool/slurm", "/usr/local/apps", "/etc/slurm"])  # fmt: skip
def test_directory_of_its_own_is_a_mount_point(path: str) -> None:
    assert PATHS.validate_python(path) == path


@pytest.mark.parametrize("path", ["/etc", "/usr", "/var", "/var/lib", "/boot/efi", "/dev/shm", "/proc/x", "/root"])  # fmt: skip
def test_directory_that_the_system_needs_is_no_mount_point(path: str) -> None:
    """FSx took '/etc', and each host would have lost its accounts at the next mount."""
    with pytest.raises(ValidationError, match="hides files of the system"):
        PATHS.validate_python(path)


@pytest.mark.parametrize("path", ["/", "scratch", "/a b", "/a/../etc", "/a//b", "/a\nb", ""])
def test_path_that_is_not_plain_is_refused(path: str) -> None:
    """FSx took blanks and line breaks, which /etc/fstab reads as further fields."""
    with pytest.raises(ValidationError):
        PATHS.validate_python(path)
