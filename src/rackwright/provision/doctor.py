"""Check of this machine for the tools that Rackwright needs; looks at local files only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from rackwright import __version__
from rackwright.errors import RackwrightError
from rackwright.extras import install_hint, install_origin
from rackwright.files import state_folder
from rackwright.page.pdf import find_browser
from rackwright.provision.tools import aws_provider
from rackwright.provision.tools.find import (
    SUPPORTED,
    PulumiTool,
    candidates,
    find_pulumi,
    own_shelves,
)
from rackwright.provision.tools.folder import AWS_PROVIDER, tools_dir
from rackwright.provision.tools.gobuild import required_go
from rackwright.resources import Kind, bundled

Status = Literal["ok", "warn", "fail"]
_OLDEST_PYTHON = (3, 11)
_INSTALL = "rackwright tools install"
_INSTALL_AWS_PROVIDER = f"{_INSTALL} aws-provider"


PURPOSES: Mapping[str, str] = {
    "check": "check, draw and render blueprints",
    "aws": "provision AWS",
    "local": "try a site on the embedded AWS",
    "configure": "configure and verify hosts",
    "design": "find the best layout of a facility",
    "workbook": "write XLSX files",
    "pdf": "print pages",
    "repair": "repair faulty nodes",
    "power": "take part in OpenADR events",
}
"""Purposes for which programs and packages are needed; the first is that of everyone."""

_ALSO = {"local": ("aws",)}
"""Further purposes that one purpose needs."""


@dataclass(frozen=True)
class Check:
    """One program, package or folder that was looked for.

    Attributes:
        name: its name.
        status: ``ok``; ``warn``: something optional is missing; ``fail``: its purpose is impossible without it.
        detail: what was found.
        fix: how to fix it.
        purpose: key of ``PURPOSES``.
    """

    name: str
    status: Status
    detail: str
    fix: str | None = None
    purpose: str = "check"


def run_doctor(purposes: Iterable[str] = PURPOSES) -> list[Check]:
    """Return the checks of some purposes, in the order in which to fix what they find."""
    tool = find_pulumi()
    parts: Mapping[str, tuple[Callable[[], Check], ...]] = {
        "check": (_python, _package, _content, _git, _state),
        "aws": (
            partial(_module, "pulumi_aws", "aws"),
            lambda: _pulumi(tool),
            lambda: _language_host(tool),
            _checksums,
            lambda: _go(tool),
        ),
        "local": (_aws_plugin, partial(_module, "moto", "local")),
        "configure": (_ansible,),
        "design": (partial(_module, "ortools", "design"),),
        "workbook": (partial(_module, "openpyxl", "workbook"),),
        "pdf": (_browser,),
        "repair": (partial(_module, "transitions", "nodelife"),),
        "power": (partial(_module, "openleadr", "openadr"),),
    }
    wanted = {also for purpose in purposes for also in (*_ALSO.get(purpose, ()), purpose)}
    return [
        replace(part(), purpose=purpose)
        for purpose, group in parts.items()
        if purpose in wanted
        for part in group
    ]


def _module(name: str, extra: str) -> Check:
    if importlib.util.find_spec(name) is None:
        return Check(name, "fail", "not installed", install_hint(extra))
    distribution = name.replace("_", "-")
    return Check(name, "ok", importlib.metadata.version(distribution))


def _browser() -> Check:
    try:
        return Check("chromium", "ok", find_browser())
    except RackwrightError as error:
        return Check("chromium", "fail", "not found", error.hint)


def _python() -> Check:
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Check("python", "fail", detail, "install Python 3.11 or newer")
    return Check("python", "ok", detail)


def _package() -> Check:
    try:
        importlib.metadata.distribution("rackwright")
    except importlib.metadata.PackageNotFoundError:
        return Check(
            "rackwright",
            "warn",
            f"{__version__}, run from its sources without being installed",
            "pip install --editable . in the checkout",
        )
    kind = "editable" if install_origin().get("dir_info", {}).get("editable") else "wheel"
    return Check("rackwright", "ok", f"{__version__}, {kind}")


def _content() -> Check:
    missing = []
    for kind in get_args(Kind):
        try:
            bundled(kind)
        except RackwrightError:
            missing.append(kind)
    if missing:
        return Check(
            "content",
            "fail",
            f"missing folders: {', '.join(missing)}",
            "reinstall rackwright, or run it from a complete checkout",
        )
    return Check("content", "ok", ", ".join(get_args(Kind)))


def _pulumi(tool: PulumiTool | None) -> Check:
    if tool is not None:
        return Check("pulumi", "ok", f"{tool.version} ({tool.origin}) at {tool.path}")
    unfit = [
        f"{found.path} answers {found.version or 'no version'}"
        for found in candidates()
        if not found.supported
    ]
    detail = f"none of version {SUPPORTED}" if unfit else "not installed"
    return Check("pulumi", "fail", "; ".join([detail, *unfit]), _INSTALL)


def _language_host(tool: PulumiTool | None) -> Check:
    name = "language host"
    if tool is None or tool.language_python is None:
        detail = "no pulumi-language-python: plain 'pulumi up' in a stack's folder does not work"
        return Check(name, "warn", detail, _INSTALL)
    if importlib.util.find_spec("pip") is None:
        detail = f"{tool.language_python} asks pip for packages, which {sys.executable} lacks"
        return Check(name, "warn", detail, f"{sys.executable} -m ensurepip")
    return Check(name, "ok", str(tool.language_python))


def _checksums() -> Check:
    name = "installed tools"
    folder = tools_dir()
    known = (*own_shelves(), aws_provider.recipe().shelf(folder))
    shelves = [shelf for shelf in known if shelf.manifest.files]
    if not shelves:
        return Check(name, "ok", f"none in {folder}")
    for shelf in shelves:
        if changed := shelf.damaged():
            detail = f"not as installed in {shelf.bin}: {', '.join(changed)}"
            install = _INSTALL_AWS_PROVIDER if shelf.name == AWS_PROVIDER else _INSTALL
            return Check(name, "fail", detail, f"delete {shelf.folder}, then {install}")
    count = sum(len(shelf.manifest.files) for shelf in shelves)
    return Check(name, "ok", f"{count} in {folder}, checksums match")


def _go(tool: PulumiTool | None) -> Check:
    go = shutil.which("go")
    if go is not None:
        return Check("go", "ok", go)
    if tool is not None:
        return Check("go", "ok", "not installed, and not needed: the Pulumi CLI is there")
    detail = "not installed; builds the Pulumi CLI where no archive of it is given"
    return Check("go", "warn", detail, f"install Go {required_go()} or newer")


def _aws_plugin() -> Check:
    name = "aws plugin"
    if importlib.util.find_spec("pulumi_aws") is None:
        detail = "pulumi-aws, which it goes with, is not installed"
        return Check(name, "fail", detail, install_hint("aws"))
    found = aws_provider.find_aws_provider()
    if found is not None:
        return Check(name, "ok", str(found))
    detail = "not installed: '--target local' needs it, for '--target aws' Pulumi downloads its own"
    return Check(name, "fail", detail, _INSTALL_AWS_PROVIDER)


def _ansible() -> Check:
    beside = Path(sys.executable).parent / "ansible-playbook"
    path = str(beside) if os.access(beside, os.X_OK) else shutil.which("ansible-playbook")
    if path is None:
        detail = "ansible-playbook is not installed"
        return Check("ansible", "fail", detail, install_hint("configure"))
    return Check("ansible", "ok", path)


def _git() -> Check:
    if path := shutil.which("git"):
        return Check("git", "ok", path)
    return Check(
        "git", "warn", "not installed: 'rackwright init' makes no repository", "install git"
    )


def _state() -> Check:
    name = "state folder"
    folder = state_folder().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    fix = "set RACKWRIGHT_STATE to a folder that you can write"
    if not existing.is_dir():
        return Check(name, "fail", f"'{existing}' is no folder", fix)
    if not os.access(existing, os.W_OK | os.X_OK):
        return Check(name, "fail", f"'{existing}' cannot be written", fix)
    return Check(name, "ok", str(folder))
