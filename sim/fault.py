"""Errors of the machine, as STATUS and the error registers show them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ctm.rtl.isa.status import STATUS_TEXT, BusClient, Status


@dataclass(kw_only=True, eq=False)
class MachineError(Exception):
    """Why a command buffer was dropped.

    `address` and `word` are the offending word of the command buffer (for a program's fault, its start_program); of a
    bus error, `address` is that of the access and `client` its client. `pc`, `i` and `j` locate a program's fault: the
    instruction and the group's lane 0. `detail` is for people, and so is `place`, which says what the PC means. `file`,
    `line` and `source`, the text there, are where the instruction comes from, as far as that is known. `findings` are
    the PCs and texts of several things that are wrong, which `detail` has as one text.
    """

    status: Status
    address: int | None = None
    word: int | None = None
    client: BusClient | None = None
    pc: int | None = None
    i: int | None = None
    j: int | None = None
    place: str = ""
    detail: str = ""
    file: str | None = None
    line: int | None = None
    source: str | None = None
    findings: tuple[tuple[int, str], ...] | None = None

    def __reduce__(self) -> tuple[Callable[[], "MachineError"], tuple[()]]:
        """Give itself to another process, which an exception with named arguments does not do by itself."""
        return partial(type(self), **vars(self)), ()

    def at(self, address: int, word: int) -> "MachineError":
        """The same error, located at a word of the command buffer; a bus error keeps its own address."""
        return self if self.status is Status.BUS_ERROR else replace(self, address=address, word=word)

    def __str__(self) -> str:
        texts = [self.status.name, ": ", self.detail or STATUS_TEXT[self.status]]
        if self.pc is not None:
            origin = f", {self.file}:{self.line}" if self.file is not None else ""
            texts.append(f"; at {self.place or f'pc {self.pc}'}{origin}, wavefront of (i, j) = ({self.i}, {self.j})")
        if self.client is not None:
            texts.append(f"; {self.client.name} access at 0x{self.address:08x}")
        elif self.word is not None:
            texts.append(f"; word 0x{self.word:08x} at 0x{self.address:08x}")
        if self.source is not None:
            texts.append(f"\n    {self.source}")
        return "".join(texts)


def wrong_kind(kind: str, cores: str, fix: str = "") -> MachineError:
    """The error of a program of another kind than the machine's cores; both are names of instruction sets."""
    detail = f"it is a program for {kind}, and this machine's cores are {cores}{fix}"
    return MachineError(status=Status.BAD_EXECUTABLE, detail=detail)


class CycleLimitError(Exception):
    """A simulation took as many cycles as it may; what it ran was dropped."""

    def __init__(self, cycles: int) -> None:
        self.cycles = cycles
        super().__init__(f"the limit of {cycles:,} cycles was reached; see --max-cycles")
