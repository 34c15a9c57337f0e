"""Language hosts of Pulumi that tests need beside that of Python, built from released Go modules."""

from __future__ import annotations

from pathlib import Path

from rackwright.provision.tools import gobuild
from rackwright.provision.tools.built import install_built
from rackwright.provision.tools.folder import tools_dir
from rackwright.provision.tools.go import default_compiler
from rackwright.provision.tools.recipe import Recipe
from suites import ROOT

PINS = ROOT / "tests/language_hosts"


def yaml_host() -> Path:
    """The language host of YAML; it is built where it is missing.

    Raises:
        ExternalToolError: it cannot be built.
    """
    recipe = Recipe(
        program="pulumi-language-yaml",
        title="the YAML language host",
        duration="about 3 minutes on 2 cores, once",
        module=PINS / "yaml",
        package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
        hint=gobuild.go_hint(),
    )
    return install_built(recipe, tools_dir(), default_compiler, lambda _line: None)
