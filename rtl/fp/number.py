"""What float32 numbers are between unpacking and packing.

Only these records cross from one step of a unit to the next. A denormal operand is a zero of its sign.
Source: CTM Guide p. 41.
"""

from amaranth import Cat, Module, Mux, Value, signed
from amaranth.lib import data

from ctm.rtl.lib.views import record, view

FRACTION_BITS = 23
SIGNIFICAND_BITS = 24
EXPONENT_BITS = 8
BIAS = 127


ZERO = 0x0000_0000
ONE = 0x3F80_0000
HALF = 0x3F00_0000
INFINITY = 0x7F80_0000
NAN = 0x7FFF_FFFF

WIDE_EXPONENT = signed(11)
"""Exponents without their bias; sums of two, and those of results that are too large or too small."""
ZERO_EXPONENT = -512
"""The exponent of zero terms: smaller than that of any other."""


class Word(data.Struct):
    """A float32 word."""

    fraction: FRACTION_BITS
    exponent: EXPONENT_BITS
    sign: 1


class Operand(data.Struct):
    """A word taken apart.

    ``significand`` has its leading one at bit 23, or is 0 for a zero; infinities and NaNs have any.
    ``exponent`` is biased.
    """

    significand: SIGNIFICAND_BITS
    exponent: EXPONENT_BITS
    sign: 1
    zero: 1
    infinite: 1
    nan: 1


def unpack(m: Module, word: Value, *, name: str) -> Operand:
    """The word taken apart."""
    fields = view(Word, word)
    operand = record(Operand, name=name)
    exponent_all_ones = fields.exponent.all()
    m.d.comb += [
        operand.zero.eq(~fields.exponent.any()),
        operand.infinite.eq(exponent_all_ones & ~fields.fraction.any()),
        operand.nan.eq(exponent_all_ones & fields.fraction.any()),
        operand.sign.eq(fields.sign),
        operand.exponent.eq(fields.exponent),
        operand.significand.eq(Mux(operand.zero, 0, Cat(fields.fraction, 1))),
    ]
    return operand


def exponent(operand: Operand) -> Value:
    """The operand's exponent without bias; ZERO_EXPONENT for a zero."""
    return Mux(operand.zero, ZERO_EXPONENT, operand.exponent - BIAS)


def term_layout(significand_bits: int) -> data.StructLayout:
    """One of the exact numbers that are added: significand * 2^(exponent - (significand_bits - 2)).

    So a significand in [1, 4) has its binary point after the second bit, which a product needs. Zeros have
    significand 0 and exponent ZERO_EXPONENT, infinities and NaNs any of both.
    """
    return data.StructLayout(
        {
            "significand": significand_bits,
            "exponent": WIDE_EXPONENT,
            "sign": 1,
            "zero": 1,
            "infinite": 1,
            "nan": 1,
        }
    )


def raw_layout(significand_bits: int) -> data.StructLayout:
    """An exact result for the rounding unit: significand * 2^(exponent - (significand_bits - 1)).

    The lowest bit of the significand may be sticky, which is to say stand for all bits below it. If the significand is
    0 then `zero_sign` is the sign, else `sign`. `infinite` and `nan` have priority. `truncate` rounds towards
    zero.
    """
    return data.StructLayout(
        {
            "significand": significand_bits,
            "exponent": WIDE_EXPONENT,
            "sign": 1,
            "zero_sign": 1,
            "infinite": 1,
            "nan": 1,
            "truncate": 1,
        }
    )


class Rounded(data.Struct):
    """A result of 24 bits: (1 + fraction / 2^23) * 2^(exponent - BIAS).

    The biased exponent may be out of range, which is 1 to 254.
    """

    fraction: FRACTION_BITS
    exponent: WIDE_EXPONENT
    sign: 1
    zero: 1
    infinite: 1
    nan: 1
