"""Thirty policies in pulumi-policy's form: the peer that the analyzer is measured against."""

from __future__ import annotations

from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)


def require_tokens(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
    """Refuse version 1 of the metadata service."""
    if args.resource_type != "aws:ec2/launchTemplate:LaunchTemplate":
        return
    if args.props["metadataOptions"]["httpTokens"] != "required":
        report_violation("httpTokens is not required", None)


PolicyPack(
    name="peer",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        ResourceValidationPolicy(
            name=f"rule-{n:02d}", description="tokens", validate=require_tokens
        )
        for n in range(30)
    ],
)
