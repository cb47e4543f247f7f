"""One processor's arithmetic: the five slots of a group, and what they share.

The vector slots share the sum of DOT4 and the choices of MAX4 and CUBE; slot t has functions and what multiplies last
to itself. A shared unit gives a slot one of its two words, or the sum that it rounds: each slot has its own rounding,
output modifier and clamp.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/architecture.md.
"""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.dot_product import DotSum, largest
from ctm.rtl.fp.number import WIDE_EXPONENT
from ctm.rtl.isa.r700.limits import TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.rest import Resting, rest_together
from ctm.rtl.r700.entries import GROUP_OPERANDS, LaneControl, LaneResults, Left, Source, Sum, Type
from ctm.rtl.r700.lane import adder, trans
from ctm.rtl.r700.lane.candidates import Candidates
from ctm.rtl.r700.lane.slot import INDICES, INTEGERS, RAW_FIELDS, Slot
from ctm.rtl.r700.lane.timing import Timing

_MAJOR = 2
"""The slot of CUBE's result that is twice the largest component."""


class Lane(wiring.Component):
    """The arithmetic of one processor, from operands to the words that are written.

    Latency is `lane_latency` of the configuration; one group per cycle. What a slot has nothing to do with means
    nothing: its control may be anything, and so is its result.

    Members
    -------
    operands : ``In(GROUP_OPERANDS)``
    control : ``In(LaneControl)``
        With the operands.
    results : ``Out(LaneResults)``
    """

    operands: In(GROUP_OPERANDS)
    control: In(LaneControl)
    results: Out(LaneResults)

    def __init__(self, config: PipelineConfig) -> None:
        self._config, self._timing = config, Timing(config)
        self.latency = self._timing.result
        super().__init__()

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
        self._rest(m, platform)
        self._connect_trans(m, slots[TRANS_SLOT])
        self._connect_candidates(m, vector)
        self._connect_dot(m, vector)
        return m

    def _rest(self, m: Module, platform: object) -> None:
        """Let the slots' units for integers and for indices rest while no slot wants one."""
        slots, timing = list(self.control.slots), self._timing
        computes = [slot.left == Left.INTEGER for slot in slots]
        # Of some operations that are no MOVA, too: nothing says here what one is.
        moves = [(slot.type == Type.SIGNED) | (slot.sum == Sum.UP) | (slot.sum == Sum.FLOOR) for slot in slots]
        rest_together(m, platform, INTEGERS, Cat(computes).any(), timing.product)
        rest_together(m, platform, INDICES, Cat(moves).any(), timing.normalised)

    def _connect_trans(self, m: Module, slot: Slot) -> None:
        m.submodules.trans = unit = Resting(trans.Trans(self._config), self._timing.normalised)
        control = slot.control
        m.d.comb += [
            unit.wanted.eq(control.shares_sum | (control.left == Left.SHARED) | (control.if_false == Source.LATE)),
            unit.words.eq(slot.words),
            unit.control.eq(slot.control),
            slot.shared_word.eq(unit.word),
            slot.shared_raw.eq(unit.raw),
            slot.late.eq(unit.late),
        ]

    def _connect_candidates(self, m: Module, vector: list[Slot]) -> None:
        chosen = self._timing.chosen
        candidates = Candidates(self._config)
        m.submodules.candidates = unit = Resting(candidates, candidates.latency)
        control = vector[0].control
        m.d.comb += [
            unit.wanted.eq(delay(m, control.left == Left.SHARED, chosen, name="wanted")),
            unit.cube.eq(delay(m, control.cube, chosen, name="cube")),
        ]
        for number, slot in enumerate(vector):
            m.d.comb += [
                unit.words[number].eq(delay(m, slot.words[0], chosen, name="word")),
                slot.shared_word.eq(unit.results[number]),
            ]

    def _connect_dot(self, m: Module, vector: list[Slot]) -> None:
        """Give the products their largest exponent, and the slots the sum of the aligned products."""
        config, timing = self._config, self._timing
        # The sum delays the exponent by the steps that lie between it and the terms in R5xx lanes.
        steps = config.partial_products + config.product + config.alignment
        m.submodules.dot = dot = Resting(DotSum(config), steps)
        exponent = Signal(WIDE_EXPONENT)
        m.d.comb += exponent.eq(
            delay(m, largest([slot.exponent for slot in vector]), config.partial_products, name="largest")
        )
        begins = timing.aligned - steps
        m.d.comb += [
            dot.wanted.eq(delay(m, vector[0].control.shares_sum, begins, name="wanted")),
            dot.exponent.eq(delay(m, exponent, begins - timing.partial_products, name="largest")),
        ]
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
