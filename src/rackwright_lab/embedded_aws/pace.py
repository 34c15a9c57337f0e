"""Time that AWS takes, which moto does not: off unless a test sets it.

Things are being made for a while, Auto Scaling launches some instances of a group and then others, what was made
is not found at once, calls are throttled, and credentials of a role expire.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

from rackwright_lab.embedded_aws.operations import Operation

NOT_FOUND: Mapping[str, str] = {
    "igw": "InvalidInternetGatewayID.NotFound",
    "nat": "NatGatewayNotFound",
    "rtb": "InvalidRouteTableID.NotFound",
    "sg": "InvalidGroup.NotFound",
    "subnet": "InvalidSubnetID.NotFound",
    "vpc": "InvalidVpcID.NotFound",
}
"""Errors of reads that come too early, by the beginning of an id (Amazon EC2 API Reference, "Eventual consistency" and
"Error codes"). Launch templates are not among them: AWS's own provider reads a new one once."""
_THROTTLED: Mapping[str, str] = {"ec2": "RequestLimitExceeded", "autoscaling": "Throttling"}
_MADE = re.compile(rf">(({'|'.join(NOT_FOUND)})-[0-9a-f]+)<")
_KEY = re.compile(r"<AccessKeyId>(\w+)</AccessKeyId>")
_CREDENTIAL = re.compile(r"Credential=(\w+)/")


@dataclass(frozen=True, slots=True)
class Settings:
    """Seconds that things take, and numbers of calls; 0 is at once.

    Attributes:
        make_s: until a file system, a link of one or a NAT gateway is there.
        launch_s: until Auto Scaling launches half of what a group lacks, and then half of the rest.
        see_after: reads by id that do not find what was made, before one does: counted and not timed, since a
            provider that does not wait between two reads gives up after some.
        throttle_every: of so many calls to EC2 and Auto Scaling one is throttled; 0 is none.
        token_s: life of the credentials of a role; 0 is what STS says.
    """

    make_s: float = 0.0
    launch_s: float = 0.0
    see_after: int = 0
    throttle_every: int = 0
    token_s: float = 0.0


class Pace:
    """The settings, and what was made and called of late."""

    def __init__(self) -> None:
        self.settings = Settings()
        self._fresh: dict[str, int] = {}
        self._tokens: dict[str, float] = {}
        self._calls = 0
        self._lock = threading.Lock()

    def set(self, document: Any) -> None:
        """Take settings of a JSON document; those that it leaves out are off.

        Raises:
            ValueError: the document has other keys, or a number below 0.
        """
        known = {one.name for one in fields(Settings)}
        if not isinstance(document, dict) or set(document) - known:
            raise ValueError(f"the pace has the keys {', '.join(sorted(known))}")
        if any(not isinstance(one, int | float) or one < 0 for one in document.values()):
            raise ValueError("each number is at least 0")
        self.settings = replace(Settings(), **document)

    def is_ready(self, made: float) -> bool:
        """Return True if a thing that was made at ``made`` (seconds of the epoch) is there."""
        return time.time() - made >= self.settings.make_s

    def refusal(
        self, operation: Operation, headers: Mapping[str, str], body: bytes
    ) -> tuple[str, str] | None:
        """Return code and message of the error with which AWS would answer now; None for an answer."""
        now, told = time.time(), self.settings
        with self._lock:
            if told.token_s:
                found = _CREDENTIAL.search(headers.get("authorization", ""))
                since = self._tokens.get(found.group(1)) if found else None
                if since is not None and now - since > told.token_s:
                    return "ExpiredToken", "The security token included in the request is expired"
            code = _THROTTLED.get(operation.service)
            if told.throttle_every and code is not None:
                self._calls += 1
                if self._calls % told.throttle_every == 0:
                    return code, "Request limit exceeded."
            if told.see_after and operation.service == "ec2" and operation.reads_only:
                for name, value in parse_qsl(body.decode(errors="replace")):
                    if self._fresh.get(value, 0) and re.fullmatch(r"\w+Id\.\d+", name):
                        self._fresh[value] -= 1
                        code = NOT_FOUND[value.partition("-")[0]]
                        return code, f"The ID '{value}' does not exist"
        return None

    def note(self, operation: Operation, answer: bytes) -> None:
        """Remember what an answer has made."""
        told, now = self.settings, time.time()
        if told.see_after and operation.service == "ec2" and operation.name.startswith("Create"):
            found = _MADE.search(answer.decode(errors="replace"))
            if found is not None:
                with self._lock:
                    self._fresh[found.group(1)] = told.see_after
        if told.token_s and operation.name.startswith("AssumeRole"):
            key = _KEY.search(answer.decode(errors="replace"))
            if key is not None:
                with self._lock:
                    self._tokens[key.group(1)] = now


PACE = Pace()
"""The pace of this process."""
