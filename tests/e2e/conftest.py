"""A command line, a state folder and an embedded AWS of their own for each test module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest

from rackwright_lab import base, repository

APT_SOURCES = cache(base.apt_sources)

SITE = """
apiVersion: rackwright/v1
name: {name}
policy_set: "0.1"
sites:
  - name: cloud
    provider: aws
    region: us-east-1
    network:
      cidr: 10.20.0.0/16
      availability_zones: [us-east-1a]
      nat: single
      endpoints: [s3]
      dns_zone: {name}.internal
    head: &server
      type: m7i.4xlarge
      image: {image}
      root_volume: 100 GiB
    node_groups:
      - name: train
        type: p5.48xlarge
        count: 2
        capacity: {{kind: on-demand}}
        image: {image}
        root_volume: 500 GiB
    file_systems:
      - name: scratch
        deployment: PERSISTENT_2
        capacity: 19200 GiB
        throughput: 250 MB/s/TiB
        efa: true
        mount: /scratch
    limits:
      recorded: 2026-11-21
      quotas: {{L-417A185B: 4096, L-1216C47A: 1024}}
"""
IMAGE = "ssm:/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id"


@dataclass(frozen=True)
class Lab:
    """The command line on an embedded AWS of its own."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        self.temporary.mkdir(exist_ok=True)
        own = {"RACKWRIGHT_STATE": str(self.folder / "state"), "TMPDIR": str(self.temporary)}
        return {**os.environ, **own, "NO_COLOR": "1"}

    @property
    def temporary(self) -> Path:
        """Where the command makes its temporary files."""
        return self.folder / "tmp"

    def blueprint(self, name: str, **changes: str) -> Path:
        """A small AWS blueprint; ``changes`` replace texts in it."""
        text = SITE.format(name=name, image=IMAGE)
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "rackwright", *map(str, arguments)]

    def run(self, *arguments: object, expect: int = 0) -> str:
        """Standard output of one command that ends with ``expect``."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        report = f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == expect, report
        assert "Traceback" not in done.stderr, report
        return done.stdout

    def stacks(self, *arguments: object, expect: int = 0) -> dict[str, dict[str, Any]]:
        """The stacks of a command's JSON output, by kind."""
        told = self.run(*arguments, "--target", "local", "--json", expect=expect)
        document = json.loads(told)
        return {stack["stack"]: stack for stack in document["stacks"]}

    @property
    def endpoint(self) -> str:
        from rackwright_lab.embedded_aws import control

        return control.start(self.folder / "state/local/embedded-aws").endpoint

    def client(self, service: str) -> Any:
        session = boto3.Session("embedded", "embedded", region_name="us-east-1")
        return session.client(service, endpoint_url=self.endpoint)

    def inject(self, **fault: Any) -> None:
        """Make the next calls of an API operation fail or take long."""
        self._post("faults", fault)

    def capacity(self, **types: int | None) -> None:
        """Limit the instances of types (``p5_48xlarge``) that there are; None for no end of them."""
        self._post("capacity", {"us-east-1": {k.replace("_", "."): v for k, v in types.items()}})

    def take_back(self, instance: str, *, end: bool = False) -> None:
        """Give notice of a spot instance, or end it."""
        self._post("spot", {"us-east-1": {"ids": [instance], "end": end}})

    def impair(self, instance: str, *, since_s: float) -> None:
        """Let EC2's status check of an instance fail, for some time already."""
        self._post("health", {"us-east-1": {instance: since_s}})

    def pace(self, **settings: float) -> None:
        """Let things take time, as they do on AWS; without settings, none at all."""
        self._post("pace", settings)

    def _post(self, action: str, document: Any) -> None:
        request = urllib.request.Request(
            f"{self.endpoint}/rackwright/{action}",
            data=json.dumps(document).encode(),
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).close()

    def clear_faults(self) -> None:
        """Let every API operation succeed again."""
        url = f"{self.endpoint}/rackwright/faults"
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()

    def calls(self) -> list[str]:
        """Names of the API operations that were called, oldest first."""
        return [call["operation"] for call in self._log()]

    def refused(self) -> list[str]:
        """Those of them that were answered with an error."""
        return [call["operation"] for call in self._log() if call["status"] >= 400]

    def _log(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.endpoint}/rackwright/calls") as answer:
            log: list[dict[str, Any]] = json.load(answer)["calls"]
        return log


@pytest.fixture(scope="module", autouse=True)
def apt_sources_asked_once() -> Iterator[None]:
    """Each lab asks four times where apt has its packages from, half a second of a processor each."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, repository):
            patch.setattr(module, "apt_sources", APT_SOURCES)
        yield


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    from rackwright_lab.embedded_aws import control

    made = Lab(tmp_path_factory.mktemp("lab"))
    yield made
    control.stop(made.folder / "state/local/embedded-aws")
