#!/usr/bin/python3
"""Keep copies of Slurm's accounting database and of its controller's state, and bring one back.

    rackwright-slurm-backup save database NAME FOLDER --keep 14
    rackwright-slurm-backup save state STATE_FOLDER FOLDER --keep 14
    rackwright-slurm-backup restore database NAME FILE
    rackwright-slurm-backup restore state STATE_FOLDER FILE

A copy is whole or not there. What is there is kept before it is replaced, and nothing is replaced while its
daemon runs. Any Python from 3.6 on runs this.
"""

import argparse
import contextlib
import datetime as dt
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile

DATABASE_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")
COMPLETE = b"-- Dump completed"
"""How mariadb-dump ends what it has written to its end."""
DAEMONS = {"database": "slurmdbd", "state": "slurmctld"}
ENDINGS = {"database": ".sql.gz", "state": ".tar.gz"}
BLOCK = 1 << 20


class Refused(Exception):
    """It cannot be done; the text says why."""


def stamp():
    """The time as part of a name, which sorts as it passes."""
    return dt.datetime.now(dt.timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")


def save(kind, source, folder, keep):
    """Write a copy and remove the oldest beyond ``keep``; its path."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, "{}-{}{}".format(kind, stamp(), ENDINGS[kind]))
    unfinished = target + ".new"
    with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        try:
            WRITERS[kind](source, file)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(unfinished)
            raise
    os.rename(unfinished, target)
    for name in copies(kind, folder)[:-keep]:
        os.unlink(os.path.join(folder, name))
    return target


def copies(kind, folder):
    """Names of the copies in a folder, the oldest first."""
    form = re.compile("{}-[0-9]{{8}}T[0-9.]+Z{}".format(kind, re.escape(ENDINGS[kind])))
    return sorted(name for name in os.listdir(folder) if form.fullmatch(name))


def write_database(name, file):
    """Write a dump of a database at one moment, while it is used."""
    words = ["mariadb-dump", "--single-transaction", "--quick", "--routines", name]
    last = b""
    with gzip.GzipFile(fileobj=file, mode="wb") as packed:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as dumping:
            for block in iter(lambda: dumping.stdout.read(BLOCK), b""):
                packed.write(block)
                last = (last + block)[-4096:]
        code = dumping.returncode
    if code != 0:
        raise Refused("mariadb-dump ended with {}".format(code))
    if COMPLETE not in last:
        raise Refused("mariadb-dump did not come to its end")


def write_state(state, file):
    """Write an archive of a folder whose files come and go, without what restoring has kept in it."""
    if not os.path.isfile(os.path.join(state, "job_state")):
        raise Refused("{} has no job_state, so it is no state of slurmctld".format(state))
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for folder, folders, names in os.walk(state):
            folders[:] = sorted(name for name in folders if not name.startswith("before-"))
            for name in sorted(folders + names):
                path = os.path.join(folder, name)
                try:
                    archive.add(path, os.path.relpath(path, state), recursive=False)
                except FileNotFoundError:
                    continue  # a job has ended meanwhile


WRITERS = {"database": write_database, "state": write_state}


def restore(kind, target, path):
    """Replace the file with a copy; return the path of the saved original."""
    check_stopped(DAEMONS[kind])
    return {"database": restore_database, "state": restore_state}[kind](target, path)


def check_stopped(daemon):
    """Refuse while a daemon runs.

    Raises:
        Refused: it does, or nobody can tell.
    """
    done = subprocess.run(
        ["systemctl", "is-active", daemon],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        check=False,
    )
    told = done.stdout.strip()
    if told not in ("inactive", "failed", "unknown"):
        raise Refused("{0} is {1}; stop it first: systemctl stop {0}".format(daemon, told))


def restore_database(name, path):
    """Load a dump into a database that is made again; a dump of what was there before."""
    if not DATABASE_NAME.fullmatch(name):
        raise Refused("'{}' is no name of a database".format(name))
    last = b""
    with gzip.open(path, "rb") as packed:  # to its end before anything is removed
        for block in iter(lambda: packed.read(BLOCK), b""):
            last = (last + block)[-4096:]
    if COMPLETE not in last:
        raise Refused("{} is no whole dump".format(path))
    kept = "nowhere, as there was none"
    if is_there(name):
        before = os.path.join(os.path.dirname(os.path.abspath(path)), "before")
        kept = save("database", name, before, 3)
    sql = "DROP DATABASE IF EXISTS `{0}`; CREATE DATABASE `{0}`;".format(name)
    if subprocess.call(["mariadb", "--execute", sql]) != 0:
        raise Refused("MariaDB did not make {} again; what was there is in {}".format(name, kept))
    code = load(name, path)
    if code != 0:
        raise Refused("mariadb ended with {}; what was there is in {}".format(code, kept))
    return kept


def load(name, path):
    """The exit code of mariadb, which reads a dump."""
    with gzip.open(path, "rb") as packed:
        loading = subprocess.Popen(["mariadb", name], stdin=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError), loading:  # it may end before it has read all
            shutil.copyfileobj(packed, loading.stdin, BLOCK)
    return loading.returncode


def is_there(name):
    """Whether MariaDB has a database.

    Raises:
        Refused: it does not say.
    """
    sql = "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{}'".format(
        name
    )  # a name as DATABASE_NAME # nosec B608
    done = subprocess.run(
        ["mariadb", "--batch", "--skip-column-names", "--execute", sql],
        stdout=subprocess.PIPE,
        universal_newlines=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused("MariaDB does not answer")
    return done.stdout.strip() == "1"


def restore_state(state, path):
    """Unpack an archive into a folder of state; the folder in it where what was there is."""
    with tarfile.open(path, "r:gz") as archive:
        members = archive.getmembers()
        for member in members:
            parts = member.name.split("/")
            if (
                member.name.startswith("/")
                or ".." in parts
                or not (member.isfile() or member.isdir())
            ):
                raise Refused("{} has '{}', which is no file of a state".format(path, member.name))
        if "job_state" not in {member.name for member in members}:
            raise Refused("{} has no job_state, so it is no state of slurmctld".format(path))
        if not os.path.isdir(state):
            os.makedirs(state, mode=0o700)
            owner = archive.getmember("job_state")
            os.chown(state, owner.uid, owner.gid)
        kept = os.path.join(state, "before-{}".format(stamp()))
        os.mkdir(kept, 0o700)
        for name in os.listdir(state):
            if not name.startswith("before-"):
                os.rename(os.path.join(state, name), os.path.join(kept, name))
        # What members may be is checked above; owners and modes are as they were. Without a word newer
        # interpreters change them, and older ones know no filters.
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        archive.extractall(state, members=members)  # checked above # nosec B202
    return kept


def main(arguments=None):
    """0 when it is done, 1 when it cannot be."""
    parser = argparse.ArgumentParser(description="Copies of Slurm's database and state.")
    parser.add_argument("verb", choices=["save", "restore"])
    parser.add_argument("kind", choices=sorted(DAEMONS))
    parser.add_argument("of", help="the database, or the folder of the state")
    parser.add_argument("where", help="the folder of copies, or the copy")
    parser.add_argument("--keep", type=int, default=14, help="copies that are kept")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "save":
            if options.keep < 1:
                raise Refused("--keep is 1 at least")
            print(save(options.kind, options.of, options.where, options.keep))
        else:
            kept = restore(options.kind, options.of, options.where)
            print("{} is as it was; what was there before is in {}".format(options.of, kept))
    except (Refused, OSError, EOFError, tarfile.TarError) as error:
        sys.stderr.write("{}\n".format(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
