"""The Pulumi CLI as the Automation API wants it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from rackwright.provision.backends import PASSPHRASE_FILE, PASSPHRASE_TEXT
from rackwright.provision.tools.find import PulumiTool

if TYPE_CHECKING:
    from pulumi.automation import CommandResult, LocalWorkspace, OutputMap, PulumiCommand

HIDDEN = "[secret]"
"""Value that the CLI prints instead of a secret output."""


def automation_command(tool: PulumiTool) -> PulumiCommand:
    """Return the command that runs exactly ``tool``, and ends in an orderly way when interrupted.

    The API's own command wants the CLI in a folder called ``bin``, which the vendor's archive does
    not have, asks its version once more, and leaves the engine behind when its caller is
    interrupted.
    """
    from pulumi.automation import CommandResult, PulumiCommand
    from pulumi.automation.errors import create_command_error
    from semver import VersionInfo

    class Command(PulumiCommand):
        def __init__(self) -> None:
            self.command = str(tool.path)
            self.version = VersionInfo.parse(tool.version)

        def run(
            self,
            args: list[str],
            cwd: str,
            additional_env: Mapping[str, str],
            on_output: Callable[[str], object] | None = None,
            on_error: Callable[[str], object] | None = None,
        ) -> CommandResult:
            inherited = _inherited(additional_env)
            environment = {**inherited, **additional_env, "PULUMI_AUTOMATION_API": "true"}
            command = [self.command, "--non-interactive", *args]
            code, out, err = _run(command, cwd, environment, on_output, on_error)
            result = CommandResult(stdout=out, stderr=err, code=code)
            if code != 0:
                raise create_command_error(result)
            return result

    return Command()


def make_workspace(tool: PulumiTool, **options: Any) -> LocalWorkspace:
    """Return a workspace whose outputs have ``[secret]`` as the values of secrets.

    The API's own asks the CLI a second time for the values, which no caller shows.

    Args:
        tool: the CLI.
        options: other arguments of ``LocalWorkspace``.
    """
    from pulumi.automation import LocalWorkspace, OutputValue

    class Workspace(LocalWorkspace):
        def stack_outputs(self, stack_name: str) -> OutputMap:
            command = ["stack", "output", "--json", "--stack", stack_name]
            told = self.pulumi_command.run(command, self.work_dir, self.env_vars).stdout
            return {
                name: OutputValue(value=value, secret=value == HIDDEN)
                for name, value in json.loads(told).items()
            }

    return Workspace(pulumi_command=automation_command(tool), **options)


def _inherited(given: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment, without a passphrase that would come before the right one.

    The CLI takes ``PULUMI_CONFIG_PASSPHRASE`` first, also where it is empty, as CI writes variables
    that nobody has set: it would encrypt with no passphrase at all.
    """
    inherited = dict(os.environ)
    if not inherited.get(PASSPHRASE_TEXT) or given.get(PASSPHRASE_FILE):
        inherited.pop(PASSPHRASE_TEXT, None)
    return inherited


def _run(
    command: list[str],
    cwd: str,
    environment: Mapping[str, str],
    on_output: Callable[[str], object] | None,
    on_error: Callable[[str], object] | None,
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``command``.

    Raises:
        KeyboardInterrupt: this process was interrupted; the command has ended by then.
    """
    # A session of its own: Ctrl-C in a terminal reaches the engine once, through this process.
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=dict(environment),
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        lines: tuple[list[str], list[str]] = ([], [])
        readers = [
            threading.Thread(target=_read, args=(stream, keep, tell), daemon=True)
            for stream, keep, tell in (
                (process.stdout, lines[0], on_output),
                (process.stderr, lines[1], on_error),
            )
        ]
        with _forwarding(process) as received:
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            code = process.wait()
    if received:
        raise KeyboardInterrupt
    return code, "\n".join(lines[0]), "\n".join(lines[1])


def _read(stream: IO[str] | None, keep: list[str], tell: Callable[[str], object] | None) -> None:
    for line in stream or ():
        keep.append(line.rstrip())
        if tell is not None:
            tell(keep[-1])


@contextmanager
def _forwarding(process: subprocess.Popen[str]) -> Iterator[list[int]]:
    """Return the signals that arrived; each is passed on as an interrupt.

    The engine finishes what it has begun after the first interrupt and stops at once after the
    second. Off the main thread Python delivers no signals, so none are caught there.
    """
    received: list[int] = []

    def forward(number: int, _frame: object) -> None:
        received.append(number)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
