"""Cures for values of the wrong kind and for keys that other tools call otherwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rackwright.model.unit_words import UNKNOWN, spelled
from rackwright.reading.suggest import alike, nearest, similar

_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    word: tuple(meant.split())
    for words, meant in {
        "nodes servers node hosts machines compute": "node_groups",
        "quantity qty number amount units pcs": "count",
        "elevation sea_level": "altitude",
        "cos_phi cosphi pf": "power_factor",
        "volts volt": "voltage",
        "amps ampere amperes amperage breaker": "current",
        "phase poles": "phases",
        "type class": "kind provider role",
        "kind model sku product": "type",
        "cooling hvac crah crac": "air loops",
        "delta_t dt rise": "temperature_rise",
        "inlet supply supply_temperature": "inlet_temperature",
        "topology layout": "preset",
        "size rating kw": "capacity",
        "electricity electrical energy": "power",
        "speed bandwidth": "rate",
        "include includes layer imports extends overlays": "layers",
        "label id title site hall row feed group hostname host": "name",
        "from below": "lower",
        "to above": "upper",
        "storage filesystem filesystems lustre": "file_systems",
        "network networks switches": "fabric fabrics",
        "budget budgets price prices": "costs",
        "rooms room": "halls",
        "cabinets cabinet": "racks",
        "redundancy reserve": "spare",
        "version": "apiVersion",
        "slurm": "scheduler",
        "contact team": "owner",
        "jobs models": "workloads",
    }.items()
    for word in words.split()
}
"""Words of other tools for a key, in small letters, with the keys that they stand for here."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    word: tuple(meant.split())
    for words, meant in {
        "ib": "infiniband",
        "roce rocev2 eth": "ethernet",
        "on_premises on_premise bare_metal baremetal metal": "onprem",
        "gpu worker node accelerator": "compute",
        "controller control_plane controlplane": "head",
        "infra service": "management",
        "rail rails rail_optimised": "rail-optimized",
        "fattree clos leaf_spine spine_leaf": "fat-tree",
        "idea sketch draft plan planning poc feasibility": "concept",
        "detail detailed engineering": "design",
        "construction installation deploy deployment final": "build",
        "live operate operation operations": "run",
        "prod": "production run",
        "dlc d2c dtc direct_liquid": "liquid",
        "rdhx": "rear-door",
        "hac": "hot-aisle",
        "cac": "cold-aisle",
        "cu": "copper",
        "al alu aluminum": "aluminium",
    }.items()
    for word in words.split()
}
"""Words of other tools for a value, in small letters, with the word that is meant here."""
_OF_THE_BLUEPRINT = frozenset({"derive", "policies", "policy_set", "profile", "stage"})
"""Keys that a blueprint has at its top and nothing has anywhere else."""
_OF_THE_TEAM = frozenset({"catalogue", "defaults", "faults", "packs"})
"""The same of a team's configuration."""
_OTHER_FIELD: Mapping[str, tuple[str, frozenset[str]]] = {
    "stage": ("profile", frozenset({"lab", "pilot", "production"})),
    "profile": ("stage", frozenset({"concept", "design", "build", "run"})),
}
"""Field that the value of another one is meant for."""
OTHER_FILE = "'rackwright init FOLDER --from FILE' reads sheets and files of other tools"
"""Cure for a file that is no document."""
_BY_1024 = frozenset({"mtu", "sequence"})
"""Fields whose '4k' may well be 4096, so that no number is offered."""
_ABOUT = re.compile(
    r"(?:(?:~|≈|[<>]=?|≤|≥|=|about|approx\.?|ca\.|circa|at least|at most|up to)\s*)?(\d+(?:\.\d+)?)\s*(?:\+|\(.*\))?",
    re.IGNORECASE,
)
"""A number with words that say how exact it is, or with a remark."""
_ONE_WORD = frozenset({"group", "kind", "plugin", "reason"})
"""Keys whose value people write alone, instead of the mapping around it."""
_LONGEST = 128
_VARIABLE = re.compile(
    r"\$?\{\{.*?(?:\}\}|$)|\{([%#]).*?(?:\1\}|$)|\$\{.*?(?:\}|$)|\$[A-Za-z_]\w*|<[A-Za-z_ ]+>"
)
"""Variables of Jinja, of shells and of workflows, and placeholders that people leave."""


def meant_key(word: str, known: Sequence[str], absent: Collection[str]) -> str | None:
    """Return the key that an unknown one stands for: another spelling, a part or a synonym of it.

    Args:
        word: the unknown key.
        known: keys that the mapping may have.
        absent: those of them that it does not have, which are likelier.
    """
    if len(word) > _LONGEST:
        return None
    near = nearest(word, known)
    if near is not None and alike(word, near):
        return near
    likely = nearest(word, absent)
    if likely is not None and similar(word, likely):
        return likely
    folded = word.lower().replace("-", "_")
    for meant in _SYNONYMS.get(folded, ()):
        if meant in absent:
            return meant
    parts = [key for key in absent if folded in key.split("_") or key in folded.split("_")]
    if len(folded) > 3:
        parts = parts or [key for key in absent if key.startswith(folded)]
    if len(parts) == 1:
        return parts[0]
    return likely or near


def meant_word(given: str, words: Sequence[str]) -> str | None:
    """Return the word of a choice that another one stands for: a synonym, or its first part like ``hot``."""
    folded = given.strip().lower().replace("-", "_")
    for meant in _WORDS.get(folded, ()):
        if meant in words:
            return meant
    begun = [word for word in words if re.split(r"[-_]", word)[0] == folded != word]
    return begun[0] if len(begun) == 1 else None


def synonyms(word: str) -> tuple[str, ...]:
    """Return the keys that a word of another tool may stand for, itself first."""
    return (word, *_SYNONYMS.get(word.lower().replace("-", "_"), ()))


def cut_number(given: object, key: object) -> str | None:
    """Return the key whose number a decimal comma has cut, as in ``{power: 1,5 kW}``; None for none."""
    if not isinstance(given, Mapping) or not re.match(r"\d+\b", str(key)) or given[key] is not None:
        return None
    keys = list(given)
    before = keys[keys.index(key) - 1]
    cut = keys[0] != key and re.fullmatch(r"[+-]?\d+", str(given[before]))
    return str(before) if cut else None


def instead(detail: Mapping[str, Any], key: str, known: Sequence[str]) -> str | None:
    """Return the hint for a missing key of which a mapping has a synonym that is no key of its own."""
    given = detail.get("input")
    words = set(map(str, given)).difference(known) if isinstance(given, Mapping) else set()
    found = [word for word in words if word != key and key in synonyms(str(word))]
    return f"did you mean '{key}' instead of '{found[0]}'?" if len(found) == 1 else None


def of_number(given: object, *, whole: bool, name: str = "") -> str | None:
    """Return the cure for a value of the field ``name`` that is not a number; None if none is near."""
    if isinstance(given, float) and given.is_integer() and whole:
        return f"write '{given:.0f}'"
    if isinstance(given, (Mapping, list)):
        return "write one number"
    if not isinstance(given, str):
        return None
    text = given.strip()
    if re.fullmatch(r"[+-]?(0|[1-9]\d*)(\.\d+)?", text) and not (whole and "." in text):
        return f"write {text} without quotes"
    if re.fullmatch(r"0\d+", text):
        return f"write '{int(text)}'"
    if re.fullmatch(r"\d{1,3}([,' .’]\d{3})+", text) and whole:
        digits = re.sub(r"\D", "", text)
        return f"write '{digits}'"
    if re.fullmatch(r"\d+,\d+", text) and not whole:
        return f"decimals stand behind a point: '{text.replace(',', '.')}'"
    if (
        not whole
        and (ratio := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?::|to)\s*(\d+)", text))
        and int(ratio[2])
    ):
        return f"write '{float(ratio[1]) / int(ratio[2]):g}'"
    if (percent := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text)) and float(percent[1]) < 10:
        return f"write '{percent[1]}', without '%'"
    if percent and not whole:
        return f"write '{float(percent[1]) / 100:g}'"
    if name == "spare" and (spare := re.fullmatch(r"[Nn] ?\+ ?(\d)", text)):
        return f"write '{spare[1]}'"
    if name == "spare" and re.fullmatch(r"\d?(\.\d)? ?[Nn]", text):
        return "write how many may fail"
    if name == "oversubscription" and re.fullmatch("(fully )?non.?blocking", text, re.IGNORECASE):
        return "write '1'"
    if (word := spelled(text))[0] is not None and not word[1]:
        return f"write '{word[0]}'"
    if whole and (
        product := re.fullmatch(r"([1-9]\d{0,5})\s*[x×*]\s*([1-9]\d{0,5})", text, re.IGNORECASE)
    ):
        return f"write '{int(product[1]) * int(product[2])}'"
    if (
        whole
        and name not in _BY_1024
        and (thousands := re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*[kK]", text))
    ):
        return f"write '{float(thousands[1]) * 1000:.0f}'"
    if re.fullmatch(r"\d+(\.\d+)?\s*(-|–|to|\.\.+|…)\s*\d+(\.\d+)?", text):
        return "write one number"
    if (about := _ABOUT.fullmatch(text)) and not (whole and "." in about[1]):
        return f"write '{about[1]}'"
    number = re.match(r"\d+(\.\d+)?(?=\s*[^\W\d]+$)", text)
    if number and not (whole and number[1]) and text[number.end() :].strip() not in {"k", "K", "M"}:
        return f"write '{number[0]}', without a unit"
    return None


def of_share(given: object) -> str | None:
    """Return the cure for a number of percent where a share of at most 1 is expected."""
    if isinstance(given, (int, float)) and 10 <= given <= 100:
        return f"write '{given / 100:g}'"
    return None


def of_mapping(given: object, name: str, wanted: Sequence[str]) -> str | None:
    """Return the cure for a value that has to be keys with values of their own.

    Args:
        given: the value.
        name: its key.
        wanted: the keys that it has to have, or those that it may have.
    """
    if isinstance(given, str) and "path" in wanted and "revision" in wanted:
        return f"write '{{path: {given}}}'"
    if not wanted:
        return None
    only = given if len(wanted) == 1 and wanted[0] in _ONE_WORD and isinstance(given, str) else "…"
    inner = ", ".join(f"{key}: {only}" for key in wanted[:4])
    return f"write '{name}: {{{inner}}}'" if name else f"write '{{{inner}}}'"


def of_list(given: object, name: str, wanted: Sequence[str]) -> str | None:
    """Return the cure for a value that has to be a list; ``wanted`` are the keys of its items."""
    if isinstance(given, Mapping):
        first = next(iter(given), None)
        if "name" in wanted and isinstance(given.get(first), (Mapping, type(None))):
            return f"begin each item with '- name:', as in '- name: {first}'"
        if first in wanted:
            return f"begin each item with '- ', as in '- {first}: …'"
        if wanted:
            return f"begin each item with '- ', as in '- {wanted[0]}: …'"
        return f"write '{name}: [{', '.join(map(str, given))}]'" if given else None
    if wanted:
        is_word = len(wanted) == 1 and wanted[0] in _ONE_WORD and isinstance(given, str)
        only = given if is_word else "…"
        return f"write '{name}: [{{{', '.join(f'{key}: {only}' for key in wanted[:4])}}}]'"
    if isinstance(given, (str, int, float)) and not isinstance(given, bool):
        short = re.fullmatch(r"\w{1,3}( ?[/+&] ?\w{1,3})+", str(given))  # and no path
        parts = re.split(r" ?[/+&] ?" if short else r"[,;]? +|[,;]", str(given).strip())
        return f"write '{name}: [{', '.join(parts)}]'"
    return None


def of_text(given: object, name: str) -> str | None:
    """Return the cure for a value that has to be text."""
    if name == "racks" and isinstance(given, int):
        return f"name them: 'racks: \"r[01-{given:02}]\"'"
    if name == "racks" and isinstance(given, list) and all(isinstance(one, str) for one in given):
        return f"write 'racks: \"{','.join(given)}\"'"
    if isinstance(given, (str, int, float)):
        text = str(given).lower() if isinstance(given, bool) else given
        return f"write '{name}: \"{text}\"'" if name else f"write '\"{text}\"'"
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], str):
        return f"write '{name}: {given[0]}'"
    if isinstance(given, Mapping) and len(given) == 1:
        (value,) = given.values()
        if isinstance(value, str):
            return f"write '{name}: {value}'"
    return None


def of_key(key: object, *, top: bool) -> str | None:
    """Return the cure for an unknown key that is a path, a variable or that of another file; None for others."""
    text = str(key)
    parts = text.split(".")
    if len(parts) > 1 and all(re.fullmatch(r"[\w-]+", part) for part in parts):
        return f"write '{parts[0]}:', and '{'.'.join(parts[1:])}' inside it: a layer is nested as the blueprint is"
    if text.lower() in {"layer", "layers"}:
        return "write 'layers: [facility.yaml]' at the top of the blueprint"
    if text in _OF_THE_BLUEPRINT:
        return f"write '{text}' at the top of the blueprint"
    if top and text in _OF_THE_TEAM:
        return f"write '{text}' into rackwright.yaml"
    return of_variable(text)


def of_choice(given: object, name: str, choices: Sequence[Any]) -> str | None:
    """Return the cure for a value of the field ``name`` that has to be one of some words or numbers."""
    if isinstance(given, list) and len(given) == 1:
        return f"write '{name}: {given[0]}'"
    field, values = _OTHER_FIELD.get(name, ("", frozenset()))
    if str(given) in values:
        return f"'{given}' is a {field}: write '{field}: {given}'"
    if (number := spelled(str(given))[0]) in choices:
        return f"write '{number}'"
    found = re.search(r"\d+", str(given))
    return f"write '{found[0]}'" if found and int(found[0]) in choices else None


def of_unknown(given: object) -> str | None:
    """Return the cure for a word that says that a value is not known; None for any other value."""
    unknown = isinstance(given, str) and given.strip().lower() in UNKNOWN
    return "leave the key out while the value is not known" if unknown else None


def of_variable(given: object) -> str | None:
    """Return the cure for a text with a variable, which nothing replaces; None without one."""
    found = _VARIABLE.search(given) if isinstance(given, str) else None
    return found and f"'{found[0]}' is not replaced: write the value"
