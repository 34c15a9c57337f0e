"""The epilog ends what a job has left, and nothing of another job or of the system."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "roles/health_check/files/node_epilog.py"
USER = 61_234 + os.getpid() % 1_000
"""A user whom this machine does not have, and no other process of the tests."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="processes of another user need root")


@contextmanager
def process(job: str | None, user: int = USER) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process of a user, of a job where one is given."""
    environment: Mapping[str, str] = {} if job is None else {"SLURM_JOB_ID": job}
    made = subprocess.Popen(["/usr/bin/sleep", "60"], env=environment, user=user, cwd="/")
    try:
        yield made
    finally:
        made.kill()
        made.wait()


def clean(folder: Path, job: str = "7", user: int = USER) -> None:
    """Run the epilog of a job, with the folders of this test."""
    program = folder / "epilog.py"
    text = PROGRAM.read_text()
    for place in ("/dev/shm", "/var/lib/enroot/data", "/run/enroot"):
        text = text.replace(f'"{place}"', f'"{folder}{place}"')
    program.write_text(text)
    environment = {"SLURM_JOB_ID": job, "SLURM_JOB_UID": str(user)}
    done = subprocess.run([sys.executable, program], env=environment, check=False, timeout=300)
    assert done.returncode == 0, "it never fails the node"


def is_alive(made: subprocess.Popen[bytes]) -> bool:
    return made.poll() is None


def leave(folder: Path, name: str, user: int = USER) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.chown(path, user, user)
    return path


def test_processes_of_the_job_and_of_no_job_are_ended(tmp_path: Path) -> None:
    with ExitStack() as stack:
        own, loose = (stack.enter_context(process(job)) for job in ("7", None))
        clean(tmp_path)
        assert own.wait(300) == loose.wait(300) == -15


def test_another_job_of_the_user_keeps_what_is_its_own_or_may_be(tmp_path: Path) -> None:
    memory = leave(tmp_path, "dev/shm/nccl-1")
    with ExitStack() as stack:
        own, other, loose = (stack.enter_context(process(job)) for job in ("7", "8", None))
        clean(tmp_path)
        assert own.wait(300) == -15
        assert is_alive(other)
        assert is_alive(loose)
    assert memory.exists()


def test_other_users_and_those_of_the_system_are_left_alone(tmp_path: Path) -> None:
    mine, theirs = (leave(tmp_path, f"dev/shm/{user}", user) for user in (USER, USER + 1))
    with ExitStack() as stack:
        other = stack.enter_context(process("7", USER + 1))
        system = stack.enter_context(process("7", 61))
        clean(tmp_path)
        clean(tmp_path, user=61)
        assert is_alive(other)
        assert is_alive(system)
    assert not mine.exists()
    assert theirs.exists()


def test_containers_of_the_job_go_and_named_ones_stay(tmp_path: Path) -> None:
    stem = f"var/lib/enroot/data/{USER}"
    gone = leave(tmp_path, f"{stem}/pyxis_7.0/etc/passwd")
    kept = [leave(tmp_path, f"{stem}/{name}/x") for name in ("pyxis_70.0", "pyxis_train", "own")]
    clean(tmp_path)
    assert not gone.parent.parent.exists()
    assert all(path.exists() for path in kept)


def test_a_link_in_shared_memory_leads_nowhere(tmp_path: Path) -> None:
    target = leave(tmp_path, "home/data")
    link = tmp_path / "dev/shm/link"
    link.parent.mkdir(parents=True)
    link.symlink_to(target.parent)
    os.lchown(link, USER, USER)
    clean(tmp_path)
    assert not link.is_symlink()
    assert target.exists()
