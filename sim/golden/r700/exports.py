"""Executes exports: to output registers, to the conditional value, to memory."""

import numpy as np

from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportOperation
from ctm.sim.golden.dpp.batch import Floats, Mask
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700 import memory
from ctm.sim.golden.r700.draws import threads
from ctm.sim.golden.r700.instruction import Export
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.registers import number_of, read_register, selected
from ctm.sim.golden.r700.state import Batch

_X = 0


def execute(batch: Batch, launch: Launch[Program], journal: Journal[Batch], export: Export, executing: Mask) -> None:
    """Execute an export for the pixels in `executing`."""
    for burst_index in range(export.burst):
        number = number_of(batch, launch.program, export.register + burst_index, relative=export.relative)
        words = read_register(batch, number)
        if not export.selects:
            _write_memory(batch, launch, journal, export, burst_index, words, executing)
        elif export.base == COMPUTED_DEPTH:
            _set_conditional(batch, launch.program, export, words, executing)
        else:
            register = launch.program.outputs.index(export.base + burst_index)
            for channel, select in enumerate(export.selects):
                if select != ComponentSelect.MASK.value:
                    np.copyto(batch.outputs[register, channel], selected(words, select), where=executing)
                    batch.written[register, channel] |= executing


def _set_conditional(batch: Batch, program: Program, export: Export, words: Floats, executing: Mask) -> None:
    select = export.selects[_X]
    if program.conditional_from_program and select != ComponentSelect.MASK.value:
        np.copyto(batch.conditional, selected(words, select), where=executing)


def _write_memory(
    batch: Batch,
    launch: Launch[Program],
    journal: Journal[Batch],
    export: Export,
    burst_index: int,
    words: Floats,
    executing: Mask,
) -> None:
    indices = None
    if export.index_register is not None:
        indices = read_register(batch, number_of(batch, launch.program, export.index_register, relative=False))
    if isinstance(launch, threads.ThreadLaunch):
        journal.wrote_ring(batch, *threads.write(launch, batch, export, burst_index, indices, words))
        return
    index = memory.index_of(indices, _X)
    if export.operation is ExportOperation.MEM_SCRATCH:
        access = memory.scratch(launch, batch, export.base + burst_index, index)
    else:
        access = memory.scatter(launch, export.base, export.size, export.element, index + burst_index)
    access = access.spread(batch.size)
    stored = memory.write(launch, export, access, words, executing & batch.valid_mask & batch.covered)
    journal.wrote_words(batch, access.address, stored)
    if journal.hazards is not None:
        batch.outstanding |= {export.acknowledged}
