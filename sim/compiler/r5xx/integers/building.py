"""What the replacement of one integer instruction is made of: operands as floats, and steps that several kinds need."""

import math
import re
import struct
from dataclasses import dataclass, field

from ctm.rtl.isa.limits import WORD_BITS
from ctm.sim.compiler.ir.module import Instruction
from ctm.sim.compiler.ir.rewriting import Replacement
from ctm.sim.compiler.r5xx.integers.ranges import EXACT_BITS, Range, Ranges, operands
from ctm.sim.compiler.r5xx.integers.reasons import declaration, unsupported

WHOLE = "nnan ninf nsz"
"""LLVM's flags of what is neither NaN nor infinite, and has one zero: of whole numbers."""
_ARITHMETIC = "add", "sub", "mul"
_NUMBER = re.compile(r"-?\d+")


def single(number: float) -> float:
    """The nearest number that a float is."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def literal(number: float) -> str:
    """The nearest float as LLVM writes it."""
    return f"0x{struct.pack('>d', single(number)).hex().upper()}"


ZERO, ONE = literal(0.0), literal(1.0)


def known(text: str) -> int | None:
    """The number that an operand is; None of a variable."""
    return int(text) if _NUMBER.fullmatch(text) else None


@dataclass
class Kernel:
    """What all replacements in a kernel share.

        ranges
            Of its integers.
        pixel
            The name of its parameter.
        words
            The floats whose bits integers are, by the integers' names.
        sums
            Of each sum of something and a known number the two, by its name.
    unsupported_calls
            Calls that stand for numbers which floats are not exact for.
        declarations
            Of what is called.
    """

    ranges: Ranges
    pixel: str
    words: dict[str, str]
    sums: dict[str, tuple[str, int]]
    unsupported_calls: list[Instruction] = field(default_factory=list)
    declarations: set[str] = field(default_factory=set)


class Builder:
    """One instruction of a kernel, and its replacement."""

    def __init__(self, kernel: Kernel, new: Replacement) -> None:
        self.kernel = kernel
        self.new = new

    @property
    def instruction(self) -> Instruction:
        """The one that is replaced."""
        return self.new.replaced

    @property
    def opcode(self) -> str:
        """Its opcode."""
        return self.new.replaced.opcode

    @property
    def range(self) -> Range:
        """That of its result."""
        return self.kernel.ranges.of(self.new.replaced.result)

    def range_of(self, text: str) -> Range:
        """That of an operand."""
        return self.kernel.ranges.of(text)

    def operands(self) -> list[str]:
        """Those of an arithmetic instruction or a cast."""
        return operands(self.new.replaced)[1]

    def float(self, text: str) -> str:
        """An operand as a float."""
        number = known(text)
        if number is None:
            return {"true": ONE, "false": ZERO}.get(text, text)
        if single(number) == number and (abs(number) <= 1 << EXACT_BITS or self._is_exact_beyond(number)):
            return literal(number)
        name = unsupported("number", text, "float")
        self.kernel.declarations.add(declaration(name))
        # Values of phis have no block position of their own, so that all of these are at the start.
        result = f"%-u.{len(self.kernel.unsupported_calls)}"
        call = Instruction(result, f"call float @{name}()", self.new.replaced.debug_location)
        self.kernel.unsupported_calls.append(call)
        return result

    def _is_exact_beyond(self, number: int) -> bool:
        """Whether a result is exact with an operand beyond 2^24 that is a float: comparisons are, sums are not."""
        is_power = not abs(number) & (abs(number) - 1)
        return self.opcode not in _ARITHMETIC or (self.opcode == "mul" and is_power)

    def step(self, text: str) -> str:
        """Add an instruction; the name of its result."""
        return self.new.value(text)

    def whole(self, opcode: str, *values: str) -> str:
        """Add arithmetic on whole numbers; the name of its result."""
        return self.new.value(f"{opcode} {WHOLE} float {', '.join(values)}")

    def call(self, name: str, *values: str) -> str:
        """Add a call of a function of whole numbers; the name of its result."""
        return self.new.value(f"call {WHOLE} float @{name}({', '.join(f'float {value}' for value in values)})")

    def choose(self, condition: str, yes: str, no: str) -> str:
        """Add a selection; the name of its result."""
        return self.new.value(f"select i1 {condition}, float {yes}, float {no}")

    def result(self, text: str) -> bool:
        """Add what has the result of the instruction."""
        self.new.result(text)
        return True

    def same(self, value: str) -> bool:
        """Give the result another value's name: LLVM drops sums with -0."""
        return self.result(f"fadd float {value}, {literal(-0.0)}")

    def mark_unsupported(self, kind: str, detail: object = 0, type_: str = "float") -> bool:
        """Stand for something that cores cannot do, by the kind of sentence that says it."""
        name = unsupported(kind, detail, type_)
        self.kernel.declarations.add(declaration(name))
        return self.result(f"call {type_} @{name}()")

    def is_negative(self, value: str) -> str:
        """Whether a value is less than 0."""
        return self.new.value(f"fcmp {WHOLE} olt float {value}, {ZERO}")

    def truth(self, value: str) -> str:
        """Whether a value is not 0."""
        return self.new.value(f"fcmp {WHOLE} une float {value}, {ZERO}")

    def remainder(self, value: str, bits: int, range_: Range) -> str | None:
        """The lowest bits; None if a float may not be exact for them."""
        # Of what has no known limit it is taken for granted that it is exact, of what is known to reach further not.
        is_exact = bits > EXACT_BITS and range_.is_natural and math.isinf(range_.high)
        if range_.within(0, 2.0**bits - 1) or is_exact:
            return value
        if bits > EXACT_BITS:
            return None
        residue = self.new.value(f"call float @ctm.fract(float {self.whole('fmul', value, literal(2.0**-bits))})")
        return self.whole("fmul", residue, literal(2.0**bits))

    def lowest(self, value: str, range_: Range) -> str:
        """The lowest bit as a number of one bit, which is its sign: 0 or -1."""
        odd = self.remainder(value, 1, range_)
        return self.whole("fsub", ZERO, str(odd))

    def narrowed(self, value: str, bits: int, range_: Range) -> str:
        """The lowest bits, the highest of which is the sign."""
        half = 2.0 ** (bits - 1)
        if bits > EXACT_BITS or range_.within(-half, half - 1):
            return value
        residue = self.remainder(value, bits, range_)
        assert residue is not None, bits
        is_negative = self.new.value(f"fcmp {WHOLE} oge float {residue}, {literal(half)}")
        return self.choose(is_negative, self.whole("fsub", residue, literal(2 * half)), residue)

    def unsigned(self, value: str, bits: int = WORD_BITS) -> str:
        """The number that an integer is without a sign, rounded where a float is not exact for it."""
        wrapped = self.whole("fadd", value, literal(2.0**bits))
        return self.choose(self.is_negative(value), wrapped, value)
