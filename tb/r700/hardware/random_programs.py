"""Random programs of everything: trees of control flow whose statements are random groups and fetches, too."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ctm.rtl.isa.r700.fetch import SUPPORTED
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700 import flow_code, random_groups
from ctm.tb.r700.assembly import Label
from ctm.tb.r700.flow_code import Compiler
from ctm.tb.r700.hardware.limits import is_unsupported
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.random_groups import random_words
from ctm.tb.r700.random_statements import job_of
from ctm.tb.r700.statements import Assign, Export, Fetch, Statement
from ctm.tb.r700.words import Slot, Unit, group, share_read, share_write, tex, vtx

_FIRST = 16
"""Registers from here on are those of groups and fetches, so that loops keep their counters."""
_GPRS = _FIRST + random_groups.GPRS
_INPUTS, _SIDE = 4, 6
"""Inputs, and the width and height of each."""
_LDS_DWORDS = 16
_WATCHDOG = 3000
_OPERATIONS = tuple(operation.name for operation in SUPPORTED)
_ILLEGAL = "FETCH4"


class _Compiler(Compiler):
    """Writes random clauses beside some of the statements."""

    def _emit_assign(self, statement: Assign) -> None:
        super()._emit_assign(statement)
        if self._chance(0.5):
            self._groups()

    def _emit_fetch(self, statement: Fetch) -> None:
        super()._emit_fetch(statement)
        self._fetches()

    def _emit_export(self, statement: Export) -> None:
        if self._chance(0.4):
            self._fetches()
        super()._emit_export(statement)

    def _below(self, end: int) -> int:
        return int(self._generator.integers(end))

    def _register(self) -> int:
        return _FIRST + self._below(random_groups.GPRS)

    def _groups(self) -> None:
        clause = random_groups.Drawing(self._generator).clause(1 + self._below(6))
        # Where masks may change there are words that keep them.
        groups = [group(*(_moved(each) for each in slots)) for slots in clause.groups if not is_unsupported(slots)]
        if not groups:
            return
        whole, after = self._chance(0.2), Label()
        if whole:
            self.assembly.flow("PUSH", to=after)
            self.assembly.alu(*groups, kcache=clause.kcache, whole_quad_mode=1)
        else:
            self.assembly.alu(*groups, name="ALU_PUSH_BEFORE", kcache=clause.kcache)
        self._grow(branches=1)
        self.assembly.flow("POP", pop=1)
        self._grow(branches=-1)
        self.assembly.bind(after)

    def _fetches(self) -> None:
        instructions = [self._instruction() for _ in range(1 + self._below(5))]
        self.assembly.fetch(*instructions, whole_quad_mode=int(self._chance(0.2)))

    def _instruction(self) -> list[Unit]:
        target, source, kind = self._register(), self._register(), self._below(8)
        if kind == 0:
            return share_write(source, dst_stride=4, dst_index=0)
        if kind == 1:
            return share_read(target, source, src_sel_x=self._below(4), waterfall=1)
        if kind == 2:
            return vtx(target, source, 0, src_sel_x=self._below(4))
        normalised = {f"coord_type_{channel}": int(self._chance(0.5)) for channel in "xy"}
        name = _ILLEGAL if self._chance(0.01) else _OPERATIONS[self._below(len(_OPERATIONS))]
        return tex(name, target, source, self._below(_INPUTS), **normalised)


def _moved(each: Slot) -> Slot:
    """The same instruction on the other registers; what is relative goes anywhere."""

    def number(select: int, relative: bool) -> int:
        return select + _FIRST if not relative and select < random_groups.GPRS else select

    sources = tuple(replace(source, select=number(source.select, source.relative)) for source in each.sources)
    return replace(each, register=number(each.register, each.relative), sources=sources)


def _executable(generator: np.random.Generator, statements: Sequence[Statement]) -> Executable:
    dx10 = bool(generator.random() < 0.5)
    return _Compiler(generator, statements).executable(gprs=_GPRS, dx10_clamp=dx10, lds_dwords=_LDS_DWORDS)


def mixed_job(seed: int) -> Job:
    """The job of a seed."""
    job, drawing = job_of(seed)
    generator = np.random.default_rng([seed, _GPRS])
    pictures = random_words(generator, (_INPUTS, _SIDE, _SIDE, 4))
    rows = random_words(generator, (256, 4)).tolist()
    return replace(
        job,
        program=_executable(generator, drawing.program),
        floats={**{row: tuple(words) for row, words in enumerate(rows)}, **job.floats},
        inputs={number: Input(values=picture) for number, picture in enumerate(pictures)},
        watchdog=_WATCHDOG,
    )


assert flow_code.GPRS <= _FIRST
