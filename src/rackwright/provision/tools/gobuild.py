"""Building the Pulumi CLI, its Python language host and Receptor from their released Go modules.

``gotools/`` holds the module files: ``go.sum`` pins every source by checksum, and the build
refuses anything else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import process
from rackwright.provision.tools.folder import CLI, LANGUAGE_HOST, RECEPTOR

_PINS = Path(__file__).resolve().parents[1] / "gotools"
_SDK = "github.com/pulumi/pulumi/sdk/v3"
_CLI_PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_HOST_FOLDER = "python/cmd/pulumi-language-python"
_VERSION_VARIABLE = f"{_SDK}/go/common/version.Version"
_RECEPTOR = "github.com/ansible/receptor"
RECEPTOR_HINT = (
    "put 'receptor' on PATH, or install Go 1.19 (Debian: golang-1.19-go) to have it built"
)
_REPORT_EVERY = 200

# The newest release whose language host can be had as a module predates the way in which
# today's engine names a plugin, so its start of plugins is replaced by ``run_plugin.go``.
_HOST_PATCHES = (
    (
        "\targs := []string{req.Program}\n\targs = append(args, req.Args...)\n",
        "\targs, pwd := pluginCommand(req)\n",
    ),
    ("\tcmd.Dir = req.Pwd\n", "\tcmd.Dir = pwd\n"),
)

Progress = Callable[[str], None]


def pinned_version() -> str:
    """The version of the Pulumi CLI that the module files pin."""
    return _required(_PINS / "cli", "github.com/pulumi/pulumi/pkg/v3")


def required_go() -> str:
    """The oldest version of Go that builds the CLI."""
    match = re.search(r"^go (\S+)$", (_PINS / "cli" / "go.mod").read_text("utf-8"), re.MULTILINE)
    return match.group(1) if match else "1.25"


def go_hint() -> str:
    """How to mend a machine on which nothing can be built."""
    return (
        f"install Go {required_go()} or newer, or put a Pulumi CLI >=3.250,<4 on PATH; "
        "then run 'rackwright tools install' again"
    )


def build_cli(workspace: Path, into: Path, progress: Progress) -> str:
    """The version of the CLI that was built as ``into/pulumi``.

    Raises:
        ExternalToolError: Go is missing or too old, or the build failed.
    """
    module = _copy_pins("cli", workspace)
    go = Go(module)
    version = pinned_version()
    progress(
        f"building the Pulumi CLI {version} with {go.version}: "
        "about 8 minutes on 2 cores, once (its sources are fetched first)"
    )
    go.build(_CLI_PACKAGE, into / CLI, {_VERSION_VARIABLE: f"v{version}"}, progress)
    return version


def build_language_host(workspace: Path, into: Path, progress: Progress) -> None:
    """Build the Python language host into ``into``, with the scripts that it starts.

    The scripts come from the SDK of the pinned CLI, which knows today's Python SDK.

    Raises:
        ExternalToolError: Go is missing or too old, or the build failed.
    """
    module = _copy_pins("language-python", workspace)
    go = Go(module)
    version = _required(_PINS / "language-python", _SDK)
    progress(f"building the Python language host {version} with {go.version}")
    source = go.folder_of(_SDK) / _HOST_FOLDER / "main.go"
    (module / "main.go").write_text(_patched(source.read_text("utf-8")), "utf-8")
    go.build(".", into / LANGUAGE_HOST, {_VERSION_VARIABLE: f"v{version}"}, progress)
    scripts = Go(_copy_pins("cli", workspace)).folder_of(_SDK) / "python"
    shutil.copyfile(
        scripts / "cmd/pulumi-language-python-exec", into / "pulumi-language-python-exec"
    )
    shutil.copyfile(
        scripts / "dist/pulumi-resource-pulumi-python", into / "pulumi-resource-pulumi-python"
    )


def receptor_version() -> str:
    """The version of Receptor that the module files pin."""
    return _required(_PINS / RECEPTOR, _RECEPTOR)


def build_receptor(compiler: str, workspace: Path, into: Path, progress: Progress) -> str:
    """The version of Receptor that was built as ``into/receptor``.

    ``compiler`` is a ``go`` of a version that builds it: one of its parts refuses newer ones.

    Raises:
        ExternalToolError: the build failed.
    """
    go = Go(_copy_pins(RECEPTOR, workspace), compiler)
    version = receptor_version()
    progress(f"building Receptor {version} with {go.version}: about 2 minutes on 2 cores, once")
    variable = {f"{_RECEPTOR}/internal/version.Version": version}
    go.build(f"{_RECEPTOR}/cmd/receptor-cl", into / RECEPTOR, variable, progress)
    return version


class Go:
    """The ``go`` command in one module: that of PATH, or the one at ``compiler``."""

    def __init__(self, module: Path, compiler: str | None = None) -> None:
        go = compiler or shutil.which("go")
        self._hint = go_hint() if compiler is None else RECEPTOR_HINT
        if go is None:
            raise ExternalToolError("'go' is not on PATH", hint=self._hint)
        self._go = go
        self._module = module
        # A workspace or flags of the user's own projects must not change what is built.
        self._environment: Mapping[str, str] = {**os.environ, "GOWORK": "off", "GOFLAGS": ""}
        self.version = self._answer("version").removeprefix("go version ").split(" ")[0]

    def folder_of(self, module: str) -> Path:
        """The folder of a required module's sources, fetched and verified where needed."""
        answer = self._answer("mod", "download", "-json", module)
        return Path(str(json.loads(answer)["Dir"]))

    def build(
        self, package: str, output: Path, variables: Mapping[str, str], progress: Progress
    ) -> None:
        """Build ``package`` as the program ``output``, in which ``variables`` have these values."""
        compiled = 0

        def count(line: str) -> None:
            nonlocal compiled
            if line.startswith(("go: ", "#", "\t")):
                return
            compiled += 1
            if compiled % _REPORT_EVERY == 0:
                progress(f"  {compiled} packages compiled")

        flags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in variables.items())])
        arguments = ["build", "-v", "-mod=readonly", "-buildvcs=false", "-ldflags", flags]
        self._run([*arguments, "-o", str(output), package], on_line=count)

    def _answer(self, *arguments: str) -> str:
        lines: list[str] = []
        self._run(arguments, on_line=lines.append)
        start = next((i for i, line in enumerate(lines) if not line.startswith("go: ")), 0)
        return "\n".join(lines[start:])

    def _run(self, arguments: tuple[str, ...] | list[str], *, on_line: Progress) -> None:
        try:
            done = process.run(
                [self._go, *arguments],
                cwd=self._module,
                environment=self._environment,
                on_line=on_line,
            )
        except OSError as error:
            raise ExternalToolError(
                f"'{self._go}' cannot be run: {error}", hint=self._hint
            ) from None
        if done.code != 0:
            raise ExternalToolError(f"'go {arguments[0]}' failed: {done.reason}", hint=self._hint)


def _copy_pins(name: str, workspace: Path) -> Path:
    target = workspace / "modules" / name
    if not target.is_dir():
        shutil.copytree(_PINS / name, target)
    return target


def _required(folder: Path, module: str) -> str:
    text = (folder / "go.mod").read_text("utf-8")
    match = re.search(rf"{re.escape(module)} v(\S+)", text)
    if match is None:
        raise ExternalToolError(
            f"'{folder / 'go.mod'}' does not require '{module}'", hint="reinstall rackwright"
        )
    return match.group(1)


def _patched(source: str) -> str:
    for old, new in _HOST_PATCHES:
        if source.count(old) != 1:
            raise ExternalToolError(
                "the source of the Python language host is not the one that was pinned",
                hint="clear Go's module cache with 'go clean -modcache' and try again",
            )
        source = source.replace(old, new)
    return source
