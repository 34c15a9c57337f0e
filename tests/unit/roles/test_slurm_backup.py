"""Copies of Slurm's database and state: whole or not there, and brought back without a loss."""

from __future__ import annotations

import gzip
import importlib.util
import io
import os
import shutil
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from role_cases import write_program

PROGRAM = Path(__file__).parents[3] / "roles/slurm_backup/files/slurm_backup.py"
TABLES = "INSERT INTO job_table VALUES (1, 'ada');\n"
DUMP = f"{TABLES}-- Dump completed on 2026-11-23 03:10:01\n"
MARIADB = """\
case "$1" in
--batch) test -e {folder}/tables && echo 1; exit 0;;
--execute) echo "$2" >> {folder}/sql; rm -f {folder}/tables;;
*) cat > {folder}/tables;;
esac"""


@pytest.fixture
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_backup", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Host:
    """A host whose MariaDB is a file, with a folder like that of slurmctld."""

    def __init__(self, folder: Path, program: ModuleType, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.program = folder, program
        self.copies, self.state = folder / "copies", folder / "state"
        self.tables = folder / "tables"
        self.tables.write_text(DUMP)
        (folder / "bin").mkdir()
        patch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
        write_program(folder / "bin/mariadb-dump", f"cat {self.tables}")
        write_program(folder / "bin/mariadb", MARIADB.format(folder=folder))
        self.daemon_is("inactive")
        (self.state / "hash.1/job.11").mkdir(parents=True)
        (self.state / "job_state").write_text("jobs 1-11")
        (self.state / "hash.1/job.11/script").write_text("#!/bin/sh\n")

    def daemon_is(self, told: str) -> None:
        write_program(self.folder / "bin/systemctl", f"echo {told}")

    def run(self, *words: object) -> int:
        code: int = self.program.main([str(word) for word in words])
        return code

    def save(self, kind: str = "database", keep: int = 14) -> int:
        of = {"database": "slurm_acct_db", "state": self.state}[kind]
        return self.run("save", kind, of, self.copies, "--keep", keep)

    @property
    def saved(self) -> list[Path]:
        return sorted(self.copies.iterdir()) if self.copies.exists() else []


@pytest.fixture
def host(tmp_path: Path, program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, program, monkeypatch)


def test_a_lost_database_is_as_it_was(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert host.save() == 0
    (copy,) = host.saved
    assert copy.stat().st_mode & 0o777 == 0o600
    assert host.copies.stat().st_mode & 0o777 == 0o700
    host.tables.write_text("-- Dump completed\n")
    capsys.readouterr()
    assert host.run("restore", "database", "slurm_acct_db", copy) == 0
    assert host.tables.read_text() == DUMP
    assert (host.folder / "sql").read_text() == (
        "DROP DATABASE IF EXISTS `slurm_acct_db`; CREATE DATABASE `slurm_acct_db`;\n"
    )
    kept = Path(capsys.readouterr().out.rsplit(" ", 1)[1].strip())
    assert gzip.decompress(kept.read_bytes()) == b"-- Dump completed\n"


def test_a_database_and_a_folder_that_are_gone_are_made(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host.save() == 0
    assert host.save("state") == 0
    database, state = host.saved
    host.tables.unlink()
    shutil.rmtree(host.state)
    assert host.run("restore", "database", "slurm_acct_db", database) == 0
    assert host.tables.read_text() == DUMP
    assert "is in nowhere, as there was none" in capsys.readouterr().out
    assert host.run("restore", "state", host.state, state) == 0
    assert (host.state / "job_state").read_text() == "jobs 1-11"


def test_a_lost_state_is_as_it_was(host: Host) -> None:
    assert host.save("state") == 0
    (copy,) = host.saved
    (host.state / "job_state").write_text("nothing")
    (host.state / "hash.1/job.11/script").unlink()
    assert host.run("restore", "state", host.state, copy) == 0
    assert (host.state / "job_state").read_text() == "jobs 1-11"
    assert (host.state / "hash.1/job.11/script").read_text() == "#!/bin/sh\n"
    (before,) = host.state.glob("before-*")
    assert (before / "job_state").read_text() == "nothing"
    assert host.save("state") == 0
    with tarfile.open(host.saved[-1]) as archive:
        names = archive.getnames()
    assert sorted(names) == ["hash.1", "hash.1/job.11", "hash.1/job.11/script", "job_state"]


def test_the_oldest_copies_go_and_nothing_else(host: Host) -> None:
    host.copies.mkdir()
    (host.copies / "database-by-hand.sql.gz").touch()
    for _ in range(4):
        assert host.save(keep=2) == 0
        assert host.save("state", keep=2) == 0
    kinds = [path.name.partition("-")[0] for path in host.saved]
    assert kinds == ["database", "database", "database", "state", "state"]
    assert (host.copies / "database-by-hand.sql.gz").exists()


@pytest.mark.parametrize(
    ("shell", "said"),
    [
        ("echo 'INSERT INTO job_table'", "mariadb-dump did not come to its end"),
        ("echo '-- Dump completed'; exit 2", "mariadb-dump ended with 2"),
    ],
)
def test_half_a_dump_is_none(
    host: Host, shell: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(host.folder / "bin/mariadb-dump", shell)
    assert host.save() == 1
    assert said in capsys.readouterr().err
    assert host.saved == []


def test_a_folder_that_is_no_state_is_not_saved(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    (host.state / "job_state").unlink()
    assert host.save("state") == 1
    assert "has no job_state, so it is no state of slurmctld" in capsys.readouterr().err
    assert host.saved == []


@pytest.mark.parametrize("kind", ["database", "state"])
@pytest.mark.parametrize("told", ["active", "activating", "Failed to connect to bus"])
def test_nothing_is_replaced_under_a_daemon(
    host: Host, kind: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host.save(kind) == 0
    (copy,) = host.saved
    host.daemon_is(told)
    of = {"database": "slurm_acct_db", "state": host.state}[kind]
    assert host.run("restore", kind, of, copy) == 1
    daemon = {"database": "slurmdbd", "state": "slurmctld"}[kind]
    assert f"{daemon} is {told}; stop it first" in capsys.readouterr().err
    assert not (host.folder / "sql").exists()
    assert not list(host.state.glob("before-*"))


def test_a_database_that_does_not_load_says_where_the_former_one_is(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host.save() == 0
    (copy,) = host.saved
    failing = 'case "$1" in --batch) echo 1;; --execute) exit 0;; *) exit 7;; esac'
    write_program(host.folder / "bin/mariadb", failing)
    capsys.readouterr()
    assert host.run("restore", "database", "slurm_acct_db", copy) == 1
    said = capsys.readouterr().err
    assert "mariadb ended with 7; what was there is in " in said
    kept = Path(said.rsplit(" ", 1)[1].strip())
    assert gzip.decompress(kept.read_bytes()).decode() == DUMP


@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_copy_removes_nothing(
    host: Host, cut: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = host.folder / "copy.sql.gz"
    whole = gzip.compress(TABLES.encode() * 500)
    path.write_bytes(whole[:-20] if cut else whole)
    assert host.run("restore", "database", "slurm_acct_db", path) == 1
    assert capsys.readouterr().err
    assert host.tables.read_text() == DUMP
    assert not (host.folder / "sql").exists()


@pytest.mark.parametrize("name", ["../job_state", "/etc/passwd", "link"])
def test_an_archive_that_reaches_elsewhere_is_refused(
    host: Host, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = host.folder / "copy.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for member in ("job_state", name):
            entry = tarfile.TarInfo(member)
            if member == "link":
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(entry, io.BytesIO())
    assert host.run("restore", "state", host.state, path) == 1
    assert f"has '{name}', which is no file of a state" in capsys.readouterr().err
    assert (host.state / "job_state").read_text() == "jobs 1-11"


def test_a_name_that_would_be_sql_is_refused(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host.save() == 0
    (copy,) = host.saved
    assert host.run("restore", "database", "x`; DROP", copy) == 1
    assert "is no name of a database" in capsys.readouterr().err
    assert host.save(keep=0) == 1
