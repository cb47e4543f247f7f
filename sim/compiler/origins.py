"""Kernels of domains that are larger than the machine's: each launch begins at an origin, which is a constant.

The machine's pixel is (0, 0) at the origin, and the kernel adds the origin to it. Where a section of an input is loaded
it subtracts the section's origin from coordinates. Up to 2^24 all of these are whole numbers that floats hold, so sums
and differences are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctm.sim.compiler.fetches import TEXEL
from ctm.sim.compiler.ir.module import Block, Function, Instruction, Module
from ctm.sim.compiler.ir.rewriting import Replacement, rewrite

_LOCAL = "%-local"
_DECLARATION = "declare <4 x float> @ctm.constant(i32) nounwind willreturn memory(none)"


@dataclass(frozen=True)
class Origins:
    """Float constants whose x and y are an origin: of the pixel, and of inputs by their numbers.

    That of the pixel has the types of the pixel: integers are there as their bits.
    """

    pixel: int
    inputs: Mapping[int, int] = field(default_factory=dict)


def with_origins(module: Module, kernel: Function, origins: Origins) -> tuple[Module, Function]:
    """A module whose kernel begins at origins; the module is unchanged."""
    assert kernel.pixel is not None
    vector, pixel = kernel.pixel

    def fetch(new: Replacement) -> bool:
        if new.replaced.callee != TEXEL or int(new.replaced.arguments[0]) not in origins.inputs:
            return False
        number, *coordinates = new.replaced.arguments
        call = new.value(_constant(origins.inputs[int(number)]))
        for each, coordinate in enumerate(coordinates):
            origin = new.value(f"extractelement <4 x float> {call}, i32 {each}")
            moved = new.value(f"fsub float {coordinate}, {origin}")
            coordinates[each] = f"float {moved}"
        new.keep(f"call <4 x float> @{TEXEL}(i32 {number}, {coordinates[0]}, {coordinates[1]})")
        return True

    found = rewrite(kernel, [fetch])
    first, *others = found.blocks
    blocks = [Block(first.label, [*_start(vector, pixel, origins.pixel), *first.instructions]), *others]
    moved = Function(kernel.head.replace(f"{pixel})", f"{_LOCAL})"), blocks)
    result = Module([moved if entity is kernel else entity for entity in module.entities])
    result.declare([_DECLARATION])
    return result, moved


def _start(vector: str, pixel: str, number: int) -> list[Instruction]:
    """The pixel of the whole domain."""
    element = vector.removeprefix("<2 x ").removesuffix(">")
    result = [Instruction("%-origin", _constant(number))]
    whole = "poison"
    for number, name in enumerate(("%-column", pixel)):
        local, origin, total = (f"%-{word}.{number}" for word in ("local", "origin", "total"))
        result.append(Instruction(local, f"extractelement {vector} {_LOCAL}, i32 {number}"))
        result.append(Instruction(origin, f"extractelement <4 x float> %-origin, i32 {number}"))
        operation = "fadd"
        if element != "float":
            operation, word = "add", f"{origin}.word"
            result.append(Instruction(word, f"bitcast float {origin} to {element}"))
            origin = word
        result.append(Instruction(total, f"{operation} {element} {local}, {origin}"))
        result.append(Instruction(name, f"insertelement {vector} {whole}, {element} {total}, i32 {number}"))
        whole = name
    return result


def _constant(number: int) -> str:
    return f"call <4 x float> @ctm.constant(i32 {number})"
