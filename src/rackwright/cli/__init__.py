"""The command line. A verb's module is imported only when the verb is called."""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from rackwright import __version__
from rackwright.cli.options.defaults import parse, parse_words
from rackwright.cli.options.telling import be_quiet
from rackwright.errors import RackwrightError, SpecErrors, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.extras import missing_extra
from rackwright.interrupts import keep_interrupts
from rackwright.streams import guard, guarded

VERBS: dict[str, tuple[str, str]] = {
    "init": (
        "rackwright.cli.commands.init",
        "write a blueprint from a template or from an existing cluster",
    ),
    "update": (
        "rackwright.cli.commands.update",
        "merge changes of a template into clusters made from it",
    ),
    "template": ("rackwright.cli.commands.template", "create and test your own templates"),
    "check": ("rackwright.cli.commands.check", "check a blueprint before anything is deployed"),
    "expand": (
        "rackwright.cli.commands.expand",
        "print a blueprint in full, with the rule behind each derived value",
    ),
    "design": (
        "rackwright.cli.commands.design",
        "find the best layout of accelerators in a facility, and write its blueprint",
    ),
    "show": (
        "rackwright.cli.commands.show",
        "show sites, headroom of budgets, or one rack with its units",
    ),
    "draw": (
        "rackwright.cli.commands.draw",
        "draw racks, halls, power, cooling and fabrics as SVG",
    ),
    "sheets": (
        "rackwright.cli.commands.sheets",
        "write elevations, cables and circuits of a hall as CSV",
    ),
    "bom": (
        "rackwright.cli.commands.bom",
        "list what to buy, and what a change adds or returns",
    ),
    "cost": (
        "rackwright.cli.commands.cost",
        "compute the cost of a blueprint per hour and per year",
    ),
    "predict": (
        "rackwright.cli.commands.predict",
        "predict tokens per day of training jobs, and what limits them",
    ),
    "diff": (
        "rackwright.cli.commands.diff",
        "show what a change does to budgets, hardware, hosts and cost",
    ),
    "ci": ("rackwright.cli.commands.ci", "write CI files and comment on pull requests"),
    "fabric": (
        "rackwright.cli.commands.fabric",
        "list the cables of a fabric, compare them with the hall, simulate routing",
    ),
    "switches": (
        "rackwright.cli.commands.switches",
        "list switches, compare their running configuration, order changes",
    ),
    "explain": (
        "rackwright.cli.commands.explain",
        "document a policy, the hazards or the exit codes",
    ),
    "policy": ("rackwright.cli.commands.policy", "list, show, test and write policies"),
    "catalogue": (
        "rackwright.cli.commands.catalogue",
        "list, show, write, test and import products",
    ),
    "faults": (
        "rackwright.cli.commands.faults",
        "list, show and test faults, and find them in a recording",
    ),
    "repair": (
        "rackwright.cli.commands.repair",
        "drain faulty nodes, repair and test them, return them to service",
    ),
    "waivers": ("rackwright.cli.commands.waivers", "list, add, remove and check waivers"),
    "baseline": (
        "rackwright.cli.commands.baseline",
        "record failures, so that only worse ones block",
    ),
    "schema": ("rackwright.cli.commands.schema", "export JSON Schemas for editors"),
    "render": (
        "rackwright.cli.commands.render",
        "write Slurm files, host names, DNS zones and switch configurations",
    ),
    "inventory": ("rackwright.cli.commands.inventory", "list the hosts of a blueprint for Ansible"),
    "preview": ("rackwright.cli.commands.stack", "show what 'up' would change"),
    "up": ("rackwright.cli.commands.stack", "provision the AWS site of a blueprint"),
    "status": ("rackwright.cli.commands.stack", "show what is provisioned"),
    "hosts": (
        "rackwright.cli.commands.name_hosts",
        "assign host names to the instances of node groups",
    ),
    "replace": (
        "rackwright.cli.commands.replace",
        "drain, terminate and relaunch nodes of an AWS site, by name",
    ),
    "down": ("rackwright.cli.commands.stack", "remove what is provisioned; storage is kept"),
    "unlock": (
        "rackwright.cli.commands.unlock",
        "release locks that a lost runner left on an AWS site",
    ),
    "discover": (
        "rackwright.cli.commands.discover",
        "read management controllers and compare the machines with the blueprint",
    ),
    "provision": (
        "rackwright.cli.commands.provision",
        "bring bare-metal hosts from their controllers to their first job",
    ),
    "decommission": (
        "rackwright.cli.commands.decommission",
        "erase the disks of bare-metal hosts and verify it",
    ),
    "configure": (
        "rackwright.cli.commands.configure",
        "configure hosts with Ansible to match the blueprint",
    ),
    "upgrade": (
        "rackwright.cli.commands.upgrade",
        "upgrade a running cluster to other software versions",
    ),
    "verify": ("rackwright.cli.commands.verify", "compare the hosts with the blueprint"),
    "fleet": (
        "rackwright.cli.commands.fleet",
        "show every site of a federation: capacity, queue, health, cost",
    ),
    "power": (
        "rackwright.cli.commands.power",
        "keep a site within a power budget for a while, then lift the limits",
    ),
    "burn-in": (
        "rackwright.cli.commands.burn_in",
        "load nodes, check every result, and find the slow ones",
    ),
    "ledger": (
        "rackwright.cli.commands.ledger",
        "show the history of parts, lemons, spares and packets for returns",
    ),
    "netbox": (
        "rackwright.cli.commands.netbox",
        "read from NetBox what exists, and write to it what is planned",
    ),
    "lab": ("rackwright.cli.commands.lab", "boot test hosts on this machine"),
    "tools": ("rackwright.cli.commands.tools", "install the programs that Rackwright drives"),
    "doctor": (
        "rackwright.cli.commands.doctor",
        "list what is missing on this machine, and how to install it",
    ),
    "completion": (
        "rackwright.cli.commands.completion",
        "print a shell completion script, or the manual page",
    ),
}
"""Module and summary of each verb."""

GROUPS: dict[str, tuple[str, ...]] = {
    "begin": ("init", "update", "template", "design"),
    "check": ("check", "explain", "diff", "waivers", "baseline", "policy", "ci"),
    "look at a design": ("show", "expand", "draw", "cost", "predict", "bom", "sheets", "fabric", "catalogue"),
    "run a cluster": (
        "preview", "up", "status", "hosts", "discover", "provision", "decommission", "configure", "verify", "switches",
        "burn-in", "faults", "repair",
        "ledger", "upgrade", "replace", "down", "unlock", "fleet", "power",
    ),
    "files for other tools": (
        "render", "inventory", "netbox", "schema", "completion",
    ),
    "this machine": ("tools", "doctor", "lab"),
}  # fmt: skip
"""Verbs by what they are for, as ``--help`` shows them."""

OTHER_NAMES = {
    "apply": "up",
    "bill": "bom",
    "destroy": "down",
    "diagram": "draw",
    "drift": "preview",
    "graph": "draw",
    "lint": "check",
    "new": "init",
    "plan": "preview",
    "price": "cost",
    "test": "check",
    "todo": "check",
    "validate": "check",
}
"""Verbs of other tools, and those that do the same here."""

OPTIONS = {
    "--help": "show this text; 'rackwright COMMAND --help' documents one command",
    "--version": "show the version; also -V",
    "--quiet": "print no progress and no next steps; 'check' prints only what blocks",
    "--debug": "show a traceback when something fails",
}
"""What stands before any command; the last two may stand behind one as well."""

ONE_TREE = frozenset({"check", "cost"})
"""Verbs that make one tree, print it and end: of millions of objects, 3,000 are in circles."""

WRITE_LAYERS = frozenset({"burn-in", "discover"})
"""Verbs that write layers of the blueprint, and write them again."""

MOST_ERRORS = 50
"""Most mistakes of a blueprint that are shown."""


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as an error of our own, with our exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.color = False  # newer versions write escape sequences, which would be shown

    def error(self, message: str) -> NoReturn:
        from rackwright.cli.options.arguments import usage_error

        raise usage_error(self, message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code."""
    if arguments is None:  # this process is ours, to its last traceback
        guard()
        keep_interrupts()
        try:
            return _main(sys.argv[1:], ends=True)
        except Exception:  # noqa: BLE001 - shown whole, which only --debug asks for
            import traceback

            traceback.print_exc()  # in no colours, which newer interpreters put into their own
            return int(ExitCode.CRASH)
    with guarded():
        return _main(arguments)


def _main(arguments: Sequence[str], *, ends: bool = False) -> int:
    # The process does nothing after it where it ends with it.
    # What is read and planned is a tree: looking for circles in millions of objects again and again
    # would take a third of the time of what reads a large blueprint.
    gc.set_threshold(1_000_000, 20, 100)
    debug = "--debug" in arguments
    be_quiet(quiet="--quiet" in arguments or "-q" in arguments)
    words = [word for word in arguments if word not in {"--debug", "--quiet", "-q"}]
    try:
        code = _run(words, ends=ends)
        sys.stdout.flush()
        return code
    except RackwrightError as error:
        if debug:
            raise
        _show(error)
        return int(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; run the same command again to continue\n")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _close_stdout()
        return int(ExitCode.CLEAN)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, ModuleNotFoundError) and (missing := missing_extra(error)):
            _show(missing)
            return int(missing.exit_code)
        if isinstance(error, OSError):
            return _fail(error)
        sys.stderr.write(
            f"error: rackwright failed: {type(error).__name__}: {error}\n"
            "  hint: run it again with --debug and report the traceback\n"
        )
        return int(ExitCode.CRASH)


def _fail(error: OSError) -> int:
    """Say what the system refuses; the exit code."""
    from rackwright.system_errors import FULL, system_fault

    if error.errno in FULL and error.filename is None and _output_fails():
        _close_stdout()
        reason = os.strerror(error.errno or 0).lower()
        sys.stderr.write(f"error: the output cannot be written: {reason}\n")
    else:
        _show(system_fault(error))
    return int(ExitCode.EXTERNAL)


def _output_fails() -> bool:
    """Return True if stdout takes no more; the rest is no longer in its buffer."""
    try:
        descriptor = sys.stdout.fileno()
        os.write(descriptor, b"")
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return is_file and os.fstatvfs(descriptor).f_bavail == 0
    except io.UnsupportedOperation:
        return False
    except OSError:
        return True


def _close_stdout() -> None:
    """Take no more output; without this the interpreter complains when it flushes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str], *, ends: bool) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        sys.stdout.write(_overview())
        return int(ExitCode.CLEAN if words else ExitCode.USAGE)
    if words[0] in {"--version", "-V"}:
        sys.stdout.write(f"rackwright {__version__}\n")
        return int(ExitCode.CLEAN)
    verb, rest = words[0], words[1:]
    if verb not in VERBS:
        near = [OTHER_NAMES[verb]] if verb in OTHER_NAMES else []
        near = near or difflib.get_close_matches(verb, VERBS, n=1)
        hint = "'rackwright --help' lists the commands"
        if near:
            hint = f"did you mean '{near[0]}'? It would {VERBS[near[0]][1]}"
        raise UsageError(f"there is no command '{verb}'", hint=hint)
    module_name, summary = VERBS[verb]
    module: Any = importlib.import_module(module_name)
    parser = _Parser(prog=f"rackwright {verb}", description=summary[:1].upper() + summary[1:] + ".")
    module.configure(parser, verb)
    if "-h" in rest or "--help" in rest:
        from rackwright.cli.options.examples import add_examples

        add_examples(parser, verb)
        arguments_of_verb = parse_words(parser, rest)
    else:
        arguments_of_verb = parse(parser, verb, rest, VERBS)
    if getattr(arguments_of_verb, "output", None):
        from rackwright.cli.options.outputs import refuse_replaced_inputs

        refuse_replaced_inputs(arguments_of_verb, layers=verb not in WRITE_LAYERS)
    if verb not in ONE_TREE:
        return int(module.run(arguments_of_verb))
    with _no_search_for_circles(ends=ends):
        return int(module.run(arguments_of_verb))


@contextmanager
def _no_search_for_circles(*, ends: bool) -> Iterator[None]:
    """Free no circles of objects meanwhile, nor after it where the process ends with it."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ends:
            gc.freeze()  # else the interpreter looks through all that was planned before it ends
        elif searched:
            gc.enable()


def _overview() -> str:
    width = max(map(len, VERBS))
    groups = (
        f"{purpose}:\n"
        + "\n".join(f"  {verb:<{width}}  {VERBS[verb][1]}" for verb in verbs if verb in VERBS)
        for purpose, verbs in GROUPS.items()
    )
    verbs = "\n\n".join(groups)
    width = max(map(len, OPTIONS))
    options = "\n".join(f"  {option:<{width}}  {summary}" for option, summary in OPTIONS.items())
    return (
        "usage: rackwright COMMAND [ARGUMENT ...]\n\n"
        "Infrastructure as code for GPU clusters, gated by physical budgets.\n\n"
        f"{verbs}\n\n"
        f"options:\n{options}\n\n"
        "examples:\n"
        "  rackwright init demo --template hybrid-h100 --example\n"
        "  rackwright check demo/blueprint.yaml\n"
    )


def _show(error: RackwrightError) -> None:
    if not isinstance(error, SpecErrors):
        sys.stderr.write(f"error: {error}\n")
        return
    for item in error.errors[:MOST_ERRORS]:
        sys.stderr.write(f"{item}\n")
    hidden = len(error.errors) - MOST_ERRORS
    more = f" ({hidden} more not shown)" if hidden > 0 else ""
    sys.stderr.write(f"{error.summary}{more}\n")
