"""Writes ALU instructions and groups of them as text."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS, LITERAL
from ctm.rtl.isa.r700.limits import TRANS_SLOT
from ctm.rtl.isa.r700.operations import Slots
from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.r700.form import OP2, Draft
from ctm.sim.assembler.r700.groups.builder import build
from ctm.sim.assembler.r700.groups.encoder import encode
from ctm.sim.assembler.r700.groups.slots import slots_of
from ctm.sim.assembler.r700.groups.view import IllegalGroupError, View, operand_text, register_text, views_of
from ctm.sim.assembler.r700.names import (
    COMPONENTS,
    OMOD_NAMES,
    PREDICATE_NAMES,
    SLOTS,
    TRANS_SWIZZLES,
    VECTOR_SWIZZLES,
)
from ctm.sim.assembler.r700.parser.arithmetic import parse_instruction
from ctm.sim.assembler.r700.parser.numbers import INLINE_BY_NAME, INLINE_BY_WORD, SIGN, text_of
from ctm.sim.assembler.r700.parser.source import CHECKED, LITERALS, UNCHECKED, parse
from ctm.sim.assembler.r700.printer.fitting import cursor_of, with_overrides, words_text
from ctm.sim.assembler.r700.syntax import Group

_NO_SLOT = None
_ANYWHERE = Position(1, 1)
_MASKED = "____"


@dataclass(frozen=True)
class Words:
    """A group by its words: its instructions, and its literals as far as the clause has them."""

    drafts: tuple[Draft, ...]
    literals: tuple[int, ...]

    @property
    def units(self) -> list[tuple[int, int]]:
        """As units of code."""
        return Group(_ANYWHERE, drafts=list(self.drafts), values=self.literals).words


@dataclass(frozen=True)
class _Style:
    """How much of a group is written: whether it is checked, and whether literals and bank swizzles are chosen."""

    checked: bool
    literals: bool
    swizzles: bool


_STYLES = (
    _Style(checked=True, literals=False, swizzles=False),
    _Style(checked=True, literals=False, swizzles=True),
    _Style(checked=True, literals=True, swizzles=False),
    _Style(checked=True, literals=True, swizzles=True),
    _Style(checked=False, literals=True, swizzles=True),
)
"""The most readable first."""


def group_text(words: Words, number: int, produced: Collection[int]) -> tuple[list[str], frozenset[int]] | None:
    """The lines of a group, and the slots that it produces; None if no text means it.

    `produced` are the slots of the group before, empty at the beginning of a clause.
    """
    slots = _slots(words.drafts)
    for style in _STYLES:
        lines = list(_lines(words, slots, number, style))
        lines = lines if style.checked else [UNCHECKED, *lines, CHECKED]
        try:
            group = _parsed(lines)
            found = build(group, produced)
        except SourceError:
            continue
        if group.words == words.units:
            return lines, found
    return None


def _parsed(lines: Sequence[str]) -> Group:
    def fail(error: SourceError) -> None:
        raise error

    (group,) = parse("\n".join(lines), fail).items
    assert isinstance(group, Group)
    return group


def _slots(drafts: Sequence[Draft]) -> list[int | None]:
    """The slots of a group; of an illegal one those that it looks like."""
    views = views_of(drafts)
    try:
        return list(slots_of(views))
    except IllegalGroupError:
        found: list[int | None] = []
        for view in views:
            is_trans = view.operation is not None and view.operation.slots is Slots.TRANS
            slot = TRANS_SLOT if is_trans or view.channel in found else view.channel
            found.append(_NO_SLOT if slot in found else slot)
        return found


def _lines(words: Words, slots: Sequence[int | None], number: int, style: _Style) -> Iterator[str]:
    for at, (draft, slot) in enumerate(zip(words.drafts, slots, strict=True)):
        begin = f"{number:4} " if at == 0 else " " * 5
        prefix = f"{begin}{'?' if slot is None else SLOTS[slot]}: "
        last = at == len(words.drafts) - 1
        yield prefix + _instruction(View(draft), slot, words.literals, style, last=last)
    if style.literals and words.literals:
        yield f"{' ' * 5}{LITERALS} {words_text(words.literals)}"


def _instruction(view: View, slot: int | None, literals: Sequence[int], style: _Style, *, last: bool) -> str:
    draft = view.draft
    omod = OMOD_NAMES[draft.get("omod")] if draft.form is OP2 and draft.get("omod") else ""
    sources = [_source(view, number, literals, style) for number in range(len(view.operands))]
    text = f"{view.name}{omod} {', '.join([_destination(view, slot), *sources])}{_flags(view, slot, style)}"
    instruction = parse_instruction(cursor_of(text), slot)
    channels = {source.literal: draft.get(f"src{number}_chan") for number, source in enumerate(instruction.sources)}
    known = {word: channel for word, channel in channels.items() if word is not None}
    swizzle = 0 if style.swizzles else draft.get("bank_swizzle")
    found = encode(instruction, slot=slot, channels=known, swizzle=swizzle, last=last)
    return with_overrides(text, found, draft)


def _destination(view: View, slot: int | None) -> str:
    draft, letter = view.draft, f".{COMPONENTS[view.channel]}"
    register = register_text(draft.get("dst_gpr"), draft.get("index_mode") if draft.get("dst_rel") else None)
    if view.writes:
        return register + letter
    if draft.get("dst_gpr") or draft.get("dst_rel"):
        return f"_{register}{letter}"
    return _MASKED if slot == view.channel else _MASKED + letter


def _flags(view: View, slot: int | None, style: _Style) -> str:
    draft = view.draft
    found = ["CLAMP"] if draft.get("clamp") else []
    found += ["UPDATE_EXEC_MASK"] if view.flag("update_execute_mask") else []
    found += ["UPDATE_PRED"] if view.flag("update_pred") else []
    found += [PREDICATE_NAMES[draft.get("pred_sel")]] if draft.get("pred_sel") in PREDICATE_NAMES else []
    names = TRANS_SWIZZLES if slot == TRANS_SLOT else VECTOR_SWIZZLES
    if style.swizzles and draft.get("bank_swizzle") in names:
        found.append(names[draft.get("bank_swizzle")])
    return "".join(f" {flag}" for flag in found)


def _source(view: View, number: int, literals: Sequence[int], style: _Style) -> str:
    operand, draft = view.operand(number), view.draft
    negate = bool(draft.get(f"src{number}_neg"))
    absolute = view.draft.form is OP2 and bool(draft.get(f"src{number}_abs"))
    if operand.select == LITERAL and not style.literals and operand.channel < len(literals):
        return _literal(literals[operand.channel], negate=negate, absolute=absolute)
    if operand.select in INLINE_CONSTANTS:
        return _inline(operand.select, operand.channel, negate=negate, absolute=absolute)
    return _modified(operand_text(operand, draft.get("index_mode")), negate=negate, absolute=absolute)


def _modified(text: str, *, negate: bool, absolute: bool) -> str:
    return f"{'-' if negate else ''}{f'|{text}|' if absolute else text}"


def _literal(word: int, *, negate: bool, absolute: bool) -> str:
    text = text_of(word)
    is_inline = word in INLINE_BY_WORD or word ^ SIGN in INLINE_BY_WORD
    if negate or absolute or is_inline:
        return _modified(f"LIT({text})", negate=negate, absolute=absolute)
    return text


def _inline(select: int, channel: int, *, negate: bool, absolute: bool) -> str:
    """An inline constant: as a number where a number means it."""
    name, word = INLINE_CONSTANTS[select]
    is_plain = not negate and not absolute
    if word == 0 and negate and not absolute and name.lower() not in INLINE_BY_NAME:
        name = "0.0"
    if is_plain and word in INLINE_BY_WORD and "INT" in name:
        name = text_of(word) if word < SIGN else str(word - 2 * SIGN)
    letter = f".{COMPONENTS[channel]}" if channel else ""
    return _modified(name + letter, negate=negate, absolute=absolute)
