"""The conditional unit: tests conditional values against the conditional buffer, and stores those that pass.

Source: CTM Guide pp. 4, 5 and 22; docs/design/conditional-unit.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.commands import UNIT_COMMAND
from ctm.rtl.border.conditional import (
    ConditionalAccess,
    ConditionalBuffer,
    ConditionalClient,
)
from ctm.rtl.border.lines import LINE_OFFSET_BITS
from ctm.rtl.co.comparison import Comparison
from ctm.rtl.co.pairs import Pairs, is_integer
from ctm.rtl.isa.commands import BY_NAME, CONDITION, LOCATION
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.register_slice import RegisteredHandshake, RegisterSlice, SliceMode

CLIENTS = (ConditionalLocation.PE, ConditionalLocation.DPP)
"""The unit's clients, in the order of its ports."""

_RESPONSES = 4
_HALF_BITS = WORD_BITS // 2
_HALF_OFFSET_BITS = 1
_WORD_OFFSET_BITS = 2
_FORMATS = (DataFormat.FLOAT32_1.value, DataFormat.UINT16_1.value)


def passenger_layout(lanes: int) -> data.StructLayout:
    """The passenger of a pair's access. `upper` selects the half of the word for an integer."""
    return data.StructLayout({"operand": WORD_BITS, "lane": range(lanes), "last": 1, "exists": 1, "upper": 1})


class ConditionalUnit(wiring.Component):
    """Tests the wavefronts of two clients, each in order: the response has the lanes that pass.

    Only one client, the location, is tested at any time. All lanes of the other one pass, in the next cycle. The
    location's wavefronts also bypass the test if it has no operand: with NEVER no lane passes, with ALWAYS all lanes
    pass if nothing is to be written.

    Otherwise the lanes of `mask` are tested in order, one in each cycle if the cache hits, without a gap between
    wavefronts. Latency is nine cycles for one lane. A pair sees the stores of all earlier pairs. A pair outside the
    buffer, or with an error, fails and stores nothing.

    FLOAT32_1 compares as floats and stores the bits of the value; UINT16_1 compares and stores the integer that an
    output write would store.

    Members
    -------
    command : ``In(stream.Signature(UNIT_COMMAND))``
        set_cond_test and set_cond_loc. Taken while idle; no request is taken while one waits.
    target : ``In(ConditionalBuffer())``
        Constant while not idle.
    format_legal : ``Out(1)``
        The buffer's format allows what the test does.
    tests_pe, tests_dpp : ``Out(1)``
        Lanes of this client may fail or store something.
    clients : ``In(ConditionalClient(lanes)).array(2)``
        The PE and the DPP array.
    cache : ``Out(ConditionalAccess(passenger_layout(lanes)))``
    idle : ``Out(1)``
        All responses have been taken.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__(
            {
                "command": In(stream.Signature(UNIT_COMMAND)),
                "target": In(ConditionalBuffer()),
                "format_legal": Out(1),
                "tests_pe": Out(1),
                "tests_dpp": Out(1),
                "clients": In(ConditionalClient(lanes)).array(len(CLIENTS)),
                "cache": Out(ConditionalAccess(passenger_layout(lanes))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.pairs = pairs = Pairs(self._lanes)
        # Registered, because pairs are converted at least a cycle after their request, with which the buffer is valid.
        integer = delay(m, is_integer(self.target.buffer), name="integer")
        m.submodules.handshake = handshake = RegisteredHandshake(UNIT_COMMAND)
        connect(m, flipped(self.command), handshake.input)
        test, location = self._settings(m, handshake.output)
        # A cycle later, at its beginning and its end: a request that comes with a command was there before it.
        executes = Signal()
        m.d.sync += executes.eq(self.command.valid)
        reads, stores = Signal(), Signal()
        m.d.comb += [
            reads.eq((test != ConditionalTest.NEVER) & (test != ConditionalTest.ALWAYS)),
            stores.eq(self.target.writes_enabled & (test != ConditionalTest.NEVER)),
            self.format_legal.eq(~(reads | stores) | Value.cast(self.target.buffer.format).matches(*_FORMATS)),
            pairs.buffer.eq(self.target.buffer),
        ]
        none_waits = self._access(m, pairs, reads, integer)
        comes, has_space = Signal(), Signal()
        passed = self._judge(m, test, stores, comes, has_space, integer)

        never, queues, served = test == ConditionalTest.NEVER, [], []
        for owner, client in zip(CLIENTS, self.clients, strict=True):
            request, response = client.request, client.response
            m.submodules[f"responses_{owner.name.lower()}"] = responses = SyncFIFO(width=self._lanes, depth=_RESPONSES)
            selected, tested = Signal(name=f"selects_{owner.name.lower()}"), Signal(name=f"tests_{owner.name.lower()}")
            taken = request.valid & request.ready
            # A cycle after the command, in which no request is taken.
            m.d.sync += tested.eq(selected & (reads | stores))
            m.d.comb += [
                selected.eq(location == owner),
                request.ready.eq(~executes & Mux(tested, pairs.wavefront.ready, responses.w_rdy)),
                responses.w_en.eq(Mux(tested, comes, taken)),
                responses.w_data.eq(Mux(tested, passed, Mux(selected & never, 0, request.payload.mask))),
                responses.r_en.eq(response.ready),
                response.valid.eq(responses.r_rdy),
                response.payload.passed.eq(responses.r_data),
            ]
            with m.If(tested):
                m.d.comb += [
                    pairs.wavefront.valid.eq(request.valid & ~executes),
                    pairs.wavefront.payload.eq(request.payload),
                ]
                # Two responses may be registered when it is.
                m.d.sync += has_space.eq(responses.level < _RESPONSES - 2)
            queues.append(responses.r_rdy)
            served.append(selected & (never | reads | stores))
        m.d.comb += [
            Cat(self.tests_pe, self.tests_dpp).eq(Cat(served)),
            self.idle.eq(pairs.idle & none_waits & self.cache.empty & ~comes & ~Cat(queues).any()),
        ]
        return m

    def _settings(self, m: Module, commands: data.View) -> tuple[Signal, Signal]:
        """The test and the location, which commands set."""
        test = Signal(ConditionalTest, init=ConditionalTest.ALWAYS)
        location = Signal(ConditionalLocation, init=ConditionalLocation.PE)
        command, word = commands.payload, commands.payload.words[0]
        m.d.comb += commands.ready.eq(self.idle)
        with m.If(commands.valid & commands.ready), m.Switch(command.opcode):
            with m.Case(BY_NAME["set_cond_test"].opcode):
                m.d.sync += test.eq(CONDITION(word).condition)
            with m.Case(BY_NAME["set_cond_loc"].opcode):
                m.d.sync += location.eq(LOCATION(word).location)
        return test, location

    def _access(self, m: Module, pairs: Pairs, reads: Value, integer: Value) -> Value:
        """Connect pairs to the cache, as accesses to their words. Returns whether none waits for the cache."""
        m.submodules.accesses = slice_ = RegisterSlice(self.cache.access.payload.shape(), SliceMode.FULL)
        connect(m, slice_.output, flipped(self.cache.access))
        pair, access = pairs.pair.payload, slice_.input.payload
        upper = integer & pair.address[_HALF_OFFSET_BITS]
        m.d.comb += [
            slice_.input.valid.eq(pairs.pair.valid),
            pairs.pair.ready.eq(slice_.input.ready),
            access.line.eq(pair.address[LINE_OFFSET_BITS:]),
            access.word.eq(pair.address[_WORD_OFFSET_BITS:LINE_OFFSET_BITS]),
            access.touches.eq(pair.exists),
            access.reads.eq(reads),
            access.passenger.upper.eq(upper),
            *(access.passenger[name].eq(pair[name]) for name in ("operand", "lane", "last", "exists")),
        ]
        return Value.cast(slice_.empty)

    def _judge(self, m: Module, test: Signal, stores: Value, comes: Signal, has_space: Value, integer: Value) -> Signal:
        """Compare words, and store them. Returns the lanes of a wavefront that passed; with `comes` they are all.

        They are registered, because they follow late in a cycle.
        """
        m.submodules.comparison = comparison = Comparison()
        result, change, pair = self.cache.result, self.cache.change, self.cache.result.passenger
        passes, passed, was_last, taken = Signal(), Signal(self._lanes), Signal(init=1), Signal(name="takes")
        earlier = Mux(was_last, 0, passed)
        m.d.comb += [
            comparison.value.eq(pair.operand),
            comparison.stored.eq(Mux(integer, result.bits.word_select(pair.upper, _HALF_BITS), result.bits)),
            comparison.is_float.eq(~integer),
            comparison.test.eq(test),
            passes.eq(pair.exists & ~result.error & comparison.passes),
            self.cache.ready.eq(~pair.last | has_space),
            taken.eq(result.valid & self.cache.ready),
            change.bits.eq(Mux(integer, pair.operand[:_HALF_BITS].replicate(2), pair.operand)),
            change.mask.eq(Mux(passes & stores, _bytes(pair.upper, integer), 0)),
        ]
        m.d.sync += comes.eq(taken & pair.last)
        with m.If(taken):
            m.d.sync += [passed.eq(earlier | (passes << pair.lane)), was_last.eq(pair.last)]
        return passed


def _bytes(upper: Value, integer: Value) -> Value:
    """The bytes of an element in its word."""
    return Mux(integer, Cat(~upper, ~upper, upper, upper), 0b1111)
