"""Cuts clauses that are too long for the machine.

An ALU clause has so many units and so many lines of constants, a fetch clause so many instructions. PV, PS, the address
register and the predicate end with their clause, so a clause is cut where none of them is needed later.
"""

from collections.abc import Sequence

from ctm.rtl.isa.r700.control_flow import AluClause
from ctm.rtl.isa.r700.limits import ALU_CLAUSE_UNITS, FETCH_CLAUSE_INSTRUCTIONS
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.parser.control import set_count
from ctm.sim.assembler.r700.placement.constants import (
    Locks,
    choose_locks,
    lines_of,
    select_rows,
    write_locks,
    written_locks,
)
from ctm.sim.assembler.r700.placement.lifetime import needed_after
from ctm.sim.assembler.r700.placement.nodes import Node
from ctm.sim.assembler.r700.placement.usage import read_by_fetch, written_by_fetch
from ctm.sim.assembler.r700.syntax import Group

_NO_SET = "no kcache set is left for a constant of this group: its clause locks others with KCACHE0 and KCACHE1"
_FIRST_ONLY = (AluClause.ALU_PUSH_BEFORE.value,)
_LAST_ONLY = (AluClause.ALU_POP_AFTER.value, AluClause.ALU_POP2_AFTER.value, AluClause.ALU_ELSE_AFTER.value)


def cut(node: Node) -> None:
    """Write the counts and locks of a node's clause, in as many words as are needed.

    Raises
    ------
    SourceError
        It would have to be cut where it cannot be.
    """
    if node.is_alu:
        _cut_alu(node)
    elif node.is_fetch:
        _cut_fetch(node)
    else:
        node.words = [node]
    for word in node.words:
        for name, value in word.overrides:
            word.draft.set(name, value)


def _cut_alu(node: Node) -> None:
    written = written_locks(node.draft)
    needed = needed_after(node.groups)
    begin = 0
    if needed and needed[0]:
        message = "PV and PS are not known here: a clause begins with this group"
        raise SourceError(message, node.groups[0].position)
    while begin < len(node.groups):
        end = _reach(node.groups, begin, written)
        reason = ""
        while end < len(node.groups) and needed[end]:
            reason = reason or needed[end]
            end -= 1
            if end == begin:
                _fail(node.groups, begin, written, reason)
        word = node.split_off(groups=node.groups[begin:end])
        _finish(word, written)
        node.words.append(word)
        begin = end
    operation = node.draft.get("cf_inst")
    for number, word in enumerate(node.words):
        is_plain = (operation in _FIRST_ONLY and number) or (operation in _LAST_ONLY and word is not node.words[-1])
        if is_plain:
            word.draft.set("cf_inst", AluClause.ALU.value)


def _reach(groups: Sequence[Group], begin: int, written: Locks) -> int:
    """The group after the last that fits a clause which begins with `begin`."""
    units, lines = 0, frozenset[int]()
    for end in range(begin, len(groups)):
        units += len(groups[end].words)
        lines |= lines_of(groups[end])
        if units > ALU_CLAUSE_UNITS or choose_locks(lines, written) is None:
            if end == begin:
                raise SourceError(_NO_SET, groups[end].position)
            return end
    return len(groups)


def _fail(groups: Sequence[Group], begin: int, written: Locks, reason: str) -> None:
    at = min(_reach(groups, begin, written), len(groups) - 1)
    message = (
        f"the clause is too long, or locks too many lines of constants, and cannot be cut before this group: {reason}; "
        "write the value to a register, or set it again"
    )
    raise SourceError(message, groups[at].position)


def _finish(word: Node, written: Locks) -> None:
    lines = frozenset[int]().union(*(lines_of(group) for group in word.groups))
    locks = choose_locks(lines, written)
    assert locks is not None
    write_locks(word.draft, locks)
    for group in word.groups:
        select_rows(group, locks)
    set_count(word.draft, sum(len(group.words) for group in word.groups))


def _cut_fetch(node: Node) -> None:
    """At the limit, and before an instruction that needs the result of an earlier one, as compilers do."""
    word = node.split_off()
    for fetch in node.fetches:
        depends = any(_depends(fetch.draft, earlier.draft) for earlier in word.fetches)
        if len(word.fetches) == FETCH_CLAUSE_INSTRUCTIONS or depends:
            node.words.append(word)
            word = node.split_off()
        word.fetches.append(fetch)
    node.words.append(word)
    for word in node.words:
        set_count(word.draft, len(word.fetches))


def _depends(draft: Draft, earlier: Draft) -> bool:
    return bool(read_by_fetch(draft) & written_by_fetch(earlier))
