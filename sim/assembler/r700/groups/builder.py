"""Puts a group together: slots, literals, words, bank swizzles; and rejects one that is illegal."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from ctm.rtl.isa.r700.alu import CONSTANT_FILE, LITERAL
from ctm.rtl.isa.r700.limits import GROUP_LITERALS, LITERALS_PER_UNIT, TRANS_SLOT
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.groups.checker import ANY_SLOTS, check
from ctm.sim.assembler.r700.groups.encoder import encode
from ctm.sim.assembler.r700.groups.ports import choose_swizzles
from ctm.sim.assembler.r700.groups.slots import assignments, check_slot, slots_of
from ctm.sim.assembler.r700.groups.view import IllegalGroupError, literal_words, views_of
from ctm.sim.assembler.r700.names import SLOTS, TRANS_SWIZZLES, VECTOR_SWIZZLES
from ctm.sim.assembler.r700.syntax import Group, Instruction

_MOST_TRIES = 24
"""Choices of slots that are tried at most."""


def build(group: Group, produced: Collection[int]) -> frozenset[int]:
    """Write the words of a group. `produced` are the slots of the group before; gives those of this one.

    Raises
    ------
    SourceError
        The group is illegal, and it is to be checked.
    """
    channels = _literals(group)
    if not group.checked:
        instructions = group.instructions
        group.drafts = [
            encode(each, slot=each.slot, channels=channels, swizzle=0, last=each is instructions[-1])
            for each in instructions
        ]
        _pad_literals(group, channels)
        return ANY_SLOTS
    error: SourceError | None = None
    for slots in islice(assignments(group), _MOST_TRIES):
        pairs = sorted(zip(slots, group.instructions, strict=True), key=lambda pair: pair[0])
        try:
            group.drafts = _drafts(pairs, channels, produced)
        except SourceError as found:
            error = error or found
        else:
            group.instructions = [instruction for _, instruction in pairs]
            _pad_literals(group, channels)
            _check_literals(group)
            return frozenset(slots)
    assert error is not None
    raise error


def _drafts(
    pairs: Sequence[tuple[int, Instruction]], channels: Mapping[int, int], produced: Collection[int]
) -> list[Draft]:
    """The words of instructions in their slots, ascending."""
    instructions = [instruction for _, instruction in pairs]
    _check_text(pairs)
    drafts = [
        encode(instruction, slot=slot, channels=channels, swizzle=0, last=instruction is instructions[-1])
        for slot, instruction in pairs
    ]
    views = views_of(drafts)
    try:
        given = slots_of(views)
        for index, (slot, _) in enumerate(pairs):
            check_slot(views[index], slot, given[index], index)
        check(views, produced)
        swizzles = choose_swizzles(views, given, [_swizzle(each) for each in instructions])
    except IllegalGroupError as illegal:
        raise SourceError(illegal.message, instructions[illegal.index].position) from None
    for draft, instruction, swizzle in zip(drafts, instructions, swizzles, strict=True):
        draft.set("bank_swizzle", swizzle)
        for name, value in instruction.overrides:
            draft.set(name, value)
    return drafts


def _check_text(pairs: Sequence[tuple[int, Instruction]]) -> None:
    """What can be said of the text alone."""
    for slot, instruction in pairs:
        if instruction.swizzle is not None and instruction.trans_swizzle != (slot == TRANS_SLOT):
            names = (TRANS_SWIZZLES if slot == TRANS_SLOT else VECTOR_SWIZZLES).values()
            message = f"the bank swizzles of slot {SLOTS[slot]} are {', '.join(names)}"
            raise SourceError(message, instruction.position)
    for source in (source for _, each in pairs for source in each.sources):
        if source.select >= CONSTANT_FILE and source.row is None:
            raise SourceError("this machine has no constant file: write C0 to C255", source.position)


def _swizzle(instruction: Instruction) -> int | None:
    """The bank swizzle that is written, by its name or as a field."""
    return dict(instruction.overrides).get("bank_swizzle", instruction.swizzle)


def _literals(group: Group) -> dict[int, int]:
    """Which literal holds each word that the group's operands name, in the order of the text."""
    words = [(source.literal, source) for each in group.instructions for source in each.sources]
    if group.literals is not None:
        channels = {word: channel for channel, word in reversed(list(enumerate(group.literals)))}
    else:
        named = [source.channel for word, source in words if source.select == LITERAL and word is None]
        if named and group.checked:
            source = next(source for word, source in words if source.select == LITERAL and word is None)
            raise SourceError("LIT.x names a word of .literals, which stands after the group", source.position)
        found = list(dict.fromkeys(word for word, _ in words if word is not None))
        channels = {word: channel for channel, word in enumerate(found)}
    for word, source in words:
        if word is not None and word not in channels:
            raise SourceError(f"0x{word:08x} is not among the group's .literals", source.position)
        if word is not None and channels[word] >= GROUP_LITERALS:
            message = f"a group has at most {GROUP_LITERALS} words of literals: move one to another group"
            raise SourceError(message, source.position)
    return channels


def _pad_literals(group: Group, channels: Mapping[int, int]) -> None:
    """The words after the instructions: whole units."""
    words = list(channels if group.literals is None else group.literals)
    group.values = (*words, *[0] * (-len(words) % LITERALS_PER_UNIT))


def _check_literals(group: Group) -> None:
    """The machine takes as many words as the operands name."""
    needed = literal_words(views_of(group.drafts))
    if needed + -needed % LITERALS_PER_UNIT != len(group.values):
        message = f"the group's operands name {needed} words of literals, so there cannot be {len(group.values)}"
        raise SourceError(message, group.position)
