"""Exit codes of the command line, the stack programs and the CrossGuard pack."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of every ``rackwright`` command; the numbers are a public contract."""

    CLEAN = 0
    """Nothing failed, or only advisory findings."""
    CRASH = 1
    """A defect in Rackwright or in a policy (a policy that raises is never a pass)."""
    USAGE = 2
    """Bad usage, or a blueprint, catalogue or configuration that does not validate."""
    NOTHING = 3
    """There was nothing to check."""
    EXTERNAL = 4
    """An external tool (Pulumi, Ansible) failed."""
    VIOLATION = 5
    """A mandatory policy failed; the same number as Pulumi's policy violation."""
    UNKNOWN = 6
    """The result of a mandatory policy is unknown because a number is missing."""
    WAIVER = 7
    """Waiver or baseline hygiene failed."""
    OUTDATED = 8
    """The command is done, but running nodes differ from the blueprint; the output lists them."""
    CONFLICT = 9
    """The command is done, but files have conflicts to resolve."""
    PARTIAL = 10
    """The command is partly done: some hosts have no instance, because AWS has no capacity now."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
