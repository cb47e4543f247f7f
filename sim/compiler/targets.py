"""The instruction sets that kernels can be compiled for."""

from collections.abc import Callable
from dataclasses import dataclass

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import Function, Instruction, Module
from ctm.sim.compiler.r5xx import compiler as r5xx
from ctm.sim.compiler.r700 import compiler as r700
from ctm.sim.elf import Executable


@dataclass(frozen=True, kw_only=True)
class Target:
    """An instruction set.

    fronts
        Flags for Clang: the usual ones, and others for kernels that the back end cannot compile then.
    optimise
        The IR that is looked at and compiled, of that which Clang makes with these flags.
    whole_floats
        Whether its whole numbers are floats.
    refusal
        What it cannot do, said of one instruction; "" if it can.
    compile
        The program of a kernel in a module, whose place is given for messages; KernelError if that is impossible,
        BackEndRefusal if it is only with these flags.
    """

    fronts: tuple[tuple[str, ...], ...]
    optimise: Callable[[str], str]
    whole_floats: bool = False
    refusal: Callable[[Instruction], str]
    compile: Callable[[Module, Function, Location], Executable]


TARGETS = {
    "r5xx": Target(
        fronts=r5xx.FRONTS,
        optimise=r5xx.optimise,
        whole_floats=True,
        refusal=r5xx.refusal,
        compile=r5xx.compile_module,
    ),
    "r700": Target(fronts=r700.FRONTS, optimise=str, refusal=r700.refusal, compile=r700.compile_module),
}
"""By the names that programs have for their instruction sets."""
DEFAULT_TARGET = "r700"
"""What can compile the most."""
