"""Operations that compare the operands of all vector slots and select of them: MAX4 and CUBE.

Both choose by a tree of comparisons: MAX4 the larger one of the larger ones of two pairs, CUBE the larger one of z and
the larger one of x and y, by magnitude. For CUBE the slots x, y, z, w have z, z, x, y as their first operands, so the
same pairs meet; the second one is unused.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.selection import is_nan, is_zero
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import VECTOR_SLOTS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import Type
from ctm.rtl.r700.lane.comparison import Comparison

_WORDS = data.ArrayLayout(WORD_BITS, VECTOR_SLOTS)
_FACES = (0x00000000, 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x40A00000)
"""0.0 to 5.0."""


class Candidates(wiring.Component):
    """The words of which MAX4's and CUBE's results are made: MAX4's own, in every slot; of CUBE t, s, major, face.

    They are not rounded (a sum with -0 gives CUBE's canonical NaNs and its zeros for denormals) and major is not
    doubled. Latency is `operands` + `partial_products` + `product` of the configuration, for the first pairs, the
    last one, and the choice.

    Members
    -------
    words : ``In(ArrayLayout(32, 4))``
    cube : ``In(1)``
    results : ``Out(ArrayLayout(32, 4))``
    """

    words: In(_WORDS)
    cube: In(1)
    results: Out(_WORDS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.operands + config.partial_products + config.product
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, cube = self._config, self.cube
        words = [self.words[slot] for slot in range(VECTOR_SLOTS)]
        first = self._relation(m, words[0], words[1], cube, name="first_pair")
        second = self._relation(m, words[2], words[3], cube, name="second_pair")
        # Of x and y, y is taken if they are equal, and x beside a NaN.
        takes_third = second.greater | Mux(cube, second.first_nan | second.second_nan, second.equal)
        lhs = Mux(cube | first.greater | first.equal, words[0], words[1])
        rhs = Mux(takes_third, words[2], words[3])

        lhs, rhs, x, y, z, cube, on_y = (
            delay(m, value, config.operands, name="pair")
            for value in (lhs, rhs, words[2], words[3], words[0], cube, ~takes_third)
        )
        last = self._relation(m, lhs, rhs, cube, name="last_pair")
        takes_first = last.greater | last.equal
        on_z = takes_first & ~is_nan(y)
        major = Mux(Mux(cube, on_z, takes_first), lhs, rhs)
        on_y, on_z, major, x, y, z, cube = (
            delay(m, value, config.partial_products, name="major")
            for value in (on_y & ~on_z, on_z, major, x, y, z, cube)
        )
        results = self._cube(x, y, z, major, on_y, on_z)
        for slot, result in enumerate(results):
            word = Mux(cube, result, major)
            m.d.comb += self.results[slot].eq(delay(m, word, config.product, name="candidate"))
        return m

    def _relation(self, m: Module, lhs: Value, rhs: Value, cube: Value, *, name: str) -> data.View:
        """The relation of two words, for CUBE of their magnitudes."""
        m.submodules[name] = comparison = Comparison()
        m.d.comb += [
            comparison.type.eq(Type.FLOAT),
            comparison.lhs.eq(Cat(lhs[:-1], lhs[-1] & ~cube)),
            comparison.rhs.eq(Cat(rhs[:-1], rhs[-1] & ~cube)),
        ]
        relation: data.View = comparison.relation
        return relation

    def _cube(self, x: Value, y: Value, z: Value, major: Value, on_y: Value, on_z: Value) -> tuple[Value, ...]:
        negative = major[-1] & ~is_zero(major) & ~is_nan(major)
        t = Mux(on_y, _negated(z, negative), _negated(y, Const(1)))
        s = Mux(on_z | on_y, _negated(x, on_z & negative), _negated(z, ~negative))
        faces = [Mux(negative, odd, even) for even, odd in zip(_FACES[::2], _FACES[1::2], strict=True)]
        return t, s, major, Mux(on_z, faces[2], Mux(on_y, faces[1], faces[0]))


def _negated(word: Value, negate: Value) -> Value:
    return Cat(word[:-1], word[-1] ^ negate)
