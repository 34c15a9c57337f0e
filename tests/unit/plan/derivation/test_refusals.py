"""What a short form cannot say is refused, with its place and what to write instead."""

from __future__ import annotations

import pytest

from rackwright.errors import SpecErrors
from rackwright.plan.load import plan_tree
from short_forms import FABRIC, POWER, a_short_site, planned, tree


def refusal(text: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        planned(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            a_short_site(top='derive: "2"'),
            "blueprint.yaml:3:9: derive: there is no set of rules '2'\n  hint: write 'derive: \"1\"'; there is '1'",
        ),
        (
            a_short_site(top="derive: 1"),
            "blueprint.yaml:3:9: derive: there is no set of rules 1: it is named by text\n  hint: write 'derive: \"1\"'; there is '1'",
        ),
        (
            a_short_site("{presett: rail-optimized, switch: qm9700}"),
            "sites.sjc1.fabric: unknown key 'presett'\n  hint: did you mean 'preset'?",
        ),
        (a_short_site("{preset: dragonfly, switch: qm9700}"), "sites.sjc1.fabric.preset"),
        (
            a_short_site("{preset: fat-tree}"),
            "which switch it has does not follow without 'technology' and 'rate'\n  hint: write 'switch'",
        ),
        (
            a_short_site("{preset: fat-tree, technology: ethernet, rate: 25 Gbps}"),
            "no rule chooses a switch for 25 Gbps ethernet\n  hint: write 'switch', a catalogue id",
        ),
        (
            a_short_site("{preset: fat-tree, switch: qm970}"),
            (
                "blueprint.yaml:13:40: sites.sjc1.fabrics.compute: there is no switch 'qm970' in the catalogue\n"
                "  hint: did you mean 'qm9790'? A product of your own"
            ),
        ),
        (a_short_site("{preset: fat-tree, switch: sn2201}"), "no preset knows what is above them"),
        (
            a_short_site("{preset: fat-tree, switch: qm9700, groups: [dxg]}"),
            "'groups' names 'dxg', which is no node group of the site\n  hint: did you mean 'dgx'?",
        ),
        (
            a_short_site(FABRIC, nodes="[{name: x, role: login, type: cpu-2u, count: 2}]"),
            "no node group of the site has the role 'compute'\n  hint: name those",
        ),
        (
            a_short_site(FABRIC, nodes="[{name: x, role: compute, type: cpu-2u, count: 2}]"),
            "it is not stated how many ports of cpu-2u are on the fabric\n  hint: write what is 'attached'",
        ),
        (
            a_short_site("{preset: fat-tree, switch: qm9700, tiers: [{name: leaves, count: 2}]}"),
            "a preset has the tiers leaf, spine, core, and none called 'leaves'\n  hint: did you mean 'leaf'?",
        ),
        (
            a_short_site("{preset: fat-tree, switch: qm9700, network: 10.0.0.0/24}"),
            "'network' is a /24, and 512 interfaces need a /22\n  hint: write a network of /22 or larger",
        ),
        (
            a_short_site(nodes="[{name: dgx, role: compute, type: dgx-h200, count: 8193}]"),
            (
                "65,544 ports of hosts are more than three tiers of qm9700 carry, which is 65,536 at 1 to 1\n"
                "  hint: cut the nodes into several fabrics"
            ),
        ),
        (
            a_short_site(nodes="[{name: dgx, role: compute, type: dgx-h20, count: 4}]"),
            "there is no node 'dgx-h20' in the catalogue\n  hint: did you mean 'dgx-h200'?",
        ),
        (
            a_short_site(nodes="[{name: dgx, role: compute, type: dgx-h200}]"),
            "sites.sjc1.node_groups.dgx: 'count' is missing",
        ),
        (
            a_short_site(power="{continuous_derate: 80 %, power_factor: 0.95, sources: []}"),
            "what feeds the racks is not written\n  hint: write 'feeds' and 'feed_path' of 'power'",
        ),
        (
            a_short_site(power=POWER.replace("utility: 9 MW, ", "")),
            "nothing feeds the rpp that 'feed_path' begins with\n  hint: write the capacity of the 'utility'",
        ),
        (
            a_short_site(power=POWER.replace("[{kind: rpp", "[{kind: rpp}, {kind: rpp")),
            "'feed_path' has two elements of the kind 'rpp'",
        ),
        (
            a_short_site(power=POWER.replace("kind: rpp", "kind: pdu")),
            "sites.sjc1.power.feed_path.pdu.kind: 'pdu' is not one of",
        ),
        (
            a_short_site(power=POWER.replace("{kind: rpp", "{kind: rpp, volts: 3")),
            "unknown key 'volts'",
        ),
        (
            a_short_site(power=POWER.replace("pdu-415v-60a-24c19", "pdu-1")),
            "there is no PDU 'pdu-1'",
        ),
        (a_short_site(racks="some"), "sites.sjc1.racks"),
        (a_short_site(racks="{power_limit: 45}"), "sites.sjc1.racks.power_limit: '45' has no unit"),
        (a_short_site(racks="{type: rack-47u}"), "there is no rack 'rack-47u' in the catalogue"),
        (a_short_site(halls="[]"), "there is no hall for the racks"),
    ],
)
def test_underivable_value_is_reported(text: str, said: str) -> None:
    found = refusal(text)
    assert said in found
    assert found.startswith("blueprint.yaml:")


def test_without_a_set_of_rules_every_mistake_is_told_beside_that() -> None:
    found = refusal(a_short_site(top="ownr: me"))
    assert "blueprint.yaml:3:1: unknown key 'ownr'" in found
    assert (
        "blueprint.yaml:13:5: sites.sjc1: the rest would follow from 'fabric', and no set of rules by "
        "which it does is named\n  hint: write 'derive: \"1\"' at the top, or the site in full"
    ) in found
    assert "unknown key 'fabric'" not in found


@pytest.mark.parametrize(
    ("key", "line"),
    [("fabric: null", "racks:"), ("fabric: []\n    racks: null", "utility:")],
)
def test_the_first_word_of_the_short_form_is_told(key: str, line: str) -> None:
    """A word of the full form that is misspelt is none."""
    text = a_short_site(top="owner: me").replace("    fabric: ", "    x: ")
    text = text.replace("    racks: ", "    y: ") if "racks" in key else text
    text += f"    {key}\n"
    place = next(n for n, one in enumerate(text.splitlines(), 1) if line in one)
    (told,) = [one for one in refusal(text).splitlines() if "no set of rules" in one]
    assert told.startswith(f"blueprint.yaml:{place}:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (a_short_site().replace("node_groups:", "nodegroups:"), "'nodegroups'|'node_groups'"),
        (a_short_site(power=POWER.replace("feed_path", "feedpath")), "'feedpath'|'feed_path'"),
        (a_short_site().replace("    racks:", "    rack:"), "'rack'|'racks'"),
        (a_short_site().replace("    fabric:", "    fabrik:"), "'fabrik'|'fabric'"),
        (a_short_site().replace("halls: [{name", "halls: [{nmae"), "'nmae'|'name'"),
    ],
)
def test_misspelt_key_is_told_without_what_fails_to_follow(text: str, told: str) -> None:
    """``nodegroups`` was told as a site without compute nodes."""
    wrong, right = told.split("|")
    first, hint = refusal(text).splitlines()
    assert first.endswith(f"unknown key {wrong}")
    assert hint == f"  hint: did you mean {right}?"


def test_misspelt_key_hides_no_other_mistake() -> None:
    text = a_short_site(
        more="altitude: 30", nodes="[{name: dgx, role: compute, type: dgx-h201, count: 2}]"
    )
    found = refusal(text.replace("    racks:", "    rack:"))
    assert "unknown key 'rack'" in found
    assert "there is no node 'dgx-h201'" in found
    others = refusal(a_short_site(more="altitude: 30").replace("    racks:", "    rack:"))
    assert "unknown key 'rack'" in others
    assert "altitude: '30' has no unit" in others


@pytest.mark.parametrize("slip", ["kind: rppp, modulse: 1", "modulse: 1, kind: rppp"])
def test_unknown_key_beside_a_wrong_kind_is_told(slip: str) -> None:
    """Only the kind was told, and the key at the next try."""
    said = refusal(a_short_site(power=POWER.replace("kind: rpp", slip, 1)))
    assert "unknown key 'modulse'\n  hint: did you mean 'modules'?" in said
    assert "'rppp' is not one of" in said
    assert said.count("modulse") == 1


def test_key_that_nothing_is_like_lists_the_words_of_both_forms() -> None:
    found = refusal(a_short_site(more="zzzz: 1"))
    assert "unknown key 'zzzz'" in found
    assert {"fabric", "racks", "node_groups"} <= set(found.partition("known are: ")[2].split(", "))


def test_feed_that_is_named_twice_is_told_once() -> None:
    feeds = POWER.replace("feeds: [A, B, C]", "feeds: [A, A, C]")
    assert feeds != POWER
    found = refusal(a_short_site(power=feeds))
    (told,) = found.splitlines()
    assert told.endswith("sites.sjc1.power.feeds: the feed 'A' is named twice")


def test_site_that_a_layer_adds_by_a_slip_is_told_as_one() -> None:
    layer = "sites:\n  - name: sjc2\n    altitude: 30 m\n"
    with pytest.raises(SpecErrors) as caught:
        plan_tree(tree(a_short_site(), layer))
    assert str(caught.value) == (
        "layer-1.yaml:2:5: sites.sjc2: 'provider' is missing\n"
        "  hint: blueprint.yaml has no 'sjc2' in sites, so this layer adds one; did you mean 'sjc1'?"
    )
