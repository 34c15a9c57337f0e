"""Options of a whole cluster in a ``slurm.conf``, as the scheduler of a blueprint has them.

What a field of the blueprint says is written there, other options go on as ``extra``, and those that neither
takes are told. A source of the names: ``slurm.conf(5)`` of Slurm 22.05, which also says what earlier names became.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, get_args

from rackwright.brownfield.records import SourceNotice
from rackwright.brownfield.slurm_files.lines import SlurmLine, as_option
from rackwright.errors import SpecError
from rackwright.harmless import counted, visible
from rackwright.model.scheduler import Accounting
from rackwright.model.scheduler_settings import Private
from rackwright.model.slurm_conf_keys import FIELD_OF, GENERATED_KEYS, refused_option

_CONTROLLERS = frozenset(
    {"slurmctldhost", "controlmachine", "controladdr", "backupcontroller", "backupaddr"}
)
_OBSOLETE = frozenset({
    "accountingstorageloc", "accountingstorejobcomment", "cachegroups", "checkpointtype", "chosloc", "cryptotype",
    "defaultstoragehost", "defaultstorageloc", "defaultstoragepass", "defaultstorageport",
    "defaultstoragetype", "defaultstorageuser", "fastschedule", "jobcheckpointdir",
    "jobcredentialprivatekey", "jobcredentialpubliccertificate", "layouts", "memlimitenforce",
    "msgaggregationparams", "sallocdefaultcommand", "schedulerauth", "schedulerport", "schedulerrootfilter",
})  # fmt: skip
"""Options that Slurm no longer takes."""
_DEFAULTS: Mapping[str, frozenset[str]] = {
    "switchtype": frozenset({"switch/none"}),
    "credtype": frozenset({"cred/munge"}),
    "prioritytype": frozenset({"priority/multifactor"}),
    "slurmuser": frozenset({"slurm"}),
    "accountingstoragetype": frozenset({"accounting_storage/none", "accounting_storage/slurmdbd"}),
}
"""Values that change nothing: what is written in any case, or what Slurm does without a word."""
_TREE = {"tree": "tree", "block": "block", "flat": "flat", "none": "flat", "default": "flat"}
_PROGRAM = re.compile(r"/[A-Za-z0-9._/-]+")
_ENFORCE = get_args(get_args(Accounting.model_fields["enforce"].annotation)[0])
_STATES = frozenset({"IDLE", "ALLOC", "MIXED", "ANY", "NONDRAINED_IDLE"})
_COUNTED = re.compile(r"cr_(core|cpu|socket)(_memory)?|cr_memory")
"""Words of ``SelectTypeParameters`` for the resources that Slurm hands out."""
_NOBODY = "accounting_storage/none"


class ClusterOptions:
    """The options of a cluster, by their names in small letters."""

    def __init__(self, options: Mapping[str, SlurmLine]) -> None:
        self._options = options
        self._read = set(_CONTROLLERS)
        self.notices: list[SourceNotice] = []
        self.errors: list[SpecError] = []

    def get(self, key: str) -> str | None:
        """Return the value of an option that is read from now on; None where it is not there."""
        self._read.add(key)
        return self._options[key].words[key] if key in self._options else None

    @property
    def controllers(self) -> tuple[tuple[str, str | None], ...]:
        """Name and address of each controller that the names of earlier releases give."""
        said = [
            (self.get(host), self.get(address))
            for host, address in (
                ("controlmachine", "controladdr"),
                ("backupcontroller", "backupaddr"),
            )
        ]
        return tuple((host, address) for host, address in said if host)

    @property
    def database(self) -> str | None:
        """Host of slurmdbd; None where nothing is kept in one, ``localhost`` where none is named."""
        kind = self.get("accountingstoragetype") or _NOBODY
        host = self.get("accountingstoragehost")
        return (host or "localhost") if kind.lower().endswith("slurmdbd") else None

    @property
    def whole_nodes(self) -> bool:
        """True if jobs have their nodes to themselves, whatever they ask for."""
        return self._select == "linear"

    @property
    def _select(self) -> str:
        return (self.get("selecttype") or "").rpartition("/")[2].lower()

    def _tell_selection(self) -> None:
        """Tell what changes by ``select/cons_tres`` with ``CR_Core_Memory``, which ``render`` writes."""
        said = _words(self.get("selecttypeparameters"))
        if not self._select:
            text = (
                "the file has no 'SelectType': Slurm before 23.11 gives jobs whole nodes then, and later ones cores. "
                "Cores are written: state 'exclusive' of the partitions for whole nodes"
            )
            self.notices.append(SourceNotice(text))
        elif self.whole_nodes:
            self._tell("selecttype", "gives jobs whole nodes: partitions are written as exclusive")
        if any(word.startswith(("cr_cpu", "cr_socket")) for word in said):
            self._tell(
                "selecttypeparameters",
                "counts other than cores: 'CR_Core_Memory' is written, and jobs get whole cores",
            )
        if self._select != "linear" and not any(word.endswith("_memory") for word in said):
            text = (
                "memory is not counted by this file, and is by 'CR_Core_Memory', which is written: a job that asks for "
                "none gets all of its nodes' unless 'DefMemPerCPU' or 'default_shares' says less"
            )
            line = self._options.get("selecttype")
            self.notices.append(SourceNotice(text, None if line is None else line.at))
        others = [word for word in said if not _COUNTED.fullmatch(word)]
        if others:
            self._tell("selecttypeparameters", f"has {', '.join(others)}, which is left out")

    @property
    def topology(self) -> str:
        """Kind of topology in a blueprint: ``tree``, ``block`` or ``flat``."""
        said = self.get("topologyplugin") or "topology/flat"
        plugin = said.rpartition("/")[2].lower()
        if plugin not in _TREE:
            self._tell("topologyplugin", "is none of a blueprint: 'flat' is written")
        return _TREE.get(plugin, "flat")

    def settings(self, *, accounting: bool) -> dict[str, Any]:
        """Return the fields of a scheduler that the options say, and ``extra`` with the others."""
        self._tell_selection()
        made: dict[str, Any] = dict(self._fields(accounting=accounting))
        if extra := self._extra():
            made["extra"] = extra
        return made

    def enforced(self) -> list[str]:
        """Return what slurmctld refuses jobs for."""
        return sorted(set(self._known("accountingstorageenforce", _ENFORCE)))

    def _fields(self, *, accounting: bool) -> Iterator[tuple[str, Any]]:
        yield from self._plain()
        if processes := dict(self._processes()):
            yield "processes", processes
        folders = {
            "state": self._program("statesavelocation"),
            "spool": self._program("slurmdspooldir"),
        }
        log, run = self._program("slurmctldlogfile"), self._program("slurmctldpidfile")
        folders |= {"log": _parent(log), "run": _parent(run)}
        self._drop("slurmdlogfile", "slurmdpidfile")
        if said := {name: folder for name, folder in folders.items() if folder}:
            yield "folders", said
        if check := self._health():
            yield "health_check", check
        if preemption := self._preemption(accounting=accounting):
            yield "preemption", preemption
        known = self._known("privatedata", get_args(Private))
        hidden = [word for word in known if accounting or word not in {"accounts", "users"}]
        if hidden:
            yield "private_data", hidden

    def _plain(self) -> Iterator[tuple[str, Any]]:
        if (auth := self.get("authtype")) is not None:
            word = auth.rpartition("/")[2].lower()
            if word == "slurm":
                yield "auth", word
            elif word != "munge":
                self._tell("authtype", "is none of a blueprint: 'munge' is written")
        if (mpi := self.get("mpidefault")) is not None:
            word = mpi.lower()
            if word in {"pmi2", "pmix"}:
                yield "mpi", word
            elif word != "none":
                self._tell("mpidefault", "is none of a blueprint: 'none' is written")
        # Slurm's own values differ from those of a blueprint, so that they are written without a word.
        returns = self.get("returntoservice") or "0"
        yield "return_to_service", int(returns) if returns in {"0", "1", "2"} else 0
        requeue = (self.get("jobrequeue") or "1").lower()
        if requeue in {"0", "no"}:
            yield "requeue", False
        for key in ("prolog", "epilog"):
            if (program := self._program(key)) is not None:
                yield key, program

    def _processes(self) -> Iterator[tuple[str, Any]]:
        if tracking := self._plugin("proctracktype", {"cgroup", "linuxproc", "pgid"}):
            yield "tracking", tracking
        if tasks := self._known("taskplugin", ("cgroup", "affinity", "none")):
            yield "tasks", tasks
        if gathered := self._plugin("jobacctgathertype", {"cgroup", "linux", "none"}):
            yield "accounting", gathered
        flags = _words(self.get("prologflags"))
        if "contain" not in flags:
            yield "contain", False

    def _health(self) -> dict[str, Any] | None:
        program = self._program("healthcheckprogram")
        interval, states = self.get("healthcheckinterval"), self.get("healthchecknodestate")
        if program is None:
            return None
        if interval is None or not interval.strip("0"):
            self._tell(
                "healthcheckprogram",
                "runs at no interval without 'HealthCheckInterval', and is left out",
            )
            return None
        words = [word.upper() for word in _words(states)]
        if others := [word for word in words if word not in _STATES | {"CYCLE"}]:
            self._tell("healthchecknodestate", f"has {', '.join(others)}, which is left out")
        made: dict[str, Any] = {"program": program, "cycle": "CYCLE" in words}
        if interval.isdecimal():
            made["interval"] = f"{int(interval)} s"
        return made | {"states": [word for word in words if word in _STATES] or ["ANY"]}

    def _preemption(self, *, accounting: bool) -> dict[str, Any] | None:
        kind = (self.get("preempttype") or "").rpartition("/")[2].lower()
        modes = _words(self.get("preemptmode"))
        exempt = self.get("preemptexempttime")
        by = {"qos": "qos", "partition_prio": "partition"}.get(kind)
        if by is None:
            if set(modes) - {"off"}:
                self._tell(
                    "preemptmode", "is not taken over: the file has no 'PreemptType' of a blueprint"
                )
            return None
        if by == "qos" and not accounting:
            self._tell("preempttype", "needs slurmdbd, which the file does not name")
            return None
        mode = next((word for word in modes if word in {"cancel", "requeue", "suspend"}), None)
        if mode is None:
            self._tell("preempttype", "has no mode of a blueprint")
            return None
        return {"by": by, "mode": mode} | ({"exempt": exempt} if exempt else {})

    def _extra(self) -> dict[str, str]:
        """Return options that no field says, and tell those that are left out."""
        generated = {key.lower() for key in GENERATED_KEYS}
        known = {key.lower(): key for key in FIELD_OF}
        made: dict[str, str] = {}
        left: list[str] = []
        for key, line in self._options.items():
            value = line.words[key]
            if key in self._read or value.lower() in _DEFAULTS.get(key, ()) or key in _TAKEN:
                continue
            if key in _OBSOLETE:
                self._tell(key, "is no option of Slurm's any more")
            elif key in generated or (option := as_option(value)) is None:
                left.append(f"{line.spelled[key]}={visible(value)}")
            elif (why := refused_option(line.spelled[key], option)) is not None:
                hint = "slurmctld does not start with it: correct the line, or remove it"
                self.errors.append(SpecError(why, hint=hint, location=line.at))
            else:
                made[known.get(key, line.spelled[key])] = option
        flags = [
            word for word in _words(self.get("prologflags")) if word not in {"contain", "alloc"}
        ]
        if flags:
            made["PrologFlags"] = ",".join(flags)
        if left:
            text = (
                f"{counted(len(left), 'option')} that 'render' writes otherwise: {', '.join(left)}"
            )
            self.notices.append(SourceNotice(text, next(iter(self._options.values())).at))
        return made

    def _program(self, key: str) -> str | None:
        """Return a path; one with a blank or a pattern in it is told."""
        said = self.get(key)
        if said is None or _PROGRAM.fullmatch(said):
            return said
        self._tell(key, "is no plain path")
        return None

    def _plugin(self, key: str, known: Collection[str]) -> str | None:
        """Return the name of a plugin; one that a blueprint does not have is told."""
        word = (self.get(key) or "").rpartition("/")[2].lower()
        if word and word not in known:
            self._tell(key, "is none of a blueprint, and is left out")
        return word if word in known else None

    def _known(self, key: str, known: Sequence[str]) -> list[str]:
        """Return the words of a list that a blueprint has; others are told."""
        words = [word.rpartition("/")[2] for word in _words(self.get(key))]
        if others := [word for word in words if word not in known]:
            self._tell(key, f"has {', '.join(others)}, which is left out")
        return [word for word in words if word in known]

    def _drop(self, *keys: str) -> None:
        self._read.update(keys)

    def _tell(self, key: str, why: str) -> None:
        line = self._options[key]
        text = f"'{line.spelled[key]}={visible(line.words[key])}' {why}"
        self.notices.append(SourceNotice(text, line.at))


_TAKEN = frozenset({"grestypes", "clustername"})
"""Options that follow from the nodes, or are read elsewhere."""


def _words(text: str | None) -> list[str]:
    return [word.strip().lower() for word in (text or "").split(",") if word.strip()]


def _parent(path: str | None) -> str | None:
    parent = None if path is None else str(PurePosixPath(path).parent)
    return None if parent in {None, "/"} else parent
