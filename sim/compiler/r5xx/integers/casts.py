"""Conversions between integers of several widths, floats and bits."""

from ctm.sim.compiler.r5xx.integers.building import WHOLE, ZERO, Builder
from ctm.sim.compiler.r5xx.integers.ranges import operands, width


def widening(to: Builder) -> bool:
    """To more bits: of a truth 1 or -1."""
    type_, (value, *_) = operands(to.instruction)
    is_signed = to.opcode == "sext"
    if width(type_) == 1:
        return to.result(f"{'sitofp' if is_signed else 'uitofp'} i1 {value} to float")
    number = to.float(value)
    is_same = is_signed or to.range_of(value).is_natural
    return to.same(number if is_same else to.unsigned(number, width(type_)))


def narrowing(to: Builder) -> bool:
    """To fewer bits, the highest of which is the sign; to one: whether a number is odd."""
    (value, *_) = to.operands()
    bits = width(to.instruction.text.rpartition(" ")[2])
    number, range_ = to.float(value), to.range_of(value)
    if bits == 1:
        return to.result(f"fcmp {WHOLE} une float {to.remainder(number, 1, range_)}, {ZERO}")
    return to.same(to.narrowed(number, bits, range_))


def from_float(to: Builder) -> bool:
    """Without the fraction."""
    type_, (value, *_) = operands(to.instruction)
    if type_ != "float":
        # Doubles are diagnosed where they are.
        value = to.step(f"fptrunc {type_} {value} to float")
    return to.result(f"call {WHOLE} float @llvm.trunc.f32(float {value})")


def to_float(to: Builder) -> bool:
    """The same number."""
    type_, (value, *_) = operands(to.instruction)
    if width(type_) == 1:
        return False
    number = to.float(value)
    target = to.instruction.text.rpartition(" ")[2]
    if target != "float":
        return to.result(f"fpext float {number} to {target}")
    is_same = to.opcode == "sitofp" or to.range_of(value).is_natural
    return to.same(number if is_same else to.unsigned(number, width(type_)))


def bits(to: Builder) -> bool:
    """Of a float that became an integer only to be one again; others are unsupported."""
    type_, (value, *_) = operands(to.instruction)
    target = to.instruction.text.rpartition(" ")[2]
    if target == "float" and value in to.kernel.words:
        return to.same(to.kernel.words[value])
    return to.mark_unsupported("word") if width(type_) or width(target) else False
