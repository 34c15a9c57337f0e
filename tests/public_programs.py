"""Programs of Pulumi that others have written, judged by the CrossGuard pack: the findings of each resource.

    python tests/public_programs.py FOLDER...

Each folder with a ``__main__.py`` is a program. It runs against mocks in a process of its own, and each resource that it
declares goes through ``Analyze`` as the engine would send it. Packages that are not installed are stand-ins: what
they declare is not seen. A program that ends early is judged as far as it came.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

LIMIT = 300
"""Seconds for one program."""


def record(folder: Path) -> list[dict[str, Any]]:
    """Return what a program declares: type, name and inputs of each resource."""
    import importlib.abc
    import importlib.machinery
    import runpy
    from unittest.mock import MagicMock

    import pulumi

    class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        """Finds a stand-in for each package that is not installed."""

        def find_spec(
            self, fullname: str, path: Any = None, target: Any = None
        ) -> importlib.machinery.ModuleSpec | None:
            if path is not None and fullname.partition(".")[0] not in stood_in:
                return None
            stood_in.add(fullname)
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

        def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
            made = MagicMock(name=spec.name)
            made.__path__, made.__spec__, made.__name__ = [], spec, spec.name
            return made

        def exec_module(self, module: Any) -> None:
            return None

    stood_in: set[str] = set()
    declared: list[dict[str, Any]] = []

    class Mocks(pulumi.runtime.Mocks):
        def new_resource(
            self, args: pulumi.runtime.MockResourceArgs
        ) -> tuple[str | None, dict[str, Any]]:
            declared.append({"type": args.typ, "name": args.name, "inputs": args.inputs})
            arn = {"arn": f"arn:aws:mock:::{args.name}", "name": args.name}
            return f"{args.name}-id", {**arn, **args.inputs}

        def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
            zones = [f"us-east-1{letter}" for letter in "abc"]
            return {"id": "id-1", "ids": ["id-1", "id-2"], "names": zones, "accountId": "111122223333",
                    "name": "us-east-1", "json": "{}", "cidrBlock": "10.0.0.0/16", **args.args}  # fmt: skip

    sys.meta_path.append(Missing())
    sys.path.insert(0, str(folder))
    pulumi.runtime.set_mocks(Mocks(), project="public", stack="dev")
    for method in ("get", "require", "get_secret", "require_secret"):
        kept = pulumi.Output.secret if "secret" in method else lambda value: value
        setattr(
            pulumi.Config,
            method,
            lambda self, key, default=None, kept=kept: kept(default or _setting(key)),
        )
        for kind, value in (("int", 2), ("bool", True), ("float", 1.0), ("object", {})):
            setattr(
                pulumi.Config,
                f"{method}_{kind}",
                lambda self, key, default=None, value=value, kept=kept: kept(default or value),
            )
    try:
        runpy.run_path(str(folder / "__main__.py"), run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - a program may end in any way
        print(f"{folder.name}: ended early: {type(error).__name__}: {error}"[:200], file=sys.stderr)
    import asyncio

    loop = asyncio.get_event_loop()
    pending = asyncio.all_tasks(loop)
    loop.run_until_complete(
        asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), LIMIT / 4)
    )
    return declared


def _setting(key: str) -> str:
    """Return a value for a setting of a program, which nobody has set."""
    if "path" in key.lower():
        return os.devnull
    return "2" if re.search("size|count|port", key.lower()) else "10.0.0.0/16"


def verdicts(declared: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return type, name, rule and message of each finding of the pack."""
    from google.protobuf import struct_pb2
    from pulumi.runtime.proto import analyzer_pb2

    from rackwright.crossguard.server import Analyzer

    analyzer, found = Analyzer(), []
    for one in declared:
        properties = struct_pb2.Struct()
        properties.update(json.loads(json.dumps(one["inputs"], default=str)))
        request = analyzer_pb2.AnalyzeRequest(
            type=one["type"], name=one["name"], urn=one["name"], properties=properties
        )
        found += [
            (one["type"], one["name"], each.policyName, each.message)
            for each in analyzer.Analyze(request, None).diagnostics
        ]
    return found


def main() -> None:
    """Judge each program, and print its findings and the numbers of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--one", action="store_true", help="judge one program in this process")
    chosen = parser.parse_args()
    if chosen.one:
        declared = record(chosen.folders[0])
        print(json.dumps({"resources": len(declared), "types": sorted({one["type"] for one in declared}),
                          "found": verdicts(declared)}))  # fmt: skip
        return
    programs = sorted(
        path.parent for folder in chosen.folders for path in folder.rglob("__main__.py")
    )
    resources, types, rules = 0, set[str](), Counter[str]()
    for folder in programs:
        command = [sys.executable, __file__, "--one", str(folder)]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{folder.name}: it did not end within {LIMIT} s")
            continue
        if run.returncode:
            print(f"{folder.name}: {run.stderr.strip().splitlines()[-1][:200]}")
            continue
        told = json.loads(run.stdout.splitlines()[-1])
        resources += told["resources"]
        types |= set(told["types"])
        rules.update(rule for _, _, rule, _ in told["found"])
        print(f"{folder.name}: {told['resources']} resources {run.stderr.strip()[-200:]}")
        for kind, name, rule, message in told["found"]:
            print(f"    {rule} {kind} {name}: {message}")
    print(
        f"{len(programs)} programs, {resources} resources of {len(types)} types: {dict(sorted(rules.items()))}"
    )


if __name__ == "__main__":
    main()
