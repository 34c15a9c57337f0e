"""Recipes: how a program is built with Go, and the key under which it is kept."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import go
from rackwright.provision.tools.folder import Shelf
from rackwright.provision.tools.go import Go, Progress


@dataclass(frozen=True)
class Recipe:
    """Recipe of a program.

    Attributes:
        program: the name of the file.
        title: what people are told that it is, with its version.
        duration: what people are told about the time that it takes.
        module: the folder of the module files that pin its sources.
        package: the Go package of the program.
        hint: how to fix a machine on which it cannot be built.
        missing: what people are told where there is no compiler for it.
        variables: values of the program's variables.
        inputs: further files and folders that decide how it comes out, such as the module that
            makes this recipe.
        prepare: called before the build with the compiler in a copy of the module's folder, the
            folder of the build, and that of the program.
    """

    program: str
    title: str
    duration: str
    module: Path
    package: str
    hint: str
    missing: str = "'go' is not on PATH"
    variables: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Path, ...] = ()
    prepare: Callable[[Go, Path, Path], None] | None = None

    @property
    def key(self) -> str:
        """SHA-256 of everything that determines the built program, except the compiler.

        A compiler need not be there to find a program. Its version is recorded beside it.
        """
        # A change of a comment here changes the key, too: what Go compiled it keeps by itself, so
        # to build the same sources again takes seconds.
        sources = (self.module, *self.inputs, Path(go.__file__), Path(__file__))
        document = {
            "machine": [sys.platform, platform.machine()],
            "command": go.arguments(self.package, Path(self.program), self.variables),
            "files": [_digests(source) for source in sources],
        }
        return hashlib.sha256(json.dumps(document).encode()).hexdigest()

    def shelf(self, root: Path) -> Shelf:
        """Return the shelf of the program below ``root``."""
        return Shelf(root, self.program, self.key[:16])

    def build(self, compiler: str | None, workspace: Path, progress: Progress) -> Path:
        """Return a folder in ``workspace`` with the program in it.

        Raises:
            ExternalToolError: there is no compiler, or the build failed.
        """
        if compiler is None:
            raise ExternalToolError(self.missing, hint=self.hint)
        into = workspace / f"{self.program}-built"
        into.mkdir()
        tool = Go(copy_module(self.module, workspace), compiler, self.hint)
        progress(f"building {self.title} with {tool.version}: {self.duration}")
        if self.prepare is not None:
            self.prepare(tool, workspace, into)
        tool.build(self.package, into / self.program, self.variables, progress)
        return into


def copy_module(folder: Path, workspace: Path) -> Path:
    """Return a copy of a folder of module files to work in."""
    target = workspace / "modules" / folder.name
    if not target.is_dir():
        shutil.copytree(folder, target)
    return target


def _digests(source: Path) -> list[tuple[str, str]]:
    """Return names and SHA-256 of a file, or of the files of a folder."""
    files = [source] if source.is_file() else sorted(filter(Path.is_file, source.iterdir()))
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
