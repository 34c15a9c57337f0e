"""Drives the real Pulumi engine through its Automation API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from rackwright.errors import ExternalToolError, UsageError
from rackwright.files import write_changed
from rackwright.harmless import json_text
from rackwright.locks import exclusive
from rackwright.provision.backends import PASSPHRASE
from rackwright.provision.lost_creations.creation import Cloud
from rackwright.provision.lost_creations.failures import FailedCreations
from rackwright.provision.lost_creations.stack import settle_stack
from rackwright.provision.progress import StackProgress
from rackwright.provision.stack_locks import (
    clear_dead_locks,
    clear_half_written,
    file_store,
    locked,
    named_locks,
)
from rackwright.provision.targets import Target

if TYPE_CHECKING:
    from pulumi import automation

    from rackwright.policy.gate import Gate

StackKind = Literal["aws-network", "aws-storage", "aws-cluster"]
ORDER: tuple[StackKind, ...] = ("aws-network", "aws-storage", "aws-cluster")
"""Order of provisioning; the reverse is the order of removal."""


@dataclass(frozen=True)
class Site:
    """The AWS site of a blueprint that one run is about.

    Attributes:
        gate: what judges in each stack program, before it declares anything.
    """

    blueprint: Path
    layers: tuple[Path, ...]
    cluster: str
    name: str
    region: str
    gate: Gate | None = None

    @property
    def stack(self) -> str:
        """Name of its stack in each project."""
        return f"{self.cluster}-{self.name}"


@dataclass(frozen=True)
class StackOutcome:
    """What a run did to one stack.

    Attributes:
        changes: steps by operation (``create``, ``update``, ...), unchanged ones left out.
        details: changed properties of each updated resource.
        outputs: the stack's outputs, secrets replaced.
        retained: resources left on purpose.
    """

    kind: StackKind
    changes: Mapping[str, int]
    unchanged: int
    details: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, Any]
    retained: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Options:
    """How the engine is called."""

    plans: Path | None = None
    refresh: bool = False

    def plan_of(self, kind: StackKind) -> str | None:
        """The file of a stack's plan."""
        return str(self.plans / f"{kind}.json") if self.plans else None


_ENCRYPTION = ("secrets_provider", "encrypted_key", "encryption_salt")
_PLAIN = _Options()
_KILLED = re.compile(r"code: -(\d+)")


def preview(
    site: Site,
    target: Target,
    *,
    say: Callable[[str], None],
    plans: Path | None = None,
    refresh: bool = False,
) -> list[StackOutcome]:
    """What ``up`` would do, stack by stack; nothing is changed.

    Args:
        site: the site.
        target: where it is provisioned.
        say: takes lines about the progress.
        plans: folder that the plan of each stack is saved in.
        refresh: compare with what is really there, not with what is recorded.
    """
    options = _Options(plans, refresh)
    return [_run(site, kind, target, "preview", say, options) for kind in ORDER]


def up(
    site: Site, target: Target, *, say: Callable[[str], None], plans: Path | None = None
) -> list[StackOutcome]:
    """Create or change every stack of the site; the order is network, storage, cluster.

    With ``plans``, a step that is not in the saved plan of its stack is refused.
    """
    return _change(site, ORDER, target, "up", say, _Options(plans))


def down(site: Site, target: Target, *, say: Callable[[str], None]) -> list[StackOutcome]:
    """Remove every stack of the site, except what is protected."""
    return _change(site, reversed(ORDER), target, "down", say)


def status(site: Site, target: Target) -> list[StackOutcome]:
    """The recorded resources and outputs of each stack that exists.

    Raises:
        ExternalToolError: the Pulumi CLI is missing, or cannot read a stack.
    """  # noqa: DOC501 - tool_error() makes the ExternalToolError
    from pulumi import automation

    outcomes = []
    for kind in ORDER:
        try:
            with open_stack(site, kind, target, create=False) as stack:
                resources = _resources(stack)
                outputs = _plain(stack.outputs())
        except automation.StackNotFoundError:
            continue
        except automation.CommandError as error:
            raise tool_error(kind, site, "status", error) from None
        unchanged = sum(1 for r in resources if r.get("custom"))
        outcomes.append(StackOutcome(kind, {}, unchanged, {}, outputs))
    return outcomes


def _change(
    site: Site,
    kinds: Iterable[StackKind],
    target: Target,
    action: Literal["up", "down"],
    say: Callable[[str], None],
    options: _Options = _PLAIN,
) -> list[StackOutcome]:
    """Change stack by stack; the site is locked from the first to the last."""
    with exclusive(target.state / "locks" / site.stack, what=f"site '{site.stack}'"):
        return [_run(site, kind, target, action, say, options) for kind in kinds]


def _run(
    site: Site,
    kind: StackKind,
    target: Target,
    action: Literal["preview", "up", "down"],
    say: Callable[[str], None],
    options: _Options,
) -> StackOutcome:
    from pulumi import automation

    if action != "preview":
        # Only beside a folder is a host's name known to mean one machine.
        store = file_store(target.backend)
        if store is not None and clear_dead_locks(store, kind, site.stack):
            say(f"{kind}: the last run was killed; its lock is removed")
    try:
        with open_stack(site, kind, target, create=action != "down") as stack:
            failures = FailedCreations(
                target.state / "failed-creations" / f"{kind}.{site.stack}.json"
            )
            if action != "preview":
                settle_stack(stack, failures, Cloud(target, site.region), label=kind, say=say)
            return _run_engine(stack, kind, action, failures, options)
    except automation.StackNotFoundError:
        return StackOutcome(kind, {}, 0, {}, {})
    except automation.CommandError as error:
        raise tool_error(kind, site, action, error) from None


def _run_engine(
    stack: automation.Stack,
    kind: StackKind,
    action: Literal["preview", "up", "down"],
    failures: FailedCreations,
    options: _Options,
) -> StackOutcome:
    if action == "up" and options.plans:
        _load_encryption(stack, options.plans / f"{kind}.settings.json")
    quiet: Callable[[str], None] = lambda _line: None  # noqa: E731
    outputs: dict[str, Any] = {}
    progress = StackProgress(kind, dry_run=action == "preview")
    with failures.noted(progress.failed), progress:
        if action == "preview":
            stack.preview(
                on_event=progress,
                on_output=quiet,
                on_error=quiet,
                plan=options.plan_of(kind),
                refresh=options.refresh or None,
            )
        elif action == "up":
            done = stack.up(
                on_event=progress, on_output=quiet, on_error=quiet, plan=options.plan_of(kind)
            )
            outputs = _plain(done.outputs)
        else:
            stack.destroy(
                exclude_protected=True, on_event=progress, on_output=quiet, on_error=quiet
            )
    if action == "preview" and options.plans:
        _save_encryption(stack, options.plans / f"{kind}.settings.json")
    retained: tuple[str, ...] = ()
    if action == "down":
        left = [r for r in _resources(stack) if r.get("custom") and not _is_provider(r)]
        retained = tuple(f"{_token(r)} {r.get('id', '')}".strip() for r in left)
        if not left:
            stack.workspace.remove_stack(stack.name)
    return StackOutcome(
        kind, dict(progress.changes), progress.unchanged, progress.details, outputs, retained
    )


@contextmanager
def open_stack(
    site: Site, kind: StackKind, target: Target, *, create: bool
) -> Iterator[automation.Stack]:
    """The stack, in a folder of its own; one that the engine makes would stay after the run.

    Raises:
        ExternalToolError: the Pulumi CLI is not installed.
    """
    from pulumi import automation

    from rackwright.provision.program import inline_program
    from rackwright.provision.tools import find_pulumi, pulumi_environment
    from rackwright.provision.tools.automation import automation_command

    tool = find_pulumi()
    if tool is None:
        raise ExternalToolError(
            "the Pulumi CLI is not installed", hint="run 'rackwright tools install'"
        )
    if (store := file_store(target.backend)) is not None:
        clear_half_written(store, kind)
    settings = automation.ProjectSettings(
        name=kind,
        runtime="python",
        backend=automation.ProjectBackend(url=target.backend) if target.backend else None,
    )
    program = inline_program(kind, site.blueprint, site.layers, site.name, gate=site.gate)
    provider = target.secrets_provider
    kept = {}
    if provider not in {None, PASSPHRASE}:
        # The folder is new each time: without it the engine asks for a passphrase.
        kept[site.stack] = automation.StackSettings(secrets_provider=provider)
    opener = automation.create_or_select_stack if create else automation.select_stack
    with TemporaryDirectory(prefix="rackwright-stack-") as folder:
        options = automation.LocalWorkspaceOptions(
            work_dir=folder,
            project_settings=settings,
            pulumi_command=automation_command(tool),
            env_vars={**pulumi_environment(tool), **target.environment},
            secrets_provider=provider,
            stack_settings=kept,
        )
        stack = opener(stack_name=site.stack, project_name=kind, program=program, opts=options)
        stack.set_config("aws:region", automation.ConfigValue(site.region))
        yield stack


def _save_encryption(stack: automation.Stack, file: Path) -> None:
    """Write down how the secrets of a saved plan are encrypted; the key itself is not in it.

    The engine's workspace is made anew for each run, and with it the salt of a passphrase.
    """
    settings = stack.workspace.stack_settings(stack.name)
    write_changed(file, json.dumps({name: getattr(settings, name) for name in _ENCRYPTION}))


def _load_encryption(stack: automation.Stack, file: Path) -> None:
    """Read secrets as the saved plan has written them.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        saved = saved if isinstance(saved, Mapping) else None
    except (OSError, ValueError, RecursionError):
        saved = None
    if saved is None:
        raise UsageError(f"'{file}' cannot be read", hint="make the plan again") from None
    settings = stack.workspace.stack_settings(stack.name)
    for name in _ENCRYPTION:
        setattr(settings, name, saved.get(name))
    stack.workspace.save_stack_settings(stack.name, settings)


def _resources(stack: automation.Stack) -> Sequence[Mapping[str, Any]]:
    return (stack.export_stack().deployment or {}).get("resources") or []


def _is_provider(resource: Mapping[str, Any]) -> bool:
    return str(resource.get("type", "")).startswith("pulumi:")


def _token(resource: Mapping[str, Any]) -> str:
    return str(resource.get("type", "")).rsplit(":", 1)[-1]


def _plain(outputs: Mapping[str, automation.OutputValue]) -> dict[str, Any]:
    return {name: "[secret]" if out.secret else out.value for name, out in outputs.items()}


def tool_error(
    kind: str, site: Site, action: str, error: automation.CommandError
) -> ExternalToolError:
    """What the engine said last, or that something killed it."""
    from pulumi import automation

    if isinstance(error, automation.ConcurrentUpdateError):
        return locked(f"{kind}/{site.stack}", named_locks(str(error)))
    told = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in told if "error:" in line.lower()]
    if killed := next((m for line in told if (m := _KILLED.fullmatch(line))), None):
        detail = f"something killed the engine (signal {killed.group(1)})"
    else:
        detail = next(iter([*reversed(lines), *filter(_says_something, reversed(told))]), "no word")
    return ExternalToolError(
        f"'{action}' of stack '{kind}/{site.stack}' failed: {detail}",
        hint=f"mend the cause and run 'rackwright {action}' again; it goes on where it stopped",
    )


def _says_something(line: str) -> bool:
    return bool(line) and line not in {"stdout:", "stderr:"}


def render_json(
    outcomes: Sequence[StackOutcome],
    *,
    endpoint: str | None = None,
    nodes: Mapping[str, Any] | None = None,
    outdated: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """The outcomes as JSON, schema ``rackwright.stack/v1``.

    Args:
        outcomes: what a run did to each stack.
        endpoint: base URL of the embedded AWS.
        nodes: hosts of each node group with their addresses; None where they are not known.
        outdated: nodes that are not what their group launches now; None where they are not known.
    """
    return json_text(
        {
            "nodes": nodes,
            "outdated": outdated,
            "schema": "rackwright.stack/v1",
            "endpoint": endpoint,
            "stacks": [
                {
                    "stack": o.kind,
                    "changes": dict(o.changes),
                    "unchanged": o.unchanged,
                    "details": {name: list(diff) for name, diff in o.details.items()},
                    "outputs": dict(o.outputs),
                    "retained": list(o.retained),
                }
                for o in outcomes
            ],
        },
        sort_keys=True,
        default=str,
    )
