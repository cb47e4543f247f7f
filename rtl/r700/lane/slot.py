"""A slot: a product, a sum, an integer, a comparison, a choice, and the rounding and modifiers of its result.

A slot has two paths from its operands to its result. Numbers go through the adder and are rounded; words (operands
that are copied, integers, 1.0 or all ones) go beside it, and replace the rounded sum where modifiers want a number.
Both paths start with the same two words, `lhs` and `rhs`, which are compared before the shift. So one comparison serves
MAX, SETGT, and a sum, whose smaller number is shifted.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-lane.md.
"""

from dataclasses import dataclass, fields, replace

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import WIDE_EXPONENT, raw_layout, unpack
from ctm.rtl.fp.product import PRODUCT
from ctm.rtl.fp.product_sum import DOT_TERM_BITS, DotTerm
from ctm.rtl.fp.result import Result, as_rounded
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.lane import INDEX, SLOT_OPERANDS, Lhs, SlotControl, Source, Test, Type
from ctm.rtl.r700.lane.adder import AMOUNT_BITS, RAW_BITS, SlotAdder
from ctm.rtl.r700.lane.comparison import Comparison
from ctm.rtl.r700.lane.index import Index
from ctm.rtl.r700.lane.integer import IntegerUnit
from ctm.rtl.r700.lane.operand_words import OperandWords
from ctm.rtl.r700.lane.outcome import Outcome
from ctm.rtl.r700.lane.post_multiplier import PostMultiplierResult
from ctm.rtl.r700.lane.product_word import ProductWord
from ctm.rtl.r700.lane.shift import SlotProduct
from ctm.rtl.r700.lane.timing import Timing

INTEGERS, INDICES = "integers", "indices"
"""Units that are gated together in all slots."""
_TERM_FLAGS = ("sign", "zero", "infinite", "nan")
RAW_FIELDS = ("exponent", "sign", "zero_sign", "infinite", "nan", "truncate")


@dataclass(frozen=True)
class _Words:
    """Control that is delayed beside an arithmetic unit."""

    lhs: Value
    rhs: Value
    relation: Value | data.View
    control: data.View

    def later(self, m: Module, cycles: int) -> "_Words":
        return _Words(*(delay(m, getattr(self, each.name), cycles, name=each.name) for each in fields(self)))


class Slot(wiring.Component):
    """The arithmetic of one slot, from operands to the word that is written.

    Latency is that of the lane, one instruction per cycle; `Timing` has the cycles of other inputs and outputs.
    `raw_bits` is the width of `shared_raw`'s sums; `doubles`: CUBE's sum is doubled here.

    Members
    -------
    operands : ``In(ArrayLayout(32, 3))``
    control : ``In(SlotControl)``
    dx10_clamp : ``In(1)``
        In the cycle of the operands.
    words : ``Out(ArrayLayout(32, 2))``
        Operands 0 and 1 with their modifiers, in the same cycle.
    shared_word : ``In(32)``
        At `product`.
    shared_raw : ``In(raw_layout(raw_bits))``
        In the cycle `aligned` of the words.
    word : ``Out(32)``
    predicate, kill : ``Out(1)``
        Whether a PRED_SET's or KILL's condition holds; 0 for other operations.

    Of x, y, z, w:

    exponent : ``Out(WIDE_EXPONENT)``
        Of operand 0 * operand 1, in the cycle `taken` of the operands.
    largest_exponent : ``In(WIDE_EXPONENT)``
        Of the products of a dot product, at `partial_products`.
    dot_term : ``Out(DotTerm)``
        In the cycle `aligned` of the words.
    index : ``Out(INDEX)``
        For the address register.

    Of t:

    post_multiplied : ``In(PostMultiplierResult)``
        Before the register of the step `rounded`.
    """

    def __init__(
        self, config: PipelineConfig, *, raw_bits: int = RAW_BITS, doubles: bool = False, is_trans: bool = False
    ) -> None:
        self._config, self._raw_bits, self._doubles, self._is_trans = config, raw_bits, doubles, is_trans
        self._timing = Timing(config)
        self.latency = self._timing.result
        vector = {
            "exponent": Out(WIDE_EXPONENT),
            "largest_exponent": In(WIDE_EXPONENT),
            "dot_term": Out(DotTerm),
            "index": Out(INDEX),
        }
        super().__init__(
            {
                "operands": In(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS)),
                "control": In(SlotControl),
                "dx10_clamp": In(1),
                "words": Out(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS - 1)),
                "shared_word": In(WORD_BITS),
                "shared_raw": In(raw_layout(raw_bits)),
                "word": Out(WORD_BITS),
                "predicate": Out(1),
                "kill": Out(1),
                **({"post_multiplied": In(PostMultiplierResult)} if is_trans else vector),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, timing = self._config, self._timing
        m.submodules.operand_words = operand_words = OperandWords(is_trans=self._is_trans)
        m.d.comb += [operand_words.operands.eq(self.operands), operand_words.control.eq(self.control)]
        m.d.comb += self.words.eq(operand_words.words)
        first = _Words(operand_words.lhs, operand_words.rhs, operand_words.relation, self.control)
        words = first.later(m, timing.chosen)
        product, shifted = self._product(m, words.control)
        words = words.later(m, timing.partial_products - timing.chosen)
        integer = self._integer(m, words)
        is_operand = (words.control.lhs == Lhs.OPERAND_0) | (words.control.lhs == Lhs.OPERAND_1)
        words = replace(words, lhs=Mux(is_operand, words.lhs, 0)).later(m, config.product)
        words = self._lhs(m, words, product, shifted, integer).later(m, config.rounding)
        adder = self._adder(m, words)
        if not self._is_trans:
            self._dot_term(m, adder, product, words.control)
        outcome, words = self._outcome(m, words, adder)
        self._finish(m, adder, outcome, words)
        return m

    def _product(self, m: Module, control: data.View) -> tuple[data.View, Value]:
        """(the exact product, in the cycle of its significand; a shifted integer)."""
        m.submodules.product = unit = SlotProduct(self._config)
        a, b = delay(m, self.words, self._timing.chosen, name="words")
        m.d.comb += [
            unit.a.eq(unpack(m, a, name="a")),
            unit.b.eq(unpack(m, b, name="b")),
            unit.words.eq(Cat(a, b)),
            unit.operation.eq(control.integer),
            unit.zero_times_anything.eq(control.zero_times_anything),
        ]
        if not self._is_trans:
            m.d.comb += self.exponent.eq(unit.exponent)
        product = record(PRODUCT)
        m.d.comb += [
            product.eq(delay(m, unit.product, self._config.product, name="product")),
            product.significand.eq(unit.product.significand),
        ]
        return product, unit.shifted

    def _integer(self, m: Module, words: _Words) -> Value:
        m.submodules.integer = unit = GatedStateless(IntegerUnit(self._config), together=INTEGERS)
        m.d.comb += [
            unit.a.eq(words.lhs),
            unit.b.eq(words.rhs),
            unit.operation.eq(words.control.integer),
        ]
        return Value.cast(unit.result)

    def _lhs(self, m: Module, words: _Words, product: data.View, shifted: Value, integer: Value) -> _Words:
        """Words with an operation's `lhs`: the OR of its sources, of which all but one are 0."""
        m.submodules.product_word = product_word = ProductWord()
        chosen = words.control.lhs
        m.d.comb += [product_word.product.eq(product), product_word.wanted.eq(chosen == Lhs.PRODUCT)]
        is_integer, is_shared = ((chosen == source).replicate(WORD_BITS) for source in (Lhs.INTEGER, Lhs.SHARED))
        lhs = Signal(WORD_BITS)
        m.d.comb += lhs.eq(
            words.lhs | product_word.word | shifted | (integer & is_integer) | (self.shared_word & is_shared)
        )
        return replace(words, lhs=lhs)

    def _adder(self, m: Module, words: _Words) -> SlotAdder:
        m.submodules.adder = adder = SlotAdder(self._config)
        control = words.control
        m.d.comb += [
            adder.lhs.eq(words.lhs),
            adder.rhs.eq(words.rhs),
            adder.sum.eq(control.sum),
            adder.doubles.eq(control.cube if self._doubles else 0),
        ]
        return adder

    def _dot_term(self, m: Module, adder: SlotAdder, product: data.View, control: data.View) -> None:
        """Align the product of a dot product by its distance from the largest one."""
        config, timing = self._config, self._timing
        exponent = delay(m, self.exponent, config.partial_products, name="exponent")
        distance = Signal(range(1 << len(exponent)))
        m.d.comb += distance.eq(self.largest_exponent - exponent)
        amount = distance[:AMOUNT_BITS] | distance[AMOUNT_BITS:].any().replicate(AMOUNT_BITS)
        significand = delay(m, product.significand, timing.rounded_product - timing.product, name="dot_product")
        term = Mux(control.shares_sum, significand[-DOT_TERM_BITS:], 0)
        m.d.comb += [
            adder.dot.eq(control.shares_sum),
            adder.dot_product.eq(delay(m, term, timing.compared - timing.rounded_product, name="dot_product")),
            adder.dot_amount.eq(delay(m, amount, timing.compared - timing.partial_products, name="dot_amount")),
            self.dot_term.magnitude.eq(adder.aligned_product),
        ]
        flags = [delay(m, getattr(product, name), timing.aligned - timing.product, name=name) for name in _TERM_FLAGS]
        m.d.comb += [getattr(self.dot_term, name).eq(flag) for name, flag in zip(_TERM_FLAGS, flags, strict=True)]

    def _outcome(self, m: Module, words: _Words, adder: SlotAdder) -> tuple[Outcome, _Words]:
        """Compare the words; the outcome and the words come a step later."""
        m.submodules.comparison = comparison = Comparison()
        m.submodules.outcome = outcome = Outcome(is_trans=self._is_trans)
        m.d.comb += [
            comparison.lhs.eq(words.lhs),
            comparison.rhs.eq(words.rhs),
            comparison.type.eq(words.control.type),
            adder.smaller.eq(comparison.smaller),
        ]
        relation = Signal.like(comparison.relation)
        compares = words.control.test == Test.COMPARE
        m.d.comb += relation.eq(Mux(compares, Value.cast(comparison.relation), Value.cast(words.relation)))
        words = replace(words, relation=relation).later(m, self._timing.compared - self._timing.rounded_product)
        m.d.comb += [
            outcome.lhs.eq(words.lhs),
            outcome.rhs.eq(words.rhs),
            outcome.relation.eq(words.relation),
            outcome.control.eq(words.control),
        ]
        return outcome, words

    def _finish(self, m: Module, adder: SlotAdder, outcome: Outcome, words: _Words) -> None:
        """Round the sum, or replace it by the word; output modifier, clamp and packing."""
        config, timing = self._config, self._timing
        m.submodules.rounding = rounding = Rounding(self._raw_bits, config)
        control = delay(m, words.control, config.alignment, name="outcome")
        word, source, holds = (
            delay(m, value, config.alignment, name="outcome") for value in (outcome.word, outcome.source, outcome.holds)
        )
        if not self._is_trans:
            self._index(m, adder, word, control)
        raw = Signal(raw_layout(self._raw_bits))
        with m.If(control.shares_sum):
            m.d.comb += raw.eq(self.shared_raw)
        with m.Else():
            m.d.comb += [getattr(raw, name).eq(getattr(adder.raw, name)) for name in RAW_FIELDS]
            m.d.comb += raw.significand.eq(adder.raw.significand << (self._raw_bits - RAW_BITS))
        m.d.comb += rounding.raw.eq(raw)

        control = delay(m, control, config.addition + config.normalisation, name="beside_rounding")
        word, source, holds = (
            delay(m, value, config.addition + config.normalisation, name="beside_rounding")
            for value in (word, source, holds)
        )
        is_word: Value = source != Source.SUM
        m.d.comb += rounding.substitutes.eq(is_word)
        with m.If(is_word):
            m.d.comb += rounding.substitute.eq(as_rounded(m, word))
        if self._is_trans:
            is_post_multiplied = source == Source.POST_MULTIPLIED
            with m.If(is_post_multiplied):
                m.d.comb += rounding.substitute.eq(self.post_multiplied.number)
            word = Mux(is_post_multiplied, self.post_multiplied.word, word)
            is_word = is_word & ~(is_post_multiplied & self.post_multiplied.is_number)
        control = delay(m, control, config.rounding, name="rounded")
        word, is_word, holds = (delay(m, value, config.rounding, name="rounded") for value in (word, is_word, holds))
        dx10_clamp = delay(m, self.dx10_clamp, timing.rounded, name="dx10_clamp")
        self._result(m, rounding.rounded, control, word, is_word, holds, dx10_clamp)

    def _index(self, m: Module, adder: SlotAdder, word: Value, control: data.View) -> None:
        timing = self._timing
        m.submodules.index = unit = GatedStateless(Index(self._config), together=INDICES)
        index = delay(m, unit.index, timing.result - timing.normalised, name="index")
        m.d.comb += [
            unit.raw.eq(adder.raw),
            unit.word.eq(word),
            unit.is_integer.eq(control.type == Type.SIGNED),
            self.index.eq(index),
        ]

    def _result(
        self,
        m: Module,
        rounded: data.View,
        control: data.View,
        word: Value,
        is_word: Value,
        holds: Value,
        dx10_clamp: Value,
    ) -> None:
        m.submodules.result = result = Result(self._config)
        # PRED_SET_POP uses up a counter if the sum <= 0, as it is without a modifier.
        is_below_range = ~rounded.infinite & ((rounded.exponent < 1) | rounded.zero)
        used_up = control.pops & ~rounded.nan & (rounded.sign | is_below_range)
        value = Signal.like(rounded)
        m.d.comb += value.eq(rounded)
        with m.If(used_up):
            m.d.comb += [value.zero.eq(1), value.sign.eq(0), value.infinite.eq(0)]
        clamp = control.clamp & ~(rounded.nan & ~dx10_clamp)
        condition = holds | used_up
        m.d.comb += [
            result.value.eq(value),
            result.word.eq(word),
            result.untouched.eq(is_word & (control.scale == 0) & ~clamp),
            result.scale.eq(control.scale),
            result.clamp.eq(clamp),
            self.word.eq(result.result),
        ]
        cycles = self._config.result
        m.d.comb += [
            self.predicate.eq(delay(m, control.sets_predicate & condition, cycles, name="predicate")),
            self.kill.eq(delay(m, control.kills & condition, cycles, name="kill")),
        ]
