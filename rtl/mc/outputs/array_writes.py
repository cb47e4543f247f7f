"""Writes of the array: outputs go through the output cache, uncached writes bypass it.

Source: CTM Guide pp. 4, 7, 31.
"""

from typing import Any

from amaranth import Array, Cat, Const, Module, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import UncachedClient, output_layout
from ctm.rtl.border.lines import LINE_BITS, LINE_WRITTEN, LineClient, line_write_layout
from ctm.rtl.border.shading import Blending
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.mc.lines.slice_walk import LineSlices
from ctm.rtl.mc.outputs.blender import Blender, pair_of
from ctm.rtl.mc.outputs.element_writer import ElementWriter, element_writes_layout
from ctm.rtl.mc.outputs.wavefront_bytes import written_bits
from ctm.rtl.mc.outputs.write_combiner import WriteCombiner

_PENDING = 16
"""Uncached lines that have no write response yet."""
_IN_ORDER = 0
"""The bank that uncached writes use."""


class Outputs(wiring.Component):
    """Writes outputs through the output cache, and uncached writes past it.

    Each bank takes one line in each cycle, so throughput is one wavefront in each cycle if it writes one line of each
    bank. The output cache has `entries` lines in all. Uncached writes go to output 0, or, with `areas`, to one of these
    outputs' areas, or with `memory` to all of memory, in order. A write that acquires is a fence: its response comes
    after all earlier write responses.

    Members
    -------
    output : ``In(stream.Signature(output_layout(lanes, outputs)))``
    uncached : ``In(UncachedClient(lanes, wave, len(areas)))``
    outputs : ``In(BUFFER)`` for each
    areas : ``In(BUFFER)`` for each, where there are any
    output_mask : ``In(4)``
        Channels that are written to outputs, and to output 0's area. All three only to be changed while nothing is
        offered: an output takes its buffer and its mask with its acceptance.
    lines : ``Out(stream.Signature(line_write_layout(slice_bits)))`` for each bank
        To memory, from the output cache.
    uncached_line : ``Out(stream.Signature(line_write_layout(slice_bits)))``
        To memory, past the output cache.
    uncached_written : ``In(stream.Signature(LINE_WRITTEN, always_ready=True))``
        In the order of `uncached_line`.
    flush : ``In(1)``
        Empty the output cache; high until `empty`.
    empty : ``Out(1)``
    idle : ``Out(1)``
        All outputs are in the output cache, and all uncached writes have their responses.
    blending : ``In(Blending())``
        With `blends`.
    blend_lines, blend_flush, blend_flushed
        Likewise: those of the `Blender`.
    """

    def __init__(
        self,
        lanes: int,
        wave: ShapeLike,
        *,
        entries: int,
        banks: int = 1,
        areas: tuple[int, ...] = (),
        outputs: int = OUTPUTS,
        memory: bool = False,
        blends: bool = False,
        slice_bits: int = LINE_BITS,
    ) -> None:
        self._slice_bits, self._written = slice_bits, written_bits(lanes, slice_bits)
        self._memory, self._blends, self._outputs = memory, blends, outputs
        self._lanes, self._entries, self._banks, self._areas = lanes, entries, banks, areas
        of_blender: dict[str, ShapeLike] = {"blends": 1} if blends else {}
        self._pending = data.StructLayout({"writes": 1, "done": 1, "wave": wave, **of_blender})
        self._passenger = data.StructLayout({"acquires": 1, "wave": wave, **of_blender})
        blender = {
            "blending": In(Blending()),
            "blend_lines": Out(LineClient()),
            "blend_flush": Out(1),
            "blend_flushed": In(1),
        }
        super().__init__(
            {
                "output": In(stream.Signature(output_layout(lanes, outputs))),
                "uncached": In(UncachedClient(lanes, wave, len(areas), memory=memory)),
                "outputs": In(data.ArrayLayout(BUFFER, outputs)),
                "output_mask": In(CHANNELS),
                "lines": Out(stream.Signature(line_write_layout(slice_bits))).array(banks),
                "uncached_line": Out(stream.Signature(line_write_layout(slice_bits))),
                "uncached_written": In(stream.Signature(LINE_WRITTEN, always_ready=True)),
                "flush": In(1),
                "empty": Out(1),
                "idle": Out(1),
                **(blender if blends else {}),
                **({"areas": In(data.ArrayLayout(BUFFER, len(areas) + memory))} if areas else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        wavefront = element_writes_layout(self._lanes, self._passenger, memory=self._memory)
        m.submodules.arbiter = arbiter = Arbiter(wavefront, 2 + self._blends)
        m.submodules.writer = writer = ElementWriter(
            self._lanes, self._passenger, written=self._written, banks=self._banks, memory=self._memory
        )
        output: Any = flipped(self.output)
        blender_idle: Value = Const(1)
        if self._blends:
            output, blender_idle = self._blend(m, arbiter.inputs[2])
        self._offer_output(m, output, arbiter.inputs[0])
        self._offer_uncached(m, arbiter.inputs[1])
        connect(m, arbiter.output, writer.wavefront)
        empty = [self._combine(m, bank, line) for bank, line in enumerate(writer.lines)]
        is_pending = self._write_past(m, writer.lines[_IN_ORDER])
        m.d.comb += [self.empty.eq(Cat(empty).all()), self.idle.eq(writer.idle & ~is_pending & blender_idle)]
        return m

    def _blend(self, m: Module, wavefront: stream.Interface) -> tuple[stream.Interface, Value]:
        """Give outputs to the blender. Returns the stream of those that it passes on, and whether it is idle."""
        m.submodules.blender = blender = Blender(self._lanes, self._outputs, self._passenger, memory=self._memory)
        connect(m, flipped(self.output), blender.output)
        connect(m, blender.sums, wavefront)
        connect(m, blender.lines, flipped(self.blend_lines))
        m.d.comb += [
            blender.adds.eq(self.blending.adds),
            blender.outputs.eq(self.outputs),
            blender.output_mask.eq(self.output_mask),
            blender.flushed.eq(self.blend_flushed),
            self.blend_flush.eq(blender.flush),
            self.blending.taken.eq(blender.taken),
        ]
        return blender.passed, Value.cast(blender.idle)

    def _combine(self, m: Module, bank: int, line: stream.Interface) -> Value:
        """Connect a bank of the output cache. Returns whether it is empty."""
        combiner = WriteCombiner(
            entries=self._entries // self._banks, written=self._written, slice_bits=self._slice_bits
        )
        m.submodules[f"combiner_{bank}"] = Gated(combiner, combiner.write.valid | combiner.moves)
        connect(m, combiner.line, flipped(self.lines[bank]))
        write, payload = combiner.write, line.payload
        m.d.comb += [
            write.payload.eq(payload.write),
            write.valid.eq(line.valid & payload.writes & ~payload.uncached),
            line.ready.eq(write.ready | ~payload.writes),
            combiner.flush.eq(self.flush),
        ]
        return Value.cast(combiner.empty)

    def _write_past(self, m: Module, line: stream.Interface) -> Value:
        """Send uncached writes, in order, and responses to those that acquire. Returns whether one is pending."""
        m.submodules.pending = pending = SyncFIFO(width=self._pending.size, depth=_PENDING)
        m.submodules.past = slices = LineSlices(self._slice_bits, written=self._written)
        connect(m, slices.slices, flipped(self.uncached_line))
        past, payload = slices.line, line.payload
        notifies = payload.writes | (payload.passenger.acquires & payload.last)
        # Registered, for the cycle after a line is taken.
        has_space = Signal()
        m.d.sync += has_space.eq(pending.level < _PENDING - 1)
        entry, head = Signal(self._pending), data.View(self._pending, pending.r_data)
        m.d.comb += [
            past.payload.eq(payload.write),
            past.valid.eq(line.valid & payload.writes & payload.uncached & has_space),
            entry.writes.eq(payload.writes),
            entry.done.eq(payload.passenger.acquires & payload.last),
            entry.wave.eq(payload.passenger.wave),
            *([entry.blends.eq(payload.passenger.blends)] if self._blends else []),
            pending.w_data.eq(entry),
            pending.w_en.eq(line.valid & line.ready & payload.uncached & notifies),
        ]
        with m.If(payload.uncached):
            m.d.comb += line.ready.eq((past.ready | ~payload.writes) & has_space)
        responded = Signal(range(_PENDING + 1))
        has_response = self.uncached_written.valid | (responded != 0)
        blends = head.blends if self._blends else Const(0)
        acquires = head.done & ~blends
        leaves = pending.r_rdy & (has_response | ~head.writes) & (self.uncached.done.ready | ~acquires)
        if self._blends:
            m.d.comb += self.blending.written.eq(leaves & head.done & blends)
        m.d.comb += [
            self.uncached.done.valid.eq(pending.r_rdy & (has_response | ~head.writes) & acquires),
            self.uncached.done.payload.wave.eq(head.wave),
            pending.r_en.eq(leaves),
        ]
        m.d.sync += responded.eq(responded + self.uncached_written.valid - (leaves & head.writes))
        return pending.r_rdy

    def _offer_output(self, m: Module, output: stream.Interface, wavefront: stream.Interface) -> None:
        """An output's pairs: those of the wavefront's quads."""
        payload = wavefront.payload
        m.d.comb += [
            wavefront.valid.eq(output.valid),
            output.ready.eq(wavefront.ready),
            # Indexing the layout would be a shifter.
            Value.cast(payload.buffer).eq(Array(map(Value.cast, self.outputs))[output.payload.target]),
            payload.words.eq(output.payload.words),
        ]
        for lane in range(self._lanes):
            m.d.comb += [
                payload.x[lane].eq(pair_of(output.payload, lane)[0]),
                payload.y[lane].eq(pair_of(output.payload, lane)[1]),
                payload.mask[lane].eq(output.payload.mask[lane] & self.output_mask),
            ]

    def _offer_uncached(self, m: Module, wavefront: stream.Interface) -> None:
        write, payload = self.uncached.write, wavefront.payload
        buffer, enabled = Value.cast(self.outputs[0]), Value.cast(self.output_mask[0])
        if self._areas:
            # The output mask applies to output 0, not to a program's scratch.
            masked = [enabled if output == 0 else Const(1) for output in self._areas] + [Const(1)] * self._memory
            buffer, enabled = (
                Array(values)[write.payload.area] for values in (list(map(Value.cast, self.areas)), masked)
            )
        m.d.comb += [
            wavefront.valid.eq(write.valid),
            write.ready.eq(wavefront.ready),
            Value.cast(payload.buffer).eq(buffer),
            payload.uncached.eq(1),
            payload.passenger.acquires.eq(write.payload.acquires),
            payload.passenger.wave.eq(write.payload.wave),
        ]
        if self._memory:
            m.d.comb += payload.page.eq(write.payload.page)
        for lane in range(self._lanes):
            m.d.comb += [
                payload.x[lane].eq(write.payload.x[lane]),
                payload.y[lane].eq(write.payload.y[lane]),
                payload.words[lane][0].eq(write.payload.values[lane]),
                payload.mask[lane].eq(write.payload.mask[lane] & enabled),
            ]
