"""Integers of a kernel become floats: each operation by what it means for whole numbers, or a call that is unsupported.

The function is one that LLVM has inlined and unrolled, and not combined: its operations are those of the source. What
LLVM combines afterwards are floats, of which it knows only what is true of them.

An integer of n bits is held as the number that its bits are with a sign: an unsigned one that wrapped below 0 is
negative. Operations that differ in that ask `Ranges` whether a value may be negative.
"""

import re
from collections.abc import Callable

from ctm.rtl.isa.limits import WORD_BITS
from ctm.sim.compiler.ir.module import Function, Instruction, typed
from ctm.sim.compiler.ir.rewriting import Replacement, rewrite
from ctm.sim.compiler.ir.scalars import with_scalar_integers
from ctm.sim.compiler.r5xx.integers.bits import logic, shift
from ctm.sim.compiler.r5xx.integers.building import WHOLE, Builder, Kernel, known, literal, single
from ctm.sim.compiler.r5xx.integers.casts import bits, from_float, narrowing, to_float, widening
from ctm.sim.compiler.r5xx.integers.division import division
from ctm.sim.compiler.r5xx.integers.ordering import comparison, extreme
from ctm.sim.compiler.r5xx.integers.ranges import ANY, Ranges, operands, width

_BIT_FUNCTIONS = ("ctpop", "ctlz", "cttz", "fshl", "fshr", "bitreverse", "bswap")
_VARIABLE = re.compile(r"(i(?:8|16|32)) (?:noundef |signext |zeroext )*(%[^\s,)]+)")
_SELECTION = re.compile(r"select(?: [a-z]+)* (i1 \S+), (.*), (.*)")


def with_floats(kernel: Function) -> tuple[Function, set[str]]:
    """The kernel without arithmetic on integers, and declarations of what it calls now."""
    assert kernel.pixel is not None
    scalar, declarations = with_scalar_integers(kernel)
    instructions = list(scalar.instructions)
    words = {
        each.result: operands(each)[1][0] for each in instructions if re.match(r"bitcast float .* to i32$", each.text)
    }
    sums = {each.result: sum_ for each in instructions if each.opcode in ("add", "sub") and (sum_ := _sum(each))}
    context = Kernel(Ranges(scalar, kernel.pixel[1]), kernel.pixel[1], words, sums)
    found = rewrite(scalar, [lambda new: _replaced(context, new)])
    found.blocks[0].instructions[:0] = context.unsupported_calls
    head = found.head.replace("<2 x i32>", "<2 x float>")
    return Function(head, found.blocks), {*declarations, *context.declarations}


def _sum(instruction: Instruction) -> tuple[str, int] | None:
    """Of a sum of something and a known number the two."""
    type_, (one, other) = operands(instruction)
    if width(type_) != WORD_BITS:
        return None
    sign = 1 if instruction.opcode == "add" else -1
    if known(one) is not None and sign > 0:
        one, other = other, one
    step = known(other)
    return None if step is None or known(one) is not None else (one, sign * step)


def _replaced(context: Kernel, new: Replacement) -> bool:
    """Replace an instruction; whether it had to be."""
    handler = _HANDLERS.get(new.replaced.opcode)
    if handler is None:
        return False
    to = Builder(context, new)
    plain = re.sub(r"%\S+|@\S+", "", new.replaced.text)
    if "i64" in plain and new.replaced.opcode not in _ANY_TYPE:
        return to.mark_unsupported("wide", type_=_type_of_wide(new.replaced))
    return handler(to)


def _type_of_wide(instruction: Instruction) -> str:
    """The type of what replaces an instruction with integers of 64 bits."""
    if instruction.opcode == "icmp":
        return "i1"
    target = instruction.text.rpartition(" ")[2] if " to " in instruction.text else operands(instruction)[0]
    return target if target in ("i1", "i64") else "float"


def _arithmetic(to: Builder) -> bool:
    """Sums and products; several sums with known numbers are one."""
    type_ = operands(to.instruction)[0]
    if width(type_) == 1:
        return False
    if to.range.is_inexact:
        return to.mark_unsupported("beyond", to.range.smallest)
    if width(type_) < WORD_BITS:
        # Ranges are those of results that have wrapped.
        found = to.whole(f"f{to.opcode}", *map(to.float, to.operands()))
        return to.same(to.narrowed(found, width(type_), ANY))
    base, step = to.instruction.result, 0
    while base in to.kernel.sums:
        base, more = to.kernel.sums[base]
        step += more
    if base != to.instruction.result and single(step) == step:
        return to.result(f"fadd {WHOLE} float {to.float(base)}, {literal(step)}")
    one, other = map(to.float, to.operands())
    return to.result(f"f{to.opcode} {WHOLE} float {one}, {other}")


def _is_other(type_: str) -> bool:
    """Whether values of a type stay what they are."""
    return width(type_) <= 1 or type_ == "i64"


def _selection(to: Builder) -> bool:
    found = _SELECTION.fullmatch(to.instruction.text)
    assert found is not None, to.instruction.text
    type_, yes = typed(found[2])
    if _is_other(type_):
        return False
    return to.result(f"select {WHOLE} {found[1]}, float {to.float(yes)}, float {to.float(typed(found[3])[1])}")


def _phi(to: Builder) -> bool:
    if _is_other(to.instruction.text.split(" [")[0].split(" ")[-1]):
        return False
    edges = (f"[ {to.float(value)}, {label} ]" for value, label in to.instruction.incoming)
    return to.result(f"phi {WHOLE} float {', '.join(edges)}")


def _freezing(to: Builder) -> bool:
    type_, (value, *_) = operands(to.instruction)
    return not _is_other(type_) and to.result(f"freeze float {to.float(value)}")


def _element(to: Builder) -> bool:
    """A coordinate, or an integer of memory."""
    type_, (vector, _) = operands(to.instruction)
    found = re.fullmatch(r"<\d+ x (i8|i16|i32)>", type_)
    if found is None:
        return _with_integers(to)
    if vector == to.kernel.pixel:
        return to.result(to.instruction.text.replace("<2 x i32>", "<2 x float>"))
    return _from_memory(to, found[1])


def _member(to: Builder) -> bool:
    """An integer of a struct or an array that LLVM did not take apart."""
    found = re.fullmatch(r"extractvalue [\[{]\s*(.*?)\s*[\]}] \S+, (\d+)", to.instruction.text)
    types = re.findall(r"\bi(?:8|16|32)\b|\b(?!x)[a-z]\w*\b", found[1]) if found else []
    type_ = types[min(int(found[2]), len(types) - 1)] if found and types else ""
    return _from_memory(to, type_) if width(type_) > 1 else False


def _load(to: Builder) -> bool:
    """Memory holds integers: what LLVM cannot keep in registers is diagnosed later."""
    found = re.match(r"load (?:volatile )?(i8|i16|i32),", to.instruction.text)
    return _from_memory(to, found[1]) if found else False


def _from_memory(to: Builder, type_: str) -> bool:
    return to.result(f"sitofp {type_} {to.step(_integers(to))} to float")


def _with_integers(to: Builder) -> bool:
    """With its operands as integers again."""
    to.new.keep(_integers(to))
    return True


def _integers(to: Builder) -> str:
    return _VARIABLE.sub(
        lambda found: f"{found[1]} {to.step(f'fptosi float {found[2]} to {found[1]}')}", to.instruction.text
    )


def _call(to: Builder) -> bool:
    """Functions of integers; assembly, and calls of what a pointer points to, are rejected later."""
    if not to.instruction.callee:
        return False
    arguments = to.instruction.arguments
    name = to.instruction.callee.split(".")[1] if to.instruction.callee.startswith("llvm.") else ""
    if to.instruction.callee.startswith("llvm.is.constant."):
        return to.result("xor i1 false, false")
    if name in _BIT_FUNCTIONS:
        return to.mark_unsupported("function", name)
    if name == "abs":
        return to.same(to.call("llvm.fabs.f32", to.float(arguments[0])))
    if name in ("smin", "smax", "umin", "umax"):
        return extreme(to, name)
    if name == "expect" and not to.instruction.callee.endswith(".i1"):
        return to.same(to.float(arguments[0]))
    if name == "ldexp":
        power = to.step(f"call float @ctm.exp2(float {to.float(arguments[1])})")
        return to.result(f"fmul float {arguments[0]}, {power}")
    found = re.match(r"(?:\w+ )*?call (?:\w+(?:\([^)]*\))? )*?(i8|i16|i32) @", to.instruction.text)
    return _from_memory(to, found[1]) if found else _with_integers(to)


_ANY_TYPE = ("phi", "select", "freeze", "load", "store", "getelementptr", "call", "extractelement", "insertelement",
             "insertvalue", "extractvalue")  # fmt: skip
"""What only hands values on."""
_HANDLERS: dict[str, Callable[[Builder], bool]] = {
    **dict.fromkeys(("add", "sub", "mul"), _arithmetic),
    **dict.fromkeys(("and", "or", "xor"), logic),
    **dict.fromkeys(("shl", "lshr", "ashr"), shift),
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), division),
    "icmp": comparison,
    "select": _selection,
    "phi": _phi,
    "freeze": _freezing,
    **dict.fromkeys(("zext", "sext"), widening),
    "trunc": narrowing,
    **dict.fromkeys(("fptosi", "fptoui"), from_float),
    **dict.fromkeys(("sitofp", "uitofp"), to_float),
    "bitcast": bits,
    "extractelement": _element,
    "extractvalue": _member,
    "load": _load,
    **dict.fromkeys(("store", "getelementptr", "insertelement", "insertvalue", "alloca"), _with_integers),
    "call": _call,
}
