"""Language hosts of Pulumi that tests need beside that of Python, built from released Go modules."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from rackwright.provision.tools import gobuild
from rackwright.provision.tools.built import install_built
from rackwright.provision.tools.folder import tools_dir
from rackwright.provision.tools.go import Go, default_compiler
from rackwright.provision.tools.recipe import Recipe
from suites import ROOT

PINS = ROOT / "tests/language_hosts"


def yaml_host() -> Path:
    """The language host of YAML; it is built where it is missing."""
    return _built(
        "pulumi-language-yaml",
        "the YAML language host",
        PINS / "yaml",
        "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    )


def node_host() -> Path:
    """The language host of Node, of the newest release of the SDK's module that still has it."""
    return _built(
        "pulumi-language-nodejs",
        "the Node language host",
        PINS / "nodejs",
        "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    )


def write_typescript(schema: str, folder: Path) -> None:
    """Write the SDK of TypeScript for the schema of a package, by the generator that the pinned CLI has.

    That release of the language host does not answer ``pulumi package add``, which calls the same generator.

    Raises:
        ExternalToolError: the generator cannot be built.
    """
    source = PINS / "generator/main.go"

    def prepare(tool: Go, _workspace: Path, _into: Path) -> None:
        shutil.copy(source, tool.module)

    recipe = Recipe(
        program="typescript-generator",
        title="Pulumi's generator of TypeScript",
        duration="about 3 minutes on 2 cores, once",
        module=gobuild.cli().module,
        package=".",
        hint=gobuild.go_hint(),
        inputs=(source,),
        prepare=prepare,
    )
    program = install_built(recipe, tools_dir(), default_compiler, lambda _line: None)
    subprocess.run([program, folder], input=schema, text=True, check=True, timeout=600)


def _built(program: str, title: str, module: Path, package: str) -> Path:
    """Build a program where it is missing, and return it.

    Raises:
        ExternalToolError: it cannot be built.
    """
    recipe = Recipe(
        program=program,
        title=title,
        duration="about 3 minutes on 2 cores, once",
        module=module,
        package=package,
        hint=gobuild.go_hint(),
    )
    return install_built(recipe, tools_dir(), default_compiler, lambda _line: None)
