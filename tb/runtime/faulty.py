"""Programs that fault, in every language: what is wrong stands in the lines that end with HERE."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import Status
from ctm.sim.assembler import assemble
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import Executable
from ctm.sim.fault import MachineError
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.lib.machines import machine
from ctm.tb.runtime.faulty_texts import ASSEMBLED, COMPILED

HERE = "HERE"
SIZE = 4
WATCHDOG = 60
_ISAS = ("r5xx", "r700")


@dataclass(frozen=True)
class Faulty:
    """A program that ends with `status` in one of the lines that end with HERE.

    `failing` has error responses: input 0, or the float constants.
    """

    name: str
    isa: str
    text: str
    file: str
    status: Status
    failing: str = ""

    def __str__(self) -> str:
        return f"{self.file}-{self.isa}-{self.name.replace(' ', '-')}"

    @property
    def lines(self) -> list[int]:
        """The lines in which it faults."""
        return [number for number, line in enumerate(self.text.split("\n"), start=1) if line.endswith(HERE)]

    def program(self) -> Executable:
        """Its executable."""
        if self.file.endswith(".s"):
            return assemble(self.text, name=self.file)
        return compile_kernel(Source(self.text, self.file), isa=self.isa).executable


CASES = [
    *(Faulty(name, isa, text, "program.s", status, failing) for isa, name, status, failing, text in ASSEMBLED),
    *(
        Faulty(name, isa, text, file, status, failing)
        for file, name, status, failing, text in COMPILED
        for isa in _ISAS
    ),
]


def fault(
    program: Executable,
    engine: str,
    *,
    failing: str = "",
    load: Callable[[Device, Executable], int] = Device.place,
    hazards: bool = False,
) -> MachineError:
    """The error of a program on an engine; `load` puts it into the device's memory."""
    device = Device(engine, machine(program.kind), watchdog=WATCHDOG, hazards=hazards)
    layout = Layout(width=SIZE, height=SIZE, format=DataFormat.FLOAT32_4)
    given, output = device.image(layout, np.ones((SIZE, SIZE, 4), np.float32)), device.image(layout)
    own = program.own_constants
    files = ConstantFiles(floats={n: tuple(words) for n, words in own.floats.items()}, ints=dict(own.ints))
    floats, ints, bools = (device.place(data) for data in files.images())
    if failing:
        first, size = {"input": (given.base, layout.size), "floats": (floats, 4096)}[failing]
        device.memory.respond_with_errors(first, first + size)
    commands = CommandBuffer().set_inst_fmt(load(device, program)).inv_inst_cache()
    commands.set_inp_fmt(0, given.base, layout.format_word, SIZE).set_out_fmt(0, output.base, layout.format_word, SIZE)
    commands.set_constf_fmt(floats).set_consti_fmt(ints).set_constb_fmt(bools)
    commands.inv_inp_cache().inv_constf_cache().inv_consti_cache().inv_constb_cache()
    commands.set_out_mask().set_domain(0, 0, SIZE - 1, SIZE - 1).start_program().flush_out_cache().wait_for_idle()
    try:
        device.run(commands)
    except MachineError as error:
        return error
    raise AssertionError("it does not fault")
