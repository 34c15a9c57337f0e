"""Reservations that keep nodes of Slurm free from a moment on."""

# For any Python from 3.6 on, since it runs on the hosts.
import calendar
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: slurm_reservations
short_description: Reservations that keep nodes of Slurm free from a moment on
description:
  - Has slurmctld start no job on the nodes that could still run at the moment at which they go away. A job
    that ends before it starts as ever; one without a time limit waits.
  - Makes a reservation for maintenance of each entry, without an end, that jobs which run already do not
    keep from being made; those that would run beyond the moment are told in a warning, and go on.
  - Takes away reservations that are called by the prefix and are not wanted any more. Others are left alone.
  - A moment that has passed counts as now.
options:
  reservations:
    description: Each with its C(name), which begins with the prefix, its C(nodes) as a host list, and C(start)
      in UTC, like C(2026-11-30T10:50:00Z).
    type: list
    elements: dict
    required: true
  prefix:
    description: What names of these reservations begin with.
    type: str
    default: rackwright-
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Keep the nodes of a capacity block free before it ends
  rackwright.cluster.slurm_reservations:
    reservations:
      - name: rackwright-cr-0123456789abcdef0
        nodes: p5-[01-16]
        start: "2026-11-30T10:50:00Z"
"""

RETURN = r"""
beyond:
  description: Ids of jobs that run and may still do so when their nodes go away, by reservation.
  type: dict
  returned: always
"""

FLAGS = ("IGNORE_JOBS", "MAINT")
LOCAL = "%Y-%m-%dT%H:%M:%S"
"""How Slurm reads and writes times: in the time zone of the host."""
SHOWN = 5
"""Most jobs that a warning names."""


class Reservation(NamedTuple):
    """A reservation as slurmctld has it, or as it should be.

    Attributes:
        name: of it.
        nodes: names of its nodes, sorted.
        start: its start, as Slurm writes it; empty for now.
        flags: those of ``FLAGS`` that it has.
    """

    name: str
    nodes: Tuple[str, ...]
    start: str
    flags: Tuple[str, ...]

    def told(self) -> str:
        """Return the reservation in words."""
        return "%s: %d nodes from %s" % (self.name, len(self.nodes), self.start or "now")


def seconds(start: str) -> int:
    """Return the moment ``start`` in seconds since the epoch.

    Raises:
        ValueError: it is not written like 2026-11-30T10:50:00Z.
    """
    return calendar.timegm(time.strptime(start, "%Y-%m-%dT%H:%M:%SZ"))


def fields(line: str) -> Dict[str, str]:
    """Return the words ``Key=value`` of a line of ``scontrol --oneliner show``."""
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def is_as_wanted(there: Optional[Reservation], wanted: Reservation, now: str) -> bool:
    """Return True if a reservation is as wanted; one that began in the past counts as "from now on"."""
    if there is None or there.nodes != wanted.nodes or there.flags != wanted.flags:
        return False
    return there.start == wanted.start if wanted.start else there.start <= now


class Controller:
    """slurmctld, as scontrol and squeue reach it."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module

    def ask(self, *words: str) -> str:
        """Return the output of a command.

        Raises:
            OSError: it fails.
        """
        rc, out, said = self._module.run_command(
            list(words), environ_update={"SLURM_TIME_FORMAT": "standard"}
        )
        if rc:
            raise OSError("'%s' says: %s" % (" ".join(words), (said or out).strip()))
        return str(out)

    def nodes(self, hosts: str) -> Tuple[str, ...]:
        """Return the names in a host list, sorted."""
        return tuple(sorted(self.ask("scontrol", "show", "hostnames", hosts).split()))

    def there(self, prefix: str) -> Dict[str, Reservation]:
        """Return the reservations whose names begin with ``prefix``, by name."""
        found = {}
        for line in self.ask("scontrol", "--oneliner", "show", "reservation").splitlines():
            said = fields(line)
            name = said.get("ReservationName", "")
            if name.startswith(prefix):
                flags = tuple(sorted(set(FLAGS) & set(said.get("Flags", "").split(","))))
                # Nodes that slurm.conf has no more leave a reservation with none.
                nodes = said.get("Nodes", "(null)")
                names = () if nodes == "(null)" else self.nodes(nodes)
                found[name] = Reservation(name, names, said["StartTime"], flags)
        return found

    def beyond(self, wanted: Reservation, now: str) -> List[str]:
        """Return jobs that run on the nodes and may still do so when ``wanted`` begins."""
        words = ["squeue", "--noheader", "--states=running", "--format=%i %e"]
        jobs = self.ask(*words, "--nodelist=" + ",".join(wanted.nodes)).splitlines()
        pairs = (line.split() for line in jobs)
        # A job without a limit has no end: NONE and UNLIMITED come after every digit.
        return [job for job, end in pairs if end > (wanted.start or now)]

    def make(self, wanted: Reservation, there: Optional[Reservation], now: str) -> None:
        """Have slurmctld make the reservation, or change it; one that has begun does not move."""
        what = ["ReservationName=" + wanted.name, "StartTime=" + (wanted.start or "now")]
        what.append("Nodes=" + ",".join(wanted.nodes))
        if there is not None and there.start > now and there.flags == wanted.flags:
            self.ask("scontrol", "update", *what)
            return
        if there is not None:
            self.remove(there.name)
        flags = ["Users=root", "Duration=UNLIMITED", "Flags=" + ",".join(wanted.flags)]
        self.ask("scontrol", "create", *what, *flags)

    def remove(self, name: str) -> None:
        """Have slurmctld forget a reservation."""
        self.ask("scontrol", "delete", "ReservationName=" + name)


def settle(module: AnsibleModule, controller: Controller) -> Dict[str, Any]:
    """Make, change and take away reservations, and say what became of them.

    Raises:
        OSError: slurmctld refuses, or does not answer.
        ValueError: an entry cannot be.
    """
    prefix = module.params["prefix"]
    moment = time.time()
    now = time.strftime(LOCAL, time.localtime(moment))
    wanted = {}
    for entry in module.params["reservations"]:
        name, start = entry["name"], seconds(entry["start"])
        if not name.startswith(prefix) or name in wanted:
            raise ValueError("'%s' does not begin with '%s', or is there twice" % (name, prefix))
        local = time.strftime(LOCAL, time.localtime(start)) if start > moment else ""
        wanted[name] = Reservation(name, controller.nodes(entry["nodes"]), local, FLAGS)
    there = controller.there(prefix)
    changes = [
        (there.get(name), after)
        for name, after in sorted(wanted.items())
        if not is_as_wanted(there.get(name), after, now)
    ]
    gone = sorted(set(there) - set(wanted))
    beyond = {}
    for before, after in changes:
        jobs = controller.beyond(after, now)
        if jobs:
            beyond[after.name] = jobs
            named = ", ".join(jobs[:SHOWN]) + (", …" if len(jobs) > SHOWN else "")
            what = "%d jobs that run may do so beyond the start of the reservation '%s': %s"
            module.warn(what % (len(jobs), after.name, named))
        if not module.check_mode:
            controller.make(after, before, now)
    for name in gone:
        if not module.check_mode:
            controller.remove(name)
    former = [before.told() for before, _ in changes if before] + [there[n].told() for n in gone]
    return {
        "changed": bool(changes or gone),
        "beyond": beyond,
        "diff": {
            "before": "".join(line + "\n" for line in sorted(former)),
            "after": "".join(after.told() + "\n" for _, after in changes),
            "before_header": "reservations",
            "after_header": "reservations",
        },
    }


def main() -> None:
    """Have slurmctld know the reservations that are wanted, and no others of ours."""
    spec = {
        "reservations": {"type": "list", "elements": "dict", "required": True},
        "prefix": {"type": "str", "default": "rackwright-"},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    try:
        module.exit_json(**settle(module, Controller(module)))
    except KeyError as error:
        module.fail_json(msg="a reservation has no %s" % error)
    except (OSError, ValueError) as error:
        module.fail_json(msg="reservations of Slurm cannot be settled: %s" % error)


if __name__ == "__main__":
    main()
