"""What a scheduler may say, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rackwright.model.job_time import job_minutes
from rackwright.model.scheduler import Scheduler
from rackwright.model.scheduler_settings import slurm_time


def a_scheduler(**more: Any) -> dict[str, Any]:
    return {
        "kind": "slurm",
        "version": "25.05",
        "controllers": [{"host": "head-1"}],
        "partitions": [{"name": "gpu", "groups": ["dgx"], "default": True}],
        "topology": {"plugin": "tree"},
        **more,
    }


def refuse(match: str, **more: Any) -> None:
    with pytest.raises(ValidationError, match=match):
        Scheduler.model_validate(a_scheduler(**more))


def test_the_release_is_a_pair_of_numbers() -> None:
    assert Scheduler.model_validate(a_scheduler(version="24.11.3")).release == (24, 11)


@pytest.mark.parametrize("version", ["25", "25.06", "v25.05", "25.05-rc1", "latest"])
def test_a_version_that_is_no_release_is_refused(version: str) -> None:
    refuse("version", version=version)


@pytest.mark.parametrize("key", ["ClusterName", "clustername", "TOPOLOGYPLUGIN", "NodeName"])
def test_an_extra_option_that_is_generated_is_refused_in_any_case(key: str) -> None:
    refuse("is generated, it cannot be in 'extra'", extra={key: "x"})


def test_an_extra_option_cannot_add_a_line_or_a_comment() -> None:
    refuse("one line", extra={"TreeWidth": "16\nSlurmUser=root"})
    refuse("one line", extra={"TreeWidth": "16 # more"})
    refuse("pattern", extra={"Tree Width": "16"})


@pytest.mark.parametrize(
    "value", ["/bin/x SlurmctldPort=7777 Prolog=/bin/y", "a b", '"a" b', '"a" "b"', "a\\"]
)
def test_an_extra_option_that_slurm_reads_as_several_is_refused(value: str) -> None:
    """slurmctld refuses the whole file: 'Parse error'."""
    refuse("more than one value", extra={"MailProg": value})


@pytest.mark.parametrize("value", ["/bin/x", '"a b"', "a,b=c", 'a"b'])
def test_an_extra_option_of_one_value_is_taken(value: str) -> None:
    assert Scheduler.model_validate(a_scheduler(extra={"MailProg": value})).extra


def test_an_extra_option_is_given_once() -> None:
    refuse("'treewidth' is named twice", extra={"TreeWidth": 16, "treewidth": 17})


def test_a_qos_needs_a_database() -> None:
    refuse("'qos' needs 'accounting'", qos=[{"name": "high"}])
    refuse("needs 'accounting'", preemption={"by": "qos", "mode": "requeue"})


def test_a_qos_that_does_not_exist_is_named() -> None:
    accounting = {"host": "head-1"}
    refuse(
        "the QOS 'high' names the QOS 'lwo'",
        accounting=accounting,
        qos=[{"name": "high", "preempts": ["lwo"]}],
    )
    partition = {"name": "gpu", "groups": ["dgx"], "allow_qos": ["hihg"]}
    refuse("the partition 'gpu' names the QOS 'hihg'", partitions=[partition])


TREE = [
    {"name": "vision", "parent": "research", "max_gpus": 64},
    {"name": "research", "share": 3},
    {"name": "product"},
]


def test_an_account_stands_behind_the_one_that_it_is_in() -> None:
    made = Scheduler.model_validate(
        a_scheduler(accounting={"host": "head-1", "accounts": TREE}, priority={})
    )
    assert made.accounting is not None
    names = [account.name for account in made.accounting.tree()]
    assert sorted(names) == ["product", "research", "vision"]
    assert names.index("research") < names.index("vision")


@pytest.mark.parametrize(
    ("accounts", "reason"),
    [
        (
            [{"name": "vision", "parent": "research-2"}],
            "'vision' is in 'research-2', which does not exist",
        ),
        (
            [{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}],
            "accounts are in each other",
        ),
        ([{"name": "root"}], "slurmdbd makes the account 'root' itself"),
        ([{"name": "a"}, {"name": "a"}], "'a' is named twice"),
    ],
)
def test_accounts_that_are_no_tree_are_refused(accounts: list[Any], reason: str) -> None:
    refuse(reason, accounting={"host": "head-1", "accounts": accounts}, priority={})


def test_a_share_that_does_nothing_is_refused() -> None:
    accounting = {"host": "head-1", "accounts": TREE}
    refuse("the share of the account 'research' does nothing", accounting=accounting)
    none = {"fair_share": 0}
    refuse("does nothing without 'fair_share'", accounting=accounting, priority=none)
    by_hand = {"priorityweightfairshare": 100}
    Scheduler.model_validate(a_scheduler(accounting=accounting, extra=by_hand))
    equal = {"host": "head-1", "accounts": [TREE[2]]}
    Scheduler.model_validate(a_scheduler(accounting=equal))


def test_qos_that_preempt_each_other_are_refused() -> None:
    accounting = {"host": "head-1"}
    itself = [{"name": "high", "preempts": ["high"]}]
    refuse("QOS preempt each other: high → high", accounting=accounting, qos=itself)
    low = {"name": "low", "preempts": ["normal"]}
    ring = [{"name": "normal", "preempts": ["high"]}, {"name": "high", "preempts": ["low"]}, low]
    refuse("QOS preempt each other: ", accounting=accounting, qos=ring)
    Scheduler.model_validate(a_scheduler(accounting=accounting, qos=[*ring[1:]]))


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [("UNLIMITED", None), ("00:30:00", 30), ("2-01:00:00", 2940), ("48:00:01", 2881)],
)
def test_a_time_limit_is_minutes(limit: str, minutes: int | None) -> None:
    assert job_minutes(limit) == minutes


def test_the_qos_of_the_database_itself_is_known() -> None:
    partition = {"name": "gpu", "groups": ["dgx"], "allow_qos": ["normal"]}
    made = Scheduler.model_validate(a_scheduler(partitions=[partition]))
    assert made.partitions[0].allow_qos == ("normal",)


def test_topologies_by_partition_need_a_release_that_has_them() -> None:
    partitions = [{"name": "gpu", "groups": ["dgx"], "topology": "block"}]
    refuse("need Slurm 25.05; this is 24.11", version="24.11", partitions=partitions)
    made = Scheduler.model_validate(a_scheduler(partitions=partitions))
    assert made.partitions[0].topology == "block"


def test_blocks_need_a_release_that_has_them() -> None:
    topology = {"plugin": "block"}
    refuse("topology 'block' needs Slurm 23.11", version="22.05", topology=topology)
    made = Scheduler.model_validate(a_scheduler(version="23.11", topology=topology))
    assert made.topology.plugin == "block"


@pytest.mark.parametrize(
    "more",
    [
        {"partitions": [{"name": "gpu", "groups": ["a"]}, {"name": "gpu", "groups": ["b"]}]},
        {"controllers": [{"host": "head-1"}, {"host": "head-1"}]},
        {"nodes": [{"groups": ["dgx"], "cpus": 8}, {"groups": ["dgx"], "cpus": 9}]},
    ],
)
def test_nothing_is_named_twice(more: dict[str, Any]) -> None:
    refuse("is named twice", **more)


def test_a_declared_switch_has_nodes_or_children() -> None:
    for leads in ({}, {"nodes": "n1", "children": "s1"}):
        switches = [{"name": "leaf", **leads}]
        refuse(
            "needs either 'nodes' or 'children'", topology={"plugin": "tree", "switches": switches}
        )


@pytest.mark.parametrize("gres", ["gpu:h100", "gpu:h100:0", "nic:cx7:8", "gpu:h100:8,gpu:x:1"])
def test_accelerators_are_written_as_slurm_does(gres: str) -> None:
    refuse("gres", nodes=[{"groups": ["dgx"], "gres": gres}])


DATABASE: dict[str, Any] = {"accounting": {"host": "head-1"}}


def test_extra_cannot_repeat_a_field() -> None:
    keep = "is in 'extra' and follows from 'tuning.message_timeout': keep one"
    timeout = {"message_timeout": "60 s"}
    refuse(keep, tuning=timeout, extra={"MESSAGETIMEOUT": 60})
    refuse(
        "'PriorityWeightQOS' is in 'extra' and follows from 'priority'",
        **DATABASE,
        priority={},
        extra={"priorityweightqos": 1},
    )
    refuse(
        "'bf_window' is in 'extra' and follows from 'tuning.backfill_window'",
        tuning={"backfill_window": "2 d"},
        extra={"SchedulerParameters": "defer,bf_window=60"},
    )
    made = Scheduler.model_validate(a_scheduler(tuning=timeout, extra={"TreeWidth": 32}))
    assert made.extra_value("treewidth") == "32"


def test_options_of_a_list_in_extra_are_known_by_their_names() -> None:
    extra = {"schedulerparameters": "defer, BF_Window=60,"}
    made = Scheduler.model_validate(a_scheduler(extra=extra))
    found = made.extra_options("SchedulerParameters")
    assert found == {"defer": "defer", "bf_window": "BF_Window=60"}


def test_extra_cannot_contradict_the_container_of_jobs() -> None:
    refuse("'processes.contain' decides about 'Contain'", extra={"PrologFlags": "X11,contain"})
    made = Scheduler.model_validate(a_scheduler(extra={"PrologFlags": "X11"}))
    assert made.extra["PrologFlags"] == "X11"


def test_priorities_and_private_accounts_need_a_database() -> None:
    refuse("'priority' needs 'accounting'", priority={})
    refuse("'users' cannot be private without 'accounting'", private_data=["jobs", "users"])
    made = Scheduler.model_validate(a_scheduler(**DATABASE, priority={}, private_data=["users"]))
    assert made.priority is not None
    assert made.priority.fair_share == 10_000


@pytest.mark.parametrize(
    ("priority", "message"),
    [
        ({"age": 2**32}, "less than or equal to 4294967295"),
        ({"age": 2**32 - 1}, "the weights make 4,294,989,295 together"),
        ({"half_life": "0 s"}, "use is never forgotten: give a 'reset'"),
        ({"half_life": "90 s"}, "a whole number of minutes"),
        ({"max_age": "0 s"}, "greater than 0"),
    ],
)
def test_weights_and_times_of_priorities(priority: dict[str, Any], message: str) -> None:
    refuse(message, **DATABASE, priority=priority)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ({}, "it gives no record an age"),
        ({"archive": "/var/lib/slurm/archive"}, "it gives no record an age"),
        ({"jobs": "36 h"}, "a whole number of days"),
        ({"jobs": "0 d"}, "greater than or equal to 86400"),
        ({"jobs": "90 d", "archive": "archive"}, "pattern"),
    ],
)
def test_retention_of_slurmdbd_is_validated(keep: dict[str, Any], message: str) -> None:
    refuse(message, accounting={"host": "head-1", "keep": keep})


@pytest.mark.parametrize(
    ("tuning", "message"),
    [
        ({"message_timeout": "101 s"}, "less than or equal to 100"),
        ({"message_timeout": "1500 ms"}, "a whole number of seconds"),
        ({"tree_width": 65_534}, "less than or equal to 65533"),
        ({"max_array_size": 4_000_002}, "less than or equal to 4000001"),
        ({"backfill_window": "31 d"}, "less than or equal to 2592000"),
        ({"backfill_resolution": "2 h"}, "less than or equal to 3600"),
        ({"srun_ports": {"first": 80}}, "greater than or equal to 1024"),
    ],
)
def test_sizes_are_those_that_slurm_takes(tuning: dict[str, Any], message: str) -> None:
    refuse(message, tuning=tuning)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0-00:00:00"), (60, "0-00:01:00"), (14 * 86_400, "14-00:00:00"), (90_061, "1-01:02:00")],
)
def test_a_time_in_the_form_of_slurm(seconds: float, text: str) -> None:
    assert slurm_time(seconds) == text


def test_gpus_are_detected_by_a_release_that_can() -> None:
    nodes = [{"groups": ["dgx"], "detect": "nvidia"}]
    refuse(
        "'detect: nvidia' of 'dgx' needs Slurm 24.11; this is 24.05", version="24.05", nodes=nodes
    )
    made = Scheduler.model_validate(a_scheduler(version="24.11", nodes=nodes))
    assert made.nodes[0].detect == "nvidia"
    library = [{"groups": ["dgx"], "detect": "nvml"}]
    assert Scheduler.model_validate(a_scheduler(version="22.05", nodes=library)).nodes


def test_slurm_authenticates_by_itself_from_a_release_on_that_can() -> None:
    refuse("'auth: slurm' needs Slurm 23.11; this is 23.02", auth="slurm", version="23.02")
    made = Scheduler.model_validate(a_scheduler(auth="slurm", version="23.11"))
    assert made.auth == "slurm"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("NoSuchOption", "1", "Slurm has no option 'NoSuchOption'"),
        ("SlurmctldTimeout", "abc", "'SlurmctldTimeout' is a whole number in Slurm, not 'abc'"),
        ("slurmctldtimeout", "1.5", "'SlurmctldTimeout' is a whole number in Slurm"),
        ("SlurmctldTimeout", "65536", "'SlurmctldTimeout' is 0 to 65535 in Slurm, not 65536"),
        ("MaxStepCount", "-5", "'MaxStepCount' is 0 to 4294967295 in Slurm"),
        ("TrackWCKey", "maybe", "'TrackWCKey' is yes or no in Slurm"),
    ],
)
def test_extra_option_that_slurm_refuses_is_found(option: str, value: str, said: str) -> None:
    """Each was given to slurm.conf of 22.05, which then read nothing of it."""
    refuse(said, extra={option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("SlurmctldTimeout", "65535"),
        ("SlurmctldTimeout", "0x10"),
        ("SlurmctldTimeout", "UNLIMITED"),
        ("TrackWCKey", "1"),
        ("MetricsType", "metrics/openmetrics"),
        ("MailProg", "/usr/bin/mail"),
    ],
)
def test_extra_option_that_slurm_reads_is_taken(option: str, value: str) -> None:
    Scheduler.model_validate(a_scheduler(extra={option: value}))
