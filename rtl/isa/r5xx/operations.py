"""What the operations of ALU and OUTPUT instructions read and are.

Source: CTM Guide p. 28; MDH and MDV are in the R5xx register reference only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """An operation, by its code in each unit that has it.

    `reads` are the operands, of "abc", that a channel takes through select and swizzle. A dot product takes A and B of
    `products`, and C of `addends`, whatever channels it is written to; channel 3 is the alpha unit's. A derivative
    takes A and C of source 0 of the quad's lanes. What `copies_bits` gives one of its operands as it is. A
    transcendental operation, and what `copies_other`, gives one result to both units.
    """

    rgb: RgbOperation | None = None
    alpha: AlphaOperation | None = None
    reads: str = ""
    products: tuple[int, ...] = ()
    addends: tuple[int, ...] = ()
    copies_bits: bool = False
    copies_other: bool = False
    is_derivative: bool = False
    is_transcendental: bool = False

    @property
    def name(self) -> str:
        """As it is written."""
        code = self.alpha if self.rgb is None else self.rgb
        assert code is not None
        return code.name

    @property
    def is_dot(self) -> bool:
        """Whether it is a dot product, of which the alpha unit's DP is a copy."""
        return bool(self.products)


def _both(name: str, reads: str, *, copies_bits: bool = False, is_derivative: bool = False) -> Arithmetic:
    return Arithmetic(
        rgb=RgbOperation[name], alpha=AlphaOperation[name], reads=reads,
        copies_bits=copies_bits, is_derivative=is_derivative,
    )  # fmt: skip


def _transcendental(alpha: AlphaOperation) -> Arithmetic:
    return Arithmetic(alpha=alpha, reads="a", is_transcendental=True)


OPERATIONS = (
    _both("MAD", "abc"),
    Arithmetic(rgb=RgbOperation.DP3, reads="ab", products=(0, 1, 2)),
    Arithmetic(rgb=RgbOperation.DP4, reads="ab", products=(0, 1, 2, 3)),
    Arithmetic(rgb=RgbOperation.D2A, reads="abc", products=(0, 1), addends=(2,)),
    Arithmetic(alpha=AlphaOperation.DP, copies_other=True),
    _both("MIN", "ab", copies_bits=True),
    _both("MAX", "ab", copies_bits=True),
    _both("CND", "abc", copies_bits=True),
    _both("CMP", "abc", copies_bits=True),
    _both("FRC", "a"),
    Arithmetic(rgb=RgbOperation.SOP, copies_other=True),
    _transcendental(AlphaOperation.EX2),
    _transcendental(AlphaOperation.LN2),
    _transcendental(AlphaOperation.RCP),
    _transcendental(AlphaOperation.RSQ),
    _transcendental(AlphaOperation.SIN),
    _transcendental(AlphaOperation.COS),
    _both("MDH", "b", is_derivative=True),
    _both("MDV", "b", is_derivative=True),
)
"""In the order of their codes in each unit."""

RGB: Mapping[RgbOperation, Arithmetic] = {each.rgb: each for each in OPERATIONS if each.rgb is not None}
ALPHA: Mapping[AlphaOperation, Arithmetic] = {each.alpha: each for each in OPERATIONS if each.alpha is not None}
"""By code."""

RGB_DOT_PRODUCTS = tuple(code for code, each in RGB.items() if each.is_dot)
"""Partners of the alpha operation DP, which copies their result."""

TRANSCENDENTALS = tuple(code for code, each in ALPHA.items() if each.is_transcendental)
"""Partners of the RGB operation SOP, which copies their result."""

RGB_BIT_COPIES = tuple(code for code, each in RGB.items() if each.copies_bits)
ALPHA_BIT_COPIES = tuple(code for code, each in ALPHA.items() if each.copies_bits)
"""Operations that return one operand's bits: the only ones that OutputModifier.DISABLED is legal with."""

RGB_DERIVATIVES = tuple(code for code, each in RGB.items() if each.is_derivative)
ALPHA_DERIVATIVES = tuple(code for code, each in ALPHA.items() if each.is_derivative)
