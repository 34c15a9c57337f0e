"""The same thirty rules in Rackwright's analyzer; with the argument ``none``, no rule at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rackwright.crossguard import server
from rackwright.crossguard.rules import DeclaredResource, ResourceRule, Verdict


def require_tokens(resource: DeclaredResource) -> Iterator[Verdict]:
    """Refuse version 1 of the metadata service."""
    if resource.inputs["metadataOptions"]["httpTokens"] != "required":
        yield Verdict("httpTokens is not required")


RULES = tuple(
    ResourceRule(
        f"rule-{n:02d}",
        "tokens",
        frozenset({"aws:ec2/launchTemplate:LaunchTemplate"}),
        require_tokens,
    )
    for n in range(30)
)

if __name__ == "__main__":
    server.serve(rules=() if sys.argv[1:] == ["none"] else RULES)
