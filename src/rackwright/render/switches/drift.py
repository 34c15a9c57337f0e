"""Configuration that a switch runs against the one that was rendered, whatever the order of its lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.model.switching import SwitchSystem

Facts = dict[tuple[str, ...], str]
"""Settings by their place; lines of text have their own last part and no value."""

_FRR_NOISE = ("Building configuration", "Current configuration", "frr version", "frr defaults")
_EOS_NOISE = ("! ", "Command:")
_ENDS = frozenset({"!", "end", "exit", "exit-address-family", "exit-vrf"})
_FRR_OWN = frozenset({"log", "no", "service", "ip", "ipv6", "domainname", "password"})
"""First words of FRR's global lines that its package sets as well, which are not told as additions."""


_SONIC_OWN = frozenset({"DEVICE_METADATA", "PORT"})
"""Tables in which SONiC keeps facts of the platform, and ports without a cable."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A setting that runs otherwise than it was rendered.

    Attributes:
        place: where in the configuration, parted by ``>``.
        rendered: its value; None where the rendered file has none.
        running: its value; None where the switch has none.
    """

    place: str
    rendered: str | None
    running: str | None

    def __str__(self) -> str:
        if self.running is None:
            return f"missing: {self.place}{_value(self.rendered)}"
        if self.rendered is None:
            return f"not in the plan: {self.place}{_value(self.running)}"
        return f"{self.place}: {self.running}, rendered {self.rendered}"


def _value(text: str | None) -> str:
    return f": {text}" if text else ""


def compare_running(system: SwitchSystem, rendered: str, running: str) -> tuple[Drift, ...]:
    """Return the differences of a running configuration, in the order of their places.

    Settings beside the rendered ones are told but for those that a switch has of its own: SONiC's platform and
    unused ports, tables that are not rendered, and global lines of EOS.

    Args:
        system: operating system of the switch.
        rendered: the rendered file.
        running: what the switch tells of its configuration, in the same format.

    Raises:
        ValueError: a text is not in the format of the system.
    """
    read = _READERS[system]
    meant, found = read(rendered), read(running)
    tables = {place[0] for place in meant}
    return tuple(
        Drift(" > ".join(place), meant.get(place), found.get(place))
        for place in sorted({*meant, *found})
        if meant.get(place) != found.get(place)
        and (place in meant or _is_told(system, place, tables))
    )


def _is_told(system: SwitchSystem, place: tuple[str, ...], tables: set[str]) -> bool:
    """Return True for a place whose settings beside the rendered ones are told."""
    if system == "sonic":
        return place[0] in tables - _SONIC_OWN
    return system != "eos" or len(place) > 1


def _json(text: str) -> Facts:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ValueError("it is not an object of tables")
    return dict(_flat(document, ()))


def _yaml(text: str) -> Facts:
    import yaml

    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)  # noqa: S506 # nosec B506 # fmt: skip
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is not YAML: {str(error).splitlines()[0]}") from None
    parts = document if isinstance(document, list) else [document]
    found: Facts = {}
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("set"), dict):
            found |= dict(_flat(part["set"], ()))
    if not found:
        raise ValueError("it has no 'set' as NVUE writes it")
    return found


def _flat(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, Mapping):
        if not value:
            yield place, ""
        for key, inner in value.items():
            yield from _flat(inner, (*place, _word(key)))
    elif isinstance(value, list):
        yield place, ",".join(sorted(_word(one) for one in value))
    else:
        yield place, _word(value)


def _word(value: Any) -> str:
    """Return a value as text; YAML of other versions reads ``on`` as true."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _frr(text: str) -> Facts:
    return dict.fromkeys(
        (
            place
            for place in _places(text, _FRR_NOISE)
            if len(place) > 1 or place[0].split()[0] not in _FRR_OWN
        ),
        "",
    )


def _eos(text: str) -> Facts:
    return dict.fromkeys(_places(text, _EOS_NOISE), "")


def _places(text: str, noise: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield each line with the lines that it is inside of, which are less indented."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        word = " ".join(line.split())
        if not word or word in _ENDS or word.startswith(("#", *noise)):
            continue
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        yield (*(outer for _, outer in above), word)
        above.append((indent, word))


_READERS: Mapping[SwitchSystem, Callable[[str], Facts]] = {
    "cumulus": _yaml,
    "eos": _eos,
    "frr": _frr,
    "nvos": _yaml,
    "sonic": _json,
}
