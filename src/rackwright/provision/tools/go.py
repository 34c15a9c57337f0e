"""The ``go`` command, as it is run for every program that is built."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import process

Progress = Callable[[str], None]

_REPORT_EVERY = 200
_ANSWER_WITHIN_S = 30


def default_compiler() -> str | None:
    """Return the ``go`` of PATH."""
    return shutil.which("go")


def compiler_version(go: str) -> str | None:
    """Return the version and platform of a compiler, as ``go1.26.8 linux/amd64``; None: it gave none."""
    try:
        # At the root, where no module of the user's asks for another version.
        done = process.run(
            [go, "version"], cwd=Path("/"), environment=_environment(), timeout_s=_ANSWER_WITHIN_S
        )
    except OSError:
        return None
    _before, marker, version = done.reason.partition("go version ")
    return version if done.code == 0 and marker else None


def arguments(package: str, output: Path, variables: Mapping[str, str]) -> list[str]:
    """Return the arguments of ``go`` that build ``package`` as ``output``."""
    flags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in variables.items())])
    fixed = ["build", "-v", "-mod=readonly", "-buildvcs=false", "-ldflags", flags]
    return [*fixed, "-o", str(output), package]


class Go:
    """The compiler ``compiler`` in one module; ``hint`` says how to fix what fails.

    Raises:
        ExternalToolError: it cannot be run, or refuses the module.
    """

    def __init__(self, module: Path, compiler: str, hint: str) -> None:
        self._go = compiler
        self._hint = hint
        self.module = module
        self.version = self._answer("version").removeprefix("go version ").split(" ")[0]

    def beside(self, module: Path) -> Go:
        """Return the same compiler in another module."""
        return Go(module, self._go, self._hint)

    def folder_of(self, module: str) -> Path:
        """Return the folder of a required module's sources, fetched and verified where needed."""
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

        self._run(arguments(package, output, variables), on_line=count)

    def _answer(self, *words: str) -> str:
        lines: list[str] = []
        self._run(list(words), on_line=lines.append)
        start = next((i for i, line in enumerate(lines) if not line.startswith("go: ")), 0)
        return "\n".join(lines[start:])

    def _run(self, words: list[str], *, on_line: Progress) -> None:
        try:
            done = process.run(
                [self._go, *words], cwd=self.module, environment=_environment(), on_line=on_line
            )
        except OSError as error:
            raise ExternalToolError(
                f"'{self._go}' cannot be run: {error}", hint=self._hint
            ) from None
        if done.code != 0:
            raise ExternalToolError(f"'go {words[0]}' failed: {done.reason}", hint=self._hint)


def _environment() -> dict[str, str]:
    """Return the environment of ``go`` without a workspace or flags of the user's own projects."""
    return {**os.environ, "GOWORK": "off", "GOFLAGS": ""}
