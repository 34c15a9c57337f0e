"""The answers of Amazon Data Lifecycle Manager."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from moto.core.responses import BaseResponse

from rackwright_lab.embedded_aws.api.dlm.models import LifecycleBackend, dlm_backends


class LifecycleResponse(BaseResponse):
    """Answers each operation by the method of its name."""

    def __init__(self) -> None:
        super().__init__(service_name="dlm")

    @property
    def backend(self) -> LifecycleBackend:
        """The policies of the account and region that the request is about."""
        return dlm_backends[self.current_account][self.region]

    def _document(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    def _policy(self) -> str:
        return unquote(self.parsed_url.path.rstrip("/").rsplit("/", 1)[-1])

    def _tagged(self) -> dict[str, Any]:
        return self.backend.by_arn(unquote(self.parsed_url.path.removeprefix("/tags/")))

    def create_lifecycle_policy(self) -> str:
        """``CreateLifecyclePolicy``."""
        return json.dumps({"PolicyId": self.backend.create(self._document())})

    def get_lifecycle_policy(self) -> str:
        """``GetLifecyclePolicy``."""
        return json.dumps({"Policy": self.backend.get(self._policy())})

    def get_lifecycle_policies(self) -> str:
        """``GetLifecyclePolicies``."""
        names = ("PolicyId", "Description", "State", "Tags", "DefaultPolicy")
        found = [
            {name: one[name] for name in names} | {"PolicyType": "EBS_SNAPSHOT_MANAGEMENT"}
            for one in self.backend.policies.values()
        ]
        return json.dumps({"Policies": found})

    def update_lifecycle_policy(self) -> str:
        """``UpdateLifecyclePolicy``."""
        self.backend.update(self._policy(), self._document())
        return "{}"

    def delete_lifecycle_policy(self) -> str:
        """``DeleteLifecyclePolicy``."""
        self.backend.delete(self._policy())
        return "{}"

    def list_tags_for_resource(self) -> str:
        """``ListTagsForResource``."""
        return json.dumps({"Tags": self._tagged()["Tags"]})

    def tag_resource(self) -> str:
        """``TagResource``."""
        self._tagged()["Tags"].update(self._document().get("Tags") or {})
        return "{}"

    def untag_resource(self) -> str:
        """``UntagResource``."""
        for key in self.querystring.get("tagKeys") or []:
            self._tagged()["Tags"].pop(key, None)
        return "{}"
