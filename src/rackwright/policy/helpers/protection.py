"""What rules about security ask a plan: secrets, and what is to be protected."""

from __future__ import annotations

from rackwright.plan.audit.secrets import find_secrets

__all__ = [
    "find_secrets",
]
