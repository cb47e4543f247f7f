"""Arrays of chars, shorts and truths get elements of 32 bits: R700 cores choose whole registers.

LLVM packs such elements into registers, and its stores overwrite what lies beside them.
"""

import re
from collections.abc import Iterator

from ctm.sim.compiler.ir.module import NAME, Function, Instruction, Module, typed
from ctm.sim.compiler.ir.rewriting import Replacement, rewrite
from ctm.sim.compiler.legality import kernels
from ctm.sim.compiler.r700.lowering import PRIVATE

_ADVICE = "make them int"
_MIXED = f"an array of char, short or _Bool that is used as other types, too: {_ADVICE}"
_INSIDE = f"a char, short or _Bool in a struct, union or array that has a computed index and other types: {_ADVICE}"
_ARRAY = re.compile(r"alloca ((?:\[\d+ x )+i(8|16)\]+), .*")
_ADDRESS = re.compile(rf"getelementptr(?: \w+)* (.*), ptr addrspace\(5\) ({NAME}), (.*)")
_ACCESS = re.compile(rf"(load|store) (?:volatile )?(.*?),? ptr addrspace\(5\) ({NAME}), align \d+")
_SMALL = re.compile(r"(?:<\d+ x )?i(?:1|8|16)>?")
_FILL = re.compile(rf"(?:tail )?call void @llvm\.memset\.\S+\(ptr addrspace\(5\)[^%]*({NAME}), i8 (\S+), i32 (\d+), .*")


def with_words(module: Module) -> Module:
    """The module with wide elements in the arrays of its kernels, but for those that are `unsupported`."""
    own = {id(kernel) for kernel in kernels(module)}
    return Module([
        _widened(entity) if isinstance(entity, Function) and id(entity) in own else entity for entity in module.entities
    ])  # fmt: skip


def unsupported(instruction: Instruction) -> str:
    """What is said of small elements that `with_words` does not widen; "" of an instruction without any."""
    if _ARRAY.fullmatch(instruction.text):
        return _MIXED
    found = _ACCESS.fullmatch(instruction.text)
    type_ = found and (typed(found[2])[0] if found[1] == "store" else found[2])
    return _INSIDE if type_ and _SMALL.fullmatch(type_) else ""


class _UnfitError(Exception):
    """An array has a use that is not known."""


def _widened(kernel: Function) -> Function:
    bits = {each.result: int(found[2]) for each in kernel.instructions if (found := _ARRAY.fullmatch(each.text))}
    if not bits:
        return kernel
    for each in kernel.instructions:
        found = _ADDRESS.fullmatch(each.text)
        if found and found[2] in bits:
            bits[each.result] = bits[found[2]]
    try:
        return rewrite(kernel, [lambda new: _replaced(new, bits)])
    except _UnfitError:
        return kernel


def _replaced(new: Replacement, bits: dict[str, int]) -> bool:
    text = new.replaced.text
    if found := _ARRAY.fullmatch(text):
        new.result(f"alloca {found[1].replace(f'i{found[2]}', 'i32')}, align 16, addrspace(5)")
        return True
    names = set(re.findall(NAME, text)) & {*bits}
    if not names:
        return False
    if "llvm.lifetime" in text:
        return False
    if (found := _ADDRESS.fullmatch(text)) and names == {found[2]}:
        new.result(f"getelementptr {_address(new, found[1], found[2], found[3], bits[found[2]])}")
    elif (found := _FILL.fullmatch(text)) and names == {found[1]}:
        size = bits[found[1]]
        _store(new, found[1], [(f"i{size}", found[2])] * (int(found[3]) * 8 // size), size)
    elif (found := _ACCESS.fullmatch(text)) and names == {found[3]}:
        _access(new, found[1], found[2], found[3], bits[found[3]])
    else:
        raise _UnfitError
    return True


def _address(new: Replacement, type_: str, base: str, indices: str, bits: int) -> str:
    """The operands of an element's address."""
    if type_ == "i8" and bits > 8:
        number = indices.removeprefix("i32 ")
        if not number.isdecimal():
            # An element is accessed where it is aligned, so the bytes before it are whole elements.
            return f"i32, {PRIVATE} {base}, i32 {new.value(f'lshr i32 {number}, {(bits // 8).bit_length() - 1}')}"
        if int(number) * 8 % bits:
            raise _UnfitError
        return f"i32, {PRIVATE} {base}, i32 {int(number) * 8 // bits}"
    if not re.fullmatch(rf"(?:\[\d+ x )*i{bits}\]*", type_):
        raise _UnfitError
    return f"{type_.replace(f'i{bits}', 'i32')}, {PRIVATE} {base}, {indices}"


def _access(new: Replacement, kind: str, operand: str, pointer: str, bits: int) -> None:
    type_, value = typed(operand) if kind == "store" else (operand, "")
    if kind == "store":
        return _store(new, pointer, list(_elements(new, type_, value, bits)), bits)
    if type_ != f"i{bits}":
        raise _UnfitError
    word = new.value(f"load i32, {PRIVATE} {pointer}, align 4")
    return new.result(f"trunc i32 {word} to {type_}")


def _elements(new: Replacement, type_: str, value: str, bits: int) -> Iterator[tuple[str, str]]:
    """The elements that a value of several has."""
    found = re.fullmatch(r"<(\d+) x (i\d+)>", type_)
    if type_ == f"i{bits}":
        yield type_, value
    elif found and found[2] == f"i{bits}":
        for number in range(int(found[1])):
            yield found[2], new.value(f"extractelement {type_} {value}, i32 {number}")
    elif re.fullmatch(r"i(16|32|64)", type_) and re.fullmatch(r"-?\d+", value):
        for number in range(0, int(type_[1:]), bits):
            yield f"i{bits}", str(int(value) >> number & (1 << bits) - 1)
    else:
        raise _UnfitError


def _store(new: Replacement, pointer: str, elements: list[tuple[str, str]], bits: int) -> None:
    for number, (type_, value) in enumerate(elements):
        address = new.value(f"getelementptr i32, {PRIVATE} {pointer}, i32 {number}") if number else pointer
        is_known = re.fullmatch(r"-?\d+", value)
        word = str(int(value) & (1 << bits) - 1) if is_known else new.value(f"zext {type_} {value} to i32")
        new.effect(f"store i32 {word}, {PRIVATE} {address}, align 4")
