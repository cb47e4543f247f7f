"""From the IR of a kernel to an R5xx program, through the assembler, which sets semaphores, masks and branch levels."""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.sim.assembler import AssemblyError, assemble_listing
from ctm.sim.compiler.error import Diagnostic, KernelError, Location
from ctm.sim.compiler.ir.flow import loop_heads
from ctm.sim.compiler.ir.line_tags import LineTags
from ctm.sim.compiler.ir.linkage import with_own_names
from ctm.sim.compiler.ir.module import NAME, Function, Instruction, Module
from ctm.sim.compiler.ir.passes import combined, inlined
from ctm.sim.compiler.ir.scalars import scalarised
from ctm.sim.compiler.legality import kernels
from ctm.sim.compiler.r5xx.coalescing import coalesced
from ctm.sim.compiler.r5xx.integers.floats import with_floats
from ctm.sim.compiler.r5xx.loops.rounds import DEEPEST, TooDeepError, TooLongError, limited
from ctm.sim.compiler.r5xx.numbers import TooManyConstantsError
from ctm.sim.compiler.r5xx.operations import PIXEL, Steps, without_idle
from ctm.sim.compiler.r5xx.order.motion import eased, hoisted
from ctm.sim.compiler.r5xx.order.schedule import scheduled
from ctm.sim.compiler.r5xx.order.sharing import shared
from ctm.sim.compiler.r5xx.register_sets import RegisterSets
from ctm.sim.compiler.r5xx.registers import TooManyError, allocated
from ctm.sim.compiler.r5xx.selection import selected
from ctm.sim.compiler.r5xx.structure import TooLargeError, structured
from ctm.sim.compiler.r5xx.text import Text
from ctm.sim.compiler.r5xx.values import Unsupported
from ctm.sim.compiler.source import Source
from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.r5xx.executable import Executable

FRONTS = (("-Xclang", "-disable-lifetime-markers"),)
"""Flags for Clang, which only translates: its own optimiser would count loops of floats in integers."""

TABLES = "R5xx cores cannot choose a register; #pragma unroll makes indices known"
_DECLARATIONS = (
    "declare float @llvm.fma.f32(float, float, float)",
    *(f"declare float @llvm.{name}.f32(float)" for name in ("fabs", "floor", "trunc")),
    *(f"declare float @ctm.{name}(float) nounwind willreturn memory(none)" for name in ("exp2", "fract")),
)
_COMPUTED = re.compile(rf", i\d+ {NAME}")
"""An index."""


def optimise(text: str, flags: Sequence[str], source: Source) -> tuple[str, list[Diagnostic]]:
    """The IR with everything inlined, loops and conditions as they were written, and floats for integers.

    See `BackEnd.optimise`.
    """
    del flags, source  # They are for Clang's optimiser.
    tags = LineTags()
    head = re.compile(r"^(define .*?\))( (?:local_unnamed_addr )?#)", re.MULTILINE)
    # With an attribute of the user's to the contrary LLVM would reject the module.
    text = re.sub(
        r"^attributes #.*", lambda found: re.sub(r" (?:noinline|optnone)\b", "", found[0]), text, flags=re.MULTILINE
    )
    # Of a product of numbers that are known LLVM would make a number, and round twice. Calls of users are unsupported.
    text = text.replace("@llvm.fma.", "@ctm.fma.").replace("@llvm.fmuladd.", "@llvm.fma.")
    module = Module.read(inlined(head.sub(r"\1 alwaysinline\2", tags.tagged(with_own_names(text)))))
    for kernel in list(kernels(module)):
        if kernel.pixel is not None:
            module.entities[module.entities.index(kernel)], declarations = with_floats(kernel)
            module.declare(sorted(declarations))
    module.declare(_DECLARATIONS)
    return tags.restored(combined(str(module))), []


def unsupported(instruction: Instruction) -> str:
    """What a core cannot do, said of one instruction; "" if it can."""
    if instruction.opcode == "getelementptr" and _COMPUTED.search(instruction.text):
        return "an array with a computed index: R5xx cores cannot choose a register; #pragma unroll makes indices known"
    if instruction.text.startswith("phi ptr"):
        return "a pointer that a loop changes: use an index, which #pragma unroll makes known"
    if instruction.callee.startswith("ctm.fma."):
        return "fma(): write a * b + c, which R5xx cores round once"
    return ""


def compile_module(module: Module, kernel: Function, location: Location) -> Executable:
    """The program of a kernel that was checked; `location` is where it begins.

    Raises
    ------
    KernelError
        It cannot be compiled.
    """
    assert kernel.pixel is not None
    scalar, _ = scalarised(kernel, {kernel.pixel[1]: list(PIXEL)})
    at = location
    try:
        text = _text(without_idle(selected(module, loop_heads(module, scalar), limited(scalar, structured(scalar)))))
        listing = assemble_listing("\n".join(text.lines) + "\n", name=location.file)
    except Unsupported as error:
        problem, at = str(error), error.location or location
    except TooManyError:
        problem = f"it needs more than {TEMPORARIES} registers: keep fewer values at once"
    except TooManyConstantsError:
        problem = "it has more numbers than there are float constants"
    except TooDeepError:
        problem = f"loops deeper than {DEEPEST}; one whose number of rounds is not known beforehand counts twice"
    except TooLongError as error:
        problem = f"a loop of {error.rounds} rounds: R5xx cores can have {error.limit} here"
        block = next(block for block in scalar.blocks if block.label == error.head)
        at = next(filter(None, map(module.location, block.instructions)), location)
    except TooLargeError:
        problem = "its branches join in so many blocks that the program would be too long"
    except AssemblyError as error:
        problem = f"it is too much for a core: {error.message}"
    else:
        # An OUT at the end that the assembler adds has no line of its own.
        lines = [text.sources[min(line, len(text.sources)) - 1] for line in listing.lines]
        for number in reversed(range(len(lines) - 1)):
            # What is there before the first line of the source is for what follows.
            lines[number] = lines[number] or lines[number + 1]
        return _finished(listing.executable, text, lines)
    raise KernelError([Diagnostic(at, problem)])


def _text(steps: Steps) -> Text:
    """The program's text; in the order of the source if no other fits into the registers.

    Raises
    ------
    TooManyError
        It fits in no order.
    Unsupported
        It has no instructions.
    """
    register_sets = RegisterSets()
    steps = hoisted(coalesced(eased(shared(steps)), register_sets))
    before = deepcopy(register_sets)
    better = scheduled(steps, register_sets)
    try:
        text = Text(better, allocated(better, register_sets))
    except TooManyError:
        text = Text(steps, allocated(steps, before))
    if not text.lines:
        raise Unsupported("it does nothing: it has no output() and no write()")
    return text


def _finished(executable: object, text: Text, lines: list[Line | None]) -> Executable:
    assert isinstance(executable, Executable)
    loops = {number: rounds for rounds, number in text.rounds.items()}
    return replace(executable, lines=Lines(tuple(lines)), own_constants=OwnConstants(text.numbers.words, loops))
