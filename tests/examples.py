"""How many examples a property test looks at: a part of what the run is asked for."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EVERY = os.environ.get("RACKWRIGHT_EXAMPLES") == "every"
"""Whether this run tries all that can be counted, which takes hours."""
MANY = EVERY or os.environ.get("RACKWRIGHT_EXAMPLES") == "many"
"""Whether this run looks for mistakes that no other has found, with other examples each time."""

# How long an example takes says what else the machine does, and no property.
PATIENT = (HealthCheck.too_slow,)

settings.register_profile(
    "fast",
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=PATIENT,
)
settings.register_profile(
    "many",
    max_examples=500,
    derandomize=False,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=PATIENT,
)
settings.load_profile("many" if MANY else "fast")


def share(part: float, *suppressed: HealthCheck) -> settings:
    """Settings of a test whose examples are dearer, or cheaper, than those of others.

    Args:
        part: of the examples that the profile asks for; more than 1 for cheap ones.
        suppressed: more of what Hypothesis is not to complain about.
    """
    count = max(1, round(part * settings().max_examples))
    return settings(max_examples=count, suppress_health_check=(*PATIENT, *suppressed))
