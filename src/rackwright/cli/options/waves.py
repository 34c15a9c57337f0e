"""``configure --waves``: the change of a running cluster, a failure domain at a time."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import expectations, host_session
from rackwright.cli.options.telling import say
from rackwright.errors import ExternalToolError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rackwright.ansible_runs.files import Workspace
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.model import Plan
    from rackwright.rollout.executor import AnsibleExecutor
    from rackwright.rollout.journal import RolloutProgress
    from rackwright.rollout.rollout import Pace, Rollout
    from rackwright.rollout.waves import Limit, Wave

SCHEMA = "rackwright.rollout/v1"
DOMAINS = ("unit", "rack", "row", "hall", "site")
CANDIDATES = 16
"""Units of each hardware that are looked at for one in service, to be the first."""


def add_max_failures(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the share of hosts that may fail, which ``text`` describes."""
    parser.add_argument("--max-failures", type=int, default=20, metavar="PERCENT", help=text)


def check_max_failures(arguments: argparse.Namespace) -> None:
    """Refuse a share of hosts that is none.

    Raises:
        UsageError: it is not between 0 and 100.
    """
    if not 0 <= arguments.max_failures <= 100:
        raise UsageError("--max-failures is a share between 0 and 100")


def add_waves(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the arguments of a change in waves, which goes in those of ``default`` unless told."""
    group = parser.add_argument_group(
        "a change of a running cluster", "nodes are drained, changed, verified and resumed in waves"
    )
    group.add_argument(
        "--waves", choices=DOMAINS, default=default, help="unit that is changed together"
    )
    group.add_argument(
        "--wave-limit",
        metavar="NUMBER|SHARE",
        help="hosts out of service at a time, like 8, or 10%% of each node group and partition; "
        "'operations.changes.most_nodes' of the blueprint holds anyway",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue the last interrupted change in waves"
    )
    group.add_argument(
        "--drain-timeout",
        metavar="TIME",
        help="time to wait for jobs on the nodes of a wave, like '2 h' (default: 1 d)",
    )
    group.add_argument("--reason", metavar="TEXT", help="text for the drain reason of the nodes")


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Return True if the change goes in waves.

    Raises:
        UsageError: arguments contradict each other.
    """
    from rackwright.ansible_runs.tags import changes_nothing, parse_tags

    if arguments.waves is None and not arguments.resume:
        for name in ("wave_limit", "drain_timeout", "reason"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for changes with --waves")
        return False
    if arguments.tags is not None and changes_nothing(parse_tags(arguments.tags)):
        raise UsageError(
            f"--tags {arguments.tags} changes nothing for which nodes would have to be drained",
            hint="leave out --waves",
        )
    if arguments.retry:
        raise UsageError("--retry is for changes without waves", hint="--resume repeats failed hosts")  # fmt: skip
    if arguments.resume:
        for name in ("waves", "wave_limit", "reason", "limit", "check"):
            if getattr(arguments, name):
                raise UsageError(
                    f"--resume continues the change with its original options, without --{name.replace('_', '-')}"
                )
        if arguments.tags is not None:
            raise UsageError(
                "--resume continues the change with its original options, without --tags"
            )
    return True


def roll_out(arguments: argparse.Namespace, loaded: LoadedPlan) -> int:
    """Change the cluster in waves; 4 when a host failed or a wave was not started."""
    from rackwright.ansible_runs.tags import parse_tags
    from rackwright.rollout.executor import digest, hosts_matching
    from rackwright.rollout.journal import load, save
    from rackwright.rollout.rollout import Rollout
    from rackwright.rollout.software_record import record_of, save_record

    plan = loaded.plan
    pace = pace_of(arguments)
    tags = parse_tags(arguments.tags)
    expected = expectations(arguments, plan)
    with host_session(arguments, plan, say) as session:
        place, inventory = session.hosts.place, session.inventory
        inventories = session.hosts.inventories
        executor = session.executor(expected)
        before = load(place.waves)
        if arguments.resume:
            progress = go_on(before, digest(place, inventory, before.tags if before else (), inventories))  # fmt: skip
        else:
            mark = digest(place, inventory, tags, inventories)
            only = None
            if arguments.limit is not None:
                only = hosts_matching(place, arguments.limit, inventories)
            progress = begin(arguments, plan, executor, mark, tags, only)
            if before is not None:
                progress.drained = dict(before.drained)
        if arguments.check:
            return _foresee(arguments, progress, executor)
        if not arguments.resume and before is not None:
            give_up(before)
        save(progress, place.waves)
        rollout = Rollout(progress, executor, pace, say, lambda kept: save(kept, place.waves))
        code = run_waves(rollout, executor, place, as_json=arguments.json)
        if is_whole(progress, plan):
            save_record(place.software, record_of(plan))
        return code


def is_whole(progress: RolloutProgress, plan: Plan) -> bool:
    """Return True if a change has brought every host of ``plan`` to its whole state."""
    from rackwright.ansible_runs.tags import is_everything

    names = {host.inventory_name for host in plan.hosts}
    return is_everything(progress.tags) and names <= progress.done


def give_up(before: RolloutProgress) -> None:
    """Say that a change that was begun is not gone on with."""
    if before.unfinished:
        say(f"the {before.change}, which was not finished, is given up for this one")


def run_waves(
    rollout: Rollout,
    executor: AnsibleExecutor,
    place: Workspace,
    *,
    as_json: bool,
    versions: Mapping[str, Mapping[str, Sequence[str | None]]] | None = None,
) -> int:
    """Go over the waves and print what became of them; 4 when a host failed or a wave was not started.

    Args:
        rollout: the change.
        executor: what it has done.
        place: where the quarantine is kept.
        as_json: print it for programs.
        versions: of software before and after, by host and component; for an upgrade.

    Raises:
        ExternalToolError: a tool fails; before, the quarantine is written, and stderr says what is
            left over.
    """
    from rackwright.rollout.executor import quarantine

    progress = rollout.progress
    before = dict(progress.failed)
    try:
        rollout.run()
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        rollout.settle()
        quarantine(place, progress, before)
        sys.stderr.write(_leftovers(progress, executor.controllers))
        return int(ExitCode.INTERRUPTED)
    except ExternalToolError:
        quarantine(place, progress, before)
        sys.stderr.write(_leftovers(progress, executor.controllers))
        raise
    kept = quarantine(place, progress, before)
    if as_json:
        sys.stdout.write(_as_json(rollout, executor.changed, kept, versions))
    else:
        sys.stdout.write(_as_text(rollout, executor.changed, kept))
        sys.stdout.write(_leftovers(progress, executor.controllers) if progress.unfinished else "")
    return int(ExitCode.EXTERNAL if progress.unfinished else ExitCode.CLEAN)


def pace_of(arguments: argparse.Namespace) -> Pace:
    """Return the waiting time for jobs, and the number of hosts that may fail.

    Raises:
        UsageError: the time is none.
    """
    from rackwright.model.units import DURATION
    from rackwright.rollout.rollout import Pace

    most = float(arguments.max_failures)
    if arguments.drain_timeout is None:
        return Pace(max_failures=most)
    try:
        return Pace(drain=DURATION.parse(arguments.drain_timeout), max_failures=most)
    except ValueError as error:
        raise UsageError(f"--drain-timeout: {error}", hint="for example '90 min'") from None


def limit_of(arguments: argparse.Namespace, plan: Plan) -> Limit:
    """Return the limit of the command line, within that of the blueprint.

    Raises:
        UsageError: ``--wave-limit`` is no limit, or is above that of the blueprint.
    """
    from rackwright.rollout.waves import Limit, parse_limit

    asked = Limit() if arguments.wave_limit is None else parse_limit(arguments.wave_limit)
    operations = plan.operations
    most = operations.changes.most_nodes if operations and operations.changes else None
    if most is None:
        return asked
    if asked.percent is not None and asked.percent > most:
        raise UsageError(
            f"the blueprint lets a change take {most:g} % of a node group out of service at a time",
            hint="--wave-limit can only be lower; the number is 'operations.changes.most_nodes'",
        )
    return Limit(asked.hosts, asked.percent or most)


def begin(
    arguments: argparse.Namespace,
    plan: Plan,
    executor: AnsibleExecutor,
    mark: str,
    tags: Sequence[str] = (),
    only: Collection[str] | None = None,
    kind: str = "change",
    instances: Mapping[str, str] | None = None,
) -> RolloutProgress:
    """Return a new change over the hosts ``only``, or all, as the arguments want it.

    Args:
        arguments: of the command line.
        plan: the cluster.
        executor: asks Slurm which nodes are in service.
        mark: digest of what the hosts are configured from.
        tags: steps that it is limited to.
        only: the hosts to change, where not all are wanted.
        kind: what it is called without a name of its own.
        instances: the instance of each host that has to go.

    Raises:
        ExternalToolError: Slurm does not answer.
        UsageError: it is over no host.
    """
    from itertools import islice

    from rackwright.rollout.journal import RolloutProgress
    from rackwright.rollout.waves import Domain, plan_waves, roster

    domain, limit = Domain(arguments.waves or Domain.UNIT), limit_of(arguments, plan)
    found = roster(plan, domain)
    kinds = dict.fromkeys(unit.hardware for unit in found.units)
    candidates = [
        found.nodes[host]
        for hardware in kinds
        for unit in islice(
            (
                u
                for u in found.units
                if u.hardware == hardware and (only is None or {*only} & {*u.hosts})
            ),
            CANDIDATES,
        )
        for host in unit.hosts
        if host in found.nodes
    ]
    states = executor.update(candidates, ()).after if candidates else {}
    in_service = {name for name, state in states.items() if state.in_service}
    unfit = {host for host, node in found.nodes.items() if node not in in_service}
    waves = plan_waves(found, domain, limit, only=only, unfit=unfit)
    if not waves:
        raise UsageError("none of these hosts belongs to the cluster's Slurm")
    return RolloutProgress(
        change=arguments.reason or f"{kind} {mark[:8]}",
        digest=mark,
        waves=waves,
        nodes=found.nodes,
        tags=tuple(tags),
        instances=instances or {},
    )


def go_on(
    before: RolloutProgress | None,
    mark: str,
    *,
    upgrade: bool = False,
    replaces: bool = False,
    reinstalls: bool = False,
) -> RolloutProgress:
    """Return the change that was begun last, where it can be gone on with.

    Raises:
        UsageError: it cannot be.
    """
    again = "--yes" if upgrade else "--waves"
    if before is None or not before.unfinished:
        what = "upgrade" if upgrade else "change in waves"
        raise UsageError(f"no {what} is unfinished", hint=f"begin one with {again}")
    if (before.upgraded_from is not None) != upgrade:
        raise UsageError(
            f"what is unfinished, the {before.change}, is {'no' if upgrade else 'an'} upgrade",
            hint=f"go on with it: rackwright {verb_of(before)} … --resume",
        )
    if bool(before.instances) != replaces:
        what = "replaces no instances" if replaces else "replaces or removes instances"
        raise UsageError(
            f"the {before.change} {what}",
            hint=f"go on with it: rackwright {verb_of(before)} … --resume",
        )
    if before.reinstalls != reinstalls:
        raise UsageError(
            f"the {before.change} installs {'hosts' if before.reinstalls else 'no hosts'} again",
            hint=f"go on with it: rackwright {verb_of(before)} … --resume",
        )
    if before.digest != mark:
        raise UsageError(
            f"the blueprint, or the inventory, is not that of the {before.change} any more",
            hint=f"begin again with {again}; nodes that are drained already are known",
        )
    return before


def verb_of(progress: RolloutProgress) -> str:
    """Return the command that goes on with a change."""
    if progress.instances:
        return "replace"
    if progress.reinstalls:
        return "provision"
    return "configure" if progress.upgraded_from is None else "upgrade"


def _foresee(
    arguments: argparse.Namespace, progress: RolloutProgress, executor: AnsibleExecutor
) -> int:
    """Print the waves and what they would change; nothing is drained."""
    from rackwright.nodelife.slurm_nodes import describe_jobs

    hosts = [host for wave in progress.waves for host in wave.hosts]
    nodes = [progress.nodes[host] for host in hosts if host in progress.nodes]
    seen = executor.update(nodes, ()) if nodes else None
    tally = executor.run(hosts, tags=progress.tags, check=True, say=say)
    foreseen = {name: result.changed for name, result in tally.hosts.items() if result.changed}
    out = {} if seen is None else {n: s for n, s in seen.after.items() if not s.in_service}
    if arguments.json:
        document = {
            "schema": SCHEMA,
            "change": progress.change,
            "waves": [_wave_data(wave) for wave in progress.waves],
            "would_change": foreseen,
            "failures": {name: tally.hosts[name].failure for name in tally.failed},
            "out_of_service": {name: state.reason or state.state for name, state in out.items()},
        }
        sys.stdout.write(json_text(document))
    else:
        lines = []
        for number, wave in enumerate(progress.waves, start=1):
            lines.append(f"{_label(number, progress, wave)}: {counted(len(wave.hosts), 'host')}")
            lines += [
                f"  {h} would change: {task}" for h in wave.hosts for task in foreseen.get(h, ())
            ]
            lines += [
                f"  {h} failed: {tally.hosts[h].failure}" for h in wave.hosts if h in tally.failed
            ]
        lines += [f"{n} is {s.state} already and stays so: {s.reason or 'no reason'}" for n, s in sorted(out.items()) if s.reason not in progress.drained.get(n, ())]  # fmt: skip
        lines.append(f"{describe_jobs(seen.jobs if seen else ())}; nothing was drained or changed")
        sys.stdout.write("\n".join(lines) + "\n")
    return int(ExitCode.EXTERNAL if tally.failed else ExitCode.CLEAN)


def _label(number: int, progress: RolloutProgress, wave: Wave) -> str:
    return f"wave {number} of {len(progress.waves)} ({wave.title})"


def _wave_data(wave: Wave) -> dict[str, object]:
    return {"kind": str(wave.kind), "title": wave.title, "hosts": list(wave.hosts)}


def _state(rollout: Rollout, number: int) -> str:
    wave = rollout.progress.waves[number]
    if not rollout.progress.left(wave):
        return "done"
    return "incomplete" if number in rollout.seconds else "not started"


def _as_text(
    rollout: Rollout, changed: Mapping[str, Sequence[str]], kept: Mapping[str, str]
) -> str:
    progress = rollout.progress
    lines = []
    for number, wave in enumerate(progress.waves):
        seconds = rollout.seconds.get(number)
        took = "" if seconds is None else f" in {seconds:.1f} s"
        passed = len(wave.hosts) - len(progress.left(wave))
        told = f"{passed} of {counted(len(wave.hosts), 'host')} accepted{took}"
        state = _state(rollout, number)
        lines.append(
            f"{_label(number + 1, progress, wave)}: {'not started' if state == 'not started' else told}"
        )
    lines += [f"quarantined {name}: {reason}" for name, reason in sorted(kept.items())]
    lines += [f"back on the versions before, {h}: {progress.undone[h]}" for h in sorted(progress.undone)]  # fmt: skip
    if rollout.stopped is not None:
        lines.append(f"the change has stopped: {rollout.stopped}")
    total = sum(len(tasks) for tasks in changed.values())
    hosts = sum(len(wave.hosts) for wave in progress.waves)
    lines.append(
        f"{len(progress.done)} of {hosts} hosts done, "
        f"{total} {'thing' if total == 1 else 'things'} changed"
    )
    return "\n".join(lines) + "\n"


def _leftovers(progress: RolloutProgress, controllers: Sequence[str]) -> str:
    """Return the nodes that the change has left drained, and the way to continue."""
    from rackwright.model.names import compress_hostlist

    lines = []
    by_reason: dict[str, list[str]] = {}
    for node, reasons in progress.drained.items():
        by_reason.setdefault(reasons[-1], []).append(node)
    lines += [
        f"drained by us: {compress_hostlist(by_reason[why])} ({why})" for why in sorted(by_reason)
    ]
    if by_reason:
        names = compress_hostlist(progress.drained)
        lines.append(
            f"to give them back as they are, on {controllers[0]}: "
            f"scontrol update NodeName={names} State=RESUME"
        )
    verb = verb_of(progress)
    lines.append(f"to go on, with failed hosts as well: rackwright {verb} … --resume")
    return "\n".join(lines) + "\n"


def _as_json(
    rollout: Rollout,
    changed: Mapping[str, Sequence[str]],
    kept: Mapping[str, str],
    versions: Mapping[str, Mapping[str, Sequence[str | None]]] | None = None,
) -> str:
    progress = rollout.progress
    document: dict[str, object] = {
        "schema": SCHEMA,
        "change": progress.change,
        "stopped": rollout.stopped,
        "waves": [
            {
                **_wave_data(wave),
                "state": _state(rollout, number),
                "seconds": round(rollout.seconds.get(number, 0.0), 1),
                "failed": {h: progress.failed[h] for h in wave.hosts if h in progress.failed},
            }
            for number, wave in enumerate(progress.waves)
        ],
        "changed": {host: list(tasks) for host, tasks in sorted(changed.items()) if tasks},
        "drained": {node: reasons[-1] for node, reasons in sorted(progress.drained.items())},
        "quarantine": dict(sorted(kept.items())),
    }
    if versions is not None:
        document["versions"] = versions
        document["undone"] = dict(sorted(progress.undone.items()))
    return json_text(document)
