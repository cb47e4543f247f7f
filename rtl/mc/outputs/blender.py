"""Adds a draw's outputs to what its targets hold.

Source: docs/draws.md, depth and targets; docs/design/draws.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, has_pair
from ctm.rtl.border.clients import output_layout, words_layout
from ctm.rtl.border.lines import LINE_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.multiply_add import MultiplyAdd
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, QUAD, WORD_BITS, WORD_BYTES
from ctm.rtl.lib.pipeline import delay_valid
from ctm.rtl.lib.views import record
from ctm.rtl.mc.address import ElementAddress
from ctm.rtl.mc.outputs.element_writer import element_writes_layout

BLEND_LINES = 8
"""Lines that the blender has in flight."""
_OUTPUTS = 4
"""Outputs that wait for what their targets hold."""
_PIPELINE = PipelineConfig()
_WORD_OFFSET_BITS = LINE_OFFSET_BITS - (WORD_BYTES - 1).bit_length()


def pair_of(output: data.View, lane: int) -> tuple[Value, Value]:
    """Column and row of a lane of an output: those of the wavefront's quads."""
    return output.i + 2 * (lane // QUAD) + (lane & 1), output.j + (lane >> 1 & 1)


class Blender(wiring.Component):
    """Passes outputs on, or with `adds` reads the elements of their pixels and gives the sums, in order.

    A sum is `MULTIPLY_ADD` 1 * element + output. One adder takes a word in each cycle: an output of four lanes and four
    channels takes some 30 cycles, and lines of the next outputs are read beside it. Targets have a FLOAT32 format.
    Elements are read and written past the output cache, which is emptied before the first of these outputs; no output
    may be taken whose pixels an earlier one has that is not `written`.

    Members
    -------
    adds : ``In(1)``
        Only changes while nothing is offered and the blender is `idle`.
    outputs : ``In(BUFFER)`` for each
    output_mask : ``In(4)``
    output : ``In(stream.Signature(output_layout(lanes, outputs)))``
    passed : ``Out(stream.Signature(output_layout(lanes, outputs)))``
    sums : ``Out(stream.Signature(element_writes_layout(lanes, passenger, memory=memory)))``
        They `acquire`, and say that they are the blender's: the passenger has `acquires` and `blends`.
    lines : ``Out(LineClient())``
    flush : ``Out(1)``
        Empty the output cache; high until `flushed`.
    flushed : ``In(1)``
    taken : ``Out(1)``
        An output was taken whose sums will be written.
    idle : ``Out(1)``
    """

    def __init__(self, lanes: int, outputs: int, passenger: data.StructLayout, *, memory: bool) -> None:
        self._lanes = lanes
        self._output = output_layout(lanes, outputs)
        lane = (lanes - 1).bit_length() or 1
        self._task = data.StructLayout({"lane": lane, "reads": 1, "fetches": 1, "word": _WORD_OFFSET_BITS, "last": 1})
        super().__init__(
            {
                "adds": In(1),
                "outputs": In(data.ArrayLayout(BUFFER, outputs)),
                "output_mask": In(CHANNELS),
                "output": In(stream.Signature(self._output)),
                "passed": Out(stream.Signature(self._output)),
                "sums": Out(stream.Signature(element_writes_layout(lanes, passenger, memory=memory))),
                "lines": Out(LineClient()),
                "flush": Out(1),
                "flushed": In(1),
                "taken": Out(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.waiting = waiting = SyncFIFOBuffered(width=self._output.size, depth=_OUTPUTS)
        m.submodules.tasks = tasks = SyncFIFOBuffered(width=self._task.size, depth=_OUTPUTS * self._lanes)
        is_clean, requesting = Signal(), Signal()
        output, passed = self.output, self.passed
        takes = self.adds & is_clean & ~requesting & waiting.w_rdy
        m.d.comb += [
            passed.valid.eq(output.valid & ~self.adds),
            passed.payload.eq(output.payload),
            output.ready.eq(Mux(self.adds, takes, passed.ready)),
            self.flush.eq(self.adds & output.valid & ~is_clean),
            self.taken.eq(output.valid & takes),
            waiting.w_data.eq(output.payload),
            waiting.w_en.eq(self.taken),
        ]
        with m.If(passed.valid):
            m.d.sync += is_clean.eq(0)
        with m.Elif(self.flush & self.flushed):
            m.d.sync += is_clean.eq(1)
        self._request(m, requesting, tasks)
        self._add(m, waiting, tasks)
        m.d.comb += self.idle.eq(~waiting.r_rdy & ~requesting & ~self.sums.valid)
        return m

    def _request(self, m: Module, requesting: Signal, tasks: SyncFIFOBuffered) -> None:
        """Request the lines of an output, a lane every two cycles. Lanes after each other in one line share it."""
        request, taken = self.lines.request, record(self._output, name="requested")
        lane, is_found = Signal(range(self._lanes)), Signal()
        task, entering = Signal(self._task, name="task"), Signal(self._task, name="entering_task")
        line, before, has_line = Signal.like(request.payload.line), Signal.like(request.payload.line), Signal()
        m.submodules.address = address = ElementAddress()
        buffer = record(BUFFER, name="buffer")
        columns, rows = zip(*(pair_of(taken, number) for number in range(self._lanes)), strict=True)
        x, y = Signal.like(columns[0], name="x"), Signal.like(rows[0], name="y")
        exists = has_pair(buffer, x, y)
        mask = Value.cast(Array(taken.mask)[lane]) & self.output_mask
        m.d.comb += [
            x.eq(Array(columns)[lane]),
            y.eq(Array(rows)[lane]),
            Value.cast(buffer).eq(Array(map(Value.cast, self.outputs))[taken.target]),
            address.buffer.eq(buffer),
            address.x.eq(x),
            address.y.eq(y),
        ]
        with m.If(self.taken):
            m.d.sync += [taken.eq(self.output.payload), requesting.eq(1), lane.eq(0), is_found.eq(0), has_line.eq(0)]
        with m.Elif(requesting & ~is_found):
            m.d.sync += [
                is_found.eq(1),
                task.lane.eq(lane),
                task.reads.eq(exists & mask.any()),
                task.word.eq(address.address[LINE_OFFSET_BITS - _WORD_OFFSET_BITS : LINE_OFFSET_BITS]),
                task.last.eq(lane == self._lanes - 1),
                line.eq(address.address[LINE_OFFSET_BITS:]),
            ]
        fetches = task.reads & ~(has_line & (line == before))
        goes = requesting & is_found & tasks.w_rdy & (~fetches | request.ready)
        m.d.comb += [
            request.valid.eq(requesting & is_found & tasks.w_rdy & fetches),
            request.payload.line.eq(line),
            request.payload.uncached.eq(1),
            entering.eq(task),
            entering.fetches.eq(fetches),
            tasks.w_data.eq(entering),
            tasks.w_en.eq(goes),
        ]
        with m.If(goes):
            m.d.sync += [is_found.eq(0), lane.eq(lane + 1), requesting.eq(~task.last)]
            with m.If(fetches):
                m.d.sync += [has_line.eq(1), before.eq(line)]

    def _add(self, m: Module, waiting: SyncFIFOBuffered, tasks: SyncFIFOBuffered) -> None:
        """Add lane after lane, channel after channel, and offer the sums of an output."""
        output, task = data.View(self._output, waiting.r_data), data.View(self._task, tasks.r_data)
        response, sums = self.lines.response, self.sums
        line, channel = Signal(LINE_BITS, reset_less=True), Signal(range(CHANNELS))
        words = Signal(words_layout(self._lanes), name="words", reset_less=True)
        m.submodules.adder = adder = MultiplyAdd(_PIPELINE)
        number = Cat(channel, task.lane)
        goes, ends = Signal(), Signal(range(_PIPELINE.latency + 1))
        m.d.comb += [
            adder.a.eq(ONE),
            adder.b.eq(line.word_select((task.word + channel)[:_WORD_OFFSET_BITS], WORD_BITS)),
            adder.c.eq(Array(Array(lane) for lane in output.words)[task.lane][channel]),
        ]
        arrives = delay_valid(m, Cat(goes, number), _PIPELINE.latency)[-1]
        for lane in range(self._lanes):
            for own in range(CHANNELS):
                with m.If(arrives[0] & (arrives[1:] == lane * CHANNELS + own)):
                    m.d.sync += words[lane][own].eq(adder.result)
        payload = sums.payload
        m.d.comb += [
            Value.cast(payload.buffer).eq(Array(map(Value.cast, self.outputs))[output.target]),
            payload.words.eq(words),
            payload.uncached.eq(1),
            payload.passenger.acquires.eq(1),
            payload.passenger.blends.eq(1),
        ]
        for lane in range(self._lanes):
            x, y = pair_of(output, lane)
            m.d.comb += [payload.x[lane].eq(x), payload.y[lane].eq(y)]
            m.d.comb += payload.mask[lane].eq(output.mask[lane] & self.output_mask)
        with m.FSM():
            with m.State("lane"):
                m.d.sync += [channel.eq(0), ends.eq(0)]
                with m.If(tasks.r_rdy & waiting.r_rdy):
                    with m.If(task.fetches):
                        m.d.comb += response.ready.eq(1)
                        m.d.sync += line.eq(response.payload.bits)
                        with m.If(response.valid):
                            m.next = "add"
                    with m.Elif(task.reads):
                        m.next = "add"
                    with m.Else():
                        self._go_on(m, tasks, task)
            with m.State("add"):
                m.d.comb += goes.eq(1)
                m.d.sync += channel.eq(channel + 1)
                with m.If(channel == CHANNELS - 1):
                    self._go_on(m, tasks, task)
            with m.State("sums"):
                m.d.comb += sums.valid.eq(ends == _PIPELINE.latency)
                with m.If(~sums.valid):
                    m.d.sync += ends.eq(ends + 1)
                with m.Elif(sums.ready):
                    m.d.comb += waiting.r_en.eq(1)
                    m.next = "lane"

    def _go_on(self, m: Module, tasks: SyncFIFOBuffered, task: data.View) -> None:
        """Go on with the next lane, or with the sums."""
        m.d.comb += tasks.r_en.eq(1)
        m.next = "lane"
        with m.If(task.last):
            m.next = "sums"
