"""The instruction sets that kernels can be compiled for."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

from ctm.sim.compiler.error import Diagnostic, Location
from ctm.sim.compiler.ir.module import Function, Instruction, Module
from ctm.sim.compiler.source import Source
from ctm.sim.elf import Executable


class BackEnd(Protocol):
    """The module that compiles for an instruction set."""

    FRONTS: tuple[tuple[str, ...], ...]
    """Flags for Clang: the usual ones, and others for kernels that the back end cannot compile then."""

    TABLES: str
    """What to do about a table that is read with a computed index."""

    def optimise(self, text: str, flags: Sequence[str], source: Source) -> tuple[str, list[Diagnostic]]:
        """The IR that is looked at and compiled, of that which Clang makes of a source with these flags, and warnings.

        Raises
        ------
        BackEndError
            LLVM does not take what Clang made.
        KernelError
            Clang failed.
        """
        ...

    def unsupported(self, instruction: Instruction) -> str:
        """What it cannot do, said of one instruction; "" if it can."""
        ...

    def compile_module(self, module: Module, kernel: Function, location: Location) -> Executable:
        """The program of a kernel in a module, whose location is given for messages.

        Raises
        ------
        KernelError
            That is impossible; BackEndRefusal if it is only with these flags.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Target:
    """An instruction set; `whole_floats`: its whole numbers are floats."""

    name: str
    whole_floats: bool = False

    @cached_property
    def back_end(self) -> BackEnd:
        """Imported when it is needed: each takes as long to import as a kernel to compile."""
        return cast("BackEnd", importlib.import_module(f"ctm.sim.compiler.{self.name}.compiler"))


TARGETS = {target.name: target for target in (Target(name="r5xx", whole_floats=True), Target(name="r700"))}
"""By the names that programs have for their instruction sets."""
DEFAULT_TARGET = "r700"
"""What can compile the most."""
