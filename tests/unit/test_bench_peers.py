"""The peer of the bench that is Python reaches Rackwright's verdicts.

The bench asserts it of OPA too, but takes minutes: a rule that changes is told here, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.peers.export import export
from bench.peers.pulumi_pack import RULES
from bench.peers.variants import broken, clean
from bench.test_peers import each_rack
from bench.test_scale import Plain
from rackwright.plan.load import load_plan
from rackwright.policy.check import check_plan


@pytest.mark.parametrize("variant", [clean, broken])
def test_the_peer_refuses_what_our_rules_refuse(
    tmp_path: Path, variant: Callable[[], dict[str, Any]]
) -> None:
    blueprint = tmp_path / "cluster.yaml"
    blueprint.write_text(yaml.dump(variant(), Dumper=Plain, sort_keys=False, allow_unicode=True))
    ours = {
        (result.policy, subject)
        for result in check_plan(load_plan(blueprint), only=list(RULES)).results
        if result.outcome == "fail"
        for subject in each_rack(result.subject.name, first=True)
    }
    theirs = {
        (policy, subject)
        for kind, rows in export(blueprint, every_rack=False).items()
        for policy, rules in RULES.items()
        for row in rows
        for subject in rules.get(kind.removesuffix("s"), lambda _: iter(()))(row)
    }
    assert ours == theirs
    assert {policy for policy, _ in ours} == (set(RULES) if variant is broken else set())
