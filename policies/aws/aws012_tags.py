"""AWS-012: every AWS service accepts the tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.api import (
    AwsSitePlan,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.aws.tags import MOST_TAGS, OWN_KEYS, key_problem, same_keys, value_problem


@rule(
    "AWS-012",
    "Every AWS service accepts the tags",
    Severity.HIGH,
    since="0.3",
    stage="build",
    profile=Profile.LAB,
)
class Tags(Policy):
    """The tags of a site are such that EC2, IAM, S3 and the others take them all."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each tag of a site and for its owner, and a measure of their number."""
        owner = plan.owner
        for site in plan.aws:
            tags = site.stated_tags
            where = (*site.path, "tags")
            for key, value in tags.items():
                yield _judge(Subject(f"{site.name} tag {key}", (*where, key)), key, value)
            if owner is not None:
                yield _owner(Subject(f"{site.name} owner", ("owner",)), owner)
            yield from _alike(site, tags)
            if tags:
                yield Measure(
                    Subject(f"{site.name} tags", where),
                    value=len({*tags, *OWN_KEYS, *site.tags(plan.name, owner)}),
                    limit=MOST_TAGS,
                    unit="tags",
                    what="tags of an instance of a node group",
                    fix="keep the tags that are required",
                )


def _judge(at: Subject, key: str, value: str) -> Finding:
    problem = key_problem(key) or value_problem(value)
    return Finding(
        at,
        ok=problem is None,
        message=f"the tag '{key}': {problem}" if problem else f"the tag '{key}' is taken by all",
        fix="use letters of ASCII, digits and + - = . _ : @ in keys" if problem else None,
        what="tag",
    )


def _owner(at: Subject, owner: str) -> Finding:
    problem = value_problem(owner)
    return Finding(
        at,
        ok=problem is None,
        message=f"the owner as a tag: {problem}" if problem else "the owner is taken by all",
        fix="use letters, digits, spaces and + - = . _ : / @" if problem else None,
        what="owner",
    )


def _alike(site: AwsSitePlan, tags: Mapping[str, str]) -> Iterator[Finding]:
    own = [key for key in tags if key_problem(key) is None]
    for first, second in same_keys(("Name", *own)):
        yield Finding(
            Subject(f"{site.name} tag {second}", (*site.path, "tags", second)),
            ok=False,
            message=f"IAM takes '{first}' and '{second}' for one key, and refuses both",
            fix="rename one of them",
            what="keys that differ in case only",
        )
