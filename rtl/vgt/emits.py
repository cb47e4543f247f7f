"""What the threads of a geometry program emit: vertices, and where their strips end.

Source: docs/draws.md, programs; docs/design/draws.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import INDEX
from ctm.rtl.border.shading import EMIT_BITS, GEOMETRY_PROGRAM, emit_layout
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import BlockRam, DistributedRam

_QUEUE = 4
_MOST = 1 << EMIT_BITS - 1
_STATE = data.StructLayout({"count": EMIT_BITS, "cut": 1})
"""Vertices that a thread has emitted, and whether its strip has ended after them."""


class Emits(wiring.Component):
    """Keeps what threads emit, and then gives their vertices in order, as dwords of the ring.

    A thread that emits takes a cycle. To be given, a vertex takes two cycles, three if a cut precedes it; a thread
    takes two more, and the end two. Vertices beyond the most that a thread may emit are lost. After a reset nothing is
    emitted yet.

    Members
    -------
    program : ``In(GEOMETRY_PROGRAM)``
    emitted : ``In(stream.Signature(emit_layout(lanes, threads)))``
    idle : ``Out(1)``
        All that was emitted is kept. It does not depend on the vertices that are being given.
    start : ``In(1)``
        Give the vertices of threads 0 to `threads` - 1; only while it is `idle`.
    threads : ``In(range(threads + 1))``
    vertex : ``Out(stream.Signature(INDEX))``
        The last element is no vertex: `last` and `restarts` are set.
    """

    def __init__(self, lanes: int, threads: int) -> None:
        self._lanes, self._threads = lanes, threads
        super().__init__(
            {
                "program": In(GEOMETRY_PROGRAM),
                "emitted": In(stream.Signature(emit_layout(lanes, threads))),
                "idle": Out(1),
                "start": In(1),
                "threads": In(range(threads + 1)),
                "vertex": Out(stream.Signature(INDEX)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.states = states = DistributedRam(_STATE, self._threads)
        m.submodules.cuts = cuts = BlockRam(1, self._threads * _MOST)
        fresh = Signal(self._threads, init=(1 << self._threads) - 1)
        self._keep(m, states, cuts, fresh)
        self._give(m, states, cuts, fresh)
        return m

    def _keep(self, m: Module, states: DistributedRam, cuts: BlockRam, fresh: Signal) -> None:
        """Execute what wavefronts emit, thread by thread."""
        layout = self.emitted.payload.shape()
        m.submodules.queue = queue = SyncFIFOBuffered(width=layout.size, depth=_QUEUE)
        first, left = data.View(layout, queue.r_data), Signal(self._lanes)
        busy = Signal()
        m.d.comb += [
            queue.w_data.eq(self.emitted.payload),
            queue.w_en.eq(self.emitted.valid),
            self.emitted.ready.eq(queue.w_rdy),
            self.idle.eq((queue.level == 0) & ~self.emitted.valid),
        ]
        lanes = Mux(busy, left, first.lanes)
        lane = lowest_one(lanes)
        thread = (first.first + one_hot_index(lane))[: (self._threads - 1).bit_length()]
        before, after = Signal(_STATE), Signal(_STATE)
        emits = first.emits & (before.count < self.program.most_emitted)
        write = cuts.write_port()
        works = queue.r_rdy & lanes.any()
        m.d.comb += [
            before.eq(Mux(fresh.bit_select(thread, 1), 0, states.read(m, thread))),
            after.count.eq(before.count + emits),
            after.cut.eq(Mux(emits, 0, before.cut) | first.cuts),
            write.addr.eq(Cat(before.count[: EMIT_BITS - 1], thread)),
            write.data.eq(before.cut),
            write.en.eq(works & emits),
            queue.r_en.eq(queue.r_rdy & ~(lanes & ~lane).any()),
        ]
        states.write(m, thread, after, works)
        with m.If(works):
            m.d.sync += [fresh.eq(fresh & ~(1 << thread)), left.eq(lanes & ~lane), busy.eq(~queue.r_en)]

    def _give(self, m: Module, states: DistributedRam, cuts: BlockRam, fresh: Signal) -> None:
        """Give the vertices of all threads."""
        vertex, program, read = self.vertex, self.program, cuts.read_port()
        thread, number = Signal(range(self._threads + 1)), Signal(EMIT_BITS)
        base, offset = Signal(WORD_BITS), Signal(WORD_BITS)
        row = thread[: (self._threads - 1).bit_length()]
        count = Signal(EMIT_BITS, name="count_of_thread")
        is_read = Signal()
        m.d.comb += [
            count.eq(Mux(fresh.bit_select(row, 1), 0, states.read(m, row).count)),
            read.addr.eq(Cat(number[: EMIT_BITS - 1], row)),
        ]
        payload = vertex.payload
        with m.FSM():
            with m.State("idle"), m.If(self.start):
                m.d.sync += [thread.eq(0), number.eq(0), base.eq(0), offset.eq(0)]
                m.next = "thread"
            with m.State("thread"):
                m.d.sync += is_read.eq(0)
                with m.If(thread == self.threads):
                    m.next = "last"
                with m.Elif(number == count):
                    m.next = "strip's end"
                with m.Else():
                    m.next = "vertex"
            with m.State("vertex"):
                # The bit of a cut in front of the vertex has been read.
                with m.If(read.data & (number != 0) & ~is_read):
                    m.d.comb += [vertex.valid.eq(1), payload.restarts.eq(1)]
                    with m.If(vertex.ready):
                        m.d.sync += is_read.eq(1)
                with m.Else():
                    m.d.comb += [vertex.valid.eq(1), payload.index.eq(offset)]
                    with m.If(vertex.ready):
                        m.d.sync += [number.eq(number + 1), offset.eq(offset + program.emitted_item)]
                        m.next = "thread"
            with m.State("strip's end"):
                m.d.comb += [vertex.valid.eq(1), payload.restarts.eq(1)]
                with m.If(vertex.ready):
                    m.d.sync += [thread.eq(thread + 1), number.eq(0)]
                    m.d.sync += [base.eq(base + program.item), offset.eq(base + program.item)]
                    m.next = "thread"
            with m.State("last"):
                m.d.comb += [vertex.valid.eq(1), payload.restarts.eq(1), payload.last.eq(1)]
                with m.If(vertex.ready):
                    m.next = "idle"
