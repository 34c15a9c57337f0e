"""Other programs and files of the kernel, for the burn-in of a node."""

import shutil
import subprocess


class Unable(Exception):
    """A step cannot run; the text says why."""


def run(*command, **extra):
    """Return the output of a program; no shell.

    Raises:
        Unable: it is missing, fails or does not end.
    """
    limit, codes = extra.get("limit_s", 60), extra.get("codes", (0,))
    if shutil.which(command[0]) is None:
        raise Unable("{} is not installed".format(command[0]))
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Unable("{} did not end within {} s".format(command[0], limit))
    if process.returncode not in codes:
        words = " ".join((err or out).split())[:200]
        raise Unable("{} ended with {}: {}".format(command[0], process.returncode, words))
    return out


def read(path):
    """Return the text of a file."""
    with open(path) as file:
        return file.read()
