"""Drives the real Pulumi engine through its Automation API."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from rackwright.errors import ExternalToolError
from rackwright.harmless import json_text
from rackwright.locks import exclusive
from rackwright.provision.access.record import (
    is_provider,
    recorded_outputs,
    resources_of,
    token,
    unprotect,
)
from rackwright.provision.access.stack_settings import stack_settings
from rackwright.provision.aws.capacity import CAPACITY_ADVICE, lacks_capacity
from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.backends import PASSPHRASE
from rackwright.provision.lost_creations.failures import FailedCreations
from rackwright.provision.lost_creations.stack import settle_stack
from rackwright.provision.progress import StackProgress
from rackwright.provision.saved_plans import load_encryption, save_encryption
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
        account: id of the only account that it may be in.
    """

    blueprint: Path
    layers: tuple[Path, ...]
    cluster: str
    name: str
    region: str
    gate: Gate | None = None
    account: str | None = None

    @property
    def stack(self) -> str:
        """Name of its stack in each project."""
        return f"{self.cluster}-{self.name}"


@dataclass(frozen=True)
class StackOutcome:
    """Outcome of a run for one stack.

    Attributes:
        changes: steps by operation (``create``, ``update``, ...), unchanged ones left out.
        details: changed properties of each updated resource.
        outputs: the stack's outputs, secrets replaced.
        retained: resources left on purpose.
        replaced: type by the name of each resource that another one takes the place of.
    """

    kind: StackKind
    changes: Mapping[str, int]
    unchanged: int
    details: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, Any]
    retained: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Options:
    """Options of a call of the engine.

    Attributes:
        unprotected: names of resources that may be replaced although they are protected.
        adopt: finds what the storage stack takes over, by what it has a record of.
    """

    plans: Path | None = None
    refresh: bool = False
    unprotected: frozenset[str] = frozenset()
    adopt: Adopter | None = None

    def plan_of(self, kind: StackKind) -> str | None:
        """Return the file of a stack's plan."""
        return str(self.plans / f"{kind}.json") if self.plans else None


Adopter = Callable[[Collection[str]], Mapping[str, str]]
"""Takes what a stack has a record of, by type and name; gives ids of what is there already, by the same words."""

_PLAIN = _Options()
_KILLED = re.compile(r"code: -(\d+)")


def preview(
    site: Site,
    target: Target,
    *,
    say: Callable[[str], None],
    plans: Path | None = None,
    refresh: bool = False,
    kinds: Iterable[StackKind] = ORDER,
    adopt: Adopter | None = None,
) -> list[StackOutcome]:
    """Preview ``up``, stack by stack; nothing is changed.

    Args:
        site: the site.
        target: where it is provisioned.
        say: takes lines about the progress.
        plans: folder that the plan of each stack is saved in.
        refresh: read the present state from AWS first, not with what is recorded.
        kinds: the stacks that are looked at.
        adopt: finds what the storage stack takes over.
    """
    options = _Options(plans, refresh, adopt=adopt)
    return [_run(site, kind, target, "preview", say, options) for kind in kinds]


def make_stacks(site: Site, target: Target) -> None:
    """Make the stacks that are not there, empty: one is previewed only where those exist that it refers to.

    Raises:
        ExternalToolError: the Pulumi CLI is missing, or fails.
    """  # noqa: DOC501 - tool_error() makes the ExternalToolError
    from pulumi import automation

    for kind in ORDER:
        try:
            with open_stack(site, kind, target, create=True):
                continue
        except automation.CommandError as error:
            raise tool_error(kind, site, "preview", error) from None


def up(
    site: Site,
    target: Target,
    *,
    say: Callable[[str], None],
    plans: Path | None = None,
    unprotected: Iterable[str] = (),
    adopt: Adopter | None = None,
) -> list[StackOutcome]:
    """Create or change every stack of the site; the order is network, storage, cluster.

    Args:
        site: the site.
        target: where it is provisioned.
        say: takes lines about the progress.
        plans: folder of saved plans; a step that is not in the plan of its stack is refused.
        unprotected: names of resources that may be replaced although they are protected.
        adopt: finds what the storage stack takes over; it is taken as it is, and then brought to
            what the blueprint says, unless a plan is given, which has the first step alone.
    """
    options = _Options(plans, unprotected=frozenset(unprotected), adopt=adopt)
    return _change(site, ORDER, target, "up", say, options)


def down(site: Site, target: Target, *, say: Callable[[str], None]) -> list[StackOutcome]:
    """Remove every stack of the site, except what is protected."""
    return _change(site, reversed(ORDER), target, "down", say)


def status(site: Site, target: Target) -> list[StackOutcome]:
    """Return the recorded resources and outputs of each stack that exists.

    Raises:
        ExternalToolError: the Pulumi CLI is missing, or cannot read a stack.
    """  # noqa: DOC501 - tool_error() makes the ExternalToolError
    from pulumi import automation

    outcomes = []
    for kind in ORDER:
        try:
            with open_stack(site, kind, target, create=False) as stack:
                resources = resources_of(stack)
        except automation.StackNotFoundError:
            continue
        except automation.CommandError as error:
            raise tool_error(kind, site, "status", error) from None
        unchanged = sum(1 for r in resources if r.get("custom"))
        outcomes.append(StackOutcome(kind, {}, unchanged, {}, recorded_outputs(resources)))
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
            run = partial(_run_engine, stack, kind, action, failures, options)
            adopted = _adopted(stack, kind, action, options)
            if not adopted:
                return run()
            own = stack.workspace.program
            stack.workspace.program = _program(site, kind, adopted)
            taken = run()
            if action == "preview" or options.plans:
                return taken
            stack.workspace.program = own
            brought = run()
            return replace(brought, changes=dict(Counter(taken.changes) + Counter(brought.changes)))
    except automation.StackNotFoundError:
        return StackOutcome(kind, {}, 0, {}, {})
    except automation.CommandError as error:
        raise tool_error(kind, site, action, error) from None


def _program(
    site: Site, kind: StackKind, adopted: Mapping[str, str] | None = None
) -> Callable[[], None]:
    from rackwright.provision.program import inline_program

    return inline_program(
        kind, site.blueprint, site.layers, site.name, gate=site.gate, adopted=adopted
    )


def _adopted(
    stack: automation.Stack, kind: StackKind, action: str, options: _Options
) -> Mapping[str, str]:
    """Return the resources that the stack adopts; only the one that holds data does so."""
    if kind != "aws-storage" or action == "down" or options.adopt is None:
        return {}
    recorded = {f"{token(one)} {one['urn'].rsplit('::', 1)[-1]}" for one in resources_of(stack)}
    return options.adopt(recorded)


def _run_engine(
    stack: automation.Stack,
    kind: StackKind,
    action: Literal["preview", "up", "down"],
    failures: FailedCreations,
    options: _Options,
) -> StackOutcome:
    if action == "up" and options.unprotected:
        unprotect(stack, options.unprotected)
    if action == "up" and options.plans:
        load_encryption(stack, options.plans / f"{kind}.settings.json")
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
                on_event=progress,
                on_output=quiet,
                on_error=quiet,
                plan=options.plan_of(kind),
                show_secrets=False,  # of a summary that no one reads
            )
            outputs = _plain(done.outputs)
        else:
            stack.destroy(
                exclude_protected=True,
                on_event=progress,
                on_output=quiet,
                on_error=quiet,
                show_secrets=False,
            )
    if action == "preview" and options.plans:
        save_encryption(stack, options.plans / f"{kind}.settings.json")
    retained: tuple[str, ...] = ()
    if action == "down":
        left = [r for r in resources_of(stack) if r.get("custom") and not is_provider(r)]
        retained = tuple(f"{token(r)} {r.get('id', '')}".strip() for r in left)
        if not left:
            stack.workspace.remove_stack(stack.name)
    return StackOutcome(
        kind,
        dict(progress.changes),
        progress.unchanged,
        progress.details,
        outputs,
        retained,
        progress.replaced,
    )


@contextmanager
def open_stack(
    site: Site, kind: StackKind, target: Target, *, create: bool
) -> Iterator[automation.Stack]:
    """Yield the stack, in a folder of its own; one that the engine makes would stay after the run.

    Raises:
        ExternalToolError: the Pulumi CLI is not installed.
    """
    from pulumi import automation

    from rackwright.provision.tools.automation import make_workspace
    from rackwright.provision.tools.environment import pulumi_environment
    from rackwright.provision.tools.find import find_pulumi

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
        main=str(Path.cwd()),
        backend=automation.ProjectBackend(url=target.backend) if target.backend else None,
    )
    provider = target.secrets_provider
    settled = stack_settings(
        site.blueprint,
        kind,
        site.stack,
        region=site.region,
        account=site.account,
        local=target.name == "local",
    )
    if provider not in {None, PASSPHRASE}:
        # The folder is new each time: without it the engine asks for a passphrase.
        settled.setdefault("secretsprovider", provider)
    config = settled.setdefault("config", {})
    config["aws:region"] = site.region
    if site.account is not None and target.name == "aws":
        config["aws:allowedAccountIds"] = [site.account]
    opener = automation.Stack.create_or_select if create else automation.Stack.select
    with TemporaryDirectory(prefix="rackwright-stack-") as folder:
        # As JSON, which is YAML: the SDK's record of settings knows no environments, lists or mappings.
        Path(folder, f"Pulumi.{site.stack}.yaml").write_text(
            json.dumps(settled, default=str), "utf-8"
        )
        workspace = make_workspace(
            tool,
            work_dir=folder,
            program=_program(site, kind),
            project_settings=settings,
            env_vars={**pulumi_environment(tool), **target.environment},
            secrets_provider=provider,
        )
        yield opener(site.stack, workspace)


def _plain(outputs: Mapping[str, automation.OutputValue]) -> dict[str, Any]:
    return {name: "[secret]" if out.secret else out.value for name, out in outputs.items()}


def tool_error(
    kind: str, site: Site, action: str, error: automation.CommandError
) -> ExternalToolError:
    """Return the error of a run: the engine's last words, missing capacity, or the signal that killed it."""
    from pulumi import automation

    if isinstance(error, automation.ConcurrentUpdateError):
        return locked(f"{kind}/{site.stack}", named_locks(str(error)))
    told = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in told if "error:" in line.lower()]
    hint = f"fix the cause and run 'rackwright {action}' again; it goes on where it stopped"
    # Of several errors the one that names type and zone; the others often follow from it.
    if lacking := next((line for line in reversed(told) if lacks_capacity(line)), None):
        detail = lacking
        hint = f"{CAPACITY_ADVICE}; 'rackwright {action}' goes on where it stopped"
    elif killed := next((m for line in told if (m := _KILLED.fullmatch(line))), None):
        detail = f"something killed the engine (signal {killed.group(1)})"
    elif cut := next((line for line in told if _CUT_CHECKPOINT.search(line)), None):
        detail = cut
        hint = (
            f"the checkpoint '.pulumi/stacks/{kind}/{site.stack}.json' in the folder of the state was not written to "
            f"its end: copy '{site.stack}.json.bak' beside it over it, and run 'rackwright preview --refresh' before "
            f"'rackwright {action}'"
        )
    else:
        detail = next(iter([*reversed(lines), *filter(_says_something, reversed(told))]), "no word")
    return ExternalToolError(
        f"'{action}' of stack '{kind}/{site.stack}' failed: {detail}",
        hint=hint,
    )


_CUT_CHECKPOINT = re.compile(r"checkpoint.*(unexpected end of JSON|invalid character|unmarshal)")
"""Message of the engine about a checkpoint that was not written to its end."""


def _says_something(line: str) -> bool:
    return bool(line) and line not in {"stdout:", "stderr:"}


def render_json(
    outcomes: Sequence[StackOutcome],
    *,
    endpoint: str | None = None,
    nodes: Mapping[str, Any] | None = None,
) -> str:
    """Return the outcomes as JSON, schema ``rackwright.stack/v1``.

    Args:
        outcomes: what a run did to each stack.
        endpoint: base URL of the embedded AWS.
        nodes: the fields on instances of node groups; None where they are not known.
    """
    return json_text(
        {
            **(nodes or dict.fromkeys(("nodes", "outdated", "unhealthy"))),
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
                    "replaced": sorted(o.replaced),
                }
                for o in outcomes
            ],
        },
        sort_keys=True,
        default=str,
    )
