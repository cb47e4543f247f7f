"""MIN, MAX, CND and CMP: which operand's bits are the result.

Source: CTM Guide pp. 28, 41.
"""

from amaranth import Module, Mux, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import HALF, Rounded, Word
from ctm.rtl.fp.result import as_rounded
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import view


class Choice(enum.Enum, shape=2):
    """How a selection decides between a and b."""

    MINIMUM = 0
    MAXIMUM = 1
    ABOVE_HALF = 2
    NOT_NEGATIVE = 3


def is_nan(word: Value) -> Value:
    """Whether the word is a NaN."""
    fields = view(Word, word)
    return Value.cast(fields.exponent).all() & Value.cast(fields.fraction).any()


def is_zero(word: Value) -> Value:
    """Whether the word counts as zero: zeros and denormals."""
    return ~Value.cast(view(Word, word).exponent).any()


class Selection(wiring.Component):
    """Copies a or b.

    MINIMUM and MAXIMUM give b if a or b is a NaN or both are zeros. ABOVE_HALF gives a if c > 0.5, NOT_NEGATIVE if
    c >= 0 (of either zero too), else and for a NaN b. Denormals count as zeros but are copied as they are. Latency is
    `operands` of the configuration.

    Members
    -------
    a, b, c : ``In(32)``
    choice : ``In(Choice)``
    word : ``Out(32)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
    c: In(WORD_BITS)
    choice: In(Choice)
    word: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.operands
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        a, b, c = self.a, self.b, self.c
        sign_a, sign_b, sign_c = a[-1], b[-1], c[-1]
        # A denormal's magnitude lies between those of zero and of all normal numbers: no need to flush it here.
        smaller = Mux(sign_a == sign_b, Mux(sign_a, a[:-1] > b[:-1], a[:-1] < b[:-1]), sign_a)
        ordered = ~is_nan(a) & ~is_nan(b) & ~(is_zero(a) & is_zero(b))
        takes_a = Mux(
            self.choice == Choice.MINIMUM,
            ordered & smaller,
            Mux(
                self.choice == Choice.MAXIMUM,
                ordered & ~smaller,
                ~is_nan(c) & Mux(self.choice == Choice.ABOVE_HALF, ~sign_c & (c[:-1] > HALF), ~sign_c | is_zero(c)),
            ),
        )
        m.d.comb += self.word.eq(delay(m, Mux(takes_a, a, b), self.latency, name="word"))
        return m


class SelectionPath(wiring.Component):
    """Pipelines the selections of several channels beside the sums.

    Latency of `rounded` is that of a sum before its `normalisation` of the configuration, of `word` that of a rounded
    one.

    Members
    -------
    a, b, c : ``In(ArrayLayout(32, channels))``
    choice : ``In(ArrayLayout(Choice, channels))``
    rounded : ``Out(ArrayLayout(Rounded, channels))``
        What is chosen, in the form of a rounded sum.
    word : ``Out(ArrayLayout(32, channels))``
        And as it is.
    """

    def __init__(self, channels: int, config: PipelineConfig) -> None:
        self._channels, self._config = channels, config
        self.latency = config.raw_latency + config.addition + config.normalisation + config.rounding
        words = data.ArrayLayout(WORD_BITS, channels)
        super().__init__(
            {
                **dict.fromkeys("abc", In(words)),
                "choice": In(data.ArrayLayout(Choice, channels)),
                "rounded": Out(data.ArrayLayout(Rounded, channels)),
                "word": Out(words),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        beside_sum = self._config.normalisation + self._config.rounding
        for channel in range(self._channels):
            m.submodules[f"selection_{channel}"] = selection = Selection(self._config)
            selected = delay(m, selection.word, self.latency - selection.latency - beside_sum, name="selected")
            m.d.comb += [
                *(getattr(selection, name).eq(getattr(self, name)[channel]) for name in ("a", "b", "c", "choice")),
                self.rounded[channel].eq(as_rounded(m, selected)),
                self.word[channel].eq(delay(m, selected, beside_sum, name="selected")),
            ]
        return m
