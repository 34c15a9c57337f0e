"""``catalogue``: list, show, write, test, compare and import products."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rackwright.catalog.netbox_kinds import ImportKind
from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.telling import answer, answer_files, tell
from rackwright.errors import SpecError, SpecErrors, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text, visible
from rackwright.terminal import print_table

if TYPE_CHECKING:
    from rackwright.catalog.loader import Catalogue, Key
    from rackwright.model.hardware import Entry

OWN = Path("hardware")
"""Where a team's own products lie in its repository, unless it says otherwise."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``catalogue``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the products, built in and the team's own")
    listing.add_argument("--kind", help="those of one folder, like 'nodes'")
    listing.add_argument("--own", action="store_true", help="those of the team only")
    showing = actions.add_parser("show", help="show the known and the missing facts of a product")
    showing.add_argument("id", help="id of the product")
    covering = actions.add_parser(
        "coverage", help="count complete products and official numbers by kind"
    )
    covering.add_argument("--kind", help="those of one folder, like 'nodes'")
    covering.add_argument(
        "--missing", action="store_true", help="list what to ask the maker of each"
    )
    for action in (listing, showing, covering):
        action.add_argument("--json", action="store_true", help="as JSON")
    new = actions.add_parser("new", help="create an entry with every field it may have")
    new.add_argument("place", metavar="KIND/ID", help="like nodes/acme-8x")
    testing = actions.add_parser("test", help="validate every product and price of the team")
    testing.add_argument(
        "folder", type=Path, nargs="?", help="validate only this folder of products"
    )
    testing.add_argument("--json", action="store_true", help="as JSON")
    comparing = actions.add_parser("diff", help="show what changes in the team's catalogue")
    comparing.add_argument("revision", help="git revision to compare with, like origin/main")
    comparing.add_argument("--json", action="store_true", help="as JSON")
    importing = actions.add_parser("import", help="convert a device type of NetBox to an entry")
    importing.add_argument("file", type=Path, help="the device type, as YAML")
    importing.add_argument(
        "--kind",
        choices=get_args(ImportKind),
        help="kind of the product (default: derived from the file)",
    )
    importing.add_argument("--id", help="id of the product (default: NetBox's slug)")
    importing.add_argument(
        "--supply", type=Path, metavar="FILE", help="module type of its power supplies"
    )
    importing.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="NAME=ROLE",
        help="purpose of the interfaces with this name (eth[0-7], or with '*') or type: compute, storage or "
        "management; repeatable",
    )
    importing.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="value of the data sheet that the device type lacks: 'voltage=400 V' of a PDU, 'C19=16 A' of its outlets, "
        "'capacity=250 kW' of a CDU, 'max_power=10.2 kW'; repeatable",
    )
    importing.add_argument("--title", help="title of the source, to find it again")
    importing.add_argument(
        "--date", type=_day, help="date on which the source was read (default: today)"
    )
    for action in (new, importing):
        add_json(action)
        action.add_argument(
            "--folder", type=Path, default=OWN, help=f"folder of the entry (default: {OWN})"
        )


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked for."""
    actions: Mapping[str, Callable[[argparse.Namespace], int]] = {
        "list": _list,
        "show": _show,
        "coverage": _coverage,
        "new": _new,
        "test": _test,
        "diff": _diff,
        "import": _import,
    }
    return actions[arguments.action](arguments)


def _here() -> Path:
    """Return a blueprint in the working directory, by which its team's configuration is found."""
    return Path.cwd() / "blueprint.yaml"


def _catalogue() -> Catalogue:
    from rackwright.catalog.team import catalogue_for

    return catalogue_for(_here())


def _keys(catalogue: Catalogue) -> list[Key]:
    return [(kind, name) for kind, found in catalogue.files.items() for name in sorted(found)]


def _list(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.describe import row_of
    from rackwright.catalog.loader import KINDS

    catalogue = _catalogue()
    if arguments.kind is not None:
        _require_kind(arguments.kind)
    keys = [
        key
        for key in _keys(catalogue)
        if arguments.kind in {None, KINDS[key[0]]} and (not arguments.own or catalogue.is_own(*key))
    ]
    rows = [row_of(catalogue.get(*key), catalogue) for key in keys]
    if arguments.json:
        sys.stdout.write(json_text({"schema": "rackwright.catalogue/v1", "products": rows}))
        return ExitCode.CLEAN if rows else ExitCode.NOTHING
    print_table(
        ("kind", "id", "own", "numbers", "lacking", "product"),
        [
            (
                row["kind"],
                row["id"],
                "own" if row["own"] else "",
                row["numbers"],
                row["lacks"],
                visible(f"{row['vendor']} {row['name']}"),
            )
            for row in rows
        ],
        "{:<14} {:<28} {:<4} {:>3} numbers, {:>2} lacking  {}",
    )
    return ExitCode.CLEAN if rows else ExitCode.NOTHING


def _coverage(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.completeness import coverage, is_specification, unanswered
    from rackwright.catalog.loader import KINDS
    from rackwright.model.hardware import Confidence
    from rackwright.model.instances import Instance

    catalogue = _catalogue()
    if arguments.kind is not None:
        _require_kind(arguments.kind)
    found: dict[str, list[Entry]] = {}
    for key in _keys(catalogue):
        if key[0] is not Instance and arguments.kind in {None, KINDS[key[0]]}:
            found.setdefault(KINDS[key[0]], []).append(catalogue.get(*key))
    every = [entry for entries in found.values() for entry in entries]
    rows = [*(coverage(*one) for one in found.items()), coverage("all", every)]
    asked = [
        {"id": entry.id, "vendor": entry.vendor, "fields": list(unanswered(entry))}
        for entry in every
        if not is_specification(entry) and unanswered(entry)
    ]
    if arguments.json:
        data = [
            {
                "kind": row.kind,
                "products": row.products,
                "complete": row.complete,
                "numbers": {one.value: count for one, count in row.numbers.items()},
            }
            for row in rows
        ]
        sys.stdout.write(
            json_text({"schema": "rackwright.coverage/v1", "kinds": data, "missing": asked})
        )
    else:
        print_table(
            ("kind", "products", "complete", "numbers", *(one.value for one in Confidence)),
            [
                (
                    row.kind,
                    row.products,
                    row.complete,
                    row.total,
                    *(f"{row.share(one):.0f} %" for one in Confidence),
                )
                for row in rows
            ],
            "{:<14} {:>3} products, {:>3} complete, {:>4} numbers: "
            "{:>5} official, {:>5} secondary, {:>5} common, {:>5} computed, {:>5} estimate",
        )
        for one in asked if arguments.missing else ():
            fields = ", ".join(one["fields"])
            sys.stdout.write(visible(f"{one['id']}: ask {one['vendor']} for {fields}") + "\n")
    return ExitCode.CLEAN if every else ExitCode.NOTHING


def _show(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.describe import facts_of, lacking, row_of
    from rackwright.reading.suggest import did_you_mean

    catalogue = _catalogue()
    keys = [key for key in _keys(catalogue) if key[1] == arguments.id]
    if not keys:
        known = [name for _, name in _keys(catalogue)]
        hint = did_you_mean(arguments.id, known) or "'rackwright catalogue list' lists them"
        raise UsageError(f"there is no product '{visible(arguments.id)}'", hint=hint)
    entry = catalogue.get(*keys[0])
    row, facts, missing = row_of(entry, catalogue), facts_of(entry), list(lacking(entry))
    if arguments.json:
        document = {"schema": "rackwright.product/v1", "product": row, "facts": facts}
        sys.stdout.write(json_text({**document, "lacks": missing, "notes": list(entry.notes)}))
        return ExitCode.CLEAN
    lines = [f"{entry.id}: {entry.vendor} {entry.name}", row["file"], ""]
    lines += [
        f"{one['field']:<32} {one['value']!s:<16} {one['source']} "
        f"({one['date']}, {one['confidence']})" + (f"; {one['note']}" if one["note"] else "")
        for one in facts
    ]
    lines += ["", f"lacks: {', '.join(missing) or 'nothing'}"]
    lines += [f"note: {note}" for note in entry.notes]
    sys.stdout.write("\n".join(visible(line) for line in lines) + "\n")
    return ExitCode.CLEAN


def _new(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.scaffold import scaffold
    from rackwright.cli.options.outputs import write_file

    kind, entry_id = _parse(arguments.place)
    path = _free(arguments.folder, kind, entry_id)
    write_file(path, scaffold(kind, entry_id, _today()))
    answer_files(arguments, [path], verb="wrote ")
    _next(arguments.folder)
    return ExitCode.CLEAN


def _test(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.loader import load_catalogue

    given: Path | None = arguments.folder
    catalogue = _catalogue() if given is None else load_catalogue((given.absolute(),))
    errors: list[SpecError] = []
    own = [key for key in _keys(catalogue) if catalogue.is_own(*key)]
    for key in own:
        try:
            catalogue.get(*key)
        except SpecErrors as error:
            errors += error.errors
    lists = 0
    try:
        lists = len(catalogue.prices.lists) - len(load_catalogue().prices.lists)
    except SpecErrors as error:
        errors += error.errors
    if errors and not arguments.json:
        raise SpecErrors(errors)
    if arguments.json:
        found = [
            {"place": str(error.location or ""), "message": error.summary, "hint": error.hint}
            for error in errors
        ]
        sys.stdout.write(
            json_text(
                {
                    "schema": "rackwright.catalogue-test/v1",
                    "products": len(own),
                    "prices": lists,
                    "errors": found,
                }
            )
        )
    else:
        products, prices = counted(len(own), "product"), counted(lists, "price list")
        sys.stdout.write(f"valid: {products}, {prices}\n")
    if errors:
        return ExitCode.USAGE
    return ExitCode.CLEAN if own or lists else ExitCode.NOTHING


def _diff(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.compare import compare_catalogues
    from rackwright.catalog.team import catalogue_of
    from rackwright.team.base import base_config

    before = catalogue_of(base_config(_here(), arguments.revision))
    changes = compare_catalogues(before, _catalogue())
    if arguments.json:
        found = [{**vars(change)} for change in changes]
        sys.stdout.write(json_text({"schema": "rackwright.catalogue-diff/v1", "changes": found}))
        return ExitCode.CLEAN
    for one in changes:
        name = f"{one.name}: {one.field}" if one.field else one.name
        if one.before is None or one.after is None:
            text = f"new: {one.after}" if one.before is None else f"gone: {one.before}"
        else:
            text = f"{one.before} -> {one.after}"
        held = "  (a pull request is judged by what it was)" if one.held else ""
        sys.stdout.write(f"{visible(f'{name}  {text}')}{held}\n")
    if not changes:
        sys.stdout.write("nothing changes\n")
    return ExitCode.CLEAN


def _import(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.netbox import import_device, render
    from rackwright.cli.options.outputs import write_file

    made = import_device(
        arguments.file,
        arguments.kind,
        supply=arguments.supply,
        entry_id=arguments.id,
        roles=_roles(arguments.role),
        facts=_facts(arguments.fact),
        day=arguments.date or _today(),
        title=arguments.title,
    )
    path = _free(arguments.folder, made.folder, made.entry.id)
    write_file(path, render(made.document))
    lines = [f"wrote {path}", *(f"left out: {visible(line)}" for line in made.left)]
    lines.append(f"lacks: {', '.join(made.lacks) or 'nothing'}")
    answer(
        arguments,
        "catalogue-import",
        {"file": str(path), "left_out": list(made.left), "lacks": list(made.lacks)},
        "".join(f"{line}\n" for line in lines),
    )
    _next(arguments.folder)
    return ExitCode.CLEAN


def _facts(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise UsageError(f"'{visible(text)}' is not FIELD=VALUE", hint="like 'voltage=400 V'")
        found[name] = value
    return found


def _roles(given: Sequence[str]) -> dict[str, str]:
    known = ("compute", "storage", "management")
    found = {}
    for text in given:
        kind, _, role = text.rpartition("=")
        if not kind or role not in known:
            hint = f"like '400gbase-x-osfp=compute'; roles: {', '.join(known)}"
            raise UsageError(f"'{visible(text)}' is not NAME=ROLE", hint=hint)
        found[kind] = role
    return found


def _parse(place: str) -> tuple[str, str]:
    import re

    from rackwright.model.hardware import ID

    kind, _, entry_id = place.partition("/")
    if not re.fullmatch(ID, entry_id) or entry_id.endswith("\n"):
        hint = "write it like 'nodes/acme-8x', in small letters"
        raise UsageError(f"'{visible(place)}' is not KIND/ID", hint=hint)
    _require_kind(kind)
    return kind, entry_id


def _require_kind(kind: str) -> None:
    from rackwright.catalog.loader import FOLDERS
    from rackwright.reading.suggest import did_you_mean

    if kind not in FOLDERS:
        hint = did_you_mean(kind, FOLDERS) or f"kinds: {', '.join(FOLDERS)}"
        raise UsageError(f"there is no kind of product '{visible(kind)}'", hint=hint)


def _free(folder: Path, kind: str, entry_id: str) -> Path:
    """Return the path of the file of a new product.

    Raises:
        UsageError: there is one, or a product has that id.
    """
    catalogue = _catalogue()
    for found, name in _keys(catalogue):
        if name == entry_id:
            place = catalogue.source_of(found, name)
            raise UsageError(f"'{place}' has the id '{entry_id}'", hint="take another one")
    path = folder / kind / f"{entry_id}.yaml"
    if path.exists() or path.is_symlink():
        raise UsageError(f"'{path}' exists", hint="take another id")
    return path


def _next(folder: Path) -> None:
    """Say what remains to be done."""
    from rackwright.team.place import real

    if real(folder) not in _catalogue().folders:
        tell(f"next: list the folder in rackwright.yaml: catalogue: [{{path: {folder}}}]\n")
    tell(f"next: rackwright catalogue test {folder}\n")


def _today() -> date:
    return datetime.now(UTC).date()


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a day like 2026-11-23") from None
