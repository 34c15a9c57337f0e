"""Update actions: what the table says of each change, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from diff_factories import IMAGE, a_cloud, updates_of
from factories import a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.diff.actions import (
    STATED,
    Action,
    accept,
    decide,
    events_of,
    holds_data,
)
from rackwright.diff.changes import Change
from rackwright.diff.rollouts import ORDER, choose, is_ordered, stated_rollouts
from rackwright.errors import UsageError
from rackwright.model.field_kinds import FOR_REVIEW, OnChange


def a_change(pattern: str, before: Any = 1, after: Any = 2, kind: Any = "changed") -> Change:
    return Change(pattern, pattern, kind, before, after, "", "", None, {})


def in_cloud(*path: Any, to: Any) -> Any:
    return in_site(*path, to=to)


def in_site(*path: Any, to: Any) -> Any:
    """A change of one value of the first site; None takes it away."""

    def change(data: Any) -> None:
        data = data["sites"][0]
        for part in path[:-1]:
            data = data[part]
        if to is None:
            del data[path[-1]]
        else:
            data[path[-1]] = to

    return change


VOLUME = ("head", "data_volume")
GROUP = ("node_groups", 0)
SYSTEM = ("file_systems", 0)


@pytest.mark.parametrize(
    ("path", "to", "action"),
    [
        ((*GROUP, "count"), 17, Action.IN_PLACE),
        ((*GROUP, "count"), 15, Action.DRAIN),
        ((*GROUP, "type"), "p4d.24xlarge", Action.ROLLING),
        ((*GROUP, "image"), "ami-0fedcba9876543210", Action.ROLLING),
        ((*GROUP, "root_volume"), "600 GiB", Action.ROLLING),
        ((*GROUP, "efa"), False, Action.REPLACE),
        (("head", "root_volume"), "200 GiB", Action.IN_PLACE),
        (("head", "root_volume"), "50 GiB", Action.REFUSED),
        (("head", "image"), "ami-0fedcba9876543210", Action.REVIEW),
        (("head", "type"), "m7i.8xlarge", Action.DRAIN),
        (("login",), {"type": "m7i.4xlarge", "image": IMAGE, "root_volume": "9 GiB"},
         Action.IN_PLACE),
        (("tags",), {"team": "x"}, Action.IN_PLACE),
        (("network", "ssh_from"), ["192.0.2.0/24"], Action.IN_PLACE),
        ((*SYSTEM, "capacity"), "40800 GiB", Action.IN_PLACE),
        ((*SYSTEM, "throughput"), "500 MB/s/TiB", Action.IN_PLACE),
        ((*SYSTEM, "mount"), "/data", Action.DRAIN),
        ((*SYSTEM, "capacity"), "36000 GiB", Action.REFUSED),
        ((*SYSTEM, "efa"), False, Action.REFUSED),
        ((*SYSTEM, "name"), "other", Action.REFUSED),
        (("file_systems",), None, Action.REFUSED),
        (("network", "cidr"), "10.30.0.0/16", Action.REFUSED),
        (("region",), "us-west-2", Action.REFUSED),
    ],
)  # fmt: skip
def test_fields_of_a_cloud_site(path: Any, to: Any, action: Action) -> None:
    def change(data: Any) -> None:
        in_cloud(*path, to=to)(data)
        if path == ("region",):
            data["sites"][0]["network"]["availability_zones"] = ["us-west-2a"]

    found = updates_of(change, a_cloud())
    assert action in {update.action for update in found.values()}
    assert (Action.REFUSED in {u.action for u in found.values()}) == (action is Action.REFUSED)


@pytest.mark.parametrize(
    ("path", "to", "action"),
    [
        (("head", "image"), "ami-0fedcba9876543210", Action.REPLACE),
        (("head", "root_volume"), "50 GiB", Action.REPLACE),
        (("access",), {"key_pair": "other"}, Action.REPLACE),
        ((*VOLUME, "size"), "300 GiB", Action.IN_PLACE),
        ((*VOLUME, "size"), "50 GiB", Action.REFUSED),
        ((*VOLUME, "iops"), 6000, Action.IN_PLACE),
        ((*VOLUME, "throughput"), "250 MiB/s", Action.IN_PLACE),
        ((*VOLUME, "snapshots"), {"keep": 30}, Action.IN_PLACE),
        ((*VOLUME, "snapshot"), "snap-0123456789abcdef0", Action.REPLACE),
        (VOLUME, None, Action.REFUSED),
    ],
)
def test_a_head_node_with_a_data_volume(path: Any, to: Any, action: Action) -> None:
    head = a_cloud()["head"] | {"data_volume": {"size": "100 GiB", "iops": 4000}}
    update, *_ = updates_of(in_site(*path, to=to), a_cloud(head=head)).values()
    assert update.action is action
    if action is Action.REPLACE and path != (*VOLUME, "snapshot"):
        assert "its data volume is detached, stays as it is" in update.reason


def test_a_data_volume_comes_without_a_word_of_another_head_node() -> None:
    (update,) = updates_of(in_site(*VOLUME, to={"size": "100 GiB"}), a_cloud()).values()
    assert update.action is Action.IN_PLACE


@pytest.mark.parametrize(
    ("path", "to", "action"),
    [
        ((*GROUP, "count"), 3, Action.DRAIN),
        ((*GROUP, "type"), "dgx-a100", Action.REPLACE),
        ((*GROUP, "power_cap"), "8 kW", Action.IN_PLACE),
        ((*GROUP, "start_unit"), "3 U", Action.DRAIN),
        (("power", "contract"), "600 kW", Action.IN_PLACE),
        (("power", "sources", 1, "overload"), "250 kW", Action.REVIEW),
        (("halls", 0, "rows", 0, "rack_groups", 0, "cooling", "power_limit"), "60 kW",
         Action.IN_PLACE),
        (("halls", 0, "rows", 0, "rack_groups", 0, "feeds"), None, Action.DRAIN),
    ],
)  # fmt: skip
def test_fields_of_a_bare_metal_site(path: Any, to: Any, action: Action) -> None:
    def change(data: Any) -> None:
        if to is None:
            data["sites"][0]["halls"][0]["rows"][0]["rack_groups"][0]["feeds"].pop()
        else:
            in_site(*path, to=to)(data)

    (update,) = updates_of(change).values()
    assert update.action is action
    assert update.reason


def test_without_a_file_system_a_network_may_be_replaced() -> None:
    found = updates_of(in_cloud("network", "cidr", to="10.30.0.0/16"), a_cloud(file_systems=[]))
    assert {update.action for update in found.values()} == {Action.REPLACE}


def test_cluster_that_grows_moves_no_subnet() -> None:
    found = updates_of(in_cloud(*GROUP, "count", to=200), a_cloud())
    assert {update.action for update in found.values()} == {Action.IN_PLACE}


def test_cluster_subnet_that_is_stated_and_changes_moves_the_file_system() -> None:
    site = a_cloud()
    site["network"]["cluster_subnets"] = ["10.20.0.0/26"]
    found = updates_of(in_cloud("network", "cluster_subnets", to=["10.20.0.0/23"]), site)
    subnet = found["sites.cloud.subnet private-a"]
    assert subnet.action is Action.REFUSED
    assert subnet.change.before == "10.20.0.0/26 in us-east-1a"
    assert subnet.change.after == "10.20.0.0/23 in us-east-1a"


LOGIN = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}


def test_login_nodes_that_move_to_another_subnet_are_replaced() -> None:
    """Networks of ``ssh_from`` and a load balancer decide on the subnet, and neither line says so."""
    site = a_cloud(login=LOGIN)
    site["network"]["ssh_from"] = ["130.59.0.0/16"]
    found = updates_of(in_cloud("network", "ssh_from", to=["10.0.0.0/8"]), site)
    assert found["sites.cloud.login subnet"].action is Action.REPLACE

    balanced = updates_of(in_cloud("login", "address", to="load-balancer"), site)
    assert balanced["sites.cloud.login subnet"].action is Action.REPLACE
    elastic = updates_of(in_cloud("login", "address", to="elastic"), site)
    assert {one.action for one in elastic.values()} == {Action.IN_PLACE}


def test_another_first_zone_moves_the_cluster_subnet() -> None:
    zones = in_cloud("network", "availability_zones", to=["us-east-1b", "us-east-1a"])
    found = updates_of(zones, a_cloud())
    assert found["sites.cloud.cluster subnet"].action is Action.REFUSED


@pytest.mark.parametrize(("before", "after"), [(9, 10), (10, 9), (99, 100), (4, 12)])
def test_group_that_grows_or_shrinks_renames_no_host(before: int, after: int) -> None:
    racks = [a_hall(rows=[a_row(a_rack_group("c[01-30]"))])]
    nodes = some_nodes(count=before, racks="c[01-30]", name_digits=1)
    site = a_site(halls=racks, node_groups=[nodes])
    found = updates_of(in_site(*GROUP, "count", to=after), site)
    assert not any("hosts" in path for path in found)

    cloud = a_cloud()
    cloud["node_groups"][0] |= {"count": before, "name_digits": 1}
    found = updates_of(in_cloud(*GROUP, "count", to=after), cloud)
    assert found["sites.cloud.node_groups.train.count"].action is not Action.REFUSED
    assert not any("hosts" in path for path in found)


def test_second_cluster_subnet_is_added_in_place() -> None:
    site = a_cloud()
    site["network"]["cluster_subnets"] = ["10.20.0.0/26"]
    more = ["10.20.0.0/26", "10.20.128.0/20"]
    found = updates_of(in_cloud("network", "cluster_subnets", to=more), site)
    assert {update.action for update in found.values()} == {Action.IN_PLACE}


def test_hosts_whose_numbers_get_wider_are_renamed_and_refused() -> None:
    site = a_site(node_groups=[some_nodes()])
    renamed = updates_of(in_site(*GROUP, "name_digits", to=4), site)[
        "sites.lab.node_groups.dgx hosts"
    ]
    assert (renamed.action, renamed.change.before) == (Action.REFUSED, "dgx-[1-4]")
    found = updates_of(in_cloud(*GROUP, "name_digits", to=4), a_cloud())
    renamed = found["sites.cloud.node_groups.train hosts"]
    assert (renamed.action, renamed.change.after) == (Action.REFUSED, "train-[0001-0016]")


def test_own_names_that_change_are_renamed_and_refused() -> None:
    site = a_site(node_groups=[some_nodes(host_names="n[1-4]")])
    found = updates_of(in_site(*GROUP, "host_names", to="n[1-3,9]"), site)
    renamed = found["sites.lab.node_groups.dgx hosts"]
    assert (renamed.action, renamed.change.before, renamed.change.after) == (
        Action.REFUSED,
        "n4",
        "n9",
    )


def test_storage_servers_are_not_taken_away() -> None:
    site = a_site(node_groups=[some_nodes(), some_nodes("oss", count=1, per_rack=1)])
    site["node_groups"][1]["role"] = "storage"
    removed = updates_of(lambda data: data["sites"][0]["node_groups"].pop(), site)
    assert [update.action for update in removed.values()] == [Action.REFUSED]
    site["node_groups"][1]["role"] = "login"
    removed = updates_of(lambda data: data["sites"][0]["node_groups"].pop(), site)
    assert [update.action for update in removed.values()] == [Action.DRAIN]


def test_a_site_with_data_is_not_given_up_nor_is_its_cluster_renamed() -> None:
    sites = a_site(), a_cloud()
    for change in (lambda d: d["sites"].pop(), lambda d: d.update(name="other")):
        (update,) = updates_of(change, *sites).values()
        assert update.action is Action.REFUSED
        assert "move the data" in update.reason
    (update,) = updates_of(lambda d: d["sites"].pop(0), *sites).values()
    assert update.action is Action.DRAIN


def test_only_what_is_named_exactly_is_accepted() -> None:
    def change(data: Any) -> None:
        data["sites"][0]["file_systems"][0].update(efa=False, capacity="36000 GiB")

    path = "sites.cloud.file_systems.scratch.efa"
    updates = tuple(updates_of(change, a_cloud()).values())
    found = {update.change.path: update for update in accept(updates, [path])}
    assert found[path].action is Action.REPLACE
    assert found[path].reason.startswith("accepted: chosen at creation")
    assert found["sites.cloud.file_systems.scratch.capacity"].action is Action.REFUSED
    with pytest.raises(UsageError, match="nothing is refused") as raised:
        accept(updates, ["sites.cloud.file_systems.scratch.eva"])
    assert raised.value.hint == f"did you mean '{path}'?"
    with pytest.raises(UsageError, match="nothing is refused"):
        accept((), [path])


USED = {
    "name": "scratch",
    "mount": "/scratch",
    "existing": {"id": "fs-0123456789abcdef0", "mount_name": "abcdefgh"},
}


@pytest.mark.parametrize(
    ("path", "to", "action"),
    [
        ((*SYSTEM, "existing", "id"), "fs-0123456789abcdef1", Action.DRAIN),
        ((*SYSTEM, "existing", "mount_name"), "other", Action.DRAIN),
        ((*SYSTEM, "existing", "security_group"), "sg-0123456789abcdef0", Action.IN_PLACE),
        ((*SYSTEM, "existing", "capacity"), "2400 GiB", Action.IN_PLACE),
        ((*SYSTEM, "name"), "other", Action.DRAIN),
        (("file_systems",), None, Action.DRAIN),
        (SYSTEM, a_cloud()["file_systems"][0], Action.REFUSED),
    ],
)
def test_a_file_system_that_exists_loses_nothing(path: Any, to: Any, action: Action) -> None:
    found = updates_of(in_site(*path, to=to), a_cloud(file_systems=[USED]))
    assert action in {update.action for update in found.values()}
    assert (Action.REFUSED in {u.action for u in found.values()}) == (action is Action.REFUSED)


def test_one_that_is_made_is_not_given_up_for_one_that_exists() -> None:
    found = updates_of(in_site(*SYSTEM, to=USED), a_cloud())
    assert Action.REFUSED in {update.action for update in found.values()}


HOMES = ("efs", 0)


@pytest.mark.parametrize(
    ("path", "to", "action"),
    [
        ((*HOMES, "throughput"), "bursting", Action.IN_PLACE),
        ((*HOMES, "backups"), False, Action.IN_PLACE),
        ((*HOMES, "tiering"), {"infrequent_access": "30 d"}, Action.IN_PLACE),
        ((*HOMES, "data"), "2 TiB", Action.IN_PLACE),
        ((*HOMES, "on_head"), True, Action.IN_PLACE),
        ((*HOMES, "mount"), "/homes", Action.DRAIN),
        ((*HOMES, "name"), "other", Action.REFUSED),
        ((*HOMES, "existing"), {"id": "fs-0123456789abcdef0"}, Action.REFUSED),
        (("efs",), None, Action.REFUSED),
    ],
)
def test_a_file_system_of_efs(path: Any, to: Any, action: Action) -> None:
    home = {"name": "home", "mount": "/home"}
    found = updates_of(in_site(*path, to=to), a_cloud(efs=[home], file_systems=[]))
    assert action in {update.action for update in found.values()}
    assert (Action.REFUSED in {u.action for u in found.values()}) == (action is Action.REFUSED)


def test_an_efs_that_exists_loses_nothing() -> None:
    used = {"name": "home", "mount": "/home", "existing": {"id": "fs-0123456789abcdef0"}}
    site = a_cloud(efs=[used], file_systems=[])
    for path, to in ((("efs",), None), ((*HOMES, "existing", "id"), "fs-0123456789abcdef1")):
        found = updates_of(in_site(*path, to=to), site)
        assert {update.action for update in found.values()} == {Action.DRAIN}


def test_a_field_without_a_rollout_is_for_review() -> None:
    (update,) = decide([a_change("sites/aws/node_groups/*/novelty")])
    assert (update.action, update.reason) == (Action.REVIEW, FOR_REVIEW.reason)


def test_value_that_was_never_set_is_confirmed_instead_of_refused() -> None:
    pattern = "sites/onprem/file_systems/*/objects/size"
    first, other = decide([a_change(pattern, None, "10 GiB"), a_change(pattern, "9 GiB", "10 GiB")])
    assert (first.action, first.reason) == (Action.REVIEW, STATED)
    assert other.action is Action.REFUSED


WIDE, EXACT = OnChange("in place", "wide"), OnChange("rolling", "exact")
SHRUNK = OnChange("drain", "event", event="shrunk")
GIVEN = OnChange("replace", "given", given="head.data_volume")


@pytest.mark.parametrize(
    ("levels", "events", "owner", "expected"),
    [
        ([[EXACT], [WIDE]], ["any", "changed"], {}, EXACT),
        ([[SHRUNK, EXACT], [WIDE]], ["any", "changed", "shrunk"], {}, SHRUNK),
        ([[SHRUNK], [WIDE]], ["any", "changed", "grown"], {}, WIDE),
        ([[SHRUNK, GIVEN]], ["any", "shrunk"], {"head": {"data_volume": {}}}, GIVEN),
        ([[SHRUNK, GIVEN]], ["any", "shrunk"], {"head": {"data_volume": None}}, SHRUNK),
        ([[SHRUNK], []], ["any", "added"], {}, FOR_REVIEW),
    ],
)
def test_the_nearest_and_most_exact_rollout_applies(
    levels: Any, events: Any, owner: Any, expected: OnChange
) -> None:
    assert choose(levels, events, owner) is expected


def reasons(pattern: str) -> list[list[str]]:
    return [[rollout.reason for rollout in level] for level in stated_rollouts(pattern) if level]


def test_a_field_has_the_rollout_of_what_is_around_it() -> None:
    feed = "sites/onprem/halls/*/rows/*/rack_groups/*/feeds/*/circuit/current"
    assert reasons(feed) == [["the racks lose this feed meanwhile"]]
    source = "sites/onprem/power/sources/*/circuit/current"
    assert [level[0][:17] for level in reasons(source)] == ["work on the plant"]


@pytest.mark.parametrize(
    ("before", "after", "action"),
    [
        ("c[01-16]", "c[01-18]", Action.IN_PLACE),
        ("c[01-16]", "c[01-16],d[01-02]", Action.IN_PLACE),
        ("c01", "c01,c02", Action.IN_PLACE),
        ("c[01-16]", "c[01-14]", Action.DRAIN),
        ("c[01-16]", "b09,c[01-16]", Action.DRAIN),
        ("c[02-16]", "c[01-16]", Action.DRAIN),
        ("c[01-16]", "d[01-18]", Action.DRAIN),
    ],
)
def test_added_racks_of_a_node_group_drain_nothing(before: str, after: str, action: Action) -> None:
    """Racks are filled in order: nodes stay where they are if new racks come last."""
    change = a_change("sites/onprem/node_groups/*/racks", before=before, after=after)
    assert [update.action for update in decide([change])] == [action]


def test_power_supplies_of_one_feed_change_as_those_of_all() -> None:
    """Of a mapping, only its keys change; no rule knew them."""
    (update,) = decide([a_change("sites/onprem/node_groups/*/psus_per_feed/A")])
    assert (update.action, update.reason) == (Action.DRAIN, "the nodes are moved or recabled")


def test_entries_and_their_order_have_rollouts_of_their_own() -> None:
    groups = "sites/onprem/node_groups"
    assert reasons(groups) == []
    assert reasons(f"{groups}/*") == [["new nodes", "the nodes are taken out"]]
    assert [level[0][:23] for level in reasons(f"{groups}/{ORDER}")] == ["equal things are dealt "]
    assert is_ordered(groups)
    assert not is_ordered("sites/onprem/halls")


@pytest.mark.parametrize(
    ("before", "after", "event"),
    [
        (1, 2, "grown"),
        ("2 GiB", "1 GiB", "shrunk"),
        ("1e-07 W", "2 W", "grown"),
        (False, True, None),
        ("10.0.0.0/16", "10.0.0.0/8", None),
        (None, 3, None),
    ],
)
def test_numbers_grow_and_shrink(before: Any, after: Any, event: str | None) -> None:
    events = set(events_of(a_change("x", before, after)))
    assert events == {"any", "changed"} | ({event} if event else set())
    assert set(events_of(a_change(f"x/{ORDER}"))) == {"any", "changed", "reordered"}


def test_resources_with_data() -> None:
    assert holds_data({"role": "storage"})
    assert holds_data({"sites": [{}, {"file_systems": [{"name": "x"}]}]})
    assert holds_data({"node_groups": [{"role": "storage"}]})
    assert not holds_data({"sites": [{"file_systems": []}], "role": "compute"})
    assert holds_data({"sites": [{"efs": [{"name": "home"}]}]})
    assert not holds_data({"sites": [{"file_systems": [{"existing": {"id": "fs-1"}}]}]})
