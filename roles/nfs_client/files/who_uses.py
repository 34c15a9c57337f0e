"""Print who uses the file systems below the folders of the command line: ``FOLDER PID PROGRAM``.

It reads links of /proc alone, so that a server that is gone does not hang it. Any Python from 3.6 on.
"""

import glob
import os
import sys


def places_of(process):
    """Folders and files that a process has open, stands in, or runs from."""
    for name in ("cwd", "root", "exe"):
        yield os.path.join(process, name)
    for folder in ("fd", "map_files"):
        try:
            for name in os.listdir(os.path.join(process, folder)):
                yield os.path.join(process, folder, name)
        except OSError:
            return  # it has ended meanwhile


def users(folders, processes="/proc/[0-9]*"):
    """Each folder with a process that uses it, once."""
    found = set()
    for process in sorted(glob.glob(processes)):
        for place in places_of(process):
            try:
                target = os.readlink(place)
            except OSError:
                continue
            for folder in folders:
                if target == folder or target.startswith(folder + "/"):
                    found.add((folder, int(os.path.basename(process)), program_of(process)))
    return sorted(found)


def program_of(process):
    """The name of a process, in one word."""
    try:
        with open(os.path.join(process, "comm")) as file:
            return file.read().strip().replace(" ", "_") or "?"
    except OSError:
        return "?"


if __name__ == "__main__":
    for one in users(sys.argv[1:]):
        print(*one)
