"""Loads constants when an instruction misses one.

Source: CTM Guide pp. 7, 38.
"""

from itertools import accumulate

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import BEAT_WORDS, CONSTANT_LINE_BITS, LINE_BEATS, ConstantBank, ConstantClient
from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.limits import BOOL_CONSTANTS, FLOAT_CONSTANTS, INT_CONSTANTS, WORD_BITS

_WORDS_PER_LINE = BEAT_WORDS * LINE_BEATS
LINES = {
    ConstantBank.FLOAT: FLOAT_CONSTANTS // LINE_BEATS,
    ConstantBank.INT: INT_CONSTANTS // _WORDS_PER_LINE,
    ConstantBank.BOOL: BOOL_CONSTANTS // _WORDS_PER_LINE,
}
"""Lines of each bank of constants."""
_FIRST = dict(zip(LINES, accumulate(LINES.values(), initial=0), strict=False))
"""The number of each bank's first line among those of all."""
_KEYS = sum(LINES.values())
_OUTSTANDING = 8

LINE = data.StructLayout({"needed": 1, "bank": ConstantBank, "line": CONSTANT_LINE_BITS})
"""A line of a bank of constants; only if it is `needed`."""
CONSTANT_WRITE = data.StructLayout(
    {
        "valid": 1,
        "bank": ConstantBank,
        "line": CONSTANT_LINE_BITS,
        "beat": range(LINE_BEATS),
        "words": data.ArrayLayout(WORD_BITS, BEAT_WORDS),
        "error": 1,
    }
)
"""A beat that is written to a bank of constants."""


def miss_layout(lines: int) -> data.StructLayout:
    """The lines that an instruction needs."""
    return data.StructLayout({"valid": 1, "lines": data.ArrayLayout(LINE, lines)})


class LoaderClient(Interface):
    """The port of a unit whose instructions need constants of some banks, seen from that unit.

    Members
    -------
    miss : ``Out(miss_layout(lines))``
        Lines that an instruction needs, one of them at least not loaded. Dropped while others are being loaded.
    float_loaded, int_loaded, bool_loaded : ``In``
        Lines of each of the `banks` that are loaded.
    write : ``In(CONSTANT_WRITE)``
        Of any bank; a line is loaded from the cycle after its last beat on, also one with an `error`.
    """

    def __init__(self, lines: int, *banks: ConstantBank) -> None:
        loaded = {f"{bank.name.lower()}_loaded": In(LINES[bank]) for bank in banks}
        super().__init__({"miss": Out(miss_layout(lines)), **loaded, "write": In(CONSTANT_WRITE)})


class ConstantLoader(wiring.Component):
    """Loads all lines that an instruction misses.

    While it is `busy`, further misses are dropped: their instructions are issued again. The first line is requested two
    cycles after the miss. Each line takes a cycle, also one that is not needed, or was requested since `invalidate` and
    is not requested again. At most eight lines are in flight.

    Members
    -------
    alu : ``In(LoaderClient(alu_lines, ConstantBank.FLOAT))``
    flow : ``In(LoaderClient(flow_lines, ConstantBank.INT, ConstantBank.BOOL))``
        Of two misses in one cycle that of `alu` is taken.
    invalidate : ``In(1)``
        Only while it is not `busy`.
    busy : ``Out(1)``
    client : ``Out(ConstantClient())``
    """

    def __init__(self, alu_lines: int, flow_lines: int) -> None:
        self._lines = max(alu_lines, flow_lines)
        super().__init__(
            {
                "alu": In(LoaderClient(alu_lines, ConstantBank.FLOAT)),
                "flow": In(LoaderClient(flow_lines, ConstantBank.INT, ConstantBank.BOOL)),
                "invalidate": In(1),
                "busy": Out(1),
                "client": Out(ConstantClient()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response = self.client.request, self.client.response
        m.submodules.in_flight = in_flight = SyncFIFO(width=LINE.size, depth=_OUTSTANDING)
        asked, loaded = Signal(_KEYS), Signal(_KEYS)
        wanted = Signal(data.ArrayLayout(LINE, self._lines))
        remaining = Signal(range(self._lines + 1))
        walking = remaining != 0
        m.d.comb += [
            self.busy.eq(walking | in_flight.r_rdy),
            *(
                own.eq(loaded[_FIRST[bank] : _FIRST[bank] + LINES[bank]])
                for bank, own in (
                    (ConstantBank.FLOAT, self.alu.float_loaded),
                    (ConstantBank.INT, self.flow.int_loaded),
                    (ConstantBank.BOOL, self.flow.bool_loaded),
                )
            ),
        ]
        with m.If(~self.busy):
            for miss in (self.flow.miss, self.alu.miss):
                with m.If(miss.valid):
                    m.d.sync += [Value.cast(wanted).eq(miss.lines), remaining.eq(len(miss.lines))]

        line = wanted[0]
        key = self._key(m, line)
        asks = walking & line.needed & ~asked.bit_select(key, 1)
        # The request is registered because it feeds the arbiter of all line readers.
        goes = asks & (~request.valid | request.ready) & in_flight.w_rdy
        m.d.comb += [in_flight.w_data.eq(line), in_flight.w_en.eq(goes)]
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.If(goes):
            m.d.sync += [request.valid.eq(1), request.payload.bank.eq(line.bank), request.payload.line.eq(line.line)]
        with m.If(walking & (goes | ~asks)):
            m.d.sync += [remaining.eq(remaining - 1), Value.cast(wanted).eq(Value.cast(wanted)[LINE.size :])]
        with m.If(goes):
            m.d.sync += asked.bit_select(key, 1).eq(1)

        beat = Signal(range(LINE_BEATS))
        oldest = LINE(in_flight.r_data)
        arrives = response.valid
        last = arrives & (beat == LINE_BEATS - 1)
        m.d.comb += [
            # Beats come for lines in flight only.
            response.ready.eq(1),
            in_flight.r_en.eq(last),
            self.flow.write.eq(self.alu.write),
            self.alu.write.eq(Cat(arrives, oldest.bank, oldest.line, beat, response.payload)),
        ]
        with m.If(arrives):
            m.d.sync += beat.eq(beat + 1)
        with m.If(last):
            m.d.sync += loaded.bit_select(self._key(m, oldest), 1).eq(1)
        with m.If(self.invalidate):
            m.d.sync += [asked.eq(0), loaded.eq(0)]
        return m

    def _key(self, m: Module, line: data.View) -> Signal:
        """The index of a line among those of all files."""
        key = Signal(range(_KEYS), name="key")
        m.d.comb += key.eq(line.line)
        for bank in (ConstantBank.INT, ConstantBank.BOOL):
            with m.If(line.bank == bank):
                m.d.comb += key.eq(_FIRST[bank] + line.line[: (LINES[bank] - 1).bit_length()])
        return key
