"""Gives a new wavefront its registers: r0 is its position in the domain, all others are 0.

Source: R700-Family Instruction Set Architecture, section 2.7; docs/r700.md, a program.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.border.shading import drawn_layout, start_write_layout, vertex_write_layout
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.fp.conversion import from_integer
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, QUAD, WORD_BITS
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.valid_bits import INDEX_BITS, ROWS_TOGETHER
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.fetch_clause import FetchStart
from ctm.rtl.r700.border.registers import clear_layout, pass_write_layout, row_bits, rows_of
from ctm.rtl.r700.border.wavefront import start_layout
from ctm.rtl.r700.partition import Partition, position
from ctm.rtl.r700.shading_start import ShadingStart
from ctm.rtl.r700.shapes import PROGRAM


class WavefrontStart(wiring.Component):
    """Starts one wavefront after the other; of a `machine` that draws, vertices and pixels too.

    Each takes a cycle for each pass of the lanes, one for each block of 32 rows that its registers touch, one for each
    row of its local data share, and three more; more where other units write the registers.

    Members
    -------
    program : ``In(PROGRAM)``
    wavefront : ``In({valid, wave, wavefront})``
        A wavefront that takes a wave slot; only while not `busy`.
    busy : ``Out(1)``
    clear : ``Out(stream.Signature(clear_layout(config)))``
    r0 : ``Out(stream.Signature(pass_write_layout(config)))``
        The words of R0.
    fetch : ``Out(FetchStart(config))``
    fresh : ``Out({valid, wave, number})``
        This pass's outputs are all unwritten.
    start : ``Out(stream.Signature(start_layout(config)))``
    vertex, thread
        Of a machine that draws, as those of `ShadingStart`.
    """

    def __init__(self, config: ArrayConfig, machine: MachineConfig | None = None) -> None:
        self._config, self._machine = config, machine
        self._partition = partition = Partition.of(config)
        at_wave = {"valid": 1, "wave": wave_bits(config)}
        drawn = None if machine is None else drawn_layout(machine)
        self._wavefront = wavefront_layout(config.wavefront_lanes, drawn=drawn)
        vertex: dict[str, Member] = {}
        if machine is not None:
            vertex["vertex"] = In(vertex_write_layout(machine.pipeline.vertices))
        if machine is not None and machine.pipeline.has_geometry:
            vertex["thread"] = In(start_write_layout(machine.pipeline.vertices))
        super().__init__(
            {
                **vertex,
                "program": In(PROGRAM),
                "wavefront": In(data.StructLayout(at_wave | {"wavefront": self._wavefront})),
                "busy": Out(1),
                "clear": Out(stream.Signature(clear_layout(config))),
                "r0": Out(stream.Signature(pass_write_layout(config))),
                "fetch": Out(FetchStart(config)),
                "fresh": Out(data.StructLayout(at_wave | {"number": partition.pass_bits})),
                "start": Out(stream.Signature(start_layout(config))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, partition, clear, r0 = self._config, self._partition, self.clear, self.r0
        wave = Signal(wave_bits(config))
        wavefront = record(self._wavefront, name="taken", reset_less=True)
        count = rows_of(delay(m, self.program.gprs, name="gprs"))
        base, end = (Signal(row_bits(config) + 1, name=name) for name in ("base", "end"))
        row, number = Signal(row_bits(config) + 1), Signal(partition.pass_bits)
        next_block = self._clear(m, row, end)
        m.d.comb += [
            self.fresh.wave.eq(wave),
            self.fetch.share.payload.eq(wave),
            self.fresh.number.eq(number),
            self.start.payload.wave.eq(wave),
            self.start.payload.covered.eq(wavefront.covered),
            self.start.payload.base.eq(base),
        ]
        first_number, target = self._number(m, wavefront), r0.payload.target
        last = partition.slice_passes - 1
        in_slice, first_row = number[: partition.slice_pass_bits], self._first_row(m, number, base, count)
        self._write_r0(m, wavefront, first_number, number)
        shading = None if self._machine is None else self._shade(m, self._machine, wavefront, number)
        m.d.comb += [
            self.fetch.first_number.wave.eq(wave),
            self.fetch.first_number.number.eq(first_number),
            target.row.eq(first_row if shading is None else first_row + shading.second),
            target.number.eq(in_slice),
            target.followed.eq(in_slice != last),
        ]
        has_share = delay(m, self.program.share.any(), name="has_share")
        with m.FSM() as fsm:
            with m.State("idle"):
                m.d.sync += [wave.eq(self.wavefront.wave), wavefront.eq(self.wavefront.wavefront), number.eq(0)]
                with m.If(self.wavefront.valid):
                    m.next = "wave"
            with m.State("wave"):
                size = count * partition.slices
                m.d.sync += [base.eq(wave * size), end.eq(wave * size + size), row.eq(wave * size)]
                m.next = "registers"
            with m.State("registers"):
                m.d.comb += clear.valid.eq(1)
                with m.If(clear.ready):
                    m.d.sync += row.eq(next_block)
                    with m.If(next_block >= end):
                        m.next = "passes"
            self._give_passes(m, number, shading)
            with m.State("share"):
                m.d.comb += self.fetch.share.valid.eq(has_share)
                with m.If(~self.fetch.share.valid | self.fetch.share.ready):
                    m.next = "start"
            with m.State("start"):
                m.d.comb += self.start.valid.eq(1)
                with m.If(self.start.ready):
                    m.next = "idle"
        m.d.comb += self.busy.eq(~fsm.ongoing("idle"))
        return m

    def _give_passes(self, m: Module, number: Signal, shading: ShadingStart | None) -> None:
        """Write the registers that a wavefront begins with, pass by pass."""
        r0, is_last = self.r0, number == self._partition.passes - 1
        ready = Const(1) if shading is None else shading.ready
        with m.State("passes"):
            m.d.comb += [r0.valid.eq(ready), self.fresh.valid.eq(ready), self.fetch.first_number.valid.eq(ready)]
            with m.If(ready & r0.ready):
                m.d.sync += number.eq(number + 1)
                with m.If(is_last):
                    m.next = "share"
                    if shading is not None:
                        m.d.sync += number.eq(0)
                        m.next = "second register"
        if shading is None:
            return
        with m.State("second register"):
            m.d.comb += [shading.second.eq(1), r0.valid.eq(shading.has_second)]
            with m.If(~shading.has_second):
                m.next = "share"
            with m.Elif(r0.ready):
                m.d.sync += number.eq(number + 1)
                with m.If(is_last):
                    m.next = "share"

    def _clear(self, m: Module, row: Value, end: Value) -> Value:
        """Clear the rows of a block from `row` on, up to `end`; the first row of the next block."""
        block, payload = row[INDEX_BITS:], self.clear.payload
        next_block = Cat(Const(0, INDEX_BITS), block + 1)
        in_block = Mux(end < next_block, end - Cat(Const(0, INDEX_BITS), block), ROWS_TOGETHER)[: INDEX_BITS + 1]
        from_row = (Const((1 << ROWS_TOGETHER) - 1, ROWS_TOGETHER) << row[:INDEX_BITS])[:ROWS_TOGETHER]
        to_end = ((1 << in_block) - 1)[:ROWS_TOGETHER]
        m.d.comb += [payload.row.eq(row), payload.invalidates.eq(from_row & to_end)]
        return next_block

    def _first_row(self, m: Module, number: Value, base: Value, count: Value) -> Value:
        """The row of R0 of the slice of a pass."""
        bits = self._partition.slice_bits
        if not bits:
            return base
        row = Signal.like(base, name="first_row")
        m.d.comb += row.eq(base + number[-bits:] * count)
        return row

    def _number(self, m: Module, wavefront: data.View) -> Value:
        """The number of the first pixel in the domain, a cycle after its position; modulo 2**32 if it is outside."""
        domain, number = self.program.domain, Signal(WORD_BITS, name="first_number")
        m.d.sync += number.eq((wavefront.j - domain.j0) * domain.width + wavefront.i - domain.i0)
        return number

    def _write_r0(self, m: Module, wavefront: data.View, first_number: Value, number: Value) -> None:
        """The words of r0 of a pass's pixels, all of which are written."""
        target = self.r0.payload.target
        m.d.comb += [
            target.exists.eq(1),
            target.enable.eq(~0),
            *(target.selects[channel].eq(channel) for channel in range(CHANNELS)),
        ]
        lanes, before = self._config.at_once, Signal.like(wavefront.i, name="columns_before")
        column_before, row_before = position(self._partition.first_pixel(number))
        m.d.comb += before.eq(column_before)
        columns, rows = ([Signal.like(first, name="r0") for _ in range(count)]
                         for first, count in ((wavefront.i, max(lanes // 2, min(lanes, 2))),
                                              (wavefront.j, 2 if lanes >= QUAD else 1)))  # fmt: skip
        m.d.comb += [column.eq(wavefront.i + before + offset) for offset, column in enumerate(columns)]
        m.d.comb += [row.eq(wavefront.j + row_before + offset) for offset, row in enumerate(rows)]
        columns_as_floats, rows_as_floats = ([from_integer(m, each) for each in axis] for axis in (columns, rows))
        numbers, width = [Signal(WORD_BITS, name="number_of_row") for _ in rows], self.program.domain.width
        m.d.comb += [
            each.eq(first_number + before + Mux(row_before, width, 0) + row * width) for row, each in enumerate(numbers)
        ]
        is_compute = Value.cast(self.program.type) == ProgramType.CS.value
        for lane in range(lanes):
            column, row = 2 * (lane // QUAD) + lane % 2, lane % QUAD // 2
            integers = columns[column], rows[row], numbers[row] + column, number * lanes + lane
            floats = columns_as_floats[column], rows_as_floats[row], Const(0), Const(ONE)
            for channel in range(CHANNELS):
                word = self.r0.payload.words[lane][channel]
                m.d.comb += word.eq(Mux(is_compute, integers[channel], floats[channel]))

    def _shade(self, m: Module, machine: MachineConfig, wavefront: data.View, number: Value) -> ShadingStart:
        """The registers of a draw's programs, instead of those that others begin with."""
        m.submodules.shading = shading = ShadingStart(machine)
        m.d.comb += [
            shading.program.eq(self.program),
            shading.vertex.eq(self.vertex),
            *([shading.thread.eq(self.thread)] if machine.pipeline.has_geometry else []),
            shading.begins.eq(self.wavefront.valid),
            shading.i.eq(wavefront.i),
            shading.j.eq(wavefront.j),
            shading.edges.eq(wavefront.drawn.edges),
            shading.number.eq(number),
        ]
        for lane in range(self._config.at_once):
            for channel in range(CHANNELS):
                with m.If(shading.valid):
                    m.d.comb += self.r0.payload.words[lane][channel].eq(shading.words[lane][channel])
        return shading
