"""Gives everything its address: all CF instructions, then the ALU clauses, then the fetch clauses."""

from collections.abc import Callable, Sequence

from ctm.rtl.isa.r700.limits import CODE_UNITS, FETCH_UNITS, UNIT_WORDS
from ctm.sim.assembler.cursor import number
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.parser.source import TOO_MANY
from ctm.sim.assembler.r700.placement.nodes import Mark, Node
from ctm.sim.assembler.r700.syntax import Group
from ctm.sim.assembler.tokens import Token
from ctm.sim.elf.r700.executable import Unit

Code = list[tuple[Unit, int]]
"""Units with the lines of the text that they come from."""
_PADDING: Unit = (0,) * UNIT_WORDS


def lay_out(nodes: Sequence[Node], resolve: Callable[[Token], int]) -> Code:
    """The code of a program; targets and addresses of clauses are written."""
    words = [word for node in nodes for word in node.words]
    body = _lay_out_clauses(words)
    addresses = {id(word): address for address, word in enumerate(words)}
    for word in words:
        if isinstance(word.target, Mark):
            assert word.target.node is not None
            word.draft.set("addr", addresses[id(word.target.node.words[0])])
        elif word.target is not None:
            word.draft.set("addr", resolve(word.target))
        for name, value in word.overrides:
            word.draft.set(name, value)
    code = [(units_of(word.draft)[0], word.position.line) for word in words] + body
    if len(code) > CODE_UNITS:
        raise SourceError(f"{TOO_MANY}, not {len(code)}", nodes[-1].position)
    return code


def _lay_out_clauses(words: Sequence[Node]) -> Code:
    """The code after the CF instructions."""
    body: Code = []
    for word in (word for word in words if word.is_alu):
        word.draft.set("addr", len(words) + len(body))
        for group in word.groups:
            body += lines_of_group(group)
    for word in (word for word in words if word.is_fetch):
        if (len(words) + len(body)) % FETCH_UNITS:
            body.append((_PADDING, word.position.line))
        word.draft.set("addr", len(words) + len(body))
        for fetch in word.fetches:
            body += ((unit, fetch.position.line) for unit in units_of(fetch.draft))
    return body


def lines_of_group(group: Group) -> Code:
    """The units of a group; its literals come from its last line."""
    lines = [each.position.line for each in group.instructions]
    lines += [lines[-1]] * (len(group.words) - len(lines))
    return list(zip(group.words, lines, strict=True))


def units_of(draft: Draft) -> list[Unit]:
    """An instruction as units of code."""
    return [tuple(draft.words[at : at + UNIT_WORDS]) for at in range(0, len(draft.words), UNIT_WORDS)]


def address_of(target: Token) -> int:
    """An address that is written as a number."""
    value = number(target)
    if not isinstance(value, int) or value >= 1 << 32:
        raise SourceError(f"an address is a whole number of 32 bits, not {target.text}", target.position)
    return value
