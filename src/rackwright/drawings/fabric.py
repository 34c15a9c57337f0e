"""Drawing of a fabric: switches in tiers with their cables, by scalable unit if the fabric is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.drawings.svg import Drawing, box, fitted, group, label, line
from rackwright.harmless import counted
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Layout, connected

MOST_SWITCHES, MOST_HOSTS = 48, 96
"""Maximum switches of a tier, and hosts, for a drawing with every host and cable."""
_WIDE, _HIGH, _LEVEL, _TOP = 74.0, 30.0, 128.0, 96.0
_HOST = 15.0
_LEAST = 560.0


def draw_fabric(fabric: FabricPlan) -> Drawing:
    """Return the drawing of a fabric with every host and cable, or of one unit with the switches above it."""
    layout = fabric.layout
    if layout is None:
        return _unlaid(fabric)
    return _whole(fabric, layout) if is_small(layout) else _by_unit(fabric, layout)


def is_small(layout: Layout) -> bool:
    """Return True if every host and cable of a fabric is drawn."""
    hosts = sum(one.count for one in layout.hosts)
    return hosts <= MOST_HOSTS and all(tier.switches <= MOST_SWITCHES for tier in layout.tiers)


def alike_runs(layout: Layout) -> list[list[int]]:
    """Return the indices of runs of hosts, grouped if they differ only in their hosts and leaves."""
    shapes: dict[tuple[int, int, int], list[int]] = {}
    for number, run in enumerate(layout.runs):
        shapes.setdefault((run.attachment, run.hosts, len(run.leaves)), []).append(number)
    return list(shapes.values())


def _head(fabric: FabricPlan, layout: Layout | None, more: str) -> list[str]:
    technology = fabric.technology or "unknown technology"
    rate = "" if layout is None or not layout.tiers else f", {layout.tiers[0].rate:g} Gbps a port"
    return [
        label(12, 22, f"{fabric.site} fabric {fabric.name}", class_="head"),
        label(12, 40, f"{fabric.fabric.role}, {technology}{rate}. {more}", class_="soft"),
    ]


def _unlaid(fabric: FabricPlan) -> Drawing:
    parts = _head(fabric, None, "Nothing is attached to it.")
    for number, (tier, count) in enumerate(zip(fabric.fabric.tiers, fabric.switches, strict=True)):
        parts += [
            box(12, 60 + 44 * number, 300, 34, rx=4, class_="panel"),
            label(22, 81 + 44 * number, fitted(f"{count} × {tier.type}, {tier.name}", 284)),
        ]
    height = 70.0 + 44 * len(fabric.switches)
    return Drawing(f"fabric {fabric.name}", _LEAST, height, "".join(parts))


def _whole(fabric: FabricPlan, layout: Layout) -> Drawing:
    hosts = [name for one in layout.hosts for name in one.names]
    most = max(tier.switches for tier in layout.tiers)
    width = max(_LEAST, 110 + most * (_WIDE + 8), 110 + len(hosts) * (_HOST + 4))
    levels = len(layout.tiers)
    host_y = _TOP + (levels - 1) * _LEVEL + _LEVEL
    at: dict[tuple[int, int], tuple[float, float]] = {}
    parts = _head(fabric, layout, "Every switch, host and cable.")
    for tier, one in enumerate(layout.tiers):
        y = _TOP + (levels - 1 - tier) * _LEVEL
        parts += [
            label(12, y + 13, fitted(one.name, 84), class_="sub"),
            label(12, y + 27, fitted(one.type, 90, sign=5.2), class_="small soft"),
        ]
        step = (width - 110) / one.switches
        for number in range(one.switches):
            at[tier, number] = (100 + step * (number + 0.5) - _WIDE / 2, y)
    cables = [*_switch_cables(layout, at), *_host_cables(layout, at, host_y, width)]
    parts += cables
    parts += [_switch(layout, *key, *place) for key, place in at.items()]
    parts += _hosts(layout, host_y, width)
    return Drawing(f"fabric {fabric.name}", width, host_y + 96, "".join(parts))


def _host_x(number: int, hosts: int, width: float) -> float:
    return 100 + (width - 110) * (number + 0.5) / hosts


def _switch(layout: Layout, tier: int, number: int, x: float, y: float) -> str:
    one = layout.tiers[tier]
    name = f"{one.prefix}-{_number(number, one.switches)}"
    short = f"{one.name}-{_number(number, one.switches)}"
    return group(
        [
            box(x, y, _WIDE, _HIGH, rx=4, class_="panel"),
            label(x + _WIDE / 2, y + 19, fitted(short, _WIDE - 6), class_="mid"),
        ],
        name,
        class_="port",
        data_e=f"t{tier}-{number}",
        tabindex=0,
        role="button",
    )


def _number(number: int, count: int) -> str:
    return f"{number + 1:0{len(str(count))}d}"


def _switch_cables(
    layout: Layout, at: Mapping[tuple[int, int], tuple[float, float]]
) -> Iterator[str]:
    for link in layout.links:
        for lower, uppers in connected(layout, link):
            for upper in uppers:
                x, y = at[link.lower, lower]
                to_x, to_y = at[link.upper, upper]
                count = "? cables" if link.parallel is None else counted(link.parallel, "cable")
                drawn = line(
                    [(x + _WIDE / 2, y), (to_x + _WIDE / 2, to_y + _HIGH)], class_="wire cable"
                )
                ends = f"t{link.lower}-{lower} t{link.upper}-{upper}"
                title = (
                    f"{layout.tiers[link.lower].name} {lower + 1} to "
                    f"{layout.tiers[link.upper].name} {upper + 1}: {count}"
                )
                yield group([drawn], title, class_="way", data_w=ends)


def _host_cables(
    layout: Layout, at: Mapping[tuple[int, int], tuple[float, float]], y: float, width: float
) -> Iterator[str]:
    """Yield a line from a host to each of its leaves, with the number of cables."""
    total = sum(one.count for one in layout.hosts)
    before = 0
    starts = []
    for one in layout.hosts:
        starts.append(before)
        before += one.count
    for run in layout.runs:
        own = layout.hosts[run.attachment]
        for host in range(run.first, run.first + run.hosts):
            number = starts[run.attachment] + host
            cables: dict[int, int] = {}
            rails = {leaf: rail for rail, leaf in enumerate(run.leaves)}
            for interface in range(own.interfaces or 0):
                leaf = run.place(host, interface)[0]
                cables[leaf] = cables.get(leaf, 0) + 1
            for leaf, count in cables.items():
                x, leaf_y = at[0, leaf]
                drawn = line(
                    [(_host_x(number, total, width), y), (x + _WIDE / 2, leaf_y + _HIGH)],
                    class_="thin cable",
                )
                title = f"{own.names[host]} to leaf {leaf + 1}: {counted(count, 'cable')}"
                rail = rails[leaf] if len(rails) > 1 else None
                yield group(
                    [drawn], title, class_="way", data_w=f"h{number} t0-{leaf}", data_q=rail
                )


def _hosts(layout: Layout, y: float, width: float) -> Iterator[str]:
    names = [(name, one.group.name) for one in layout.hosts for name in one.names]
    yield label(12, y + 18, "hosts", class_="sub")
    for number, (name, _) in enumerate(names):
        x = _host_x(number, len(names), width)
        turned = f"rotate(-90 {x + 4:.1f} {y + 80:.1f})"
        yield group(
            [
                box(x - _HOST / 2, y, _HOST, 86, rx=3, class_="panel"),
                label(x + 4, y + 80, fitted(name, 76), transform=turned, class_="small"),
            ],
            name,
            class_="port",
            data_e=f"h{number}",
            tabindex=0,
            role="button",
        )


def _by_unit(fabric: FabricPlan, layout: Layout) -> Drawing:
    """Return the hosts and leaves of the first unit, each tier above as one box, and the cables between."""
    rows: list[tuple[str, str]] = []
    for number in reversed(range(len(layout.tiers))):
        tier = layout.tiers[number]
        rows.append((f"{tier.switches:,} × {tier.name}", f"{tier.type}, {tier.radix} ports"))
    parts = _head(fabric, layout, "Drawn by unit: equal units are cabled alike.")
    width = 900.0
    y = 64.0
    for place, (title, detail) in enumerate(rows):
        number = len(layout.tiers) - 1 - place
        if number == 0:
            break
        parts += [
            box(width / 2 - 190, y, 380, 44, rx=4, class_="panel"),
            label(width / 2, y + 19, title, class_="sub mid"),
            label(width / 2, y + 35, detail, class_="soft small mid"),
        ]
        words = _links_below(layout, number)
        for extra, text in enumerate(words):
            parts.append(label(width / 2 + 12, y + 62 + 13 * extra, text, class_="soft small"))
        tall = 46.0 + 13 * max(1, len(words))
        parts.append(line([(width / 2, y + 44), (width / 2, y + 44 + tall)], class_="wire"))
        y += 44 + tall
    drawn, high = _units(layout, y, width)
    return Drawing(f"fabric {fabric.name}", width, y + high + 12, "".join([*parts, drawn]))


def _links_below(layout: Layout, upper: int) -> list[str]:
    found = []
    for link in layout.links:
        if link.upper == upper:
            lower = layout.tiers[link.lower]
            count = "? cables" if link.parallel is None else counted(link.parallel, "cable")
            blocks = "" if link.blocks == 1 else f", in {link.blocks} blocks"
            found.append(f"each {lower.name}: {count} to each {layout.tiers[upper].name}{blocks}")
    return found


def _units(layout: Layout, y: float, width: float) -> tuple[str, float]:
    """Return the first unit with its leaves by rail, and the number of equal units."""
    shapes = alike_runs(layout)
    parts: list[str] = []
    start = y
    for shape, numbers in enumerate(shapes):
        run = layout.runs[numbers[0]]
        own, hosts, rails = layout.hosts[run.attachment], run.hosts, len(run.leaves)
        names = own.names
        first, last = names[run.first], names[run.first + run.hosts - 1]
        some = f"{hosts} host" if hosts == 1 else f"{hosts} hosts"
        alike = f"{counted(len(numbers), 'unit')} of {some}" if len(numbers) > 1 else some
        span = first if first == last else f"{first} to {last}"
        title = f"{alike} of {own.group.name}, {own.interfaces} interfaces each; drawn: {span}"
        parts.append(label(24, y + 20, fitted(title, width - 48), class_="sub", data_t=f"u{shape}"))
        wide = min(100.0, (width - 60) / max(1, min(rails, 16)))
        shown = run.leaves[:16]
        for rail, leaf in enumerate(shown):
            x = 30 + rail * wide
            parts.append(
                group(
                    [
                        box(x, y + 32, wide - 6, 30, rx=4, class_="panel"),
                        label(
                            x + (wide - 6) / 2,
                            y + 51,
                            f"leaf {leaf + 1}",
                            class_="mid small",
                            data_t=f"u{shape}-{rail}",
                        ),
                        line(
                            [(x + wide / 2 - 3, y + 62), (x + wide / 2 - 3, y + 92)], class_="wire"
                        ),
                        label(x + wide / 2 + 1, y + 82, f"rail {rail + 1}", class_="small soft"),
                    ],
                    f"rail {rail + 1}: {counted(hosts * run.ports, 'cable')} to a leaf",
                    class_="port",
                    data_e=f"u{shape}-{rail}",
                    tabindex=0,
                    role="button",
                )
            )
        if len(run.leaves) > len(shown):
            parts.append(
                label(30, y + 140, f"and {len(run.leaves) - len(shown)} more rails", class_="soft")
            )
        parts += [
            box(30, y + 92, len(shown) * wide - 6, 34, rx=4, class_="panel"),
            label(30 + len(shown) * wide / 2, y + 113, some, class_="mid"),
        ]
        y += 148
    if not shapes:
        parts.append(label(24, y + 20, "It is open where its hosts are cabled.", class_="sub"))
        y += 34
    return "".join(parts), y - start
