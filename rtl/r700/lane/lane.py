"""One lane's arithmetic: the five slots of a group, and their shared units.

The vector slots share the sum of DOT4 and the choices of MAX4 and CUBE; only slot t has functions and the
post-multiplier. A shared unit gives a slot one of its two words, or the sum that it rounds: each slot has its own
rounding, output modifier and clamp.

All lanes have one instruction and want the same units, so the pipeline gates each unit of all lanes together
(`Lane.gate_together`).

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-lane.md.
"""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.dot_product import DotSum, largest
from ctm.rtl.fp.function_table import FunctionReader
from ctm.rtl.fp.number import WIDE_EXPONENT
from ctm.rtl.isa.r700.limits import TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.lib.clock_gating import GatedStateless, gate_together
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import GROUP_OPERANDS, LaneControl, LaneResults, Lhs, Source, Sum, Type
from ctm.rtl.r700.lane import adder, trans
from ctm.rtl.r700.lane.candidates import Candidates
from ctm.rtl.r700.lane.slot import INDICES, INTEGERS, RAW_FIELDS, Slot
from ctm.rtl.r700.lane.timing import Timing

_CANDIDATES, _DOT, _TRANS = "candidates", "dot", "trans"
"""Clocks of gated units."""
_MAJOR = 2
"""The slot of CUBE's result that is twice the largest component."""


class Lane(wiring.Component):
    """The arithmetic of one lane, from operands to the words that are written.

    Latency is `lane_latency` of the configuration; one group per cycle. Control and result of an unused slot are
    undefined.

    Members
    -------
    operands : ``In(GROUP_OPERANDS)``
    control : ``In(LaneControl)``
        In the cycle of the operands.
    results : ``Out(LaneResults)``
    functions : ``Out(FunctionReader)``
    """

    operands: In(GROUP_OPERANDS)
    control: In(LaneControl)
    results: Out(LaneResults)
    functions: Out(FunctionReader)

    def __init__(self, config: PipelineConfig) -> None:
        self._config, self._timing = config, Timing(config)
        self._candidates = Candidates(config)
        # The sum of products delays the exponent by the steps that lie between it and the terms in R5xx lanes.
        self._dot_steps = config.partial_products + config.product + config.alignment
        self._dot_begins = self._timing.aligned - self._dot_steps
        self.latency = self._timing.result
        super().__init__()

    def gate_together(self, m: Module, platform: object, control: data.View) -> None:
        """Gate units of all lanes inside `m` while `control`, which all lanes have, wants none of them."""
        timing, slots = self._timing, list(control.slots)
        vector, scalar = slots[0], slots[TRANS_SLOT]
        integer = Cat(slot.lhs == Lhs.INTEGER for slot in slots)
        # Other operations are among these, too: the control has no bit for MOVA.
        index = Cat((slot.type == Type.SIGNED) | (slot.sum == Sum.UP) | (slot.sum == Sum.FLOOR) for slot in slots)
        function = scalar.shares_sum | (scalar.lhs == Lhs.SHARED) | (scalar.if_false == Source.POST_MULTIPLIED)
        chooses, steps = vector.lhs == Lhs.SHARED, self._candidates.latency
        gate_together(m, platform, INTEGERS, integer.any(), timing.product)
        gate_together(m, platform, INDICES, index.any(), timing.normalised)
        gate_together(m, platform, _TRANS, function, timing.normalised)
        gate_together(m, platform, _CANDIDATES, chooses, steps, begins=timing.chosen)
        gate_together(m, platform, _DOT, vector.shares_sum, self._dot_steps, begins=self._dot_begins)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        vector = [Slot(config, doubles=number == _MAJOR) for number in range(VECTOR_SLOTS)]
        slots = [*vector, Slot(config, raw_bits=trans.RAW_BITS, is_trans=True)]
        for number, slot in enumerate(slots):
            m.submodules[f"slot_{number}"] = slot
            m.d.comb += [
                slot.operands.eq(self.operands[number]),
                slot.control.eq(self.control.slots[number]),
                slot.dx10_clamp.eq(self.control.dx10_clamp),
                self.results.words[number].eq(slot.word),
                self.results.kill[number].eq(slot.kill),
            ]
        m.d.comb += [
            *(self.results.indices[number].eq(slot.index) for number, slot in enumerate(vector)),
            self.results.predicate.eq(sum(slot.predicate for slot in slots) != 0),
        ]
        self._connect_trans(m, slots[TRANS_SLOT])
        self._connect_candidates(m, vector)
        self._connect_dot(m, vector)
        return m

    def _connect_trans(self, m: Module, slot: Slot) -> None:
        m.submodules.trans = unit = GatedStateless(trans.Trans(self._config), together=_TRANS)
        connect(m, unit.functions, flipped(self.functions))
        m.d.comb += [
            unit.words.eq(slot.words),
            unit.control.eq(slot.control),
            slot.shared_word.eq(unit.word),
            slot.shared_raw.eq(unit.raw),
            slot.post_multiplied.eq(unit.post_multiplied),
        ]

    def _connect_candidates(self, m: Module, vector: list[Slot]) -> None:
        chosen = self._timing.chosen
        m.submodules.candidates = unit = GatedStateless(self._candidates, together=_CANDIDATES)
        m.d.comb += unit.cube.eq(delay(m, vector[0].control.cube, chosen, name="cube"))
        for number, slot in enumerate(vector):
            m.d.comb += [
                unit.words[number].eq(delay(m, slot.words[0], chosen, name="word")),
                slot.shared_word.eq(unit.results[number]),
            ]

    def _connect_dot(self, m: Module, vector: list[Slot]) -> None:
        """Give the products their largest exponent, and the slots the sum of the aligned products."""
        config, timing = self._config, self._timing
        m.submodules.dot = dot = GatedStateless(DotSum(config), together=_DOT)
        exponent = Signal(WIDE_EXPONENT)
        m.d.comb += exponent.eq(
            delay(m, largest([slot.exponent for slot in vector]), config.partial_products, name="largest")
        )
        waits = self._dot_begins - timing.partial_products
        m.d.comb += dot.exponent.eq(delay(m, exponent, waits, name="largest"))
        raw = Signal(adder.RAW)
        m.d.comb += [
            *(getattr(raw, name).eq(getattr(dot.raw, name)) for name in RAW_FIELDS),
            raw.significand.eq(dot.raw.significand[-adder.RAW_BITS :]),
        ]
        for number, slot in enumerate(vector):
            m.d.comb += [
                slot.largest_exponent.eq(exponent),
                dot.terms[number].eq(slot.dot_term),
                slot.shared_raw.eq(raw),
            ]
