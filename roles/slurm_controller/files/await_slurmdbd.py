#!/usr/bin/python3
"""Wait until a slurmdbd that slurm.conf names takes connections, for a minute at most.

    rackwright-await-slurmdbd /etc/slurm/slurm.conf

slurmctld runs without its database, but one that starts while none answers does not register with it
later either. Where none is named there is nothing to wait for. Any Python from 3.6 on runs this.
"""

import re
import socket
import sys
import time

HOST = re.compile(r"^\s*AccountingStorage(?:Backup)?Host\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE)
PORT = re.compile(r"^\s*AccountingStoragePort\s*=\s*(\d+)", re.IGNORECASE | re.MULTILINE)
DEFAULT_PORT = 6819
LONGEST_S = 60.0
PAUSE_S = 0.5
CONNECT_S = 5.0


def addresses(text):
    """Host and port of each slurmdbd that a slurm.conf names, the first one first."""
    port = PORT.search(text)
    return [(host, int(port.group(1)) if port else DEFAULT_PORT) for host in HOST.findall(text)]


def answers(address):
    """Whether it takes a connection."""
    try:
        socket.create_connection(address, timeout=CONNECT_S).close()
    except (OSError, ValueError, OverflowError):  # a name or a port that cannot be, too
        return False
    return True


def wait(wanted, longest_s):
    """Whether one of ``wanted`` took a connection within ``longest_s`` seconds."""
    end = time.monotonic() + longest_s
    while not any(answers(address) for address in wanted):
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE_S)
    return True


def main(arguments):
    """The exit status: 1 where none answered, or nobody knows which there are."""
    (path,) = arguments
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            wanted = addresses(file.read())
    except OSError as error:
        print("{}: {}".format(path, error.strerror), file=sys.stderr)
        return 1
    if not wanted or wait(wanted, LONGEST_S):
        return 0
    told = ", ".join("{}:{}".format(*address) for address in wanted)
    print("no slurmdbd answered at {} within {:.0f} s".format(told, LONGEST_S), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
