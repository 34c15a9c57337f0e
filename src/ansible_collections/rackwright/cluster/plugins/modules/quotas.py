"""Hard limits of accounts in the file systems that folders are on."""

# For any Python from 3.6 on, since it runs on the hosts.
import json
import os
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.rackwright.cluster.plugins.module_utils.quota_limits import (
    KINDS,
    Entry,
    Local,
    Lustre,
    Mounted,
    Pair,
    find_mount,
    obstacle,
    state,
)

DOCUMENTATION = r"""
module: quotas
short_description: Hard limits of accounts in the file systems that folders are on
description:
  - Sets limits of space and of files for accounts by their numbers, in the ext4 or XFS that a folder is on
    by quotactl(2), in Lustre by C(lfs). XFS and Lustre have a limit for accounts that are not named as well;
    ext4 has none.
  - Keeps a record of what it set. A limit that is no longer wanted is taken away where it is as it was
    set; where somebody else changed it since, it stays and is told.
  - Mounts and changes no file system. One whose quotas are off is told as a problem, with what to run.
  - A limit below what an account holds is set, with a warning; nothing more can be written then.
options:
  folders:
    description: Folders with their C(path) and C(quota); one without a quota is ignored.
    type: list
    elements: dict
    required: true
  record:
    description: File on the host that keeps what was set.
    type: path
    default: /var/lib/rackwright/quotas.json
  lustre:
    description: The folders are where file systems of Lustre are mounted.
    type: bool
    default: false
  look:
    description: Only look, and report what is wrong and what would change.
    type: bool
    default: false
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Limit what users keep in their homes
  rackwright.cluster.quotas:
    folders:
      - path: /export/home
        quota:
          space_kib: 1953125000
          files: 1000000
          others: false
          accounts:
            - {name: alice, uid: 2001, space_kib: 1953125000, files: 1000000}
"""

RETURN = r"""
problems:
  description: Why limits cannot be set, for each file system; nothing is set where there is one.
  type: list
  elements: str
  returned: always
wrong:
  description: Limits that were not as wanted, one text each.
  type: list
  elements: str
  returned: always
"""

SHOWN = 5
"""Most accounts that a warning names."""

Kind = Union[Local, Lustre]


class Change(NamedTuple):
    """Limits of a number before and after."""

    uid: int
    before: Pair
    after: Pair


def judge(
    wanted: Dict[int, Pair],
    default: Optional[Pair],
    known: Dict[int, Entry],
    record: Dict[str, Any],
    *,
    copies: bool,
) -> Tuple[List[Change], List[int]]:
    """Return limits to set, and numbers whose limits were ours and were changed by somebody else.

    Args:
        wanted: by number.
        default: of every number that is not named, where the file system has one: that of number 0.
        known: what the file system has.
        record: what was set before.
        copies: the file system writes its default to numbers that it meets.
    """
    target = dict(wanted)
    former = tuple(record["default"]) if record.get("default") else None
    ours = {int(uid): tuple(pair) for uid, pair in record.get("accounts", {}).items()}
    if former is not None:
        ours[0] = former
    if default is not None:
        target[0] = default
    kept = []
    for uid, entry in known.items():
        if uid in target or entry.hard == (0, 0):
            continue
        if (entry.hard, entry.soft) in [(ours.get(uid), (0, 0)), (former, (0, 0))]:
            target[uid] = (copies and default) or (0, 0)
        elif uid in ours:
            kept.append(uid)
    nothing = Entry((0, 0), (0, 0), (0, 0))
    changes = []
    for uid, after in sorted(target.items()):
        entry = known.get(uid, nothing)
        if entry.hard != after or entry.soft != (0, 0):
            changes.append(Change(uid, entry.hard, after))
    return changes, kept


def told(uid: int, limits: Pair, names: Dict[int, str]) -> str:
    """Return a limit in words."""
    space = "%d KiB" % limits[0] if limits[0] else "any space"
    files = "%d files" % limits[1] if limits[1] else "any files"
    who = "%s (%d)" % (names[uid], uid) if uid in names else "uid %d" % uid
    return "%s: %s, %s" % (who, space, files)


def beyond(wanted: Dict[int, Pair], known: Dict[int, Entry], names: Dict[int, str]) -> List[str]:
    """Return accounts that hold more than they may."""
    return [
        "%s holds %d KiB in %d files" % ((told(uid, limits, names), *known[uid].held))
        for uid, limits in sorted(wanted.items())
        if uid in known and any(0 < limits[part] < known[uid].held[part] for part in (0, 1))
    ]


class Host:
    """The file systems of this host, and what was set in them."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._path = module.params["record"]
        self._lustre = bool(module.params["lustre"])
        self._look = bool(module.params["look"])
        self.record: Dict[str, Any] = {}
        self.problems: List[str] = []
        self.wrong: List[str] = []
        self.before: List[str] = []
        self.after: List[str] = []

    def _read(self) -> Dict[str, Any]:
        """Return the quotas of the last run, by folder.

        Raises:
            OSError: it cannot be read.
        """
        if not os.path.exists(self._path):
            return {}
        with open(self._path) as file:
            try:
                record: Dict[str, Any] = json.load(file)
            except ValueError as error:
                what = "'%s', which keeps the limits that were set, is no JSON (%s); move it away"
                raise OSError(what % (self._path, error)) from None
        return record

    def _run(self, words: List[str]) -> Tuple[int, str]:
        rc, out, said = self._module.run_command(words)
        return rc, out if rc == 0 else said or out

    def go(self) -> None:
        """Set the limits of every file system, or look at them; of none where one cannot have them.

        Raises:
            OSError: the kernel or Lustre refuses.
        """
        self.record = self._read()
        found = self._find()
        if self.problems:
            return
        for system, quota in found:
            self._settle(system, quota)
        self._forget([system.folder for system, _ in found])

    def _find(self) -> List[Tuple[Kind, Dict[str, Any]]]:
        """Return the file systems, each with its quota; those that cannot have one are ``problems``."""
        found: Dict[str, Tuple[Kind, Dict[str, Any]]] = {}
        for one in self._module.params["folders"]:
            quota = one.get("quota")
            if not quota:
                continue
            mounted = find_mount(one["path"], self._run)
            why = self._obstacle(one["path"], mounted, quota)
            if not why and mounted.device not in found:
                found[mounted.device] = (self._open(mounted), quota)
            if not why and found[mounted.device][1] != quota:
                why = (
                    "'%s' is on '%s' with another folder that has another quota; a quota holds for "
                    "the whole file system" % (one["path"], mounted.folder)
                )
            self.problems += [why] if why else []
        return list(found.values())

    def _open(self, mounted: Mounted) -> Kind:
        return Lustre(mounted.folder, self._run) if self._lustre else Local(mounted)

    def _obstacle(self, path: str, mounted: Mounted, quota: Dict[str, Any]) -> str:
        """Return why a folder cannot have its quota; empty if it can."""
        if self._lustre:
            return "" if mounted.folder == path else "no Lustre is mounted at '%s'" % path
        words = ["findmnt", "--fstab", "--noheadings", "--output", "OPTIONS"]
        rc, options = self._run([*words, "--target", mounted.folder])
        flags = state(mounted.source) if mounted.kind in KINDS else 0
        why = obstacle(path, mounted, flags, None if rc else options.strip().split(","))
        if not why and quota.get("others") and mounted.kind == "ext4":
            why = (
                "'%s' is on '%s', an ext4, which has no limit for accounts that are not named, like "
                "those of the directory: put it on xfs, or leave out its quota"
                % (path, mounted.folder)
            )
        return why

    def _settle(self, system: Kind, quota: Optional[Dict[str, Any]]) -> None:
        """Set the limits of one file system, and take away those of ours that are not wanted."""
        former = self.record.get(system.folder, {})
        accounts = quota["accounts"] if quota else []
        names = {one["uid"]: one["name"] for one in accounts}
        wanted = {one["uid"]: pair(one, system.unit) for one in accounts}
        default = pair(quota, system.unit) if quota and system.has_default else None
        if default is not None or former.get("default"):
            names[0] = "whoever is not named"
        known = system.known([*wanted, *map(int, former.get("accounts", {}))])
        changes, kept = judge(wanted, default, known, former, copies=system.copies)
        for change in changes:
            self.before.append(told(change.uid, change.before, names))
            self.after.append(told(change.uid, change.after, names))
            self.wrong.append(
                "%s in '%s', not %s"
                % (self.before[-1], system.folder, self.after[-1].partition(": ")[2])
            )
        over = beyond(wanted, known, names)
        if over:
            what = "in '%s' hold more than they may and can write nothing more" % system.folder
            self._warn(what, over)
        if kept:
            self._warn(
                "in '%s' have limits that were changed by hand; they stay" % system.folder,
                [told(uid, known[uid].hard, names) for uid in kept],
            )
        if self._module.check_mode or self._look:
            return
        now = {str(uid): limits for uid, limits in wanted.items()}
        # First of all: what a run sets that ends half-way is taken away by a later one.
        both = dict(former.get("accounts", {}), **now)
        self._keep(system.folder, {"accounts": both, "default": former.get("default") or default})
        for change in changes:
            system.set(change.uid, change.after)
        self._keep(system.folder, {"accounts": now, "default": default} if quota else None)

    def _warn(self, what: str, which: List[str]) -> None:
        if self._look:
            return  # whoever sets the limits says it
        more = ", and %d more" % (len(which) - SHOWN) if len(which) > SHOWN else ""
        named = "; ".join(which[:SHOWN]) + more
        self._module.warn("%d accounts %s: %s" % (len(which), what, named))

    def _keep(self, folder: str, what: Optional[Dict[str, Any]]) -> None:
        """Write down what was set in a file system; None: nothing any more."""
        record = {name: entry for name, entry in self.record.items() if name != folder}
        if what is not None:
            record[folder] = json.loads(json.dumps(what))
        if record == self.record:
            return
        self.record = record
        if not record:
            os.unlink(self._path)
            return
        home = os.path.dirname(self._path)
        os.makedirs(home, mode=0o755, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=home, delete=False) as file:
            json.dump(record, file, sort_keys=True)
        os.replace(file.name, self._path)

    def _forget(self, done: List[str]) -> None:
        """Take away limits of file systems that have no quota any more."""
        for folder in sorted(set(self.record) - set(done)):
            mounted = find_mount(folder, self._run)
            there = mounted.folder == folder
            if there and (self._lustre or (mounted.kind in KINDS and state(mounted.source))):
                self._settle(self._open(mounted), None)
            elif not self._look:
                what = "the limits that were set in '%s' are left: it is not mounted with quotas"
                self._module.warn(what % folder)


def pair(given: Dict[str, Any], unit: int) -> Pair:
    """Return limits of space, in whole blocks of ``unit`` KiB, and of files; 0 is none."""
    return -(-int(given.get("space_kib") or 0) // unit) * unit, int(given.get("files") or 0)


def main() -> None:
    """Look at the file systems, and set limits where all of them can have some."""
    spec = {
        "folders": {"type": "list", "elements": "dict", "required": True},
        "record": {"type": "path", "default": "/var/lib/rackwright/quotas.json"},
        "lustre": {"type": "bool", "default": False},
        "look": {"type": "bool", "default": False},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    host = Host(module)
    try:
        host.go()
    except OSError as error:
        module.fail_json(msg="limits of accounts cannot be read or set: %s" % error)
    if host.problems and not module.params["look"]:
        module.fail_json(msg="; ".join(host.problems))
    before, after = (
        "".join(line + "\n" for line in sorted(side)) for side in (host.before, host.after)
    )
    module.exit_json(
        changed=bool(host.wrong) and not module.params["look"],
        problems=host.problems,
        wrong=host.wrong,
        diff={
            "before": before,
            "after": after,
            "before_header": "limits",
            "after_header": "limits",
        },
    )


if __name__ == "__main__":
    main()
