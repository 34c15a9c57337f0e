"""Queries to the Slurm of a site: by SSH on its controller, by slurmrestd, or from recorded answers in a folder.

All sites are queried in parallel, each with a timeout. A site that does not answer is reported with the reason and does
not delay the others.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.request import Request

from rackwright.errors import ExternalToolError
from rackwright.fleet.reading import JobReport, NodeReport, read_jobs, read_nodes
from rackwright.web.fetching import NoReplyError, fetch, is_web_address

NODES_FILE, JOBS_FILE = "nodes.json", "jobs.json"
COMMANDS = ("scontrol show nodes --json", "squeue --json")
_MARK = "--- rackwright: jobs"
TOKEN = "SLURM_JWT"  # noqa: S105 - name of a variable
"""Environment variable with the token for slurmrestd, sent as ``X-SLURM-USER-TOKEN``."""


@dataclass(frozen=True)
class SiteAnswer:
    """Answer of a site.

    Attributes:
        nodes: its nodes.
        jobs: its jobs.
        failed: reason it did not answer; empty if it did.
    """

    nodes: tuple[NodeReport, ...] = ()
    jobs: tuple[JobReport, ...] = ()
    failed: str = ""


class Way(Protocol):
    """Method to query one site."""

    def ask(self, timeout_s: float) -> tuple[str, str]:
        """Return the answers about nodes and about jobs, as JSON text.

        Raises:
            ExternalToolError: the site does not answer.
        """


@dataclass(frozen=True)
class BySsh:
    """Query by commands on a controller.

    Attributes:
        command: arguments of the command that connects to the controller, such as ``ssh HOST``.
    """

    command: tuple[str, ...]

    def ask(self, timeout_s: float) -> tuple[str, str]:
        """Return the output of both commands.

        Raises:
            ExternalToolError: a command fails or exceeds ``timeout_s``.
        """
        # One session for both: a second login would double the time of each site.
        script = f"{COMMANDS[0]} && echo {shlex.quote(_MARK)} && {COMMANDS[1]}"
        try:
            done = subprocess.run(
                [*self.command, script],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise ExternalToolError(f"no answer within {timeout_s:.0f} s") from None
        except OSError as error:
            raise ExternalToolError(
                f"'{self.command[0]}' cannot be run: {error.strerror}"
            ) from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise ExternalToolError(lines[-1] if lines else f"ended with {done.returncode}")
        nodes, _, jobs = done.stdout.partition(_MARK)
        return nodes, jobs


@dataclass(frozen=True)
class ByRest:
    """Query by slurmrestd.

    Attributes:
        url: base address with the API version, like ``http://head:6820/slurm/v0.0.42``.
    """

    url: str

    def ask(self, timeout_s: float) -> tuple[str, str]:
        """Return the answers of ``nodes/`` and ``jobs/``."""
        return self._get("nodes/", timeout_s), self._get("jobs/", timeout_s)

    def _get(self, name: str, timeout_s: float) -> str:
        if not is_web_address(self.url):
            raise ExternalToolError(
                f"'{self.url}' is not the address of a slurmrestd: expected http:// or https://"
            )
        request = Request(f"{self.url.rstrip('/')}/{name}")  # noqa: S310 - checked
        if token := os.environ.get(TOKEN):
            request.add_header("X-SLURM-USER-TOKEN", token)
        try:
            reply = fetch(request, timeout_s)
        except NoReplyError as error:
            raise ExternalToolError(f"{self.url} does not answer: {error}") from None
        if reply.refuses:
            raise ExternalToolError(f"{self.url} answers {reply.status}")
        return reply.body.decode("utf-8", "replace")


@dataclass(frozen=True)
class ByFolder:
    """Recorded answers in a folder: ``nodes.json`` and ``jobs.json``."""

    folder: Path

    def ask(self, timeout_s: float) -> tuple[str, str]:
        """Return the content of the files.

        Raises:
            ExternalToolError: a file cannot be read.
        """
        try:
            nodes, jobs = (
                (self.folder / name).read_text("utf-8", errors="replace")
                for name in (NODES_FILE, JOBS_FILE)
            )
            return nodes, jobs
        except OSError as error:
            raise ExternalToolError(
                f"'{error.filename}' cannot be read: {error.strerror}"
            ) from None


def ask_all(ways: Mapping[str, Way], timeout_s: float) -> Mapping[str, SiteAnswer]:
    """Query all sites in parallel and return their answers by name."""
    with ThreadPoolExecutor(max_workers=max(1, len(ways))) as pool:
        tasks = {site: pool.submit(_ask, way, timeout_s) for site, way in ways.items()}
        return {site: task.result() for site, task in tasks.items()}


def _ask(way: Way, timeout_s: float) -> SiteAnswer:
    try:
        nodes, jobs = way.ask(timeout_s)
        return SiteAnswer(read_nodes(nodes), read_jobs(jobs))
    except ExternalToolError as error:
        return SiteAnswer(failed=str(error))
