"""Print what each port of an adapter will be at the next boot: ``ADDRESS PORT TYPE``, by mlxconfig.

The argument is the folder of RDMA devices. An adapter that can be of one type only has no such setting and is left
out; so is one that mlxconfig does not know. Any Python from 3.6 on.
"""

import glob
import os
import re
import subprocess
import sys

COMMAND_S = 60


def adapters(folder):
    """PCI addresses of the functions behind RDMA devices."""
    devices = (os.path.realpath(path) for path in glob.glob(os.path.join(folder, "*/device")))
    return sorted({os.path.basename(path) for path in devices})


def link_types(told):
    """Ports with their types in what mlxconfig prints."""
    return re.findall(
        r"^\s*LINK_TYPE_P(\d+)\s+(?:\S+\s+)*?(IB|ETH|VPI)\(\d\)\s*$", told, re.MULTILINE
    )


def ask(address):
    """What mlxconfig prints of an adapter.

    Raises:
        OSError: there is no mlxconfig.
        subprocess.TimeoutExpired: it does not end.
    """
    done = subprocess.run(
        ["mlxconfig", "-d", address, "query"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=COMMAND_S,
        check=False,
    )
    return done.stdout


def main():
    """Print the ports of all adapters; text for a person where mlxconfig cannot be asked."""
    for adapter in adapters(sys.argv[1]):
        try:
            found = link_types(ask(adapter))
        except (OSError, subprocess.TimeoutExpired) as error:
            sys.exit("mlxconfig cannot be asked about {}: {}".format(adapter, error))
        for port, kind in found:
            print(adapter, port, {"IB": "InfiniBand", "ETH": "Ethernet"}.get(kind, kind))


if __name__ == "__main__":
    main()
