"""Which lines of constants a clause locks."""

from collections.abc import Collection, Sequence

from ctm.rtl.isa.r700.alu import KCACHE_0, KCACHE_END
from ctm.rtl.isa.r700.control_flow import KcacheMode
from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS, KCACHE_SET_ROWS, KCACHE_SETS
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.parser.control import LOCKED_LINES, lock
from ctm.sim.assembler.r700.syntax import Group, Instruction, Lock, Source

Locks = list[Lock | None]
"""What is locked for each set."""


def written_locks(clause: Draft) -> Locks:
    """What the text locks for a clause."""
    found: Locks = []
    for number in range(KCACHE_SETS):
        bank, line, mode = (clause.get(f"kcache_{field}{number}") for field in ("bank", "addr", "mode"))
        found.append(Lock(bank=bank, line=line, mode=mode) if mode != KcacheMode.NOP.value else None)
    return found


def lines_of(group: Group) -> frozenset[int]:
    """The lines of bank 0 that a group reads by rows."""
    return frozenset(source.row // KCACHE_LINE_ROWS for _, _, source in _sources(group) if source.row is not None)


def choose_locks(lines: Collection[int], written: Locks) -> Locks | None:
    """Locks for lines of bank 0, beside those that are written; None if the sets are too few."""
    found = list(written)
    for line in sorted(lines):
        if any(_reaches(each, line) for each in found):
            continue
        if None not in found:
            return None
        mode = KcacheMode.LOCK_2 if line + 1 in lines else KcacheMode.LOCK_1
        found[found.index(None)] = Lock(bank=0, line=line, mode=mode.value)
    return found


def _reaches(each: Lock | None, line: int) -> bool:
    if each is None or each.bank or each.mode == KcacheMode.LOCK_LOOP_INDEX.value:
        return False
    return each.line <= line < each.line + LOCKED_LINES[KcacheMode(each.mode)]


def write_locks(clause: Draft, locks: Locks) -> None:
    """Write what is locked into the word of a clause."""
    for number, each in enumerate(locks):
        if each is not None:
            lock(clause, number, bank=each.bank, line=each.line, mode=each.mode)


def select_rows(group: Group, locks: Locks) -> None:
    """Write the selects of constants that are given by rows.

    Raises
    ------
    SourceError
        A constant that is given by its set is not locked.
    """
    for number, instruction, source in _sources(group):
        draft = group.drafts[group.instructions.index(instruction)]
        field = f"src{number}_sel"
        if source.row is not None and field not in dict(instruction.overrides):
            draft.set(field, _select(source.row, locks))
        elif source.row is None and KCACHE_0 <= source.select < KCACHE_END and group.checked:
            _check(source, locks)


def _select(row: int, locks: Locks) -> int:
    line = row // KCACHE_LINE_ROWS
    number, found = next((number, each) for number, each in enumerate(locks) if each and _reaches(each, line))
    return KCACHE_0 + KCACHE_SET_ROWS * number + row - KCACHE_LINE_ROWS * found.line


def _check(source: Source, locks: Locks) -> None:
    number, row = divmod(source.select - KCACHE_0, KCACHE_SET_ROWS)
    found = locks[number]
    rows = 0 if found is None else LOCKED_LINES[KcacheMode(found.mode)] * KCACHE_LINE_ROWS
    if row >= rows:
        message = (
            f"set {number} has no row {row}: lock it with KCACHE{number}(CB0:0-{2 * KCACHE_LINE_ROWS - 1}) on the "
            f"clause's word, or name the constant by its row, as in C{row}"
        )
        raise SourceError(message, source.position)


def _sources(group: Group) -> Sequence[tuple[int, Instruction, Source]]:
    return [
        (number, instruction, source)
        for instruction in group.instructions
        for number, source in enumerate(instruction.sources)
    ]
