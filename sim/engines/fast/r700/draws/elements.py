"""Elements of vertex buffers and rings as the components that a fetch gives; see golden's `draws.formats`."""

from collections.abc import Sequence

from llvmlite import ir

from ctm.rtl.isa.limits import BYTE_BITS, CHANNELS, WORD_BITS
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, SHORT, Lanes, Value
from ctm.sim.golden.r700.instruction import Numeric, VertexFormat

_KINDS = {8: BYTE, 16: SHORT, 32: INT}
_HALF_SIGN, _HALF_MAGNITUDE, _HALF_NORMAL, _HALF_INFINITE = 0x8000, 0x7FFF, 0x0400, 0x7C00
_MANTISSA_BITS = 13
"""That a float32 has more than a half."""
_BIAS, _BIAS_OF_INFINITE = 0x38000000, 0x70000000
"""What the exponent of a float32 has more than a half's, and more where that is the greatest one."""
_LEAST_HALF = 2.0**-24


def components(lanes: Lanes, element: VertexFormat, pointers: Sequence[Value], inside: Value) -> list[Value]:
    """The four words of each lane's element, which its pointer points at.

    Channels are 0 but in the lanes of the bits `inside`; those that the format does not have are 0, 0, 1. All pointers
    are read, also those of other lanes.
    """
    one = lanes.integer(1) if element.numeric is Numeric.INTEGER else lanes.words(lanes.single(1))
    result = [lanes.none] * (CHANNELS - 1) + [one]
    for channel in range(element.channels):
        raw = _raw(lanes, element, pointers, channel)
        result[channel] = lanes.choose(inside, _word(lanes, element, raw), lanes.none)
    return result


def _raw(lanes: Lanes, element: VertexFormat, pointers: Sequence[Value], channel: int) -> Value:
    """What memory holds of a channel, as words; signs are extended."""
    builder, kind = lanes.builder, _KINDS[element.bits]
    found = ir.Constant(ir.VectorType(kind, lanes.width), ir.Undefined)
    for lane, pointer in enumerate(pointers):
        at = builder.gep(pointer, [ir.Constant(INT, channel * element.bits // BYTE_BITS)], source_etype=BYTE)
        loaded = builder.load(at, typ=kind)
        loaded.align = 1
        found = lanes.put(found, loaded, lane)
    if kind is INT:
        return found
    return (builder.sext if element.signed else builder.zext)(found, lanes.integers)


def _word(lanes: Lanes, element: VertexFormat, raw: Value) -> Value:
    """A channel as a word."""
    builder = lanes.builder
    if element.numeric is Numeric.FLOAT:
        return raw if element.bits == WORD_BITS else _from_half(lanes, raw)
    if element.numeric is Numeric.INTEGER:
        return raw
    if element.numeric is Numeric.SCALED:
        convert = builder.sitofp if element.signed else builder.uitofp
        return lanes.words(lanes.narrow(convert(raw, lanes.doubles)))
    if element.bits == WORD_BITS:
        return lanes.words(_signed_normalised(lanes, raw) if element.signed else _normalised(lanes, raw, WORD_BITS))
    highest = (1 << element.bits - element.signed) - 1
    # Both numbers are exact, so the quotient is rounded once.
    quotient = builder.fdiv((builder.sitofp if element.signed else builder.uitofp)(raw, lanes.floats),
                            lanes.single(highest))  # fmt: skip
    if element.signed:
        least = lanes.single(-1)
        quotient = lanes.choose(builder.fcmp_ordered("<", quotient, least), least, quotient)
    return lanes.words(quotient)


def _from_half(lanes: Lanes, raw: Value) -> Value:
    """Half floats as float32, exactly; the payload of a NaN is kept."""
    builder = lanes.builder
    sign = builder.shl(builder.and_(raw, lanes.integer(_HALF_SIGN)), lanes.integer(WORD_BITS - 16))
    magnitude = builder.and_(raw, lanes.integer(_HALF_MAGNITUDE))
    is_infinite = builder.icmp_unsigned(">=", magnitude, lanes.integer(_HALF_INFINITE))
    bias = lanes.choose(is_infinite, lanes.integer(_BIAS_OF_INFINITE), lanes.integer(_BIAS))
    normal = builder.add(builder.shl(magnitude, lanes.integer(_MANTISSA_BITS)), bias)
    denormal = lanes.words(builder.fmul(builder.uitofp(magnitude, lanes.floats), lanes.single(_LEAST_HALF)))
    is_normal = builder.icmp_unsigned(">=", magnitude, lanes.integer(_HALF_NORMAL))
    return builder.or_(sign, lanes.choose(is_normal, normal, denormal))


def _normalised(lanes: Lanes, words: Value, bits: int) -> Value:
    """The float nearest to n / (2^bits - 1).

    That is n (2^bits + 1) / (2^(2 bits) - 1), a little above n (2^bits + 1) / 2^(2 bits), as the lowest bit says.
    """
    builder = lanes.builder
    wide = builder.zext(words, lanes.longs)
    product = builder.or_(builder.or_(builder.shl(wide, lanes.long(bits)), wide), lanes.long(1))
    quotient = builder.fmul(builder.uitofp(product, lanes.floats), lanes.single(2.0 ** (-2 * bits)))
    return lanes.choose(builder.icmp_unsigned("==", words, lanes.none), lanes.single(0), quotient)


def _signed_normalised(lanes: Lanes, words: Value) -> Value:
    """The float nearest to n / (2^31 - 1), at least -1."""
    builder, bits = lanes.builder, WORD_BITS - 1
    is_negative = builder.icmp_signed("<", words, lanes.none)
    magnitude = lanes.choose(is_negative, builder.sub(lanes.none, words), words)
    magnitude = lanes.apply("umin", magnitude, lanes.integer((1 << bits) - 1))
    quotient = _normalised(lanes, magnitude, bits)
    return lanes.choose(is_negative, builder.fneg(quotient), quotient)
