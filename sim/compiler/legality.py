"""What no core can do, found in a kernel's IR: each with its location and a sentence.

`check` looks at a kernel after optimisation, so whatever could be computed beforehand, or is never used, is gone.
"""

import re
from collections.abc import Callable, Iterator

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, INPUTS, OUTPUTS
from ctm.sim.compiler.error import Diagnostic, Location
from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import NAME, Function, Instruction, Module

_VALUES = re.compile(rf'{NAME}|@[-\w.$]+|@"[^"]*"|c"[^"]*"')
_NUMBERS = {
    "ctm.texel": ("the number of an input", INPUTS),
    "ctm.texture": ("the number of an input", INPUTS),
    "ctm.output": ("the number of an output", OUTPUTS),
}
"""Functions whose first operand is a number that the instruction holds."""
_TYPES = {
    "double": "double: cores compute floats only; write constants as 0.5f, and float for double",
    "half": "_Float16: cores compute floats only; write float",
    "bfloat": "__bf16: cores compute floats only; write float",
    "fp128": "long double: cores compute floats only; write float",
    "x86_fp80": "long double: cores compute floats only; write float",
}


def check(module: Module, kernel: Function, extra: Callable[[Instruction], str], tables: str) -> list[Diagnostic]:
    """What is wrong with a kernel; `extra` says it of single instructions for one instruction set, "" if nothing.

    `tables` is what to do about one that is read with a computed index.
    """
    found: list[Diagnostic] = []
    flow = Flow(kernel)
    second = flow.second_entry()
    if second is not None:
        problem = "a loop that a goto enters in the middle: enter it at its head only"
        found.append(Diagnostic(_location(module, kernel, flow.blocks[second].instructions), problem))
    if not flow.returns:
        found.append(Diagnostic(_location(module, kernel, []), "it never ends: no path leads out of its loops"))
    for label in flow.order:
        for instruction in flow.blocks[label].instructions:
            problem = _problem(module, kernel, instruction, tables) or extra(instruction)
            if problem:
                found.append(Diagnostic(_location(module, kernel, [instruction]), problem))
    return _concise(found, _location(module, kernel, []))


def has_computed_numbers(kernel: Function) -> bool:
    """Whether a kernel computes the number of an input or an output."""
    calls = (each for each in kernel.instructions if each.callee in _NUMBERS)
    return not all(_is_literal(call.arguments[0]) for call in calls)


def unfit(module: Module, kernel: Function) -> Diagnostic:
    """What is wrong with a kernel that LLVM does not take as Clang wrote it."""
    for function in (kernel, *(each for each in module.functions if each is not kernel)):
        for instruction in function.instructions:
            is_indirect = instruction.opcode == "call" and not instruction.callee
            said = _of_call(module, kernel, instruction) if is_indirect else _unusual(instruction)
            if said:
                return Diagnostic(_location(module, kernel, [instruction]), said)
    problem = "LLVM does not take what Clang makes of this: write it differently"
    return Diagnostic(_location(module, kernel, []), problem)


def _concise(found: list[Diagnostic], nowhere: Location) -> list[Diagnostic]:
    """The first diagnostic of each location, and each message once a line.

    A message without a location, at `nowhere`, is left out if a location has the same message, and
    accesses to memory where it is said what is wrong with the address.
    """
    by_location: dict[Location, Diagnostic] = {}
    for each in [each for each in found if each.message != _FOREIGN] or found:
        by_location.setdefault(each.location, each)
    located = {each.message for each in by_location.values() if each.location != nowhere}
    of_lines: dict[tuple[str, int, str], Diagnostic] = {}
    for each in by_location.values():
        line = each.location.file, each.location.line, each.message
        # The operation has a higher column than its operands.
        if (each.location != nowhere or each.message not in located) and (
            line not in of_lines or of_lines[line].location.column < each.location.column
        ):
            of_lines[line] = each
    return list(of_lines.values())


def _location(module: Module, kernel: Function, instructions: list[Instruction]) -> Location:
    """The first location that is known."""
    items: list[Instruction | Function] = [*instructions, kernel]
    found = map(module.location, items)
    return next((location for location in found if location), Location("<kernel>", 0))


def _problem(module: Module, kernel: Function, instruction: Instruction, tables: str) -> str:
    """What no core can do."""
    plain = _VALUES.sub("", instruction.text)
    for name, message in _TYPES.items():
        if re.search(rf"\b{name}\b", plain):
            return message
    if any(int(bits) > 64 for bits in re.findall(r"\bi(\d+)\b", plain)):
        return "an integer of more than 64 bits"
    if instruction.opcode == "call":
        return _of_call(module, kernel, instruction)
    return _of_memory(module, instruction, plain, tables) or _OTHERS.get(instruction.opcode, "")


_OTHERS = {
    "frem": "the remainder of floats: mod(x, y) of ctm/kernel.h is one for small quotients",
    "indirectbr": "a goto to a computed label",
    "va_arg": "a function with any number of arguments",
    "fence": "memory that is shared with others",
    "atomicrmw": "memory that is shared with others",
    "cmpxchg": "memory that is shared with others",
    "callbr": "inline assembly",
}


def _is_literal(number: str) -> bool:
    return number.lstrip("-").isdecimal()


def _of_call(module: Module, kernel: Function, call: Instruction) -> str:
    name = call.callee
    if " asm " in call.text:
        return "inline assembly: a kernel is for several instruction sets"
    if not name:
        return "a call of what a pointer points to: which function it is must be known when the kernel is compiled"
    if name in _NUMBERS:
        what, limit = _NUMBERS[name]
        number = call.arguments[0]
        if not _is_literal(number):
            return f"{what} is computed: instructions have it as a constant; #pragma unroll makes indices known"
        return "" if 0 <= int(number) < limit else f"{what} is {number}, not 0..{limit - 1}"
    if name == "ctm.constant":
        number = call.arguments[0]
        bad = _is_literal(number) and not 0 <= int(number) < FLOAT_CONSTANTS
        return f"the number of a constant is {number}, not 0..{FLOAT_CONSTANTS - 1}" if bad else ""
    if name.startswith(("ctm.", "llvm.")):
        return _of_intrinsic(name)
    called = next((function for function in module.functions if function.name == name), None)
    if called is None:
        return f"the function {name} has no body: docs/kernels.md has those that there are"
    if called is kernel or _calls(module, called, called.name):
        return f"{name} calls itself: cores have no stack for data; write a loop"
    return _not_inlined(called)


def _not_inlined(called: Function) -> str:
    """Why a function remains that is called: what it has, or that the source wants it so."""
    if "..." in called.head:
        return _OTHERS["va_arg"]
    said = next(filter(None, map(_unusual, called.instructions)), "")
    return said or f"a call of {called.name} that is not inlined: leave noinline away"


def _unusual(instruction: Instruction) -> str:
    """What no core has, of an instruction as Clang writes it."""
    said = _OTHERS.get(instruction.opcode, "") or _of_intrinsic(instruction.callee) or _computed_size(instruction)
    return said or (_ADDRESS if instruction.opcode == "ptrtoint" else "")


def _of_intrinsic(name: str) -> str:
    return _INTRINSICS.get(name.split(".")[1], "") if name.startswith("llvm.") else ""


def _computed_size(instruction: Instruction) -> str:
    found = instruction.opcode == "alloca" and re.search(rf"alloca .*, i\d+ {NAME}", instruction.text)
    return "an array whose size is computed: give it the largest" if found else ""


_INTRINSICS = {
    "trap": "a trap, or an end that cannot be reached: use discard()",
    "debugtrap": "a trap: use discard()",
    "ubsantrap": "a trap: use discard()",
    "va_start": "a function with any number of arguments",
    "stacksave": "an array whose size is computed: give it the largest",
}


def _calls(module: Module, function: Function, wanted: str) -> bool:
    """Whether a function calls another, through others or not."""
    by_name = {each.name: each for each in module.functions}
    seen: set[str] = set()
    waiting = [function]
    while waiting:
        for instruction in waiting.pop().instructions:
            name = instruction.callee
            if name == wanted:
                return True
            if name in by_name and name not in seen:
                seen.add(name)
                waiting.append(by_name[name])
    return False


def _of_memory(module: Module, instruction: Instruction, plain: str, tables: str) -> str:
    if instruction.opcode == "alloca":
        return _computed_size(instruction)
    if "inttoptr" in plain or "ptrtoint" in plain:
        return _ADDRESS
    if instruction.opcode not in ("load", "store", "getelementptr", "addrspacecast"):
        return ""
    for name in re.findall(r"@([-\w.$]+)", instruction.text):
        return _of_global(module, name, tables)
    spaces = [int(space or 0) for space in re.findall(r"\bptr(?: addrspace\((\d+)\))?", plain)]
    if any(space != _PRIVATE for space in spaces):
        return _FOREIGN
    return ""


_ADDRESS = "an address as a number: memory is read by texel() and constant(), and written by output() and write()"
_FOREIGN = "memory that is not the kernel's own: use texel(), constant(), output() and write()"
_PRIVATE = 5
"""The address space of a function's own arrays."""


def _of_global(module: Module, name: str, tables: str) -> str:
    if any(function.name == name for function in module.functions):
        return f"the address of {name}: which function is called must be known when the kernel is compiled"
    definition = next((line for line in module.lines if line.startswith(f"@{name} ")), "")
    shown = [half for half in name.split(".") if not half.isdecimal()][-1]
    if " constant " in definition:
        table = "a text" if name.startswith(".str") else f"the table {shown}"
        if re.search(r" constant \[\d+ x ptr\b", definition):
            return f"{table} has pointers, and is read with a computed index: write an if or a switch"
        return f"{table} is read with a computed index, or copied: {tables}"
    return f"the variable {shown} outlives the kernel: cores keep nothing from pixel to pixel"


def kernels(module: Module) -> Iterator[Function]:
    """The kernels of a module."""
    return (function for function in module.functions if ' section "ctm.kernel"' in function.head)
