"""``init --from``: a blueprint of what already stands, and a layer of what nobody told."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.telling import answer_files, tell
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from rackwright.brownfield.document import TakenOver

TODO = "todo.yaml"
"""The layer of what nobody told, beside the blueprint."""
MOST_SHOWN = 50
"""Most notices that are shown; all of them stand in the blueprint."""


def add_from(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``--from``."""
    parser.add_argument(
        "--from",
        dest="sources",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="import from files of an existing cluster: a sheet of elevations, NetBox's list of devices as "
        "CSV or JSON, a slurm.conf, a dump of ibnetdiscover, iblinkinfo, ibdiagnet or UFM, a folder of LLDP neighbours; repeatable",
    )
    parser.add_argument(
        "--product",
        action="append",
        default=[],
        metavar="NAME=ID",
        help="with --from: catalogue id of a product, by its name in the files; repeatable",
    )
    parser.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="NAME",
        help="with --from: leave out devices of this product; repeatable",
    )
    parser.add_argument(
        "--leave-out-unknown",
        action="store_true",
        help="with --from: leave out devices of products that are not known, and count them",
    )
    parser.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="with --from: YAML with 'products', 'roles' and 'names' of the files: ids, roles of nodes, tiers of switches, "
        "or 'leave out'; other names of places and devices",
    )
    parser.add_argument(
        "--site", metavar="NAME", help="with --from: import only this site of the files"
    )


def run_from(arguments: argparse.Namespace) -> int:
    """Write the blueprint of what stands, and the layer to fill in.

    Raises:
        SpecErrors: a file cannot be read, or what it says cannot be told.
        UsageError: an argument has no effect, or a file exists or cannot be written.
    """
    from rackwright.brownfield.document import make_blueprint
    from rackwright.brownfield.import_map import ImportMap, renamed
    from rackwright.brownfield.products import LEAVE_OUT, Products
    from rackwright.brownfield.reading import read_standing
    from rackwright.catalog.team import catalogue_for
    from rackwright.reading.loader import load
    from rackwright.templates.making import BLUEPRINT

    folder: Path | None = arguments.folder
    if folder is None:
        raise UsageError(
            "a folder is needed to write to", hint="rackwright init FOLDER --from FILE"
        )
    for given, option in ((arguments.template, "--template"), (arguments.set, "--set"),
                          (arguments.answers, "--answers")):  # fmt: skip
        if given:
            raise UsageError(f"{option} has no effect with --from: no template is used")
    blueprint, todo = folder / BLUEPRINT, folder / TODO
    for path in (blueprint, todo):
        if path.exists() or path.is_symlink():
            raise UsageError(f"'{path}' exists", hint="choose another folder, or remove the file")
    found = [read_standing(path) for path in arguments.sources]
    config = _config(blueprint)
    mapped = ImportMap() if arguments.map is None else load(arguments.map, ImportMap).value
    used = set[str]()
    found = [renamed(one, mapped.names, used) for one in found]
    if unused := [name for name in mapped.names if name not in used]:
        raise UsageError(
            f"no file has the name '{unused[0]}', which '{arguments.map}' replaces",
            hint="write it as the file has it, with its capitals and blanks",
        )
    left = [name for name, entry_id in mapped.products.items() if entry_id == LEAVE_OUT]
    said = {name: entry_id for name, entry_id in mapped.products.items() if entry_id != LEAVE_OUT}
    products = Products(
        catalogue_for(blueprint if config is None else config),
        {**said, **_said(arguments.product)},
        [*left, *arguments.leave_out],
        roles=mapped.roles,
        leave_out_unknown=arguments.leave_out_unknown,
    )
    made = make_blueprint(found, products, only=arguments.site)
    written = _write(made, blueprint, todo, arguments.sources)
    if config is not None:
        written += _list_catalogue(config, blueprint.parent)
    answer_files(arguments, written)
    return ExitCode.CLEAN


def _config(blueprint: Path) -> Path | None:
    """Return the configuration of the working directory, where that of the new folder is another one.

    Other commands find it from the working directory; a folder outside a git repository does not lead there.
    """
    from rackwright.team.place import find_config

    here = find_config(Path.cwd() / blueprint.name)
    return None if find_config(blueprint) is not None else here


def _list_catalogue(config: Path, folder: Path) -> list[Path]:
    """Write a configuration beside the blueprint that lists the catalogue of another one; its path.

    Raises:
        UsageError: it cannot be written.
    """
    import os

    import yaml

    from rackwright.cli.options.outputs import write_file
    from rackwright.team.config import listed_folders

    found = listed_folders(config, "catalogue")
    if not found:
        return []
    pins = [{"path": os.path.relpath(path, folder)} for path in found]
    path = folder / config.name
    write_file(path, yaml.safe_dump({"catalogue": pins}, sort_keys=False))
    tell(f"'{path}' lists the catalogue of '{config}', which 'check' would not find from there\n")
    return [path]


def _said(pairs: list[str]) -> dict[str, str]:
    """Return ids of products by the names of the files.

    Raises:
        UsageError: something is no pair.
    """
    said = {}
    for pair in pairs:
        name, equals, entry_id = pair.rpartition("=")
        if not equals or not name or not entry_id:
            raise UsageError(f"'{pair}' is not NAME=ID")
        said[name] = entry_id
    return said


def _write(made: TakenOver, blueprint: Path, todo: Path, sources: list[Path]) -> list[Path]:
    """Write both files, say what is in neither, and return their paths.

    Raises:
        UsageError: one cannot be written.
    """
    from rackwright.files import missing, named, undone
    from rackwright.harmless import visible
    from rackwright.render.editors import write_schema
    from rackwright.render.full_form import document_yaml
    from rackwright.render.todo import blank_layer
    from rackwright.templates.making import SCHEMA, add_modeline

    check = shlex.join(["rackwright", "check", str(blueprint), "--layer", str(todo)])
    files = ", ".join(f"'{source}'" for source in sources)
    head = [f"What stands by {files}, written by 'rackwright init --from'."]
    if made.blanks:
        head.append(
            f"It is a blueprint together with {todo.name}, which asks for what no file says."
        )
    if made.notices:
        head += ["", "What is told there and not here, or is called otherwise:"]
        head += [f"- {notice}" for notice in made.notices]
    layer = blank_layer(
        made.blanks, ["What no file says. With this file over the blueprint:", f"  {check}"]
    )
    texts = {blueprint: add_modeline(document_yaml(made.data, head))}
    if made.blanks:
        texts[todo] = layer.text
    new: list[Path] = []
    schemas = missing((blueprint.parent / SCHEMA).parent)[-1:]
    try:
        with undone(new, missing(blueprint.parent)):
            blueprint.parent.mkdir(parents=True, exist_ok=True)
            for path, text in texts.items():
                with named(path), path.open("x", encoding="utf-8", newline="") as file:
                    new.append(path)
                    file.write(text)
            new += schemas
            write_schema(blueprint.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{error.filename}' cannot be written: {reason}") from None
    for notice in made.notices[:MOST_SHOWN]:
        sys.stderr.write(f"notice: {notice}\n")
    if len(made.notices) > MOST_SHOWN:
        hidden = len(made.notices) - MOST_SHOWN
        sys.stderr.write(f"({hidden:,} more notices stand in {visible(str(blueprint))})\n")
    if made.blanks:
        fields = layer.fields
        tell(f"next: fill in the {fields} fields of {visible(str(todo))}\n      {check}\n")
    else:
        tell(f"next: rackwright check {shlex.quote(str(blueprint))}\n")
    return list(texts)
