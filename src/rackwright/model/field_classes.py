"""What a field of a blueprint may be, and how the classes of a model's fields are written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackwright.model.milder import Milder


class FieldClass(StrEnum):
    """What a field is."""

    HARDWARE = "hardware"
    CLAIM = "claim"
    SETTING = "setting"


@dataclass(frozen=True)
class Fields:
    """The classes of a model's fields.

    Attributes:
        hardware: names of fields that hold what is bought, built or set up, or what is called so.
        parts: names of fields that hold models of things, or lists of them. Each field of such a
            model has its own class.
        statements: the same for models that are no things but words on the one around them.
        asked: the same for lists of what an owner asks for: an entry less is milder.
        claims: the direction that is milder, by field.
        settings: the same.
        identity: the fields that tell an entry of a list from the others.
        about: the fields that say what its claims are about. Where one changes, the base has said
            nothing of what is there now.
    """

    hardware: str = ""
    parts: str = ""
    statements: str = ""
    asked: str = ""
    claims: Mapping[str, Milder] = field(default_factory=dict)
    settings: Mapping[str, Milder] = field(default_factory=dict)
    identity: tuple[str, ...] = ("name",)
    about: tuple[str, ...] = ()

    def names(self) -> Iterator[str]:
        """Every field that has a class, as often as it has one."""
        for words in (self.hardware, self.parts, self.statements, self.asked):
            yield from words.split()
        yield from self.claims
        yield from self.settings

    def class_of(self, name: str) -> FieldClass:
        """The class of a field."""
        if name in self.claims or name in self.statements.split():
            return FieldClass.CLAIM
        if name in self.settings or name in self.asked.split():
            return FieldClass.SETTING
        return FieldClass.HARDWARE

    def milder(self, name: str) -> Milder | None:
        """What is milder of a claim or a setting; None of anything else."""
        return self.claims.get(name) or self.settings.get(name)
