"""Progress of a change in waves, kept on disk before each step, so that any interruption is recoverable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files import write_changed
from rackwright.rollout.software_record import SoftwareRecord, read_record
from rackwright.rollout.waves import Wave, WaveKind

SCHEMA = "rackwright.waves/v1"


class ProgressError(RackwrightError):
    """Unreadable progress of a change."""

    code = "waves"


@dataclass
class RolloutProgress:
    """A change with its waves.

    Attributes:
        change: what the change is called in reasons.
        digest: of everything that the hosts are configured from.
        tags: steps that it is limited to.
        nodes: names in Slurm of the hosts that run jobs.
        done: hosts that are changed and accepted.
        failed: hosts that are not, with the reason.
        drained: nodes that this change, or one before it, has drained and not resumed, each with
            the reasons it may have given.
        upgraded_from: for an upgrade, what the hosts were brought to before it.
        upgraded_to: and what it brings them to.
        undone: hosts that were brought back to that after they had failed, with the reason.
        instances: the instance of each host that has to go, empty where a host has none; none at all
            where machines stay what they are.
        removed: no others take the place of these instances.
        reinstalls: hosts are installed again by their management controllers.
    """

    change: str
    digest: str
    waves: tuple[Wave, ...]
    nodes: Mapping[str, str]
    tags: tuple[str, ...] = ()
    done: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    drained: dict[str, list[str]] = field(default_factory=dict)
    upgraded_from: SoftwareRecord | None = None
    upgraded_to: SoftwareRecord | None = None
    undone: dict[str, str] = field(default_factory=dict)
    instances: Mapping[str, str] = field(default_factory=dict)
    removed: bool = False
    reinstalls: bool = False

    def left(self, wave: Wave) -> tuple[str, ...]:
        """Return the hosts of a wave that are not changed and accepted yet."""
        return tuple(host for host in wave.hosts if host not in self.done)

    @property
    def unfinished(self) -> tuple[Wave, ...]:
        """Waves with hosts that are not changed and accepted yet."""
        return tuple(wave for wave in self.waves if self.left(wave))

    @property
    def touched(self) -> frozenset[str]:
        """Hosts that are not as they were before the change, or need not be."""
        return frozenset(self.done) | frozenset(self.failed)

    def pass_host(self, host: str) -> None:
        """Count a host as changed and accepted."""
        self.done.add(host)
        self.failed.pop(host, None)
        self.undone.pop(host, None)

    def fail_host(self, host: str, reason: str) -> None:
        """Count a host as one that has failed, and is as it failed."""
        self.failed[host] = reason
        self.undone.pop(host, None)

    def undo_host(self, host: str, reason: str) -> None:
        """Count a host as one that is again as it was before the change."""
        self.undone[host] = reason
        self.failed.pop(host, None)

    def own(self, nodes: Iterable[str], reason: str) -> None:
        """Record that ``nodes`` are drained with ``reason``, before that is done."""
        for node in nodes:
            reasons = self.drained.setdefault(node, [])
            if reason not in reasons:
                reasons.append(reason)

    def release(self, nodes: Iterable[str]) -> None:
        """Record that ``nodes`` are not, or no longer, drained by us."""
        for node in nodes:
            self.drained.pop(node, None)

    def reasons(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """Return the reasons that ``nodes`` may have been drained with by us."""
        return tuple(sorted({why for node in nodes for why in self.drained.get(node, ())}))


def save(progress: RolloutProgress, path: Path) -> None:
    """Write ``progress`` to ``path``, at once or not at all."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "change": progress.change,
        "digest": progress.digest,
        "tags": list(progress.tags),
        "waves": [
            {"kind": wave.kind, "title": wave.title, "hosts": list(wave.hosts)}
            for wave in progress.waves
        ],
        "nodes": dict(progress.nodes),
        "done": sorted(progress.done),
        "failed": dict(sorted(progress.failed.items())),
        "drained": dict(sorted(progress.drained.items())),
        "instances": dict(sorted(progress.instances.items())),
        "removed": progress.removed,
        "reinstalls": progress.reinstalls,
    }
    if progress.upgraded_to is not None:
        document["upgraded_to"] = progress.upgraded_to.as_data()
    if progress.upgraded_from is not None:
        document["upgraded_from"] = progress.upgraded_from.as_data()
        document["undone"] = dict(sorted(progress.undone.items()))
    write_changed(path, json.dumps(document, indent=1))


def load(path: Path) -> RolloutProgress | None:
    """Return the change that was begun last; None where there was none.

    Raises:
        ProgressError: the file is not one of ours.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        document = None
    try:
        return _read(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ProgressError(
            f"'{path}' does not say how far the change in waves has come",
            hint="look which nodes have a reason with 'rackwright:' (sinfo -R), then remove the file",
        ) from None


def _read(document: Any) -> RolloutProgress:
    if document["schema"] != SCHEMA:
        raise ValueError(document["schema"])
    return RolloutProgress(
        change=str(document["change"]),
        digest=str(document["digest"]),
        waves=tuple(
            Wave(WaveKind(wave["kind"]), str(wave["title"]), _texts(wave["hosts"]))
            for wave in document["waves"]
        ),
        nodes={str(host): str(node) for host, node in document["nodes"].items()},
        tags=_texts(document["tags"]),
        done=set(_texts(document["done"])),
        failed={str(host): str(why) for host, why in document["failed"].items()},
        drained={str(node): list(_texts(whys)) for node, whys in document["drained"].items()},
        upgraded_from=_record(document.get("upgraded_from")),
        upgraded_to=_record(document.get("upgraded_to")),
        undone={str(host): str(why) for host, why in document.get("undone", {}).items()},
        # Earlier releases replaced no machines.
        instances={str(host): str(one) for host, one in document.get("instances", {}).items()},
        removed=bool(document.get("removed", False)),
        reinstalls=bool(document.get("reinstalls", False)),
    )


def _record(data: Any) -> SoftwareRecord | None:
    return None if data is None else read_record(data)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
