"""Power class of the jobs on each node, from the queue of a site and the classes of the blueprint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rackwright.fleet.cells import IDLE
from rackwright.fleet.reading import JobReport
from rackwright.fleet.view import RUNNING
from rackwright.model.names import expand_hostlist
from rackwright.model.operations import PowerClass as Setting

NO_CLASS = "unclassified"
"""Class of jobs that match no class of the blueprint; their nodes are never limited."""


def job_class(job: JobReport, settings: Sequence[Setting]) -> str:
    """Return the class of a job by its QOS, or else by its partition."""
    for one in settings:
        if job.qos in one.qos:
            return one.name
    for one in settings:
        if job.partition in one.partitions:
            return one.name
    return NO_CLASS


def classes_of(jobs: Iterable[JobReport], settings: Sequence[Setting]) -> Mapping[str, str]:
    """Return the class of each node with jobs; of several, the one that is limited last."""
    rank = {IDLE: -1, **{one.name: place for place, one in enumerate(settings)}}
    # A node with a protected job is protected, whatever else runs on it.
    rank |= {one.name: len(settings) for one in settings if one.protected}
    rank[NO_CLASS] = len(settings) + 1
    found: dict[str, str] = {}
    for job in jobs:
        if job.state not in RUNNING or not job.nodes:
            continue
        own = job_class(job, settings)
        for node in expand_hostlist(job.nodes):
            if rank[own] > rank[found.get(node, IDLE)]:
                found[node] = own
    return found
