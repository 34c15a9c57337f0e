"""Programs of others are recorded as far as they come, and judged by the pack."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import public_programs

PROGRAM = """\
import pulumi
import pulumi_aws as aws
import package_that_is_not_there as other

size = pulumi.Config().require_int("size")
everyone = {"protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_blocks": ["0.0.0.0/0"]}
group = aws.ec2.SecurityGroup("open", ingress=[everyone])
aws.ec2.Instance("host", instance_type="t3.micro", vpc_security_group_ids=[group.id])
other.Container("c", port=size)
raise RuntimeError("no network")
"""


def test_program_that_ends_early_is_judged_as_far_as_it_came(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(PROGRAM)
    command = [sys.executable, public_programs.__file__, "--one", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=280)
    told = json.loads(run.stdout.splitlines()[-1])
    assert "ended early: RuntimeError: no network" in run.stderr
    assert told["resources"] == 2
    assert [(name, rule) for _, name, rule, _ in told["found"]] == [
        ("open", "RES-003"), ("host", "RES-001"), ("host", "RES-002"),
    ]  # fmt: skip
