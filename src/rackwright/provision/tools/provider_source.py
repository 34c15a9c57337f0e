"""The sources of Terraform's AWS provider, cut to the services of our stacks' resources.

With all of its services it takes an hour and tens of gigabytes to build; with those listed here it
takes minutes. The provider is ``internal`` to its module, so what uses it is built inside a copy of
the module, which is made for each build and removed with it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rackwright.errors import ExternalToolError

MODULE = "github.com/hashicorp/terraform-provider-aws"
SERVICES = frozenset(
    {
        "autoscaling",
        "dlm",
        "ec2",
        "efs",
        "elb",  # what groups of instances are asked for, and so is the next
        "elbv2",  # the address of login nodes, too
        "fsx",
        "iam",
        "kms",
        "logs",
        "meta",
        "route53",
        "s3",
        "s3control",  # tags of buckets
        "ssm",
        "sts",
    }
)
"""The services whose resources and functions are kept, by the provider's names of them."""

_PARTS = ("internal", "names", "version")
_SERVICE_FOLDER = Path("internal/service")
_UNUSED = (Path("internal/acctest"), Path("internal/generate"))
_EMBEDDED = "smarterr.hcl"
"""Texts of errors, put into the program from the folders of all services that have them."""
_PACKAGES = Path("internal/provider/sdkv2/service_packages_gen.go")
_CLIENTS = Path("internal/conns/awsclient_gen.go")
_IMPORTED = re.compile(rf'"{re.escape(MODULE)}/internal/service/([a-z0-9]+)[/"]')
_LISTED = re.compile(r"\s+([a-z0-9]+)\.ServicePackage\(ctx\),")
_CLIENT = re.compile(r"\nfunc \(c \*AWSClient\) (\w+)\(.*?\n}\n", re.DOTALL)
_CALLED = re.compile(r"\b(\w+Client)\(")
_SDK = re.compile(r'\s+(?:(\w+) )?"github\.com/aws/aws-sdk-go-v2/service/(?:\w+/)*(\w+)"')


def copy_cut(source: Path, target: Path) -> None:
    """Copy what ``SERVICES`` need of the module in ``source`` to the folder ``target``.

    Raises:
        ExternalToolError: these are not the sources that are pinned.
    """
    services = _with_needed(source / _SERVICE_FOLDER)
    for path in _wanted(source, services):
        copy = target / path.relative_to(source)
        # The module cache is read-only; modes are not copied.
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    called = {
        name
        for file in (target / "internal").rglob("*.go")
        if file != target / _CLIENTS
        for name in _CALLED.findall(file.read_text("utf-8"))
    }
    _rewrite(target / _PACKAGES, _keep_packages)
    _rewrite(target / _CLIENTS, lambda text: _keep_clients(text, called))


def _wanted(source: Path, services: set[str]) -> Iterator[Path]:
    for part in _PARTS:
        for path in (source / part).rglob("*"):
            place = path.relative_to(source)
            if not path.is_file() or path.name.endswith("_test.go") or "testdata" in place.parts:
                continue
            if any(place.is_relative_to(folder) for folder in _UNUSED):
                continue
            if _service_of(place) in {None, *services} or path.name == _EMBEDDED:
                yield path


def _service_of(place: Path) -> str | None:
    """Return the service that a file of the module belongs to."""
    if not place.parent.is_relative_to(_SERVICE_FOLDER):
        return None
    service, *_rest = (*place.parent.relative_to(_SERVICE_FOLDER).parts, None)
    return service


def _with_needed(folder: Path) -> set[str]:
    """``SERVICES`` and those whose code theirs uses."""
    waiting, found = set(SERVICES), set[str]()
    while waiting:
        service = waiting.pop()
        found.add(service)
        for file in (folder / service).rglob("*.go"):
            if not file.name.endswith("_test.go"):
                waiting |= set(_IMPORTED.findall(file.read_text("utf-8"))) - found
    return found


def _keep_packages(text: str) -> str:
    """Return the list of the provider's services, without those that are not kept."""

    def is_kept(line: str) -> bool:
        named = _IMPORTED.search(line) or _LISTED.fullmatch(line)
        return named is None or named[1] in SERVICES

    return _joined(line for line in text.splitlines() if is_kept(line))


def _keep_clients(text: str, called: set[str]) -> str:
    """Return the makers of AWS clients, without those that nobody calls."""
    head = text.split("\nfunc ", 1)[0]
    makers = "".join(found[0] for found in _CLIENT.finditer(text) if found[1] in called)

    def is_kept(line: str) -> bool:
        imported = _SDK.fullmatch(line)
        return imported is None or f"*{imported[1] or imported[2]}.Client" in makers

    return _joined(line for line in head.splitlines() if is_kept(line)) + makers


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text("utf-8")
    changed = change(text)
    if changed == text:
        raise ExternalToolError(
            "the sources of Terraform's AWS provider are not those that are pinned",
            hint="clear Go's module cache with 'go clean -modcache' and try again",
        )
    path.write_text(changed, "utf-8")
