"""Lowering of a kernel's calls to what LLVM's R600 back end knows: its intrinsics, and a start with R0.

Source: LLVM 22, R600 back end: a pixel program is a function of the convention amdgpu_ps; R0 to Rn are its arguments
that are `inreg`. The operands of tex are coordinates, three offsets, resource, sampler, four kinds of coordinates.
"""

import re
from collections.abc import Callable, Iterator

from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportType
from ctm.sim.compiler.ir.module import Block, Function, Instruction, Module
from ctm.sim.compiler.ir.rewriting import Replacement, rewrite
from ctm.sim.compiler.ir.scalars import scalarised

ZERO = "%-zero"
"""A zero that LLVM does not know: x + zero is x, but nothing is known of it."""
WRITE = 60
"""ARRAY_BASE of an export that stands for an uncached write: see `writes`."""

_VEC4 = "<4 x float>"
_START = "%-start"
_PIXEL = ("%-i", "%-j")
_CONSTANT_SPACE = 8
"""Of LLVM's address spaces the one of constant buffer 0."""
PRIVATE = "ptr addrspace(5)"
"""A pointer to an array of the kernel's own."""
_DECLARATIONS = (
    "declare <4 x float> @llvm.r600.tex(<4 x float>, i32, i32, i32, i32, i32, i32, i32, i32, i32)",
    "declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)",
    "declare void @llvm.r600.kill(float)",
    "declare float @llvm.r600.dot4(<4 x float>, <4 x float>)",
    "declare float @llvm.r600.recipsqrt.ieee.f32(float)",
    "declare i32 @llvm.r600.read.tidig.z()",
    "declare i32 @llvm.ctlz.i32(i32, i1)",
)


def lower(module: Module, kernel: Function) -> tuple[Module, Function]:
    """A module with nothing but the kernel, in LLVM's words."""
    assert kernel.pixel is not None
    type_, pixel = kernel.pixel
    scalar, declarations = scalarised(kernel, {pixel: list(_PIXEL)})
    lowered = rewrite(scalar, [_call])
    debug = re.search(r" !dbg !\d+", kernel.head)
    head = f"define amdgpu_ps void @{kernel.name}({_VEC4} inreg {_START}){debug[0] if debug else ''} {{"
    entry = Block(lowered.blocks[0].label, [*_start("float" in type_), *lowered.blocks[0].instructions])
    ready = Function(head, [entry, *lowered.blocks[1:]])
    entities = [entity for entity in module.entities if entity is kernel or not isinstance(entity, Function)]
    result = Module([ready if entity is kernel else entity for entity in entities])
    result.declare([*_DECLARATIONS, *declarations])
    return result, ready


def _start(has_floats: bool) -> Iterator[Instruction]:
    """The pixel, and the zero: R0 is (i, j, 0, 1); shifted, so that LLVM cannot take it for a thread's number."""
    yield Instruction("%-third", "call i32 @llvm.r600.read.tidig.z()")
    yield Instruction(ZERO, "shl i32 %-third, 22")
    for number, name in enumerate(_PIXEL):
        found = name if has_floats else f"{name}.float"
        yield Instruction(found, f"extractelement {_VEC4} {_START}, i32 {number}")
        if not has_floats:
            yield Instruction(name, f"fptosi float {found} to i32")


def _call(new: Replacement) -> bool:
    make = _CALLS.get(new.replaced.callee)
    if make is not None:
        make(new, new.replaced.arguments)
    return make is not None


def _fetch(scaling: int) -> Callable[[Replacement, list[str]], None]:
    def make(new: Replacement, operands: list[str]) -> None:
        number, x, y = operands
        left = new.value(f"insertelement {_VEC4} zeroinitializer, float {x}, i32 0")
        position = new.value(f"insertelement {_VEC4} {left}, float {y}, i32 1")
        kinds = f"i32 {scaling}, i32 {scaling}, i32 0, i32 0"
        new.result(
            f"call {_VEC4} @llvm.r600.tex({_VEC4} {position}, i32 0, i32 0, i32 0, i32 {number}, i32 {number}, {kinds})"
        )

    return make


def _constant(new: Replacement, operands: list[str]) -> None:
    space = f"ptr addrspace({_CONSTANT_SPACE})"
    address = new.value(f"getelementptr {_VEC4}, {space} null, i32 {operands[0]}")
    new.result(f"load {_VEC4}, {space} {address}, align 16")


def _export(new: Replacement, vector: str, base: int, kind: ExportType) -> None:
    new.effect(f"call void @llvm.r600.store.swizzle({_VEC4} {vector}, i32 {base}, i32 {kind.value})")


def _output(new: Replacement, operands: list[str]) -> None:
    _export(new, operands[1], int(operands[0]), ExportType.PIXEL)


def _conditional(new: Replacement, operands: list[str]) -> None:
    vector = new.value(f"insertelement {_VEC4} zeroinitializer, float {operands[0]}, i32 0")
    _export(new, vector, COMPUTED_DEPTH, ExportType.PIXEL)


def _write(new: Replacement, operands: list[str]) -> None:
    """An export of another type, so that it is not taken for the last one of the pixel."""
    address = new.value(f"bitcast i32 {operands[0]} to float")
    left = new.value(f"insertelement {_VEC4} zeroinitializer, float {address}, i32 0")
    _export(new, new.value(f"insertelement {_VEC4} {left}, float {operands[1]}, i32 1"), WRITE, ExportType.PARAM)


def _discard(new: Replacement, operands: list[str]) -> None:
    del operands
    new.effect("call void @llvm.r600.kill(float -1.0)")


def _dot(new: Replacement, operands: list[str]) -> None:
    new.result(f"call float @llvm.r600.dot4({_VEC4} {operands[0]}, {_VEC4} {operands[1]})")


def _inverse_root(new: Replacement, operands: list[str]) -> None:
    new.result(f"call float @llvm.r600.recipsqrt.ieee.f32(float {operands[0]})")


_CALLS = {
    "ctm.texel": _fetch(0),
    "ctm.texture": _fetch(1),
    "ctm.constant": _constant,
    "ctm.output": _output,
    "ctm.conditional": _conditional,
    "ctm.write": _write,
    "ctm.discard": _discard,
    "ctm.dot": _dot,
    "ctm.inversesqrt": _inverse_root,
}
