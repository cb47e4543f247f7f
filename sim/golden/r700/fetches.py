"""Executes the instructions of fetch clauses."""

from ctm.sim.golden.dpp.batch import Floats, Mask
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700 import memory, share, texture, vertex
from ctm.sim.golden.r700.draws import threads
from ctm.sim.golden.r700.instruction import (
    BufferFetch,
    Fetch,
    FetchInstruction,
    MemoryRead,
    ShareRead,
    ShareWrite,
    Texture,
    Vertex,
)
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.registers import number_of, read_register, write_register
from ctm.sim.golden.r700.state import Batch


class Fetches:
    """Executes them for batches of one launch."""

    def __init__(self, launch: Launch[Program], journal: Journal[Batch]) -> None:
        self._launch = launch
        self._journal = journal

    def execute(self, batch: Batch, instruction: FetchInstruction, executing: Mask) -> None:
        """Execute one instruction for the pixels in `executing` [n].

        Raises
        ------
        BusError
            One of them got an error response; nothing was changed.
        """
        if isinstance(instruction, ShareWrite):
            for burst_index in range(instruction.burst):
                number = number_of(batch, self._launch.program, instruction.source + burst_index, relative=False)
                share.write(batch, instruction, burst_index, read_register(batch, number), executing)
            return
        source = self._source(batch, instruction)
        if isinstance(instruction, ShareRead):
            # All addresses are those before the first register is written.
            results = [share.read(batch, instruction, burst_index, source) for burst_index in range(instruction.burst)]
        elif isinstance(instruction, BufferFetch):
            assert isinstance(self._launch, threads.ThreadLaunch)
            # Memory is read for vertices that there are: the others of the last wavefront are not covered.
            found, addresses, reading = threads.fetch(
                self._launch, batch, instruction, source, executing & batch.covered
            )
            tell = self._journal.read_ring if instruction.buffer is None else self._journal.read_words
            tell(batch, addresses, reading)
            results = [found]
        elif isinstance(instruction, MemoryRead):
            results = self._read_memory(batch, instruction, source, executing)
        else:
            results = self._fetch(batch, instruction, source, executing)
        for burst_index, components in enumerate(results):
            number = number_of(
                batch,
                self._launch.program,
                instruction.destination + burst_index,
                relative=instruction.destination_relative,
            )
            write_register(batch, number, components, instruction.selects, executing)

    def _source(self, batch: Batch, instruction: Fetch) -> Floats:
        number = number_of(batch, self._launch.program, instruction.source, relative=instruction.source_relative)
        return read_register(batch, number)

    def _fetch(self, batch: Batch, instruction: Texture | Vertex, source: Floats, executing: Mask) -> list[Floats]:
        launch = self._launch
        if isinstance(instruction, Vertex):
            found = vertex.fetch(
                instruction, source, launch.inputs, launch.program.constants, executing,
                first_row=launch.program.information.constant_row,
            )  # fmt: skip
        else:
            fetched = texture.fetch(instruction, source, launch.inputs, executing)
            if fetched is None:
                return []
            found = fetched
        components, addresses = found
        if addresses:
            assert instruction.input is not None
            self._journal.read(batch, launch.inputs.buffers[instruction.input], addresses)
        return [components]

    def _read_memory(self, batch: Batch, instruction: MemoryRead, source: Floats, executing: Mask) -> list[Floats]:
        index = memory.index_of(None if instruction.component is None else source, instruction.component or 0)
        results = []
        for burst_index in range(instruction.burst):
            if instruction.scratch:
                access = memory.scratch(self._launch, batch, instruction.base + burst_index, index)
            else:
                access = memory.scatter(
                    self._launch, instruction.base, instruction.size, instruction.element, index + burst_index
                )
            access = access.spread(batch.size)
            results.append(memory.read(self._launch, access, executing))
            # Reads of other pixels have no effect.
            watched = access.inside & executing & batch.covered & batch.valid_mask
            self._journal.read_words(batch, access.address, watched)
        return results
