"""Building programs that are missing, and keeping those that are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools.folder import Shelf, installing
from rackwright.provision.tools.go import Progress, compiler_version
from rackwright.provision.tools.recipe import Recipe


def install_built(
    recipe: Recipe, root: Path, compiler: Callable[[], str | None], progress: Progress
) -> Path:
    """Return the program of ``recipe``, built below ``root`` where it was missing.

    It is built again where it is damaged, or where the machine's compiler is another one now. Two
    calls at once build it once, and a call that is killed leaves nothing that looks finished.

    Raises:
        ExternalToolError: there is no compiler, or the build failed, and there is no program.
    """
    shelf = recipe.shelf(root)
    go = compiler()
    version = None if go is None else compiler_version(go)
    if not shelf.is_current(version):
        with installing(root, progress) as workspace:
            if not shelf.is_current(version):
                renew(recipe, shelf, go, workspace, progress)
    return shelf.bin / recipe.program


def renew(
    recipe: Recipe,
    shelf: Shelf,
    compiler: str | None,
    workspace: Path,
    progress: Progress,
    check: Callable[[Path], str | None] = lambda _program: None,
) -> bool:
    """Build the program again if needed, and return True if that was done; a whole one is kept if the build fails.

    ``check`` says which version a program answers that was just built.

    Raises:
        ExternalToolError: the build failed or ``check`` did, and there is no program.
    """
    shelf.remove_damaged()
    try:
        programs = recipe.build(compiler, workspace, progress)
        version = check(programs / recipe.program)
    except ExternalToolError as error:
        if shelf.program() is None:
            raise
        progress(f"  the one that {shelf.manifest.compiler} built is kept: {error.summary}")
        return False
    shelf.put(programs, compiler=compiler and compiler_version(compiler), version=version)
    return True
