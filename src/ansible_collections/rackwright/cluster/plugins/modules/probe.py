"""Look at a host in one task: commands, files and folders."""

# For any Python from 3.6 on, since it runs on the hosts.
import glob
import grp
import hashlib
import os
import pwd
import stat
import subprocess
from typing import Any, Callable, Dict, List

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: probe
short_description: Look at a host in one task
description:
  - Runs commands that change nothing, looks at paths and reads files, and returns what it has found.
  - It judges nothing. A task after it compares what was found with what is wanted, so that one task on
    the host and one on the control machine take the place of a pair for each thing to look at.
  - Everything to look at has a name, by which its result is found.
options:
  commands:
    description: Programs with their arguments. One without any word is not run and has no result.
    type: dict
    default: {}
  paths:
    description: Paths to look at. One that is empty has no result.
    type: dict
    default: {}
  texts:
    description: Text files to read. One that is empty has no result.
    type: dict
    default: {}
  globs:
    description: Patterns of paths, as the shell has them, C(**) for folders in any depth. One that is empty has no result.
    type: dict
    default: {}
  timeout_s:
    description: Seconds after which a command is ended that has not answered.
    type: int
    default: 300
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Look at chrony and its settings
  rackwright.cluster.probe:
    commands:
      chrony: [systemctl, is-active, chrony]
    paths:
      settings: /etc/chrony/chrony.conf
  register: base_seen

- name: Check them
  ansible.builtin.assert:
    that:
      - base_seen.commands.chrony.rc == 0
      - base_seen.paths.settings.exists
"""

RETURN = r"""
commands:
  description:
    - For each command C(rc), C(stdout) and C(stderr), without the line break at the end.
    - As in a shell, C(rc) is 127 where there is no such program, and 124 where it took too long.
  type: dict
  returned: always
paths:
  description:
    - For each path C(exists), C(is_link), C(is_folder), C(mode) as four digits, names of C(owner) and
      C(group), and C(sha256) of a file.
    - All but C(is_link) is of what a link leads to.
  type: dict
  returned: always
texts:
  description: For each file its text, or none where it cannot be read.
  type: dict
  returned: always
globs:
  description: For each pattern the paths that fit, sorted.
  type: dict
  returned: always
"""

NO_ANSWER, NOT_FOUND = 124, 127
BLOCK = 1 << 20


def run(words: List[str], timeout_s: float) -> Dict[str, Any]:
    """Run a command, and return its exit code and output."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"rc": NO_ANSWER, "stdout": "", "stderr": "no answer within %g s" % timeout_s}
    except OSError as error:
        return {"rc": NOT_FOUND, "stdout": "", "stderr": str(error)}
    return {"rc": done.returncode, "stdout": text_of(done.stdout), "stderr": text_of(done.stderr)}


def text_of(output: bytes) -> str:
    """Return output as text, without the line break at the end."""
    return output.decode("utf-8", "replace").rstrip("\r\n")


def look(path: str) -> Dict[str, Any]:
    """Return the kind and the properties of a path."""
    found: Dict[str, Any] = {"exists": False, "is_link": os.path.islink(path), "is_folder": False}
    found.update(mode=None, owner=None, group=None, sha256=None)
    try:
        there = os.stat(path)
    except OSError:
        return found
    found.update(exists=True, is_folder=stat.S_ISDIR(there.st_mode))
    found.update(mode="%04o" % stat.S_IMODE(there.st_mode))
    found.update(
        owner=name_of(pwd.getpwuid, there.st_uid), group=name_of(grp.getgrgid, there.st_gid)
    )
    if stat.S_ISREG(there.st_mode):  # to read a device or a pipe might take for ever
        found.update(sha256=hash_of(path))
    return found


def name_of(ask: Callable[[int], Any], number: int) -> str:
    """Return the name of a user or group; its number where there is none."""
    try:
        return str(ask(number)[0])
    except KeyError:
        return str(number)


def hash_of(path: str) -> Any:
    """Return SHA-256 of a file as digits, or None where it cannot be read."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(BLOCK), b""):
                found.update(block)
    except OSError:
        return None
    return found.hexdigest()


def read(path: str) -> Any:
    """Return the text of a file, or None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return None


def main() -> None:
    """Look at everything that was asked for."""
    asked = ("commands", "paths", "texts", "globs")
    spec: Dict[str, Any] = {name: {"type": "dict", "default": {}} for name in asked}
    spec["timeout_s"] = {"type": "int", "default": 300}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    given = {
        kind: {name: value for name, value in module.params[kind].items() if value}
        for kind in asked
    }
    for name, words in given["commands"].items():
        if not isinstance(words, list):
            module.fail_json(msg="the command '%s' is to be a list of words" % name)
    timeout_s = module.params["timeout_s"]
    module.exit_json(
        changed=False,
        commands={
            name: run([str(word) for word in words], timeout_s)
            for name, words in given["commands"].items()
        },
        paths={name: look(path) for name, path in given["paths"].items()},
        texts={name: read(path) for name, path in given["texts"].items()},
        globs={
            name: sorted(glob.glob(pattern, recursive=True))
            for name, pattern in given["globs"].items()
        },
    )


if __name__ == "__main__":
    main()
