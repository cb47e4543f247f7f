"""Tables of a kernel's source that are read with a computed index, or copied, become arrays of its own.

R700 cores have no memory that a program brings along. What LLVM could compute beforehand is gone when this is done.
"""

import re
from collections.abc import Callable, Iterator

from ctm.sim.compiler.ir.module import NAME, Block, Function, Instruction, Module, splatted, split
from ctm.sim.compiler.ir.rewriting import Replacement, numbers_for, rewrite
from ctm.sim.compiler.legality import kernels

MOST_ELEMENTS = 96
"""Registers of a program are 124, and one holds an element: a larger table is unchanged, and unsupported."""

_TABLE = re.compile(r"@([-\w.$]+) = .*?\bconstant (.*?)(?:, align \d+)?(?:, !dbg .*)?$")
_ZEROS = {"i8": "0", "i16": "0", "i32": "0", "float": "0.000000e+00"}
_BYTES = {"i8": 1, "i16": 2}
"""Of types that do not have four."""
_BRACKETS = {"[": "]", "<": ">", "{": "}"}
_PACKED = "<{"
"""How a table's type begins if Clang writes many zeros at its end as one member."""
_PADDING = re.compile(r"\[(\d+) x i8\] (?:zeroinitializer|undef|poison)")
_COPY = re.compile(
    rf"(?:tail )?call void @llvm\.memcpy\.\S+\(ptr addrspace\(5\)[^%]*({NAME}), ptr addrspace\([14]\)[^@%]*@"
    r"([-\w.$]+), i32 (\d+), i1 \w+\).*"
)
_GLOBAL = re.compile(r"@(?!llvm\.|ctm\.)([-\w.$]+)")
"""A variable or a table, no function."""
_CONSTANTS, _VARIABLES = r"addrspace\(4\)", r"addrspace\(1\)"
_CAST = re.compile(rf"addrspacecast \(ptr addrspace\(5\) ({NAME}) to ptr addrspace\(5\)\)")
_ELEMENT = re.compile(rf"getelementptr(?: \w+)* \(([^()]*addrspace\(5\) {NAME}, [^()]*)\)")
"""An operand that is an element's address."""
_Word = tuple[str, str]
"""The type of an element of a table, and its value."""


def with_tables(module: Module) -> Module:
    """The module with arrays in its kernels for tables that are not too large."""
    types = dict(re.findall(r"^(%\S+) = type (.*)$", "\n".join(module.lines), re.MULTILINE))
    tables: dict[str, list[_Word]] = {}
    for line in module.lines:
        found = _TABLE.match(line)
        type_ = _type(found[2]) if found else ""
        words = list(_words(type_, found[2][len(type_) :].strip(), types)) if found else []
        is_mixed = len({_BYTES.get(each, 4) for each, _ in words}) > 1
        if found and words and len(words) <= MOST_ELEMENTS and ("", "") not in words and not is_mixed:
            tables[found[1]] = words
    own = {id(kernel) for kernel in kernels(module)}
    return Module([
        _with_arrays(each, tables) if isinstance(each, Function) and id(each) in own else each
        for each in module.entities
    ])  # fmt: skip


def _with_arrays(kernel: Function, tables: dict[str, list[_Word]]) -> Function:
    numbers = numbers_for(kernel)

    def copy(new: Replacement) -> bool:
        found = _COPY.fullmatch(new.replaced.text)
        if found is None or found[2] not in tables:
            return False
        words = tables[found[2]]
        for text in _stores(found[1], words[: int(found[3]) // _BYTES.get(words[0][0], 4)], new.value):
            new.effect(text)
        return True

    copied = rewrite(kernel, [copy], numbers)
    named = {name for each in copied.instructions for name in _GLOBAL.findall(each.text)}
    used = sorted(named & {*tables})
    if not used:
        return copied
    start: list[Instruction] = []

    def value(text: str) -> str:
        start.append(Instruction(f"%-c.{next(numbers)}", text))
        return start[-1].result

    arrays = {
        name: value(f"alloca [{len(tables[name])} x {tables[name][0][0]}], align 16, addrspace(5)") for name in used
    }
    for name, array in arrays.items():
        start += (Instruction("", text) for text in _stores(array, tables[name], value))
    # Variables without stores are constant, too, but stay where variables are.
    spaces = _CONSTANTS if named - {*tables} else f"{_CONSTANTS}|{_VARIABLES}"
    blocks = [
        Block(each.label, [_of_arrays(one, arrays, spaces, value) for one in each.instructions])
        for each in copied.blocks
    ]
    return Function(copied.head, [Block(blocks[0].label, [*start, *blocks[0].instructions]), *blocks[1:]])


def _of_arrays(
    instruction: Instruction, arrays: dict[str, str], spaces: str, value: Callable[[str], str]
) -> Instruction:
    """An instruction with arrays for tables, whose elements at known indices are computed at the start.

    `spaces` is a pattern of the address spaces that tables are in.
    """
    text = re.sub(r"@([-\w.$]+)", lambda found: arrays.get(found[1], found[0]), instruction.text)
    text = re.sub(spaces, "addrspace(5)", text)
    text = _CAST.sub(r"\1", text)
    text = _ELEMENT.sub(lambda found: value(f"getelementptr {found[1]}"), text)
    return Instruction(instruction.result, text, instruction.metadata)


def _stores(array: str, words: list[_Word], value: Callable[[str], str]) -> Iterator[str]:
    """Stores of words, one after the other; `value` adds an instruction and names its result."""
    for number, (type_, word) in enumerate(words):
        element = value(f"getelementptr {type_}, ptr addrspace(5) {array}, i32 {number}")
        yield f"store {type_} {word}, ptr addrspace(5) {element}, align {_BYTES.get(type_, 4)}"


def _words(type_: str, value: str, types: dict[str, str]) -> Iterator[_Word]:
    """The elements of a constant; one that is empty for what has others than these types."""
    type_ = types.get(type_, type_)
    if type_.startswith(_PACKED):
        type_, value = type_[1:-1], value[1:-1] if value.startswith(_PACKED) else value
    if value.startswith('c"') and type_.endswith("x i8]"):
        text = re.sub(r"\\([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), value[2:-1])
        yield from (("i8", str(ord(character))) for character in text)
    elif type_ in _ZEROS:
        yield type_, _ZEROS[type_] if value == "zeroinitializer" else value
    elif type_[:1] in ("[", "<") and (found := re.match(r"[\[<](\d+) x (.*)[\]>]$", type_)):
        yield from _of_elements([found[2]] * int(found[1]), value, types, _words)
        if type_[0] == "<" and int(found[1]) == 3:
            # A vector of three is as large as one of four.
            yield found[2], _ZEROS.get(found[2], "")
    elif type_.startswith("{"):
        yield from _of_elements(split(type_[1:-1]), value, types, _of_member)
    else:
        yield "", ""


def _of_member(type_: str, value: str, types: dict[str, str]) -> Iterator[_Word]:
    """The elements of a struct's member; the bytes that only keep others aligned are whole elements."""
    padding = _PADDING.fullmatch(f"{type_} {value}")
    if padding and int(padding[1]) % 4 == 0:
        yield from [("i32", _ZEROS["i32"])] * (int(padding[1]) // 4)
    else:
        yield from _words(type_, value, types)


def _of_elements(
    inner: list[str],
    value: str,
    types: dict[str, str],
    words: Callable[[str, str, dict[str, str]], Iterator[_Word]],
) -> Iterator[_Word]:
    if (same := splatted(value)) is not None:
        given = [same] * len(inner)
    elif value[:1] in _BRACKETS:
        given = split(value[1:-1].strip())
    else:
        given = [f"{type_} {value}" for type_ in inner]
    for type_, each in zip(inner, given, strict=False):
        yield from words(type_, each[len(type_) :].strip(), types)


def _type(text: str) -> str:
    """The type that a constant's text begins with."""
    if text[:1] not in _BRACKETS:
        return text.split(" ", 1)[0]
    depth = 0
    for number, character in enumerate(text):
        depth += (character in _BRACKETS) - (character in _BRACKETS.values())
        if not depth:
            return text[: number + 1]
    return text
