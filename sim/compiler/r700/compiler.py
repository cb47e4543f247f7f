"""From the IR of a kernel to an R700 program.

LLVM's back end runs several times if need be: its mistakes show in the object, and each has a remedy that costs
something, so no remedy is used before it is needed.
"""

import re
from collections.abc import Iterator, Sequence

from ctm.sim.compiler.clang import back_end, optimised
from ctm.sim.compiler.error import BackEndError, BackEndLimitError, Diagnostic, KernelError, Location
from ctm.sim.compiler.ir.flow import Flow, loop_heads
from ctm.sim.compiler.ir.linkage import with_own_names
from ctm.sim.compiler.ir.module import Function, Instruction, Module
from ctm.sim.compiler.r700.elements import unsupported as unsupported_elements
from ctm.sim.compiler.r700.elements import with_words
from ctm.sim.compiler.r700.lines import with_all_lines
from ctm.sim.compiler.r700.lowering import lower
from ctm.sim.compiler.r700.order.program import ordered
from ctm.sim.compiler.r700.products import with_ieee_products
from ctm.sim.compiler.r700.repairs import Remedies, repaired
from ctm.sim.compiler.r700.tables import MOST_ELEMENTS, with_tables
from ctm.sim.compiler.r700.writes import with_writes
from ctm.sim.compiler.source import Source
from ctm.sim.elf import ElfError
from ctm.sim.elf.lines import Line
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.llvm.error import DefectError
from ctm.sim.elf.r700.llvm.objects import read_object

_BOTH = (
    # Jump tables and vectors of other lengths do not exist; the others are mistakes or crashes of LLVM.
    "-fno-jump-tables", "-fno-slp-vectorize", "-fno-vectorize", "-mllvm", "-disable-vector-combine", "-mllvm",
    "-replexitval=never", "-mllvm", "-disable-promote-alloca-to-vector",
    # LLVM would replace checksum loops by tables with computed indices.
    "-mllvm", "-disable-loop-idiom-all",
)  # fmt: skip
_USUAL = (
    "-mllvm",
    "-bonus-inst-threshold=16",
    "-fno-unroll-loops",
    "-fno-convergent-functions",
    "-ffp-contract=off",
    *_BOTH,
)
FRONTS = (_USUAL, ("-O1", *_USUAL))
"""Flags for Clang. Loops are unrolled where the source says so: `#pragma unroll`. Some loops with several exits that
jumps were threaded through are too much for LLVM's back end. A product and a sum become one instruction all the same,
but where both are known Clang does not round them together, as cores do not.
"""
TABLES = (
    f"R700 cores keep up to {MOST_ELEMENTS} elements of one size in registers, with the padding of structs and vec3; "
    "give a larger table as constants, or an input"
)
_BACK = (
    "-fno-unroll-loops", *_BOTH, "-mllvm", "-disable-adv-copy-opt", "-mllvm", "-disable-machine-licm",
    # What has no line is not given that of what stands before it by chance.
    "-mllvm", "-use-unknown-locations=Enable",
)  # fmt: skip
_WITHOUT_PREDICATES = ("-mllvm", "-r600-if-convert=0")
_ATTEMPTS: tuple[tuple[Remedies, tuple[str, ...]], ...] = (
    (Remedies(), ()),
    (Remedies(), _WITHOUT_PREDICATES),
    (Remedies(conditions=True), ()),
    (Remedies(arrays=True), ()),
    (Remedies(shifts=True), ()),
    (Remedies(ends=True), ()),
    (Remedies(conditions=True, divisors=True), _WITHOUT_PREDICATES),
    (Remedies(conditions=True, divisors=True, shifts=True, arrays=True), _WITHOUT_PREDICATES),
)
_ARITHMETIC = {"shl": "shift", "lshr": "shift", "ashr": "shift", "mul": "product", "udiv": "quotient",
               "sdiv": "quotient", "urem": "remainder", "srem": "remainder"}  # fmt: skip
_FLOATS = ("fadd", "fsub", "fmul")
_CONVERSIONS = ("fptosi", "fptoui", "sitofp", "uitofp")
_ADVICE = "make them smaller, or compute fewer indices"
_FUNCTIONS = {
    "fma": "fma(): an R700 core rounds the product too; write a * b + c",
    **{name: f"{name}(): of such functions there are sin, cos, exp2 and log2"
       for name in ("tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "atan2")},
}  # fmt: skip


def optimise(text: str, flags: Sequence[str], source: Source) -> tuple[str, list[Diagnostic]]:
    """The IR after Clang's optimiser, with arrays for tables that it could not do without; see `BackEnd.optimise`."""
    found, said = optimised(with_own_names(text), flags, source)
    return str(with_words(with_tables(Module.read(found)))), said


def unsupported(instruction: Instruction) -> str:
    """What LLVM's back end cannot do, said of one instruction; "" if it can."""
    words = instruction.callee.split(".")
    return _FUNCTIONS.get(words[1], "") if words[0] == "llvm" else unsupported_elements(instruction)


def compile_module(module: Module, kernel: Function, location: Location) -> Executable:
    """The program of a kernel that was checked; `location` is where it begins.

    Raises
    ------
    KernelError
        It cannot be compiled; BackEndRefusal if it may be with other flags.
    """
    lowered, function = lower(module, kernel)
    first: BackEndError | ElfError | None = None
    for remedies, flags in _ATTEMPTS:
        ready = Module([repaired(function, remedies) if entity is function else entity for entity in lowered.entities])
        try:
            executable, _ = read_object(back_end(str(ready), (*_BACK, *flags)))
            return _finished(ordered(with_ieee_products(executable)), module, kernel, location)
        except (BackEndError, ElfError) as error:
            first = first or error
    assert first is not None
    raise BackEndLimitError([_explained(module, kernel, location, first)])


def _finished(executable: Executable, module: Module, kernel: Function, location: Location) -> Executable:
    try:
        written = with_writes(executable)
    except ValueError as error:
        raise KernelError([Diagnostic(location, str(error))]) from None
    heads = [Line(head.file, head.line) for head in loop_heads(module, kernel).values()]
    computed = (module.location(each) for each in kernel.instructions if each.opcode in _FLOATS)
    return with_all_lines(written, heads, [Line(each.file, each.line) for each in computed if each])


def _explained(module: Module, kernel: Function, location: Location, error: BackEndError | ElfError) -> Diagnostic:
    """What a user can do about a failure."""
    suspect = next(_suspects(module, kernel), None)
    if "IRREDUCIBLE_CFG" in str(error):
        said = "LLVM's back end for the R700 cannot compile this: its loops and conditions are too entangled"
        return Diagnostic(location, f"{said}; write them differently")
    if isinstance(error, DefectError):
        said = f"LLVM's back end gets this kernel wrong, whatever is tried: it {error.problem}"
        return Diagnostic(location, "; ".join(filter(None, (said, error.change))))
    if suspect is not None:
        return suspect
    if isinstance(error, ElfError):
        problem = re.sub(r"^at offset 0x[0-9a-f]+: ", "", str(error))
        return Diagnostic(location, f"this kernel is too large for a core: {problem}")
    if error.location is None:
        said = "LLVM's back end for the R700 fails, mostly because a kernel needs more registers than there are"
        return Diagnostic(location, f"{said}: keep fewer values at once")
    said = "LLVM's back end for the R700 cannot compile this; write it differently"
    return Diagnostic(error.location, said)


def _suspects(module: Module, kernel: Function) -> Iterator[Diagnostic]:
    """What LLVM's back end can do in some cases only, so that it was tried."""
    flow = Flow(kernel)
    for label in flow.endless():
        inside = filter(None, map(module.location, flow.blocks[label].instructions))
        location = next(inside, None) or module.location(kernel)
        if location:
            yield Diagnostic(location, "a loop that never ends: LLVM's back end for the R700 fails at such")
    size = 0
    for instruction in kernel.instructions:
        location = module.location(instruction) or module.location(kernel)
        found = re.match(r"(\w+)(?: nuw| nsw| exact| samesign)* (i64|<\d x i64>) ", instruction.text)
        if found and found[1] in _ARITHMETIC and location:
            yield Diagnostic(
                location, f"a 64-bit {_ARITHMETIC[found[1]]}: cores have 32 bits; of 64 they add and compare"
            )
        if instruction.opcode in _CONVERSIONS and re.search(r" (i64|<\d x i64>)\b", instruction.text) and location:
            yield Diagnostic(location, "a conversion between floats and 64-bit integers: use int or uint")
        size += _array_size(instruction)
    location = module.location(kernel)
    if size and location:
        yield Diagnostic(
            location, f"LLVM's back end fails at arrays of {size} elements, which it keeps in registers: {_ADVICE}"
        )


def _array_size(instruction: Instruction) -> int:
    """Elements of a private array."""
    if instruction.opcode != "alloca":
        return 0
    size = 1
    for count in re.findall(r"[\[<](\d+) x ", instruction.text):
        size *= int(count)
    return size
