"""A program of LLVM's with its ALU clauses in fewer groups."""

from dataclasses import replace

from ctm.rtl.isa.r700 import control_flow
from ctm.rtl.isa.r700.limits import ALU_CLAUSE_UNITS
from ctm.rtl.isa.word import replace as with_fields
from ctm.sim.compiler.r700.order.decoding import Clause, UnknownError, decode
from ctm.sim.compiler.r700.order.encoding import Units, encoded
from ctm.sim.compiler.r700.order.lifting import lifted
from ctm.sim.compiler.r700.order.liveness import Components, live_after
from ctm.sim.compiler.r700.order.operations import FixedError
from ctm.sim.compiler.r700.order.schedule import Scheduler
from ctm.sim.compiler.r700.order.shortening import shorten
from ctm.sim.elf.lines import Lines
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.words import words


def ordered(executable: Executable) -> Executable:
    """A program that does the same in fewer groups.

    It is unchanged where address registers choose registers, and where its ALU clauses are not after all else; each
    clause where the groups would not be fewer.
    """
    found = list(words(executable.code, executable.start))
    arithmetic = [word for word in found if word.is_alu]
    starts = [word.fields["addr"] for word in arithmetic]
    last_other = max(
        word.address if not word.units or word.is_alu else word.fields["addr"] + word.units - 1 for word in found
    )
    if not starts or last_other >= min(starts) or len(set(starts)) < len(starts):
        return executable
    try:
        clauses = {word.address: decode(executable.code, word, executable.lines) for word in arithmetic}
        live = live_after(executable.code, found, clauses)
    except UnknownError:
        return executable
    lines = executable.lines.units if executable.lines else (None,) * len(executable.code)
    first = min(starts)
    units: Units = list(zip(executable.code[:first], lines[:first], strict=True))
    for word in arithmetic:
        start = word.fields["addr"]
        old = list(zip(executable.code[start : start + word.units], lines[start : start + word.units], strict=True))
        new = _better(clauses[word.address], live[word.address], executable.gprs, old)
        low, high = units[word.address][0]
        low = with_fields(control_flow.CF_ALU_DWORD0, low, addr=len(units))
        high = with_fields(control_flow.CF_ALU_DWORD1, high, count=len(new) - 1)
        units[word.address] = (low, high), units[word.address][1]
        units += new
    table = Lines(tuple(line for _, line in units)) if executable.lines else None
    return replace(executable, code=tuple(unit for unit, _ in units), lines=table)


def _better(clause: Clause, live: Components, gprs: int, old: Units) -> Units:
    """The units of a clause in the order that takes fewer groups."""
    try:
        operations = lifted(clause, live)
        shorten(operations)
        scheduler = Scheduler(operations, gprs)
        groups = scheduler.run()
    except FixedError:
        return old
    units = [unit for group in groups for unit in encoded(group, scheduler.components)]
    return units if len(groups) < len(clause.groups) and 0 < len(units) <= ALU_CLAUSE_UNITS else old
