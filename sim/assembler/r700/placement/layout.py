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


def place(nodes: Sequence[Node], resolve: Callable[[Token], int]) -> Code:
    """The code of a program; targets and addresses of clauses are written."""
    parts = [part for node in nodes for part in node.parts]
    body = _place_clauses(parts)
    addresses = {id(part): address for address, part in enumerate(parts)}
    for part in parts:
        if isinstance(part.target, Mark):
            assert part.target.node is not None
            part.draft.set("addr", addresses[id(part.target.node.parts[0])])
        elif part.target is not None:
            part.draft.set("addr", resolve(part.target))
        for name, value in part.overrides:
            part.draft.set(name, value)
    code = [(units_of(part.draft)[0], part.position.line) for part in parts] + body
    if len(code) > CODE_UNITS:
        raise SourceError(f"{TOO_MANY}, not {len(code)}", nodes[-1].position)
    return code


def _place_clauses(parts: Sequence[Node]) -> Code:
    """What comes behind the CF instructions."""
    body: Code = []
    for part in (part for part in parts if part.is_alu):
        part.draft.set("addr", len(parts) + len(body))
        for group in part.groups:
            body += lines_of_group(group)
    for part in (part for part in parts if part.is_fetch):
        if (len(parts) + len(body)) % FETCH_UNITS:
            body.append((_PADDING, part.position.line))
        part.draft.set("addr", len(parts) + len(body))
        for fetch in part.fetches:
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
