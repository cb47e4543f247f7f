"""Lays out everything as it is written: the form that the disassembler writes."""

from collections.abc import Callable, Mapping

from ctm.rtl.isa.r700.limits import CODE_UNITS
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import CLAUSE, Draft
from ctm.sim.assembler.r700.parser.control import COUNT, set_count, starts_fetch
from ctm.sim.assembler.r700.parser.source import TOO_MANY, Source
from ctm.sim.assembler.r700.placement.layout import Code, address_of, lines_of_group, units_of
from ctm.sim.assembler.r700.syntax import Fetch, Group, Item, Pack, Statement, Unit, Word
from ctm.sim.assembler.tokens import Kind, Token

_Addresses = list[int]
"""Of each item, and after the last."""


def lay_out_as_written(source: Source) -> tuple[Code, Mapping[int, Draft], Callable[[Token], int]]:
    """The code, the CF instructions in it by their addresses, and what a target means.

    Raises
    ------
    SourceError
        A statement means nothing here, a target is not known, or the code is too long.
    """
    addresses = [0]
    for item in source.items:
        addresses.append(addresses[-1] + _size(item))
        if addresses[-1] > CODE_UNITS:
            raise SourceError(TOO_MANY, item.position)

    def resolve(target: Token) -> int:
        if target.kind is Kind.NUMBER:
            return address_of(target)
        if target.text not in source.labels:
            raise SourceError(f"there is no label {target.text}", target.position)
        return addresses[source.labels[target.text]]

    words = {}
    for address, item in zip(addresses, source.items, strict=False):
        if isinstance(item, Word):
            _finish(source, item, addresses, resolve)
            words[address] = item.draft
    return [unit for item in source.items for unit in _units(item)], words, resolve


def _size(item: Item) -> int:
    return len(_units(item))


def _units(item: Item) -> Code:
    line = item.position.line
    if isinstance(item, Fetch | Word):
        return [(unit, line) for unit in units_of(item.draft)]
    if isinstance(item, Unit):
        return [(item.words, line)]
    if isinstance(item, Statement):
        message = f"with .manual {item.keyword.name} is written as CF instructions, as in JUMP ADDR(label) POP_CNT(1)"
        raise SourceError(message, item.position)
    return [unit for group in (item.groups if isinstance(item, Pack) else [item]) for unit in _group(group)]


def _group(group: Group) -> Code:
    for instruction in group.instructions:
        for source in instruction.sources:
            if source.row is not None:
                message = f"with .manual a constant is named by its set, as in KC0[{source.row}]"
                raise SourceError(message, source.position)
    return lines_of_group(group)


def _finish(source: Source, word: Word, addresses: _Addresses, resolve: Callable[[Token], int]) -> None:
    """Write the target of a word, and how long its clause is if that is not written."""
    draft = word.draft
    if word.target is not None:
        address = resolve(word.target)
        if address >= draft.form.limit("addr"):
            raise SourceError(f"an address of this word is less than {draft.form.limit('addr')}", word.target.position)
        draft.set("addr", address)
        starts_clause = draft.form is CLAUSE or starts_fetch(draft)
        if starts_clause and COUNT not in word.written:
            set_count(draft, _count(source, word, address, addresses))
    word.override()


def _count(source: Source, word: Word, address: int, addresses: _Addresses) -> int:
    """The units, or fetch instructions, that stand at an address, up to the next label."""
    wanted = (Group, Pack) if word.draft.form is CLAUSE else (Fetch,)
    labelled = set(source.labels.values())
    count, at = 0, addresses.index(address) if address in addresses else len(source.items)
    while at < len(source.items) and isinstance(source.items[at], wanted) and (not count or at not in labelled):
        count += 1 if wanted == (Fetch,) else addresses[at + 1] - addresses[at]
        at += 1
    limit = word.draft.form.limit("count") * (1 if word.draft.form is CLAUSE else word.draft.form.limit("count_3"))
    if not 1 <= count <= limit:
        message = f"a clause of {count} units or instructions stands there, not 1 to {limit}; write CNT(...)"
        raise SourceError(message, word.position)
    return count
