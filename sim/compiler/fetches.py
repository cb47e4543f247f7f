"""Which elements of its inputs a kernel fetches, as far as that follows from its IR.

A coordinate is known where it is computed from the pixel and from numbers by sums, products, choices and rounding. What
a loop counts, and what comes from an input, is not known.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import NAME, Function, Instruction, Module, split, typed
from ctm.sim.compiler.ir.scalars import scalarised
from ctm.sim.compiler.ranges import Coordinate, Pixel, number, operation

TEXEL, TEXTURE = "ctm.texel", "ctm.texture"
_I, _J = "%-i", "%-j"
_BINARY = {
    "fadd": "plus", "fsub": "minus", "fmul": "times", "add": "plus", "sub": "minus", "mul": "times", "or": "plus",
    "shl": "shifted",
}  # fmt: skip
_CALLED = {
    **{f"llvm.{name}.f32": "rounded" for name in ("floor", "ceil", "trunc", "rint")},
    "llvm.smin.i32": "least", "llvm.smax.i32": "greatest", "llvm.minnum.f32": "least", "llvm.maxnum.f32": "greatest",
}  # fmt: skip
_UNSIGNED = {"llvm.umin.i32": "least", "llvm.umax.i32": "greatest"}
_COMPARISON = re.compile(r"(?:fcmp [ou]|icmp (?:samesign )?s)(l|g)[te] (?:float|i32) (.*), (.*)")
"""Without those of integers that have no sign."""
_FLAGS = re.compile(r"^(?:(?:nuw|nsw|nneg|disjoint|contract|reassoc|nnan|ninf|nsz|arcp|afn|fast) )+")

Constants = Mapping[int, tuple[int, ...]]
"""Words of float constants that are known."""


@dataclass(frozen=True)
class Fetch:
    """One fetch from an input: its coordinates, None where they are unknown, and its location in the source."""

    number: int
    x: Coordinate | None
    y: Coordinate | None
    location: Location | None


@dataclass(frozen=True)
class KernelFetches:
    """All fetches of a kernel, and whether its pixel is of integers."""

    fetches: tuple[Fetch, ...]
    is_whole: bool


def fetches_of(module: Module, kernel: Function, constants: Constants) -> KernelFetches:
    """Those of a kernel that was optimised; `constants` are those that it will run with."""
    assert kernel.pixel is not None
    scalar, _ = scalarised(kernel, {kernel.pixel[1]: [_I, _J]})
    values = _Values(scalar, constants)
    found = []
    for instruction in scalar.instructions:
        if instruction.callee in (TEXEL, TEXTURE):
            index, *coordinates = instruction.arguments
            x, y = map(values.of, coordinates) if instruction.callee == TEXEL else (None, None)
            found.append(Fetch(int(index), x, y, module.location(instruction)))
    return KernelFetches(tuple(found), "float" not in kernel.pixel[0])


class _Values:
    """The values of a function that are coordinates."""

    def __init__(self, function: Function, constants: Constants) -> None:
        self._made = {each.result: each for each in function.instructions if each.result}
        self._constants = constants
        self._known: dict[str, Coordinate | None] = {_I: Pixel(0), _J: Pixel(1)}

    def of(self, operand: str) -> Coordinate | None:
        """What an operand is; None where that is not known."""
        if re.fullmatch(NAME, operand) is None:
            return _literal(operand)
        if operand not in self._known:
            # A value that depends on itself is loop-carried.
            self._known[operand] = None
            made = self._made.get(operand)
            self._known[operand] = None if made is None else self._computed(made)
        return self._known[operand]

    def _computed(self, made: Instruction) -> Coordinate | None:
        text = made.text.partition(" ")[2]
        if made.opcode == "extractelement":
            return self._constant(text)
        if made.opcode in _BINARY and (made.opcode != "or" or text.startswith("disjoint ")):
            first, second = split(_FLAGS.sub("", text))
            return operation(_BINARY[made.opcode], self.of(typed(first)[1]), self.of(second))
        if made.opcode in ("sitofp", "fptosi", "uitofp"):
            source = _FLAGS.sub("", text).rpartition(" to ")[0]
            return operation("rounded", self.of(typed(source)[1]), is_signed=made.opcode != "uitofp")
        if made.callee in _CALLED:
            return operation(_CALLED[made.callee], *map(self.of, made.arguments))
        if made.callee in _UNSIGNED:
            return operation(_UNSIGNED[made.callee], *map(self.of, made.arguments), is_signed=False)
        if made.opcode == "select":
            return self._chosen(*(typed(each)[1] for each in split(_FLAGS.sub("", text))))
        if made.callee.startswith("llvm.fma."):
            a, b, c = map(self.of, made.arguments)
            return operation("plus", operation("times", a, b), c)
        return None

    def _chosen(self, condition: str, first: str, second: str) -> Coordinate | None:
        """The less or the greater one of two, or any of them."""
        made = self._made.get(condition)
        found = None if made is None else _COMPARISON.fullmatch(made.text)
        name = "either"
        if found is not None and {first, second} == {found[2], found[3]}:
            name = "least" if (found[1] == "l") == (first == found[2]) else "greatest"
        return operation(name, self.of(first), self.of(second))

    def _constant(self, text: str) -> Coordinate | None:
        """A channel of a constant that is known."""
        vector, index = split(text)
        source = self._made.get(typed(vector)[1])
        if source is None or source.callee != "ctm.constant" or not source.arguments[0].isdecimal():
            return None
        words = self._constants.get(int(source.arguments[0]))
        if words is None:
            return None
        return number(struct.unpack("<f", words[int(typed(index)[1])].to_bytes(4, "little"))[0])


def _literal(text: str) -> Coordinate | None:
    """A number of the IR."""
    if text.startswith("0x"):
        return number(struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0])
    try:
        return number(float(text))
    except ValueError:
        return None
