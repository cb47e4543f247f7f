"""A draw's programs before the raster: what their threads begin with, read and write.

A thread is a vertex, a primitive, or a vertex that was emitted. See golden's `draws.threads`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from llvmlite import ir

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.exports import STREAM_WRITES, ExportOperation
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.r700.draws.elements import components
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, LONG, POINTER, Value
from ctm.sim.golden.r700.instruction import BufferFetch, Export


class ThreadSlot(IntEnum):
    """Entries of the table of threads, 64 bits each. Arrays by vector also have lanes without a thread."""

    STARTS = 0
    """Points at what registers hold, words [vectors, registers, lanes]."""
    RESULTS = auto()
    """Points at what was exported, words [vectors, outputs, 4, lanes]."""
    RING = auto()
    """Points at the ring that is read, words."""
    RING_BYTES = auto()
    """The size of that ring."""
    WRITTEN = auto()
    """Points at the ring that is written, words [threads, dwords of an item]."""
    COUNTS = auto()
    """Points at the number of vertices that each thread emitted, words [vectors, lanes]."""
    CUTS = auto()
    """Points at bytes, 1 where a strip ends before vertex n, [threads, most emitted + 1]."""
    MEMORY = auto()
    """Points at byte 0 of the machine's memory."""
    FIRST_INSTANCE = auto()
    """What `by_instance` adds to an index."""
    BUFFERS = auto()
    """Points at address, size and stride of each vertex buffer, in bytes, 64 bits each."""
    STREAMS = auto()
    """Points at pointers to the words of each stream and to a byte for each that was written, [threads, stride]."""


@dataclass(frozen=True, kw_only=True)
class Threaded:
    """All that the translation of such a program depends on, beside the program.

    `registers` are those that hold something at the start, by number and channel. `outputs` are the program's, by
    number. `item` is the dwords that a thread has of the ring that is written, `strides` those of each stream.
    `most_emitted` is the most vertices that a thread may emit, None if none may.
    """

    stage: DrawStage
    registers: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]
    item: int
    strides: tuple[int, ...]
    most_emitted: int | None


class Threads:
    """Translates what only these programs do, where the kernel's builder stands."""

    def __init__(self, kernel: Kernel, threaded: Threaded) -> None:
        self._kernel, self._lanes, self._threaded = kernel, kernel.lanes, threaded
        self._table = kernel.parameter(Slot.THREADS, POINTER)
        self._count = kernel.lanes.builder.alloca(kernel.lanes.integers)

    def begin(self) -> Iterator[tuple[int, int, Value]]:
        """What threads begin with: register, channel, words."""
        self._lanes.builder.store(self._lanes.none, self._count)
        starts, count = self._given(ThreadSlot.STARTS, POINTER), len(self._threaded.registers)
        for row, (register, channel) in enumerate(self._threaded.registers):
            loaded = self._lanes.builder.load(self._row(starts, count, row), typ=self._lanes.integers)
            loaded.align = WORD_BYTES
            yield register, channel, loaded

    def fetch(self, instruction: BufferFetch, index: Value) -> list[Value]:
        """The four words of each lane's element; one that is not in the buffer as a whole is 0.

        `index` counts elements of a vertex buffer, dwords of the ring.
        """
        lanes, builder = self._lanes, self._lanes.builder
        wide = builder.zext(index, lanes.longs)
        if instruction.buffer is None:
            base, size = self._given(ThreadSlot.RING, POINTER), self._given(ThreadSlot.RING_BYTES, LONG)
            byte, address = builder.mul(wide, lanes.long(WORD_BYTES)), ir.Constant(LONG, 0)
        else:
            base = self._given(ThreadSlot.MEMORY, POINTER)
            address, size, stride = self._buffer(instruction.buffer)
            if instruction.by_instance:
                wide = builder.add(wide, lanes.splat(self._given(ThreadSlot.FIRST_INSTANCE, LONG)))
            byte = builder.mul(wide, lanes.splat(stride))
        byte = builder.add(byte, lanes.long(instruction.offset))
        end = builder.add(byte, lanes.long(instruction.element.element_bytes))
        inside = builder.icmp_unsigned("<=", end, lanes.splat(size))
        byte = builder.and_(byte, lanes.long(-instruction.element.channel_bytes))
        at = builder.add(lanes.splat(address), lanes.choose(inside, byte, lanes.long(0)))
        pointers = [builder.gep(base, [scalar], source_etype=BYTE) for scalar in lanes.scalars(at)]
        return components(lanes, instruction.element, pointers, inside)

    def write(
        self, export: Export, burst_index: int, words: Sequence[Value], index: Value | None, executing: Value
    ) -> None:
        """Execute MEM_RING or MEM_STREAM for register `burst_index`; a dword beyond the thread's item is lost."""
        lanes, builder = self._lanes, self._lanes.builder
        stride, targets = self._target(export)
        if not stride:
            return
        first = lanes.long(export.base + burst_index * export.element)
        if index is not None:
            step = builder.mul(builder.zext(index, lanes.longs), lanes.long(export.element))
            first = builder.add(first, step)
        own = builder.mul(builder.zext(self._kernel.x, lanes.longs), lanes.long(stride))
        chosen = builder.and_(executing, self._kernel.covered)
        for channel in export.mask:
            dword = builder.add(first, lanes.long(channel))
            exists = lanes.mask(builder.icmp_unsigned("<", dword, lanes.long(stride)))
            at, gates = lanes.scalars(builder.add(own, dword)), lanes.scalars(builder.and_(chosen, exists))
            for number, gate, word in zip(at, gates, lanes.scalars(words[channel]), strict=True):
                with builder.if_then(builder.icmp_signed("!=", gate, ir.Constant(INT, 0))):
                    builder.store(word, builder.gep(targets[0], [number], source_etype=INT))
                    for marks in targets[1:]:
                        builder.store(ir.Constant(BYTE, 1), builder.gep(marks, [number], source_etype=BYTE))

    def emit(self, operation: CfOperation, mask: Value) -> None:
        """EMIT_VERTEX, CUT_VERTEX or both; vertices beyond the most that may be emitted are lost."""
        lanes, builder, most = self._lanes, self._lanes.builder, self._threaded.most_emitted
        assert most is not None
        mask = builder.and_(mask, self._kernel.covered)
        count = builder.load(self._count, typ=lanes.integers)
        if operation is not CfOperation.CUT_VERTEX:
            following = lanes.apply("umin", builder.add(count, lanes.integer(1)), lanes.integer(most))
            count = lanes.where(mask, following, count)
            builder.store(count, self._count)
        if operation is CfOperation.EMIT_VERTEX:
            return
        cuts = self._given(ThreadSlot.CUTS, POINTER)
        own = builder.mul(builder.zext(self._kernel.x, lanes.longs), lanes.long(most + 1))
        at = builder.add(own, builder.zext(count, lanes.longs))
        for number, gate in zip(lanes.scalars(at), lanes.scalars(mask), strict=True):
            with builder.if_then(builder.icmp_signed("!=", gate, ir.Constant(INT, 0))):
                builder.store(ir.Constant(BYTE, 1), builder.gep(cuts, [number], source_etype=BYTE))

    def finish(self, outputs: Sequence[Sequence[Value]]) -> None:
        """Keep what threads that ended exported: the four words of each output."""
        self._store(ThreadSlot.RESULTS, [word for words in outputs for word in words])
        if self._threaded.most_emitted is not None:
            self._store(ThreadSlot.COUNTS, [self._lanes.builder.load(self._count, typ=self._lanes.integers)])

    def _store(self, slot: ThreadSlot, vectors: Sequence[Value]) -> None:
        base = self._given(slot, POINTER)
        for row, words in enumerate(vectors):
            stored = self._lanes.builder.store(words, self._row(base, len(vectors), row))
            stored.align = WORD_BYTES

    def _row(self, base: Value, rows: int, row: int) -> Value:
        """Pointer to a row of an array of words [vectors, rows, lanes], for this vector."""
        builder = self._lanes.builder
        first = builder.mul(builder.zext(self._kernel.vector, LONG), ir.Constant(LONG, rows))
        row = builder.add(first, ir.Constant(LONG, row))
        return builder.gep(base, [builder.mul(row, ir.Constant(LONG, self._lanes.width))], source_etype=INT)

    def _target(self, export: Export) -> tuple[int, list[Value]]:
        """Dwords that a thread has of a ring or stream, and what is written of each: the dword, and that it was."""
        if export.operation is ExportOperation.MEM_RING:
            return self._threaded.item, [self._given(ThreadSlot.WRITTEN, POINTER)]
        stream = STREAM_WRITES.index(export.operation)
        if stream >= len(self._threaded.strides):
            return 0, []
        streams, builder = self._given(ThreadSlot.STREAMS, POINTER), self._lanes.builder
        pointers = [builder.gep(streams, [ir.Constant(INT, 2 * stream + each)], source_etype=LONG) for each in range(2)]
        return self._threaded.strides[stream], [builder.load(row, typ=POINTER) for row in pointers]

    def _buffer(self, number: int) -> list[Value]:
        """Address, size and stride of a vertex buffer."""
        builder, buffers = self._lanes.builder, self._given(ThreadSlot.BUFFERS, POINTER)
        pointers = [builder.gep(buffers, [ir.Constant(INT, 3 * number + each)], source_etype=LONG) for each in range(3)]
        return [builder.load(row, typ=LONG) for row in pointers]

    def _given(self, slot: ThreadSlot, kind: Value) -> Value:
        builder = self._lanes.builder
        return builder.load(builder.gep(self._table, [ir.Constant(INT, slot)], source_etype=LONG), typ=kind)
