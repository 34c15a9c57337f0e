"""Host names of instances: stable, unique, and no name is left free while somebody has none."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rackwright.provision.naming import (
    REGISTER,
    Naming,
    NodeInstance,
    assigned,
    held,
    record_changes,
)

BEGIN = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
ZONE = "atlas.internal"


def instance(
    number: int, host: str | None = None, *, minute: int = 0, address: str | None = None
) -> NodeInstance:
    launched = BEGIN + dt.timedelta(minutes=minute)
    return NodeInstance(f"i-{number:017x}", launched, address or f"10.0.0.{number}", host)


def hosts(naming: Naming) -> dict[str, str]:
    return {host: one.id[-1] for host, one in naming.holders.items()}


tags = st.none() | st.integers(0, 14).map("dgx-{}".format) | st.sampled_from(["other-1", "dgx-x"])
fleets = st.lists(st.tuples(tags, st.integers(0, 5)), max_size=14).map(
    lambda rows: [instance(n, tag, minute=minute) for n, (tag, minute) in enumerate(rows)]
)


@given(st.integers(0, 12), fleets, st.randoms())
def test_names_are_unique_total_and_stable(
    count: int, fleet: list[NodeInstance], chance: Any
) -> None:
    made = assigned("dgx", count, fleet)
    given_to = [one.id for one in made.holders.values()]
    assert len(set(given_to)) == len(given_to) == min(count, len(fleet))
    assert sorted([*given_to, *(one.id for one in made.unnamed)]) == sorted(o.id for o in fleet)
    before = held("dgx", count, fleet)
    assert before.holders.items() <= made.holders.items(), "who has a name keeps it"
    tagged = [
        NodeInstance(one.id, one.launched, one.address, host) for host, one in made.holders.items()
    ]
    gone = chance.sample(tagged, chance.randint(0, len(tagged)))
    left = [one for one in tagged if one not in gone]
    newcomers = [instance(100 + n, minute=9) for n in range(len(gone))]
    chance.shuffle(fleet := [*left, *newcomers])
    again = assigned("dgx", count, fleet)
    assert {one.host: one.id for one in left}.items() <= {
        host: one.id for host, one in again.holders.items()
    }.items()
    assert len(again.holders) == len(tagged), "a replacement takes a free name"
    assert assigned("dgx", count, reversed(fleet)) == again, "the order of the answer is no matter"


def test_the_eldest_get_the_first_names_and_of_twins_the_elder_keeps_its_own() -> None:
    fleet = [
        instance(1, minute=3),
        instance(2, "dgx-2", minute=2),
        instance(3, "dgx-2", minute=1),
        instance(4, minute=0),
        instance(5, "train-1"),
    ]
    assert hosts(assigned("dgx", 4, fleet)) == {
        "dgx-1": "4",
        "dgx-2": "3",
        "dgx-3": "5",
        "dgx-4": "2",
    }
    assert [one.id[-1] for one in assigned("dgx", 4, fleet).unnamed] == ["1"]
    assert hosts(held("dgx", 4, fleet)) == {"dgx-2": "3"}
    assert held("dgx", 4, fleet).missing == ("dgx-1", "dgx-3", "dgx-4")


def test_a_group_that_grows_keeps_the_numbers_of_its_hosts() -> None:
    made = assigned("dgx", 10, [instance(3, "dgx-3"), instance(7)])
    assert hosts(made) == {"dgx-1": "7", "dgx-3": "3"}
    assert list(made.unsettled) == ["dgx-1"]
    shrunk = held("dgx", 2, [instance(3, "dgx-3")])
    assert not shrunk.holders, "a number beyond the group is no name of it"


def test_instances_whose_numbers_have_other_digits_are_renamed() -> None:
    made = held("dgx", 4, [instance(3, "dgx-3"), instance(7)], digits=2)
    assert made.renamed == {"dgx-3": "dgx-03"}
    assert held("dgx", 4, [instance(3, "dgx-3")]).renamed == {}
    assert assigned("dgx", 4, [instance(3, "dgx-9")]).renamed == {}, "nobody was called so here"


def a_record(host: str, *values: str, kind: str = "A", ttl: int = 60) -> dict[str, Any]:
    listed = [{"Value": value} for value in values]
    return {"Name": f"{host}.{ZONE}.", "Type": kind, "TTL": ttl, "ResourceRecords": listed}


def told(changes: list[dict[str, Any]]) -> list[str]:
    return sorted(
        f"{c['Action']} {c['ResourceRecordSet']['Name'].rstrip('.').removesuffix('.' + ZONE)}"
        for c in changes
    )


def test_only_what_differs_is_changed_and_names_of_nobody_go() -> None:
    naming = assigned("dgx", 3, [instance(1), instance(2), instance(3)])
    records = [
        a_record("dgx-1", "10.0.0.1"),
        a_record("dgx-2", "10.9.9.9"),
        a_record("dgx-7", "10.0.0.7"),
        a_record("old-1", "10.0.0.8"),
        a_record("mine-1", "10.0.0.9"),
        a_record("head-1", "10.0.0.10"),
        a_record("dgx-8", "x", kind="TXT"),
        a_record(REGISTER, '"dgx"', '"old"', '"head"', kind="TXT"),
    ]
    changes = record_changes(ZONE, [naming], records, spared=["head-1"])
    assert told(changes) == [
        "DELETE dgx-7",
        "DELETE old-1",
        "UPSERT dgx-2",
        "UPSERT dgx-3",
        f"UPSERT {REGISTER}",
    ]


def test_applied_changes_leave_nothing_to_change() -> None:
    naming = assigned("dgx", 2, [instance(1), instance(2)])
    made = [one["ResourceRecordSet"] for one in record_changes(ZONE, [naming], [])]
    assert len(made) == 3
    assert record_changes(ZONE, [naming], made) == []
    removed = record_changes(ZONE, [], made)
    assert {one["Action"] for one in removed} == {"DELETE"}
    assert len(removed) == 3


def test_an_instance_without_an_address_has_no_record_yet() -> None:
    bare = NodeInstance("i-1", BEGIN)
    naming = assigned("dgx", 1, [bare])
    assert told(record_changes(ZONE, [naming], [])) == [f"UPSERT {REGISTER}"]


def test_reported_names_of_a_group_are_those_of_the_inventory() -> None:
    fleet = [instance(1, "dgx-1"), NodeInstance("i-bare", BEGIN, None, "dgx-2"), instance(3)]
    naming = held("dgx", 3, fleet)
    assert naming.as_data() == {
        "count": 3,
        "private_ips": {"dgx-1": "10.0.0.1"},
        "instance_ids": {"dgx-1": fleet[0].id, "dgx-2": "i-bare"},
        "missing": ["dgx-2", "dgx-3"],
        "unnamed": [fleet[2].id],
    }
    missing, unnamed = naming.complaints()
    assert missing == "2 of 3 hosts of 'dgx' have no instance with an address: dgx-[2-3]"
    assert unnamed == f"1 instance of 'dgx' without a host name: {fleet[2].id}"
    assert not list(assigned("dgx", 2, [instance(1), instance(2)]).complaints())


def test_a_host_that_is_waited_for_gets_its_instance_before_others() -> None:
    fleet = [instance(1, "dgx-1"), instance(2)]
    assert hosts(assigned("dgx", 3, fleet)) == {"dgx-1": "1", "dgx-2": "2"}
    assert hosts(assigned("dgx", 3, fleet, ["dgx-3"])) == {"dgx-1": "1", "dgx-3": "2"}
